"""`Lambda`, and functions of one argument in recipes that are called with several."""

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from helpers.compare import assert_equal

from cuaug import transforms as T

SHAPE = (4, 9, 11, 3)
LABELS = np.arange(SHAPE[0])


def halve(images):
    return images // 2


class Halve(T.Transform):
    def forward(self, images):
        return images // 2


def raise_type_error(images, labels):
    raise TypeError("of the user")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.Lambda(3), r"Lambda: lambd must be a function, got 3$"),
        (lambda: T.Lambda(halve, int, 3), r"Lambda: types must be types, got 3$"),
        (lambda: T.Lambda(halve).to_dict(), r"Lambda.to_dict: lambd is a function: "),
        (lambda: T.Compose([raise_type_error])(noise(SHAPE), labels=LABELS), "Compose: of the user$"),
    ],
)
def test_lambda_and_functions_say_what_is_wrong(call, message):
    with pytest.raises(TypeError, match=rf"^cuaug\.transforms\.{message}"):
        call()


@pytest.mark.parametrize("function", [halve, torch.nn.ReLU(), len], ids=["function", "module", "len"])
@pytest.mark.parametrize("targets", [{"labels": LABELS}, {"masks": noise(SHAPE[:3])}], ids=["labels", "masks"])
def test_function_of_one_argument_is_told_to_use_lambda(function, targets):
    (target,) = targets
    message = (
        rf"takes one argument, but gets all arguments of the call, here images, {target}: if it draws nothing, wrap"
    )
    with pytest.raises(TypeError, match=rf"^cuaug\.transforms\.Compose: \w+ {message} it in T.Lambda, which calls"):
        T.Compose([function])(noise(SHAPE), **targets)


def test_type_error_of_a_users_transform_is_its_own():
    """A random transform in a Lambda would draw for each target: the advice is for functions and torch's modules."""
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        T.Compose([Halve()])(noise(SHAPE), labels=LABELS)


@pytest.mark.parametrize("function", [halve, Halve()], ids=["function", "user"])
def test_lambda_wraps_a_function_of_the_images_in_a_call_with_labels(function):
    images, labels = T.Compose([T.Lambda(function)])(noise(SHAPE), labels=LABELS)
    assert_equal(images, noise(SHAPE) // 2)
    assert_equal(labels, LABELS)


@pytest.mark.parametrize(
    ("types", "text"),
    [((), ""), ((int, np.ndarray), ", int, numpy.ndarray"), ((int | str,), ", int | str")],
    ids=["all", "classes", "union"],
)
def test_lambda_prints_types_as_it_takes_them(types, text):
    transform = T.Lambda(abs, *types)
    assert repr(transform) == f"Lambda(<built-in function abs>{text})"
    same = eval(repr(transform).replace("<built-in function abs>", "abs"), {"Lambda": T.Lambda, "numpy": np})
    assert same.types == transform.types
