"""PixelOp: rejected expressions and parameters, and compile errors."""

import re

import numpy as np
import pytest
from helpers.arrays import noise
from helpers.compiler import require_compiler

from cuaug import transforms as T
from cuaug._host import compiler as compiler_module
from cuaug._program import user_ops

require_compiler()
SHAPE = (5, 17, 11, 3)


@pytest.mark.parametrize(
    ("arguments", "parameters", "message"),
    [
        (("My Op", "px"), {}, "op must be a name of letters and digits, at most 64, got 'My Op'"),
        (("1st", "px"), {}, "op must be a name"),
        ((3, "px"), {}, "op must be a name"),
        (("RandomInvert", "px"), {}, "op must be a name that no other transform has"),
        (("Mine", ""), {}, "expression must be C\\+\\+ in a string"),
        (("Mine", 0.5), {}, "expression must be C\\+\\+ in a string"),
        (("Mine", "px * k"), {}, "expression has 'k', which is not one of px, red.*: pass k=... if it is a parameter$"),
        (("Mine", "px**2"), {}, "C\\+\\+, which has no \\*\\*: write pow\\(px, 2\\) or px \\* px, got 'px\\*\\*2'"),
        (("Mine", "px * * 2"), {}, "which has no \\*\\*"),
        (("Mine", "px ^ 2"), {}, "without '\\^', use pow\\(px, 2\\) for powers: px \\^ 2"),
        (("Mine", "pixel"), {"k": 1}, "expression has 'pixel', which is not one of k, px"),
        (("Mine", "px"), {"k": 1}, "expression must use every parameter, and has no 'k'"),
        (("Mine", "px; px"), {}, "without ';': px; px"),
        (("Mine", "px.c"), {}, "without '\\.'"),
        (("Mine", "px // darker"), {}, "without '/'"),
        (("Mine", "px /* darker */"), {}, "without '/'"),
        (("Mine", "px[0]"), {}, "without '\\['"),
        (("Mine", "#px"), {}, "without '#'"),
        (("Mine", "px = 1"), {}, "without '='"),
        (("Mine", 'asm("nop")'), {}, "without '\"'"),
        (("Mine", "[]{ return px; }()"), {}, "without '\\['"),
        # Without the hint ": pass k=... if it is a parameter".
        (("Mine", "px * sizeof(px)"), {}, "expression has 'sizeof', [^:]*$"),
        (("Mine", "px * __builtin_trap()"), {}, "expression has '__builtin_trap', [^:]*$"),
        (("Mine", "px * pх"), {}, "without 'х'"),  # a Cyrillic letter
        (("Mine", "px * u"), {"u": 1}, "a parameter must have a name that is not reserved, got 'u'"),
        (("Mine", "px * min"), {"min": 1}, "a name that is not reserved, got 'min'"),
        (("Mine", "px * clip"), {"clip": 1}, "a name that is not reserved, got 'clip'"),
        (("Mine", "px * double"), {"double": 1}, "a name that is not reserved, got 'double'"),
        (("Mine", "px * R"), {"R": 1}, "a name that is not reserved, got 'R'"),
        (("Mine", "px * _k"), {"_k": 1}, "a C\\+\\+ name that begins with a letter, got '_k'"),
        (("Mine", "px * k"), {"k": (1, 0)}, "k must be \\(low, high\\), got \\(1, 0\\)"),
        (("Mine", "px * k"), {"k": (1, 2, 3)}, "k must be \\(low, high\\)"),
        (
            ("Mine", "px * k"),
            {"k": np.ones(8)},
            "k must be a number or \\(low, high\\), got an array of shape \\(8,\\)",
        ),
        (("Mine", "px * (1 - k"), {"k": 1}, "a '\\)' for each '\\(', got 'px \\* \\(1 - k'"),
        (("Mine", ")px * (u"), {}, "a '\\)' for each '\\('"),
        (("Mine", "luma(1, 2) + px"), {}, "call luma with 1 argument, got 2: luma\\(1, 2\\) \\+ px"),
        (("Mine", "px + sin(u, v)"), {}, "call sin with 1 argument, got 2"),
        (("Mine", "clamp(px, max(u, v))"), {}, "call clamp with 3 arguments, got 2"),
        (("Mine", "rgb(red, green, luma())"), {}, "call luma with 1 argument, got 0"),
        (("Mine", "luma + px"), {}, "call luma with 1 argument, got no parentheses: luma \\+ px"),
        (("Mine", "px * 0,5"), {}, "',' only between the arguments of a function: px \\* 0,5"),
        (("Mine", "min(px, (0.9, 0.1))"), {}, "',' only between the arguments of a function"),
        (("Mine", "0 < px < 0.2"), {}, "compare two values at a time, such as .*: 0 < px < 0.2"),
        (("Mine", "select((u >= 0.1 > v) * 1, px, 0)"), {}, "compare two values at a time"),
        (("Mine", "u == v == 1"), {}, "compare two values at a time"),
        (("Mine", "px * 1e400"), {}, "finite float32 numbers, got 1e400"),
        (("Mine", "px * 1e39"), {}, "finite float32 numbers, got 1e39"),
        (("Mine", "px + 2 px"), {}, "an operator between 2 and px: px \\+ 2 px"),
        (("Mine", "px + 1.5f"), {"f": 1}, "an operator between 1.5 and f"),
        (("Mine", "px * 1..2"), {}, "an operator between 1. and .2"),
        (("Mine", "(px) (1)"), {}, "an operator between \\) and \\("),
        (("Mine", "2(px)"), {}, "an operator between 2 and \\("),
        (("Mine", "px(1)"), {}, "must not call px, which is not a function"),
        (("Mine", "px * k (2)"), {"k": 1}, "must not call k, which is not a function"),
        (("Mine", "px"), {f"k{i}": 1 for i in range(31)}, "at most 30 parameters, got 31"),
    ],
)
def test_pixel_op_rejects_invalid_expressions(arguments, parameters, message):
    with pytest.raises(ValueError, match=f"^cuaug.transforms.PixelOp: .*{message}"):
        T.PixelOp(*arguments, **parameters)


def test_pixel_op_rejects_nonfinite_and_bool_parameters():
    for value in (float("nan"), True, [1, float("inf")]):
        with pytest.raises(TypeError, match=r"^cuaug.transforms.PixelOp: k must be a finite number"):
            T.PixelOp("Mine", "px * k", k=value)


def test_pixel_op_takes_thirty_parameters():
    names = [f"k{i}" for i in range(user_ops.MAX_PARAMETERS)]
    values = {name: 2.0**-i for i, name in enumerate(names)}
    result = T.PixelOp("Sum", " + ".join(f"({i} + 1) * {name}" for i, name in enumerate(names)), **values)
    expected = sum((i + 1) * value for i, value in enumerate(values.values()))
    np.testing.assert_allclose(result(np.zeros((1, 1, 1, 1), np.float64)).ravel(), [expected], rtol=1e-12)


@pytest.mark.parametrize("name", ["red", "green", "blue", "rgb(u, u, u)", "luma(px)"])
def test_pixel_op_color_names_need_color_images(name):
    for count in (1, 2, 5):
        with pytest.raises(ValueError, match=f"Mine: images must have 3 or 4 channels for {name[:3]}.*, got {count}"):
            T.PixelOp("Mine", name)(noise((1, 4, 4, count)))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("px + * k", r"no match for 'operator\*' \(operand type is 'number'\)"),
        ("px > k ? px : 1", r"a condition is one number, not a pixel: compare a channel, or write select"),
        ("rgb(px, 1, k)", r"^no match for call to 'rgb\(pixel, number, number\)'$"),
        ("px + k *", r"expected primary-expression"),
    ],
)
def test_pixel_op_compile_error_shows_line(expression, message):
    compiler = compiler_module.compiler_command()[0]
    if "Free Software Foundation" not in compiler_module._version(compiler):
        pytest.skip("the messages are GCC's")
    aug = T.Compose([T.RandomInvert(), T.PixelOp("Fine", "1 - px"), T.PixelOp("Mine", expression, k=0.5)])
    with pytest.raises(ValueError, match=r"^cuaug.transforms.Compose: Mine does not compile:\n    ") as caught:
        aug(noise(SHAPE))
    _, line, *messages = str(caught.value).split("\n    ")
    assert line == expression
    assert 1 <= len(messages) <= 3
    assert re.search(message, messages[0]), messages


def test_pixel_op_struct_computes_only_values_in_expression():
    op = user_ops.make_user_op("Mine", "px * (1 - k2 * r2)", ["k2"])
    assert op.struct_name.startswith("Mine_")
    assert "scope.px()" in op.struct_text
    assert "scope.r2()" in op.struct_text
    assert "scope.x()" not in op.struct_text
    assert "Number(1.) - k2 * r2" in op.struct_text
    other = user_ops.make_user_op("Mine", "px * (1 - r2 * k2)", ["k2"])
    assert op.struct_name != other.struct_name


def test_pixel_op_error_names_the_failing_op():
    first, second = (user_ops.make_user_op(name, "px", []) for name in ("First", "Second"))
    structs = [user_ops.register(op) for op in (first, second)]
    log = f'Chain<{", ".join(structs)}>\n{structs[1]}(1): error: identifier "k" is undefined\n'
    assert (
        str(user_ops.compile_error_for(structs, log))
        == 'Second does not compile:\n    px\n    identifier "k" is undefined'
    )
    assert user_ops.compile_error_for(structs, "cuaug/pointwise.cu(3): error: too deep") is None
    assert user_ops.compile_error_for([], log) is None


@pytest.mark.parametrize("expression", ["px * 0.5 ", "px *\t0.5\n", "\n  px * 0.5", "px\xa0* 0.5\xa0"])
def test_pixel_op_ignores_white_space(expression):
    assert T.PixelOp("half", expression).to_dict() == T.PixelOp("half", "px * 0.5").to_dict()


# The keywords and alternative tokens of C++17, in the order of the standard's tables, and the macro NULL.
KEYWORDS = """
    alignas alignof asm auto bool break case catch char char16_t char32_t class const constexpr const_cast continue
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    inline int long mutable namespace new noexcept nullptr operator private protected public register reinterpret_cast
    return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while
    and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq
    NULL
"""


def test_pixel_op_refuses_keywords_as_parameters():
    for word in KEYWORDS.split():
        with pytest.raises(ValueError, match=f"a name that is not reserved, got '{word}'"):
            T.PixelOp("Mine", f"px * {word}", **{word: 1})


@pytest.mark.parametrize(
    "expression",
    ["u < 0.5 && v < 0.5 ? 1 : 0", "u < 0.5 != v < 0.5", "max(u < 0.5, v < 0.5)", "u < 0.5 ? v < 0.5 : v > 0.5"],
)
def test_pixel_op_takes_several_comparisons(expression):
    assert T.PixelOp("Mine", expression).expression == expression
