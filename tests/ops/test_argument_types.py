"""Arguments of another type: every public function says which parameter is wrong, what the rule is, and what it got."""

import inspect
import itertools
import re

import numpy as np
import pytest
import torch
from tables.calls import ACCEPTS, CALLS, WITHOUT_NAMED_ARGUMENTS, function_of

import cuaug
from cuaug import io

WRONG = {"text": "a", "number in text": "1", "None": None, "empty list": [], "object": object()}
ARRAYS = {"numpy": np.full((5, 7, 9), -1.0), "torch": torch.full((5, 7, 9), -1.0), "one axis": np.full(30, -1.0)}
PUBLIC = {"": cuaug, "io.": io}


def test_every_public_function_has_a_call():
    functions = {
        prefix + name
        for prefix, module in PUBLIC.items()
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    assert functions == {name.partition(" ")[0] for name in CALLS} | WITHOUT_NAMED_ARGUMENTS
    for name, arguments in CALLS.items():
        parameters = inspect.signature(function_of(name)).parameters
        unnamed = set(parameters) - set(arguments)
        assert unnamed <= {"out", "device", "counts", "boxes", "masks", "keypoints", "titles"}, name


@pytest.mark.parametrize("name", CALLS)
def test_every_function_names_a_wrong_argument(name):
    function, arguments = function_of(name), CALLS[name]
    function(**arguments)
    for parameter, (kind, value) in itertools.product(arguments, WRONG.items()):
        try:
            function(**{**arguments, parameter: value})
        except FileNotFoundError:
            assert parameter == "data", parameter
            assert isinstance(value, str)  # a path
        except (TypeError, ValueError) as error:
            function_name, _, message = str(error).partition(": ")
            case = f"{parameter}={value!r}: {error}"
            assert function_name == f"cuaug.{name.partition(' ')[0]}", case
            assert re.search(rf"\b{parameter}\b", message), case
            assert "must" in message, case
            assert "got " in message, case
        else:
            default = inspect.signature(function).parameters[parameter].default
            is_valid = value is arguments[parameter] or default is value is None
            assert is_valid or (kind, name, parameter) in ACCEPTS, f"{parameter}={value!r} is accepted"


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name", CALLS)
def test_every_function_refuses_wrong_arrays_with_a_short_message(name, kind):
    """A message of hundreds of numbers hides its rule. Some of the arrays are accepted, such as angles per sample."""
    function, arguments = function_of(name), CALLS[name]
    for parameter in arguments:
        try:
            function(**{**arguments, parameter: ARRAYS[kind]})
        except (TypeError, ValueError) as error:
            message = str(error)
            assert message.startswith(f"cuaug.{name.partition(' ')[0]}: "), f"{parameter}: {message}"
            names_layout = parameter == "images" and "layout" in message
            names_parameter = "must" in message and re.search(rf"\b{parameter}\b", message)
            assert names_layout or names_parameter, f"{parameter}: {message}"
            assert len(message) <= 300, f"{parameter}: {message}"
