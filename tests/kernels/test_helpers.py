"""The helpers of the compile tests: covering sets are complete, and planted errors and spills are reported."""

import itertools

import pytest
from helpers.nvrtc import compile_kernel, load_nvrtc
from tables import kernel_factors
from tables.kernel_factors import covering, is_possible


@pytest.fixture(scope="module")
def nvrtc():
    return load_nvrtc()


TABLES = [name for name in vars(kernel_factors) if name.endswith("_FACTORS")]


@pytest.mark.parametrize("table", TABLES)
def test_covering_set_holds_every_pair(table):
    """The test counts pairs itself: it shares only `is_possible` with the code that builds the set."""
    factors = getattr(kernel_factors, table)
    rows = [dict(zip(factors, row, strict=True)) for row in covering(factors)]
    assert all(is_possible(row) for row in rows)
    for f, g in itertools.combinations(factors, 2):
        present = {(row[f], row[g]) for row in rows}
        missing = [
            p for p in itertools.product(factors[f], factors[g]) if p not in present and is_possible({f: p[0], g: p[1]})
        ]
        assert not missing, (f, g, missing)


WARNS = "__global__ void planted(int* out) { int unused; out[0] = 1; }"
FAILS = "__global__ void planted(int* out) { out[0] = missing; }"
# 48 KiB and one int.
EXCEEDS_SHARED_MEMORY = (
    "__global__ void planted(int* out) { __shared__ int box[12289]; box[threadIdx.x] = *out; *out = box[0]; }"
)
SPILLS = """__global__ void __launch_bounds__(1024, 2) planted(float* out, int n) {
    float v[64];
    #pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = out[i * n];
    #pragma unroll 1
    for (int k = 0; k < n; ++k) {
        #pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = sqrtf(v[i]) * v[(i + 7) % 64];
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) out[i] = v[i];
}"""


@pytest.mark.parametrize(
    ("source", "message"),
    [(WARNS, "never referenced"), (FAILS, "undefined"), (EXCEEDS_SHARED_MEMORY, "planted on sm_90")],
)
def test_compile_kernel_raises_for_planted_warning_error_or_shared_memory(source, message, nvrtc):
    with pytest.raises(AssertionError, match=message):
        compile_kernel(nvrtc, source, "planted", 90, [])


def test_compile_kernel_counts_planted_spill(nvrtc):
    _, stores, loads, registers = compile_kernel(nvrtc, SPILLS, "planted", 90, [])
    assert stores + loads > 0
    assert registers == 32
