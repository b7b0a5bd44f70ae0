"""Users' own ops: checks of their text, the struct that it becomes, and what a compiler says of it.

The only C++ that Python formats. All else of such an op stands in kernels/ops/user_op.cuh.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

# What an expression may name: members of `cuaug::ExpressionContext`, then functions of `cuaug::ExpressionValue`.
SCOPE = ("px", "red", "green", "blue", "x", "y", "u", "v", "r2", "width", "height", "pi", "rgb", "luma")
FUNCTIONS = (
    *("abs", "sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "round"),
    *("atan2", "pow", "min", "max", "clamp", "mod", "mix", "select"),
)
COLOR_NAMES = {"red", "green", "blue", "rgb", "luma"}  # which only images of three channels or four have
MAX_PARAMETERS = 30  # native::most_user_fields, less two
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>/(?![/*])|[-+*(),?:]|[<>]=?|[=!]=|&&|\|\||!))",
    re.ASCII,
)
_RESERVED = {
    *(
        "alignas",
        "alignof",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "case",
        "catch",
        "char",
        "class",
        "compl",
        "const",
    ),
    *("constexpr", "decltype", "default", "delete", "do", "double", "enum", "explicit", "export", "extern", "false"),
    *("float", "friend", "goto", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "nullptr"),
    *("operator", "private", "protected", "public", "register", "short", "signed", "sizeof", "static", "struct"),
    *("switch", "template", "this", "throw", "true", "typedef", "typeid", "typename", "union", "unsigned", "using"),
    *("virtual", "void", "volatile", "xor", "scope", "linux", "unix"),
    *("name", "op", "expression", "self", "apply", "clip"),  # of the transform's own
}
_REGISTRY: dict[str, UserOp] = {}


class UserOp(NamedTuple):
    """An expression of its parameters, in words that were checked."""

    name: str
    expression: str
    parameters: tuple[str, ...]

    @property
    def struct(self) -> str:
        """Its name in C++, which stands for the text too: compiled kernels are looked up by it."""
        said = "\0".join((self.expression, *self.parameters))
        return f"{self.name}_{hashlib.sha256(said.encode()).hexdigest()[:16]}"

    @property
    def fields(self) -> int:
        """Numbers that `cuaug::UserOp` takes."""
        return 2 + len(self.parameters)

    @property
    def text(self) -> str:
        """The struct. A compiler calls the line of the expression line 1 of a file that has the struct's name."""
        named = set(identifiers(self.expression))
        own = [f"const auto {name} = scope.{name}();" for name in SCOPE if name in named]
        own += [f"const auto {name} = this->parameter({i});" for i, name in enumerate(self.parameters)]
        # Every number is real: 1 / 2 is a half, and 0.5 no double among floats.
        line = "".join(f"Number({token[0]})" if token["number"] else token[0] for token in _tokens(self.expression))
        struct, count = self.struct, len(self.parameters)
        return (
            '#include "ops/user_op.cuh"\n'
            "namespace cuaug {\n"
            f"template <class R, int K> struct {struct} : UserOp<R, K, {count}, {struct}<R, K>> {{\n"
            "using Number = ExpressionValue<R, 1>;\n"
            f"ExpressionValue<R, K> evaluate(const ExpressionContext<R, K>& scope) const {{\n{' '.join(own)} return\n"
            f'#line 1 "{struct}"\n{line}\n; }}\n}};\n}}\n'
        )


def validated(name: Any, expression: Any, parameters: Sequence[str]) -> UserOp:
    """The op, if all of it is well-formed: what else may be wrong with the expression a compiler says."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name):
        raise ValueError(f"op must be a name of letters and digits, got {name!r}")
    if not isinstance(expression, str) or not expression.strip():
        raise ValueError(f"expression must be C++ in a string, such as 'px * 0.5', got {expression!r}")
    if len(parameters) > MAX_PARAMETERS:
        raise ValueError(f"an op must have at most {MAX_PARAMETERS} parameters, got {len(parameters)}")
    for parameter in parameters:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", parameter) or parameter in ("R", "K", "Number"):
            raise ValueError(f"a parameter must have a C++ name, from a letter on, got {parameter!r}")
        if parameter in (*SCOPE, *FUNCTIONS, *_RESERVED):
            raise ValueError(f"a parameter must have a name that nothing else has, got {parameter!r}")
    op = UserOp(name, " ".join(expression.split()), tuple(parameters))
    named = identifiers(op.expression)
    for word in named:
        if word not in (*SCOPE, *FUNCTIONS, *parameters):
            known = ", ".join((*parameters, *SCOPE, *FUNCTIONS))
            raise ValueError(f"expression has {word!r}, which is not one of {known}")
    for parameter in parameters:
        if parameter not in named:
            raise ValueError(f"expression must use every parameter, and has no {parameter!r}: {op.expression}")
    return op


def identifiers(expression: str) -> list[str]:
    """What an expression names."""
    return [token["name"] for token in _tokens(expression) if token["name"]]


def _tokens(expression: str) -> Iterator[re.Match[str]]:
    """A recipe may come from a file: an expression can say no more than these let it, and what names are known."""
    place = 0
    while place < len(expression):
        token = _TOKEN.match(expression, place)
        if token is None:
            character = expression[place:].strip()[0]
            raise ValueError(f"expression must be a C++ expression without {character!r}: {expression}")
        yield token
        place = token.end()


def register(op: UserOp) -> str:
    """Makes the op known by its struct's name, which is returned."""
    _REGISTRY[op.struct] = op
    return op.struct


def find(struct: str) -> UserOp | None:
    return _REGISTRY.get(struct)


_ERROR = re.compile(r"^(?P<file>[^:(\n]+)(?::\d+:\d+|\(\d+\)): (?:fatal )?error(?: #[\w-]+)?: (?P<said>.*)$", re.M)
_VALUE = re.compile(r"(?:const )?(?:[{(]anonymous[ a-z]*[)}]::)?(?:cuaug::)?ExpressionValue<\w+, (\d)>(?: ?&)?")
_ASSERTED = re.compile(r'^static assertion failed(?: with|:)? "?(.*?)"?$')


def compile_error_for(structs: Iterable[str], log: str) -> ValueError | None:
    """What a compiler's log says of the expression of one of these ops; None if it is about none of them."""
    # As a file: logs name all ops of a chain as types too.
    blamed = (_REGISTRY[s] for s in structs if s in _REGISTRY and re.search(rf"(?m)^{s}[:(]\d| of {s}$", log))
    op, errors = next(blamed, None), list(_ERROR.finditer(log))
    if op is None or not errors:
        return None
    own = [error for error in errors if error["file"] == op.struct] or errors
    lines = [f"{op.name} does not compile:", op.expression]
    said = dict.fromkeys(_ASSERTED.sub(r"\1", _VALUE.sub(_word, error["said"])) for error in own)
    return ValueError("\n    ".join([*lines, *list(said)[:3]]))


def _word(value: re.Match[str]) -> str:
    return "number" if value[1] == "1" else "pixel"
