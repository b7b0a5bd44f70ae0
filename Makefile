# Targets run in .venv, which the first of them creates; `make PYTHON=python3.13 demo` chooses another interpreter.
# test-gpu, sanitize and bench run in $(PYTHON) itself if it has torch and CuPy.
SHELL   := /bin/bash
PYTHON  ?= python3
# The versions the suite is run with; `make test TORCH= TORCHVISION=` keeps whatever the environment has. torchvision
# comes without its dependencies: its wheel names a torch with CUDA, and transforms.v2 runs beside any torch 2.13.
TORCH       ?= torch==2.13.0
TORCHVISION ?= torchvision==0.28.0
# Processes that run tests; one processor of a GPU machine is left to the driver's threads.
JOBS        ?= $(shell nproc)
GPU_JOBS    ?= $(shell expr $$(nproc) - 1)
ARGS    ?=

VENV    := .venv
PY      := $(VENV)/bin/python
# Modules are compiled to bytecode at their first import: most modules of torch, JAX and Sphinx are never imported. The
# bytecode must be kept, as tests start hundreds of processes: without it torch takes 7 s to import instead of 3.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(PY) -m pip --disable-pip-version-check --quiet install --no-compile
# For what compiles the extension: shows each file that is compiled, since that takes one to two minutes.
PIP_SHOW := --disable-pip-version-check --verbose
# NumPy is in the list because both installations that `make demo` runs at the same time need it.
BUILD   := scikit-build-core>=0.11 pybind11>=3.0 cmake>=3.18 ninja numpy>=2.0
DEMO    := matplotlib>=3.8 pillow>=11 scikit-image>=0.25 scikit-learn>=1.5 opencv-python-headless>=5
FUZZ_SECONDS ?= 60
WERROR  ?= OFF
JPEG    := $(wildcard cuaug/cpu/jpeg/*.cpp)
# A crash of a fuzz run leaves its input in build/fuzz.
FUZZ_FLAGS := -std=c++17 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I ../../cuaug/cpu/jpeg
fuzz: export ASAN_OPTIONS := abort_on_error=1:handle_abort=0
fuzz: export UBSAN_OPTIONS := abort_on_error=1:print_stacktrace=1
# Formatters are pinned: another version formats differently.
LINT    := ruff==0.17.6 clang-format==23.1.5 mypy>=1.18 import-linter>=2.16 basedpyright>=1.40
MAX_WHEEL := 5242880
# `make wheels` builds for the versions of these interpreters if there is no Docker; ARCH is x86_64 or aarch64.
PYTHONS ?= $(shell for v in 10 11 12 13 14; do \
  python3.$$v -c 'import sys; print(sys._base_executable)' 2>/dev/null; done)
ARCH    ?= $(shell uname -m)
WHEELS  := ziglang==0.17.1 auditwheel==6.8.2 wheel>=0.46 cibuildwheel==4.3.5 pytest>=8.3

WHEEL_NAME := import platform, sys; v = "cp%d%d" % sys.version_info[:2]; \
  print(f"cuaug-*-{v}-{v}{sys.abiflags}-*linux*_{platform.machine()}.whl")

NATIVE  := pyproject.toml $(shell find cuaug/kernels -name '*.cu*' 2>/dev/null) \
  $(shell find cuaug/cpu -name '*.*pp' -o -name CMakeLists.txt -o -name '*.cmake' -o -name exports.map 2>/dev/null)
SOURCES := $(NATIVE) $(shell find cuaug -name '*.py' 2>/dev/null)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo check types test test-all test-gpu slow kernels clang sanitize fuzz docs bench lint wheel wheels \
  bare-root clean demo-cuaug

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: $(VENV)/.demo  ## build, augment photographs (on the GPU where there is one), write demo.png, print times
	$(PY) notebooks/demo.py $(ARGS)

test: $(VENV)/.test  ## run the CPU suite without the slow tests; GPU cases are left out and counted
	@$(call pytest,$(PY),$(JOBS), and not slow)

test-all: $(VENV)/.test  ## the CPU suite with every kernel on every architecture: about an hour on 2 cores
	@$(call pytest,$(PY),$(JOBS))

slow: $(VENV)/.test  ## run the slow tests, but for those of kernels
	@$(call pytest,$(PY),$(JOBS), and slow,--ignore=tests/kernels)

kernels: $(VENV)/.test  ## compile the kernels that `make test` leaves out: on sm_90, and on a part of the others
	$(PY) -m pytest -n $(JOBS) --dist worksteal -m "slow and not exhaustive" tests/kernels $(ARGS)

# Left out are tests of Python code alone (descriptions, pictures, rewriting of programs, references, launch plans on a
# fake GPU, torch.compile), and tests that compile kernels or an emulator by a compiler of their own: `make test` has
# them all.
clang: $(VENV)/.test  ## build the extension with Clang, warnings are errors, and run the tests of its loops on it
	CC=clang CXX=clang++ $(call install_site,build/clang,cmake.define.CUAUG_WERROR=ON)
	$(call pytest_site,build/clang) -n $(JOBS) --dist worksteal -m "not slow and not alone and not gpu" $(ARGS) \
	  --ignore=tests/kernels --ignore=tests/documentation --ignore=tests/environment --ignore=tests/data \
	  --ignore=tests/migration --ignore=tests/oracles \
	  --ignore=tests/geometry/test_scalar_matrices.py --ignore=tests/detection/test_torch_compile.py \
	  --ignore=tests/internals/test_launch_plan.py --ignore=tests/internals/test_grids.py \
	  --ignore=tests/transforms/test_untrusted_descriptions.py --ignore=tests/transforms/test_processes.py \
	  --ignore-glob='*/test_pixel_op_*.py' --ignore-glob='*/test_show*.py' --ignore-glob='*/test_emulat*.py' \
	  --deselect=tests/geometry/test_builders.py::test_matrix_builder_kernel_equals_loop

# On a GPU machine torch and CuPy are usually there already: then the suite runs in that Python, with cuaug beside it
# in build/site. Else .venv gets the extra that fits the driver.
test-gpu:  ## run the GPU suite (needs an NVIDIA GPU)
	@$(gpu_python); cd tests && $(call pytest,$$python,$(GPU_JOBS), and gpu,--require-gpu)

sanitize:  ## run the GPU suite under compute-sanitizer, after a planted error that must be found
	@$(gpu_python); cd tests && exec $$python gpu/sanitize.py $(ARGS)

fuzz: $(VENV)/.test  ## mutated JPEGs: under sanitizers for FUZZ_SECONDS and in the mutation tests, then a million files
	$(PY) tests/fuzz/corpus.py build/fuzz/corpus
	cd build/fuzz && if command -v clang++ >/dev/null; \
	  then clang++ $(FUZZ_FLAGS) -fsanitize=fuzzer \
	      $(addprefix ../../,tests/fuzz/jpeg_decode.cpp $(JPEG)) -o fuzz -ljpeg && \
	    ./fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=2 -rss_limit_mb=1024 corpus; \
	  else $(CXX) $(FUZZ_FLAGS) \
	      $(addprefix ../../,tests/fuzz/jpeg_decode.cpp tests/fuzz/mutate.cpp $(JPEG)) -o fuzz -ljpeg && \
	    ./fuzz $(FUZZ_SECONDS) $$RANDOM corpus/*.jpg; fi
	$(call install_site,build/fuzz,cmake.define.CUAUG_SANITIZE=ON) --config-settings=install.strip=false
	grep -q __asan_init build/fuzz/site/cuaug/_native*.so
	export LD_PRELOAD=$$($(CXX) -print-file-name=libasan.so) ASAN_OPTIONS=$$ASAN_OPTIONS:detect_leaks=0; \
	  $(call pytest_site,build/fuzz) -q tests/io/test_hostile_files.py \
	  -k "mutated or truncation or short or markers or threads"
	$(PY) -m pytest -q -n auto tests/fuzz/deep_io.py

docs: $(VENV)/.docs  ## the documentation site, in build/docs; warnings are errors
	$(PY) -m sphinx -W -E --keep-going -q -j auto docs build/docs

bench:  ## the benchmark tables, GPU and CPU, with their peers; writes benchmarks/results
	@$(gpu_python); \
	for name in warp transforms functions host single_images detection decode loader; do \
	  $$python benchmarks/$$name.py $(ARGS) || exit 1; done; \
	exec $$python benchmarks/training.py

lint: $(VENV)/.lint  ## ruff, clang-format, mypy and the layers of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/clang-format --dry-run -Werror $$(git ls-files 'cuaug/*.cu' 'cuaug/*.cuh' 'cuaug/*.hpp' 'cuaug/*.cpp')
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# basedpyright is pyright as a wheel that brings Node.
types: $(VENV)/.lint $(VENV)/.test  ## mypy and pyright on user code with cuaug; every public name has a type
	$(VENV)/bin/mypy tests/typing
	$(VENV)/bin/basedpyright --pythonpath $(PY)
	PYTHONPATH=$(CURDIR) $(VENV)/bin/basedpyright --pythonpath $(PY) --verifytypes cuaug --ignoreexternal

check: WERROR := ON
check: lint types test slow kernels clang docs wheel  ## what a change has to pass; CI runs this; needs clang++

wheel: $(VENV)/.build  ## dist/*.whl, at most 5 MiB, tried in a clean environment outside the source tree
	rm -rf dist
	$(PY) -m pip $(PIP_SHOW) wheel --no-deps --no-build-isolation --wheel-dir dist .
	@ls -l dist/*.whl
	@test $$(stat -c %s dist/*.whl) -le $(MAX_WHEEL) || { echo "the wheel is over 5 MiB"; exit 1; }
	@set -e; wheel=$$(realpath dist/*.whl); away=$$(mktemp -d); trap 'rm -rf "$$away"' EXIT; \
	$(PYTHON) -m venv "$$away/venv"; \
	"$$away/venv/bin/python" -m pip --disable-pip-version-check --quiet install "$$wheel"; \
	cd "$$away"; venv/bin/python -m cuaug info; venv/bin/python -m cuaug doctor

wheels: $(VENV)/.wheels  ## dist/*.whl for every version of Python, manylinux_2_28 with JPEG; this machine's are tried
	rm -f dist/*_$(ARCH).whl
	if docker info >/dev/null 2>&1; then $(VENV)/bin/cibuildwheel --platform linux --archs $(ARCH) --output-dir dist; \
	  else $(PY) wheels/build.py --arch $(ARCH) $(PYTHONS); fi
	CUAUG_WHEELS=dist $(PY) -m pytest -q --noconftest tests/environment/test_wheel.py

bare-root: $(VENV)/.build  ## the wheel of dist/ for this Python, tried in a root with nothing but Python
	@wheel=$$($(find_wheel)); [ "$$wheel" ] || { echo "dist has no wheel for $(PY): make wheels"; exit 1; }; \
	$(PY) wheels/bare_root.py "$$wheel"

clean:  ## remove .venv and everything built
	rm -rf $(VENV) build dist demo.png .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment; each stamp is newer than what it was made from, so that a second run does nothing

$(VENV)/.build:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "cuaug needs Python 3.10 or newer, and $(PYTHON) is older: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) cannot make environments; Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(PIP_INSTALL) $(foreach p,$(BUILD),'$(p)')
	@touch $@

# Editable: Python and kernels are read where they stand, and only the compiled extension is rebuilt.
$(VENV)/.install: $(VENV)/.build $(NATIVE)
	$(PY) -m pip $(PIP_SHOW) install --no-build-isolation --editable . \
	  --config-settings=cmake.define.CUAUG_WERROR=$(WERROR)
	@touch $@

# Python files of an editable install are read where they stand; those of an installed wheel are copies.
$(VENV)/.demo: $(VENV)/.build $(if $(wildcard $(VENV)/.install),$(NATIVE),$(SOURCES))
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.demo-packages demo-cuaug
	@$(install_cuda)
	@touch $@

$(VENV)/.demo-packages: $(VENV)/.build
	$(PIP_INSTALL) $(foreach p,$(DEMO),'$(p)')
	@touch $@

# A wheel of dist/ takes the place of the compilation if it fits this Python and is newer than every source.
demo-cuaug: $(VENV)/.build
	@$(MAKE) --question $(VENV)/.install || { \
	  wheel=$$($(call find_wheel,$(addprefix -newer ,$(SOURCES)))); \
	  [ "$$wheel" ] && echo "installing $$wheel" && $(PIP_INSTALL) --no-deps --force-reinstall "$$wheel" \
	    && rm -f $(VENV)/.install; \
	} || $(MAKE) --no-print-directory $(VENV)/.install

$(VENV)/.test: $(VENV)/.install
	$(PIP_INSTALL) --no-build-isolation --editable '.[test]' $(foreach p,$(TORCH),'$(p)')
	$(if $(TORCHVISION),$(PIP_INSTALL) --no-deps '$(TORCHVISION)')
	@touch $@

$(VENV)/.docs: $(VENV)/.install
	$(PIP_INSTALL) --no-build-isolation --editable '.[docs]'
	@touch $@

$(VENV)/.wheels: $(VENV)/.build
	$(PIP_INSTALL) $(foreach p,$(WHEELS),'$(p)')
	@touch $@

$(VENV)/.lint: $(VENV)/.install
	$(PIP_INSTALL) $(foreach p,$(LINT),'$(p)')
	@touch $@

# $(call find_wheel,CONDITIONS): prints the wheel of dist/ that fits the Python of .venv; manylinux wheels go first.
find_wheel = find dist -name "$$($(PY) -c '$(WHEEL_NAME)')" $(1) 2>/dev/null | sort | tail -n 1

# $(call install_site,FOLDER,SETTING): cuaug in FOLDER/site, built in a folder of its own with a CMake setting.
install_site = $(PY) -m pip $(PIP_SHOW) install --no-build-isolation --no-deps --upgrade --target $(1)/site . \
  --config-settings=build-dir=$(1)/cmake --config-settings=$(2)

# $(call pytest_site,FOLDER): pytest with the cuaug of FOLDER/site, also in the processes that tests start.
# PYTHONSAFEPATH keeps the source tree from hiding FOLDER/site.
define pytest_site
export PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/tests/hide_editable:$(CURDIR)/$(1)/site; \
  $(PY) -c 'import cuaug; assert cuaug.__path__ == ["$(CURDIR)/$(1)/site/cuaug"], cuaug.__path__' && $(PY) -m pytest
endef

# Installs the extra for the GPU if there is a driver. If the installation fails, the target goes on, on the CPU.
define install_cuda
extra=$$($(PY) -c 'from cuaug import _info; print(_info.cuda_extra() or "")'); \
if [ -n "$$extra" ]; then echo "NVIDIA driver found: installing cuaug[$$extra]"; \
  $(PIP_INSTALL) "cuaug[$$extra]" || echo "cuaug[$$extra] did not install: running on the CPU"; fi
endef

# $(call pytest,PYTHON,PROCESSES,EXPRESSION,OPTIONS): tests marked alone follow the others, in one process, which
# without ARGS collects only the files that have such tests: to collect all takes a quarter of a minute. Exit code 5
# says that no test was selected, which ARGS may cause in one of the two runs.
pytest = others=0; alone=0; \
  $(1) -m pytest -n $(2) --dist worksteal -m "not alone$(3)" $(4) $(ARGS) || others=$$?; \
  $(1) -m pytest -m "alone$(3)" $(4) $(or $(ARGS),$$($(alone_files))) || alone=$$?; \
  case $$others,$$alone in 0,0 | 0,5 | 5,0) ;; *) exit 1 ;; esac
alone_files = grep -rl --include='test_*.py' mark.alone $(CURDIR)/tests | sort

# Sets $python. PYTHONSAFEPATH keeps the source tree, which has no compiled extension, from hiding build/site.
define gpu_python
set -e; \
if $(PYTHON) -c 'import torch, cupy' 2>/dev/null; then \
  $(MAKE) --no-print-directory build/site/.stamp; \
  python=$(PYTHON); export PYTHONSAFEPATH=1 PYTHONPATH="$(CURDIR)/build/site$${PYTHONPATH:+:$$PYTHONPATH}"; \
else \
  $(MAKE) --no-print-directory $(VENV)/.test; $(install_cuda); python=$(CURDIR)/$(PY); \
fi
endef

build/site/.stamp: $(SOURCES)
	@rm -rf build/site
	$(PYTHON) -m pip $(PIP_SHOW) install --no-deps --target build/site . \
	  $$($(PYTHON) -c 'import pybind11, scikit_build_core' 2>/dev/null && echo --no-build-isolation)
	@for p in pytest hypothesis xdist:pytest-xdist; do $(PYTHON) -c "import $${p%%:*}" 2>/dev/null || \
	  $(PYTHON) -m pip --disable-pip-version-check --quiet install --target build/site $${p##*:}; done
	@touch $@
