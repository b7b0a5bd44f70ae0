"""Ops that users write as C++ expressions: checks of the text, the struct around it, and messages for compile errors.

Except for name expressions, this is the only C++ that Python formats. Everything else of such an op is in
kernels/ops/user_op.cuh.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .._value_text import value_text

# Names that an expression may use: members of `cuaug::ExpressionContext`, then functions of `cuaug::ExpressionValue`.
SCOPE = ("px", "red", "green", "blue", "x", "y", "u", "v", "r2", "width", "height", "pi", "rgb", "luma")
FUNCTIONS = (
    *("abs", "sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "round"),
    *("atan2", "pow", "min", "max", "clamp", "mod", "mix", "select"),
)
_ARGUMENT_COUNTS = {
    **dict.fromkeys((*FUNCTIONS, "luma"), 1),
    **dict.fromkeys(("atan2", "pow", "min", "max", "mod"), 2),
    **dict.fromkeys(("clamp", "mix", "select", "rgb"), 3),
}
COLOR_NAMES = {"red", "green", "blue", "rgb", "luma"}  # only images of three or four channels have these
MAX_PARAMETERS = 30  # `native::max_op_params` less the two of `cuaug::UserOp`
# Recipes may come from files. Of 256 tokens, GCC 12 compiles "px + px + ..." in 1.6 s, and "- - - ... px" in 3.5 s, the
# slowest of 19 kinds of expressions.
MAX_CHARACTERS = 1000
MAX_TOKENS = 256
MAX_PARENTHESES = 16  # inside each other
_MAX_FLOAT32 = (2 - 2**-23) * 2.0**127
MAX_NAME = 64  # characters; the op's name is part of a file's name
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>/(?![/*])|[-+*(),?:]|[<>]=?|[=!]=|&&|\|\||!))",
    re.ASCII,
)
_COMPARISONS = {**dict.fromkeys(("<", ">", "<=", ">="), "order"), "==": "equality", "!=": "equality"}
_RESERVED = {
    *("alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch"),
    *("char", "char16_t", "char32_t", "class", "compl", "const", "const_cast", "constexpr", "continue", "decltype"),
    *("default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false"),
    *("float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept"),
    *("not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register"),
    *("reinterpret_cast", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast"),
    *("struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid"),
    *("typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"),
    *("NULL", "linux", "unix"),  # macros of C, and of GCC
    "scope",  # the argument of `evaluate` below
    *("name", "op", "expression", "self", "apply", "clip"),  # names of the transform itself
}
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NAMES_IN_STRUCT = ("R", "K", "Number")
_REGISTRY: dict[str, UserOp] = {}


class UserOp(NamedTuple):
    """A checked expression and its parameters."""

    name: str
    expression: str
    parameters: tuple[str, ...]

    @property
    def struct_name(self) -> str:
        """The op's name with a digest of its expression: caches of compiled kernels have it as their key."""
        import hashlib  # loads OpenSSL, which `import cuaug` need not

        text = "\0".join((self.expression, *self.parameters))
        return f"{self.name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def param_count(self) -> int:
        """`sample_params` of `cuaug::UserOp`."""
        return 2 + len(self.parameters)

    @property
    def struct_text(self) -> str:
        """The C++ struct. `#line` lets compilers report the expression as line 1 of a file with the struct's name."""
        used_names = set(identifiers(self.expression))
        variables = [f"const auto {name} = scope.{name}();" for name in SCOPE if name in used_names]
        variables += [f"const auto {name} = this->parameter({i});" for i, name in enumerate(self.parameters)]
        line = "".join(
            _cpp_number(token["number"]) if token["number"] else token[0] for token in _tokens(self.expression)
        )
        struct, count = self.struct_name, len(self.parameters)
        return (
            '#include "ops/user_op.cuh"\n'
            "namespace cuaug {\n"
            f"template <class R, int K> struct {struct} : UserOp<R, K, {count}, {struct}<R, K>> {{\n"
            "using Number = ExpressionValue<R, 1>;\n"
            "ExpressionValue<R, K> evaluate(const ExpressionContext<R, K>& scope) const {\n"
            f"{' '.join(variables)} return\n"
            f'#line 1 "{struct}"\n{line}\n; }}\n}};\n}}\n'
        )


def make_user_op(name: Any, expression: Any, parameters: Sequence[str]) -> UserOp:
    """The op, with its names and tokens checked; a compiler finds the remaining errors of the expression."""
    if not isinstance(name, str) or len(name) > MAX_NAME or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name):
        raise ValueError(f"op must be a name of letters and digits, at most {MAX_NAME}, got {value_text(name)}")
    if not isinstance(expression, str) or not expression.strip():
        raise ValueError(f"expression must be C++ in a string, such as 'px * 0.5', got {value_text(expression)}")
    if len(expression) > MAX_CHARACTERS:
        raise ValueError(f"expression must have at most {MAX_CHARACTERS} characters, got {len(expression)}")
    if len(parameters) > MAX_PARAMETERS:
        raise ValueError(f"an op must have at most {MAX_PARAMETERS} parameters, got {len(parameters)}")
    expression = " ".join(expression.split())
    _check_tokens(expression)
    if re.search(r"\*\s*\*", expression):
        raise ValueError(
            f"expression must be C++, which has no **: write pow(px, 2) or px * px, got {value_text(expression)}"
        )
    for parameter in parameters:
        if len(parameter) > MAX_NAME:
            raise ValueError(
                f"a parameter must have a name of at most {MAX_NAME} characters, got {value_text(parameter)}"
            )
        if not _PARAMETER.fullmatch(parameter):
            raise ValueError(f"a parameter must have a C++ name that begins with a letter, got {value_text(parameter)}")
        if parameter in (*SCOPE, *FUNCTIONS, *_RESERVED, *_NAMES_IN_STRUCT):
            raise ValueError(f"a parameter must have a name that is not reserved, got {value_text(parameter)}")
    op = UserOp(name, expression, tuple(parameters))
    used_names = identifiers(op.expression)
    for name_used in used_names:
        if name_used not in (*SCOPE, *FUNCTIONS, *parameters):
            allowed = ", ".join((*parameters, *SCOPE, *FUNCTIONS))
            hint = f": pass {name_used}=... if it is a parameter" if _is_parameter_name(name_used) else ""
            raise ValueError(f"expression has {name_used!r}, which is not one of {allowed}{hint}")
    for parameter in parameters:
        if parameter not in used_names:
            raise ValueError(f"expression must use every parameter, and has no {parameter!r}: {op.expression}")
    _check_calls(op.expression)
    _check_commas_and_comparisons(op.expression)
    return op


def _cpp_number(literal: str) -> str:
    """The C++ of a decimal number: 1 / 2 is a half, 010 is ten, and 0.5 is not a double in float arithmetic."""
    return f" Number({literal if set('.eE') & set(literal) else literal + '.'})"


def _is_parameter_name(name: str) -> bool:
    return _PARAMETER.fullmatch(name) is not None and name not in (*_NAMES_IN_STRUCT, *_RESERVED)


def _check_tokens(expression: str) -> None:
    """Refuses long expressions, which compile slowly, numbers beyond float32, and unbalanced parentheses."""
    tokens = list(_tokens(expression))
    if len(tokens) > MAX_TOKENS:
        raise ValueError(f"expression must have at most {MAX_TOKENS} names, numbers and signs, got {len(tokens)}")
    for token in tokens:
        if token["number"] and float(token["number"]) > _MAX_FLOAT32:
            raise ValueError(f"expression must have finite float32 numbers, got {token['number']}")
    depths = _depths(token["sign"] or "" for token in tokens)
    if max(depths) > MAX_PARENTHESES:
        raise ValueError(
            f"expression must have at most {MAX_PARENTHESES} parentheses inside each other, got {max(depths)}"
        )
    if min(depths) < 0 or depths[-1]:
        raise ValueError(f"expression must have a ')' for each '(', got {expression!r}")


def _check_calls(expression: str) -> None:
    """Refuses calls with a wrong number of arguments, calls of what is not a function, and missing operators."""
    tokens = [token[0].strip() for token in _tokens(expression)]
    for index, name in enumerate(tokens):
        expected, count = _ARGUMENT_COUNTS.get(name), _argument_count(tokens[index + 1 :])
        if expected is not None and count != expected:
            arguments = "1 argument" if expected == 1 else f"{expected} arguments"
            got = "no parentheses" if count is None else count
            raise ValueError(f"expression must call {name} with {arguments}, got {got}: {expression}")
        if expected is None and count is not None and re.match(r"[A-Za-z]", name):
            raise ValueError(f"expression must not call {name}, which is not a function: {expression}")
    for left, right in itertools.pairwise(tokens):
        is_call = right == "(" and re.match(r"[A-Za-z]", left)
        if re.match(r"[\w.)]", left) and re.match(r"[\w.(]", right) and not is_call:
            raise ValueError(f"expression must have an operator between {left} and {right}: {expression}")


def _check_commas_and_comparisons(expression: str) -> None:
    """Refuses what C++ accepts with a meaning that nobody expects: commas outside of calls, and 0 < px < 1."""
    # For each open parenthesis: whether it is a call's, and the comparisons since the last sign that separates them.
    is_call, comparisons = [False], [set[str]()]
    previous_name = None
    for token in _tokens(expression):
        sign = token["sign"]
        if sign == "(":
            is_call.append(previous_name is not None)
            comparisons.append(set())
        elif sign == ")":
            is_call.pop()
            comparisons.pop()
        elif sign == "," and not is_call[-1]:
            raise ValueError(f"expression must have ',' only between the arguments of a function: {expression}")
        elif sign in (",", "&&", "||", "?", ":"):
            comparisons[-1].clear()
        elif sign in _COMPARISONS:
            if _COMPARISONS[sign] in comparisons[-1]:
                raise ValueError(
                    "expression must compare two values at a time, such as (0 < px) * (px < 1) in place of "
                    f"0 < px < 1: {expression}"
                )
            comparisons[-1].add(_COMPARISONS[sign])
            if _COMPARISONS[sign] == "equality":  # u < 1 == v < 1 compares two results
                comparisons[-1].discard("order")
        previous_name = token["name"]


def _argument_count(tokens: list[str]) -> int | None:
    """The number of arguments, if the tokens begin with a list of arguments in parentheses; else None."""
    if tokens[:1] != ["("]:
        return None
    depths = _depths(tokens)
    end = depths.index(0)
    commas = sum(token == "," and depth == 1 for token, depth in zip(tokens[:end], depths[:end], strict=True))
    return 0 if end == 1 else 1 + commas


def _depths(tokens: Iterable[str]) -> list[int]:
    """The number of open parentheses after each token."""
    return list(itertools.accumulate((token == "(") - (token == ")") for token in tokens))


def identifiers(expression: str) -> list[str]:
    """The names in an expression."""
    return [token["name"] for token in _tokens(expression) if token["name"]]


def _tokens(expression: str) -> Iterator[re.Match[str]]:
    """The tokens of an expression. Refuses all other text: recipes may come from files that nobody has checked."""
    position = 0
    while position < len(expression):
        token = _TOKEN.match(expression, position)
        if token is None:
            character = expression[position:].strip()[0]
            hint = ", use pow(px, 2) for powers" if character == "^" else ""
            raise ValueError(f"expression must be a C++ expression without {character!r}{hint}: {expression}")
        yield token
        position = token.end()


def register(op: UserOp) -> str:
    """Registers the op for `find`; returns the name of its struct."""
    _REGISTRY[op.struct_name] = op
    return op.struct_name


def find(struct: str) -> UserOp | None:
    return _REGISTRY.get(struct)


_ERROR = re.compile(r"^(?P<file>[^:(\n]+)(?::\d+:\d+|\(\d+\)): (?:fatal )?error(?: #[\w-]+)?: (?P<message>.*)$", re.M)
_VALUE_TYPE = re.compile(r"(?:const )?(?:[{(]anonymous[ a-z]*[)}]::)?(?:cuaug::)?ExpressionValue<\w+, (\d)>(?: ?&)?")
# In messages of GCC: the type `Number` of a struct, the lambda that functions such as `rgb` return, their namespace.
_NUMBER_TYPE = re.compile(r"(?:const )?{anonymous}::cuaug::\w+<\w+, \d>::Number ?&?")
_LAMBDA = re.compile(r"\(const {anonymous}::cuaug::ExpressionContext<\w+, \d>::(\w+)\(\) const::<lambda\([^)]*\)>\) ")
_NAMESPACE = "{anonymous}::cuaug::"
_STATIC_ASSERTION = re.compile(r'^static assertion failed(?: with|:)? "?(.*?)"?$')


def compile_error_for(structs: Iterable[str], log: str) -> ValueError | None:
    """The errors that a compiler's log reports in the expression of one of these ops; None if there are none."""
    # An error in an expression has its struct's name as the file name. For an error in a function that the expression
    # calls, NVRTC writes "at line 1 of" that name. Logs also name the structs of a chain as types.
    ops_with_errors = (_REGISTRY[s] for s in structs if s in _REGISTRY and re.search(rf"(?m)^{s}[:(]\d| of {s}$", log))
    op, errors = next(ops_with_errors, None), list(_ERROR.finditer(log))
    if op is None or not errors:
        return None
    expression_errors = [error for error in errors if error["file"] == op.struct_name] or errors
    lines = [f"{op.name} does not compile:", op.expression]
    messages = dict.fromkeys(_readable(error["message"]) for error in expression_errors)
    return ValueError("\n    ".join([*lines, *list(messages)[:3]]))


def _readable(message: str) -> str:
    """A compiler's message without the names of cuaug's types, which an expression does not have."""
    message = _NUMBER_TYPE.sub("number", _VALUE_TYPE.sub(_kind, message))
    return _STATIC_ASSERTION.sub(r"\1", _LAMBDA.sub(r"\1", message).replace(_NAMESPACE, ""))


def _kind(value_type: re.Match[str]) -> str:
    """What users call an `ExpressionValue`."""
    return "number" if value_type[1] == "1" else "pixel"
