"""Users' expressions: each is its formula in float64, in every dtype and layout, and its errors say what to do."""

import itertools
import json
import os
import pickle
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.arrays import IMAGE_DTYPES, from_layout, images, noise, to_layout
from helpers.child_process import ended, python, started
from helpers.compare import EXACT, Tolerance, assert_equal, to_numpy
from helpers.thinning import thinned
from tables.pixel_ops import BY_NAME, CASES, expected, luma

from cuaug import transforms as T
from cuaug._check import BackendError
from cuaug._host import compiler as _compiler
from cuaug._program import user_ops

try:
    _compiler.compiler_command()
except BackendError:
    pytest.skip("no C++ compiler here", allow_module_level=True)

SHAPE = (5, 17, 11, 3)
every_case = pytest.mark.parametrize("case", CASES, ids=str)
ONCE = Tolerance(1.0, exact=0.995, reason="rounded once, on store")


def drawn(params, title, place=0):
    """By the parameter's name."""
    prefix = f"{place}.{title}."
    return {name.removeprefix(prefix): params[name] for name in params.names if name.startswith(prefix)}


def made(transform, batch, seed=5, **options):
    aug = T.Compose([transform], seed=seed)
    params = aug.draw(batch, **options)
    return aug.apply(batch, params, **options), params


# What it makes.


@pytest.mark.parametrize(
    ("case", "dtype"),
    thinned(
        itertools.product(CASES, [d for d in IMAGE_DTYPES if d != "bfloat16"]),
        lambda case, dtype: dtype == "uint8" or case is CASES[0],
    ),
    ids=str,
)
def test_pixel_op_equals_formula(case, dtype):
    batch = np.abs(noise(SHAPE, dtype))  # a root of less than 0 is no number
    result, params = made(case.op(), batch)
    own = {name: np.array(values) for name, values in drawn(params, case.name).items()}
    wanted = expected(case, batch, own)
    assert_equal(result, wanted, library="numpy", dtype=dtype, tolerance=case.tolerance(dtype))


@pytest.mark.parametrize(
    ("case", "layout"),
    thinned(itertools.product(CASES, ["NHWC", "NCHW"]), lambda case, layout: layout == "NCHW" or case is CASES[0]),
    ids=str,
)
def test_pixel_op_channels_and_layouts(case, layout):
    for count in case.channels:
        batch = noise((3, 9, 300, count), "float32")  # wider than a piece of a row
        result, params = made(case.op(), to_layout(batch, layout), layout=layout)
        wanted = expected(case, batch, {n: np.array(v) for n, v in drawn(params, case.name).items()})
        tolerance = case.tolerance("float32")
        assert_equal(from_layout(result, layout), wanted, library="numpy", dtype="float32", tolerance=tolerance)


def test_pixel_op_bfloat16():
    torch = pytest.importorskip("torch")
    case, batch = BY_NAME["Vignette"], images(("torch", "cpu"), "bfloat16")
    result, params = made(case.op(), batch)
    wanted = expected(case, np.moveaxis(to_numpy(batch), 1, -1), {"k": to_numpy(params["0.Vignette.k"])})
    assert result.dtype is torch.bfloat16
    np.testing.assert_allclose(np.moveaxis(to_numpy(result), 1, -1), wanted, atol=2**-8, rtol=2**-8)


def test_pixel_op_single_pixel_is_its_center():
    assert T.PixelOp("Far", "r2")(np.ones((1, 1, 1, 3), np.float32)).ravel().tolist() == [0, 0, 0]


def test_pixel_op_position_of_corners_and_center():
    r2 = T.PixelOp("Far", "r2")(np.zeros((1, 5, 9, 1), np.float32))[0, ..., 0]
    np.testing.assert_allclose(r2[[0, 0, -1, -1], [0, -1, 0, -1]], 1, rtol=1e-6)
    assert r2[2, 4] == 0


def test_pixel_op_floats_are_unclamped_and_integers_clamped():
    twice = T.PixelOp("Twice", "2 * px - 0.5")
    back = T.PixelOp("Back", "(px + 0.5) / 2")
    floats = noise(SHAPE, "float32")
    assert_equal(T.Compose([twice, back])(floats), floats, tolerance=Tolerance(1e-6, reason="float32"))
    bytes_ = noise(SHAPE)
    held = np.clip(2.0 * bytes_ - 127.5, 0, 255)
    assert_equal(T.Compose([twice, back])(bytes_), (held + 127.5) / 2, library="numpy", dtype="uint8", tolerance=ONCE)


# In a recipe.


def test_pixel_op_is_fused_in_order():
    k, batch = 0.4, noise(SHAPE)
    vignette, lift = T.PixelOp("Vignette", "px * (1 - k * r2)", k=k), T.PixelOp("Lift", "px + 0.1 * u")
    flip, normalize = T.RandomHorizontalFlip(1.0), T.Normalize(0.5, 0.25)
    one = T.Compose([flip, lift, T.RandomInvert(1.0), vignette, normalize], seed=1)
    other = T.Compose([flip, vignette, T.RandomInvert(1.0), lift, normalize], seed=1)
    flipped = batch[:, :, ::-1]

    def dark(values):
        return expected(BY_NAME["Vignette"], values, {"k": np.full(5, k)})

    u = ((np.arange(11) + 0.5) / 11)[:, None]
    first = dark(1 - np.minimum(flipped / 255 + 0.1 * u, 1))
    second = np.minimum(1 - dark(flipped / 255) + 0.1 * u, 1)
    for aug, wanted in ((one, first), (other, second)):
        assert len(aug.plan(batch).passes) == 1
        tolerance = Tolerance(1e-5, reason="float32, divided by 0.25")
        assert_equal(aug(batch), (wanted - 0.5) / 0.25, library="numpy", dtype="float32", tolerance=tolerance)
    assert np.abs(first - second).max() > 0.1


def test_pixel_op_position_is_of_current_image():
    batch = noise((4, 20, 30, 3), "float32")
    aug = T.Compose([T.CenterCrop((9, 11)), T.PixelOp("Places", "(x + y * width) / 100")])
    places = (np.arange(99, dtype=np.float32) / np.float32(100)).reshape(9, 11)
    assert_equal(aug(batch)[..., 0], np.broadcast_to(places, (4, 9, 11)))
    other = T.Compose([T.PixelOp("Places", "(x + y * width) / 600"), T.CenterCrop((9, 11))])
    places = (np.arange(600, dtype=np.float32) / np.float32(600)).reshape(20, 30)[6:15, 10:21]
    wanted = np.broadcast_to(places, (4, 9, 11))
    assert_equal(other(batch)[..., 0], wanted, tolerance=Tolerance(1e-7, reason="a reciprocal"))
    assert len(other.plan(batch).passes) == 2


def test_pixel_op_before_mean_is_in_the_mean():
    batch = noise(SHAPE, "float32")
    halved = T.PixelOp("Dimmed", "px * k", k=(0.3, 0.9))
    aug = T.Compose([halved, T.ColorJitter(contrast=(0.5, 0.5))], seed=3)
    params = aug.draw(batch)
    dim = batch * np.array(params["0.Dimmed.k"], np.float32)[:, None, None, None]
    about = luma(dim.astype(float)).mean((1, 2), keepdims=True)
    tolerance = Tolerance(1e-6, reason="float32")
    assert_equal(aug.apply(batch, params), about / 2 + dim / 2.0, library="numpy", dtype="float32", tolerance=tolerance)


def test_pixel_op_two_ops_of_one_name():
    batch = noise(SHAPE, "float32")
    aug = T.Compose([T.PixelOp("Mine", "px * k", k=0.5), T.PixelOp("Mine", "px + k", k=0.25), T.PixelOp("Mine", "px")])
    assert_equal(aug(batch), batch * np.float32(0.5) + np.float32(0.25))
    assert {"0.Mine.k", "1.Mine.k"} <= set(aug.draw(batch).names)
    assert len(aug.plan(batch).passes) == 1


def test_pixel_op_samples_draw_their_own_parameters():
    batch = np.ones((400, 2, 2, 1), np.float32)
    op = T.PixelOp("Draws", "px * low + width * 0 + t", low=(2, 3), t=(-1.0, 1.0))
    result, params = made(op, batch)
    low, t = np.array(params["0.Draws.low"]), np.array(params["0.Draws.t"])
    np.testing.assert_allclose(result, np.broadcast_to((low + t)[:, None, None, None], batch.shape), rtol=1e-6)
    for values, (least, most) in ((low, (2, 3)), (t, (-1, 1))):
        assert least <= values.min() < least + 0.05 * (most - least)
        assert most - 0.05 * (most - least) < values.max() <= most
        assert abs(values.mean() - (least + most) / 2) < 0.1 * (most - least)
    assert abs(np.corrcoef(low, t)[0, 1]) < 0.15
    again, _ = made(op, batch[:7])
    np.testing.assert_array_equal(again, result[:7])


def test_pixel_op_probability():
    batch = noise((40, 5, 6, 3), "float32") * 3 - 1
    batch[0, 0, 0, 0] = np.nan
    aug = T.Compose([T.RandomChoice([T.PixelOp("Up", "px + k", k=(1, 2)), T.PixelOp("None", "0 * px"), T.Identity()])])
    params = aug.draw(batch)
    result, chosen = aug.apply(batch, params), np.array(params["0.RandomChoice.chosen"])
    assert set(chosen) == {0, 1, 2}
    np.testing.assert_array_equal(result[chosen == 2], batch[chosen == 2])
    k = np.array(params["1.Up.k"], np.float32)[:, None, None, None]
    np.testing.assert_allclose(result[chosen == 0], (batch + k)[chosen == 0], rtol=1e-6)
    assert not np.nan_to_num(result[chosen == 1]).any()


def test_pixel_op_repr_params_and_dict_use_its_name():
    op = T.PixelOp("Vignette", "  px *\n (1 - k * r2)", k=(0, 0.5))
    assert repr(op) == "PixelOp(op='Vignette', expression='px * (1 - k * r2)', k=(0.0, 0.5))"
    described = {"name": "PixelOp", "op": "Vignette", "expression": "px * (1 - k * r2)", "k": [0.0, 0.5]}
    assert op.to_dict() == described
    batch = noise(SHAPE)
    aug = T.Compose([op, T.RandomInvert()], seed=4)
    restored = T.from_dict(json.loads(json.dumps(aug.to_dict())))
    params = aug.draw(batch)
    kept = restored.params_from_dict(json.loads(json.dumps(params.to_dict())), batch)
    assert_equal(restored.apply(batch, kept), aug.apply(batch, params))
    assert aug.plan(batch).passes[0].transforms == ("Vignette", "RandomInvert")
    assert "0.Vignette.k" in params.names


def test_pixel_op_pickled_recipe_runs_in_other_process():
    batch = noise(SHAPE)
    aug = T.Compose([T.PixelOp("Vignette", "px * (1 - k * r2)", k=(0, 0.5))], seed=4)
    program = f"""
import pickle, numpy as np
batch = pickle.loads({pickle.dumps(batch)!r})
print(pickle.dumps(pickle.loads({pickle.dumps(aug)!r})(batch, step=0)).hex())
"""
    said, _ = python(program)
    assert_equal(pickle.loads(bytes.fromhex(said)), aug(batch, step=0))


# What it refuses.


@pytest.mark.parametrize(
    ("arguments", "parameters", "said"),
    [
        (("My Op", "px"), {}, "op must be a name of letters and digits, got 'My Op'"),
        (("1st", "px"), {}, "op must be a name"),
        ((3, "px"), {}, "op must be a name"),
        (("RandomInvert", "px"), {}, "op must be a name that no other transform has"),
        (("Mine", ""), {}, "expression must be C\\+\\+ in a string"),
        (("Mine", 0.5), {}, "expression must be C\\+\\+ in a string"),
        (("Mine", "px * k"), {}, "expression has 'k', which is not one of px, red"),
        (("Mine", "pixel"), {"k": 1}, "expression has 'pixel', which is not one of k, px"),
        (("Mine", "px"), {"k": 1}, "expression must use every parameter, and has no 'k'"),
        (("Mine", "px; px"), {}, "without ';': px; px"),
        (("Mine", "px.c"), {}, "without '.'"),
        (("Mine", "px // darker"), {}, "without '/'"),
        (("Mine", "px /* darker */"), {}, "without '/'"),
        (("Mine", "px[0]"), {}, "without '\\['"),
        (("Mine", "#px"), {}, "without '#'"),
        (("Mine", "px = 1"), {}, "without '='"),
        (("Mine", 'asm("nop")'), {}, "without '\"'"),
        (("Mine", "[]{ return px; }()"), {}, "without '\\['"),
        (("Mine", "px * sizeof(px)"), {}, "expression has 'sizeof'"),
        (("Mine", "px * __builtin_trap()"), {}, "expression has '__builtin_trap'"),
        (("Mine", "px * pх"), {}, "without 'х'"),  # a Cyrillic letter
        (("Mine", "px * u"), {"u": 1}, "a parameter must have a name that nothing else has, got 'u'"),
        (("Mine", "px * min"), {"min": 1}, "a name that nothing else has, got 'min'"),
        (("Mine", "px * clip"), {"clip": 1}, "a name that nothing else has, got 'clip'"),
        (("Mine", "px * double"), {"double": 1}, "a name that nothing else has, got 'double'"),
        (("Mine", "px * R"), {"R": 1}, "a C\\+\\+ name"),
        (("Mine", "px * _k"), {"_k": 1}, "a C\\+\\+ name, from a letter on, got '_k'"),
        (("Mine", "px * k"), {"k": (1, 0)}, "k must be \\(low, high\\), got \\(1, 0\\)"),
        (("Mine", "px * k"), {"k": (1, 2, 3)}, "k must be \\(low, high\\)"),
        (("Mine", "px"), {f"k{i}": 1 for i in range(31)}, "at most 30 parameters, got 31"),
    ],
)
def test_pixel_op_rejects_invalid_expressions(arguments, parameters, said):
    with pytest.raises(ValueError, match=f"^cuaug.PixelOp: .*{said}"):
        T.PixelOp(*arguments, **parameters)


def test_pixel_op_rejects_nonfinite_parameters():
    for value in (float("nan"), True, [1, float("inf")]):
        with pytest.raises(TypeError, match=r"^cuaug.PixelOp: k must be a finite number"):
            T.PixelOp("Mine", "px * k", k=value)


def test_pixel_op_takes_thirty_parameters():
    names = [f"k{i}" for i in range(user_ops.MAX_PARAMETERS)]
    values = {name: 2.0**-i for i, name in enumerate(names)}
    result = T.PixelOp("Sum", " + ".join(f"({i} + 1) * {name}" for i, name in enumerate(names)), **values)
    wanted = sum((i + 1) * value for i, value in enumerate(values.values()))
    np.testing.assert_allclose(result(np.zeros((1, 1, 1, 1), np.float64)).ravel(), [wanted], rtol=1e-12)


@pytest.mark.parametrize("name", ["red", "green", "blue", "rgb(u, u, u)", "luma(px)"])
def test_pixel_op_color_names_need_color_images(name):
    for count in (1, 2, 5):
        with pytest.raises(ValueError, match=f"Mine: images must have 3 or 4 channels for {name[:3]}.*, got {count}"):
            T.PixelOp("Mine", name)(noise((1, 4, 4, count)))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("px * (1 - k * r2", r"expected '\)'"),
        ("px * * k", r"no match for 'operator\*' \(operand type is 'number'\)"),
        ("px > k ? px : 1", r"a condition is one number, not a pixel: compare a channel, or write select"),
        ("px + sin(k, k)", r"no matching function for call to 'sin\(number, number\)'"),
        ("px + 2k", r"expected ';'"),
    ],
)
def test_pixel_op_compile_error_shows_line(expression, said):
    compiler = _compiler.compiler_command()[0]
    if "g++" not in compiler and "Free Software" not in _compiler._version(compiler):
        pytest.skip("the words are GCC's")
    aug = T.Compose([T.RandomInvert(), T.PixelOp("Fine", "1 - px"), T.PixelOp("Mine", expression, k=0.5)])
    with pytest.raises(ValueError, match=r"^cuaug.Compose: Mine does not compile:\n    ") as caught:
        aug(noise(SHAPE))
    _, line, *words = str(caught.value).split("\n    ")
    assert line == expression
    assert 1 <= len(words) <= 3
    assert re.search(said, words[0]), words


# The compiler, and what it made.

PROGRAM = """
import numpy as np
from cuaug import transforms as T
print(T.PixelOp("Raced", "px * k", k=0.5)(np.full((1, 2, 2, 1), 100, np.uint8)).ravel().tolist())
"""
HALVED = "[50, 50, 50, 50]"


def counting_compiler(folder):
    """A compiler that takes a note of each program that it compiles."""
    notes, script = folder / "compiled", folder / "compiler"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *op.cpp*) echo "$$" >> {notes};; esac\nexec {_compiler.compiler_command()[0]} "$@"\n'
    )
    script.chmod(0o755)
    return str(script), lambda: len(notes.read_text().split()) if notes.exists() else 0


def test_pixel_op_compiled_once_for_processes(tmp_path):
    script, count = counting_compiler(tmp_path)
    where = {"CXX": script, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        assert python(PROGRAM, **where)[0] == HALVED
        assert count() == 1
    assert python(PROGRAM.replace("px * k", "k * px"), **where)[0] == HALVED
    assert python(PROGRAM.replace("k=0.5", "k=(0.5, 0.5)"), **where)[0] == HALVED  # the text is the same
    assert count() == 2
    assert python(PROGRAM, **{**where, "CXX": f"{script} -O1"})[0] == HALVED
    assert count() == 3
    assert (tmp_path / "cache" / "cuaug").stat().st_mode & 0o777 == 0o700


def test_pixel_op_concurrent_processes_compile(tmp_path):
    script, count = counting_compiler(tmp_path)
    children = [started(PROGRAM, CXX=script, XDG_CACHE_HOME=str(tmp_path)) for _ in range(5)]
    assert [ended(child)[0] for child in children] == [HALVED] * 5
    assert count() >= 1
    (left,) = (tmp_path / "cuaug").iterdir()  # and no trace of those that came second
    assert left.suffix == ".so"


def test_pixel_op_threads_compile_once(tmp_path, monkeypatch):
    script, count = counting_compiler(tmp_path)
    monkeypatch.setenv("CXX", script)
    op, gate = T.PixelOp("Threads", "px * 0.125 + 0.5"), threading.Barrier(6)

    def call(_):
        aug = T.Compose([op], seed=0)
        gate.wait()
        return aug(noise(SHAPE, "float32"))

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(call, range(6)))
    assert count() == 1
    for result in results:
        assert_equal(result, noise(SHAPE, "float32") * np.float32(0.125) + np.float32(0.5), tolerance=EXACT)


def test_pixel_op_without_compiler_names_repair(tmp_path):
    program = PROGRAM.replace(
        "print(", "import pytest\nfrom cuaug import BackendError\nwith pytest.raises(BackendError) as e: ("
    )
    program += "print(e.value)"
    for surroundings, said in (
        ({"CXX": None, "PATH": str(tmp_path)}, "none is installed: apt install g++"),
        ({"CXX": "no-such-compiler -O2"}, "CXX names no-such-compiler, which does not exist"),
        ({"CXX": "false"}, "failed: set CXX to a C++17 compiler"),
    ):
        printed, _ = python(program, XDG_CACHE_HOME=str(tmp_path), **surroundings)
        assert said in printed, printed


def test_pixel_op_missing_compiler_breaks_nothing_else(tmp_path):
    program = """
import numpy as np
from cuaug import transforms as T
aug = T.Compose([T.RandomInvert(1.0), T.ColorJitter(contrast=(1, 1.01))])
T.PixelOp("Unused", "px")
print(aug(np.zeros((1, 2, 2, 3), np.uint8)).min())
"""
    assert python(program, PATH=str(tmp_path), CXX=None)[0] == "255"


@pytest.mark.parametrize("state", ["missing home", "a file", "open to others"])
def test_pixel_op_cache_folder_must_be_private(state, tmp_path):
    cache = tmp_path / "cache"
    if state == "a file":
        cache.write_text("")
    elif state == "open to others":
        (cache / "cuaug").mkdir(parents=True)
        (cache / "cuaug").chmod(0o777)
    where = "/proc/nothing" if state == "missing home" else str(cache)
    said, _ = python(PROGRAM, XDG_CACHE_HOME=where, TMPDIR=str(tmp_path))
    assert said == HALVED
    assert state != "open to others" or not list((cache / "cuaug").iterdir())
    assert not list(tmp_path.glob("cuaug-*"))  # the process's own is gone with it


def test_pixel_op_instruction_sets_agree(tmp_path):
    from cuaug import _native as native

    program = """
import sys, numpy as np
from cuaug import _native, transforms as T
_native.set_instruction_set(sys.argv[1])
x = np.linspace(0, 1, 2 * 40 * 50 * 3, dtype=np.float32).reshape(2, 40, 50, 3)
sys.stdout.buffer.write(T.PixelOp("Long", "pow(px, 1.5) * (1 - 0.3 * r2) + 0.1 * sin(20 * u)")(x).tobytes())
"""

    def child(isa):
        where = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-c", program, isa], capture_output=True, check=True, env=where).stdout

    first, *others = (np.frombuffer(child(isa), np.float32) for isa in native.instruction_sets())
    assert len(first) == 2 * 40 * 50 * 3
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-6)
    assert len(list((tmp_path / "cuaug").iterdir())) == len(native.instruction_sets())


def test_pixel_op_struct_has_named_parameters_only():
    op = user_ops.validated("Mine", "px * (1 - k2 * r2)", ["k2"])
    assert op.struct.startswith("Mine_")
    assert "scope.px()" in op.text
    assert "scope.r2()" in op.text
    assert "scope.x()" not in op.text
    assert "Number(1) - k2 * r2" in op.text
    other = user_ops.validated("Mine", "px * (1 - r2 * k2)", ["k2"])
    assert op.struct != other.struct


def test_pixel_op_error_names_the_failing_op():
    first, second = (user_ops.validated(name, "px", []) for name in ("First", "Second"))
    structs = [user_ops.register(op) for op in (first, second)]
    log = f'Chain<{first.struct}, {second.struct}>\n{second.struct}(1): error: identifier "k" is undefined\n'
    assert (
        str(user_ops.compile_error_for(structs, log))
        == 'Second does not compile:\n    px\n    identifier "k" is undefined'
    )
    assert user_ops.compile_error_for(structs, "cuaug/pointwise.cu(3): error: too deep") is None
    assert user_ops.compile_error_for([], log) is None
