"""What a decorator of the project, or a `__call__` of the class, makes of a result is not what the function returns."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, differences, execute, observe, rewritten  # noqa: E402

HEAD = """
import copy
import functools
import json
import math

import numpy as np
import torch
from torch import Tensor, nn


def rounded(function):
    @functools.wraps(function)
    def wrapper(*args):
        return round(function(*args), 2)

    return wrapper


def written(function):
    def wrapper(*args):
        out = function(*args)
        out = json.dumps({"out": out})
        return out

    return wrapper


def listed(function):
    return lambda *args: [function(*args)]


def in_list(function):
    def wrapper(*args):
        return [function(*args)]

    return wrapper


def doubled(by):
    def decorate(function):
        def wrapper(*args):
            with torch.no_grad():
                result = function(*args)
            return torch.tensor(result) * by

        return wrapper

    return decorate


class Logged:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return {"result": self.function(*args)}


def plain(function):
    @functools.wraps(function)
    def wrapper(*args):
        result = None
        result = function(*args)
        return result

    return wrapper
"""
CHANGED = {
    "a rounded number": "@rounded\ndef f(x: Tensor):\n    return x.sum().item()\n",
    "a text": "@written\ndef f(x: Tensor):\n    return x.sum().item()\n",
    "a truth": "@written\ndef f(x: Tensor):\n    return x.sum().item() > 0\n",
    "a list of a tensor": """
@in_list
def more(x: Tensor):
    return x.detach() + 1

def f(x: Tensor):
    y = copy.deepcopy(more(x))
    y.append(2)
    return y
""",
    "a tensor of a size": """
@doubled(2)
def size(x: Tensor):
    return x.shape[0]

def f(x: Tensor):
    return x.new_zeros(int(np.ceil(size(x) / 2))), np.sqrt(size(x))
""",
    "an object that stands for the function": """
@Logged
def more(x: Tensor):
    return x.detach() + 1

def f(x: Tensor):
    return copy.deepcopy(more(x))["result"] * 1
""",
    "the class's own __call__": """
class Inner(nn.Module):
    def __call__(self, x):
        return [super().__call__(x)]

    def forward(self, x: Tensor):
        return x.detach() + 1

inner = Inner()

def f(x: Tensor):
    y = copy.deepcopy(inner(x))
    z = copy.deepcopy(Inner()(x))
    return y + z
""",
}
INPUTS = [(torch.tensor([1.25, 2.5, -3.0]),), (torch.tensor([0.5]),), (torch.zeros(0),)]


def _texts(text: str) -> tuple[str, str]:
    return HEAD + text, after(rewritten(Path("/nowhere/program.py"), HEAD + text, None), HEAD + text)


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_what_stands_round_a_function_makes_of_its_result(text: str) -> None:
    called = [execute(version, "program")["f"] for version in _texts(text)]
    assert not differences(*(observe(lambda f=f: (f, INPUTS), calls=1) for f in called))


def test_a_decorator_that_hands_the_result_on_hides_nothing() -> None:
    text = """
@plain
def size(x: Tensor):
    return x.shape[0]

def f(x: Tensor):
    return x.new_zeros(int(np.ceil(size(x) / 2)))
"""
    assert "x.new_zeros(math.ceil(size(x) / 2))" in _texts(text)[1]
