"""Numbers that a class has under a name: known by the name of the class too, unless other code changes them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compilefix.analysis.infer import Inference
from compilefix.analysis.values import Kind, Value
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

_PROGRAM = """
import enum


class Base:
    LOW = -1


class Limits(Base):
    HIGH = 10 ** -3
    NAME = "limits"
    SHARED = 2
    COUNT = 0

    @classmethod
    def count(cls):
        cls.COUNT = cls.COUNT + 1


class Mode(enum.Enum):
    FAST = 1


def set_shared(value):
    Limits.SHARED = value


def read():
    return {expression}
"""


def _value(expression: str) -> Value:
    text = _PROGRAM.format(expression=expression)
    project = Project([SourceFile(Path("program.py"), "program", text, ast.parse(text))])
    function = project.modules["program"].functions["read"]
    returned = function.of(ast.Return)[0].value
    assert returned is not None
    return Inference(project).facts(function).value(returned)


@pytest.mark.parametrize("expression", ["Limits.HIGH", "Limits.LOW", "Limits.NAME", "Mode.FAST"])
def test_what_nobody_changes_is_fixed(expression: str) -> None:
    assert _value(expression).is_(Kind.STATIC)


@pytest.mark.parametrize("expression", ["Limits.SHARED", "Limits.COUNT", "Limits.OTHER"])
def test_what_other_code_changes_is_not(expression: str) -> None:
    assert not _value(expression).is_(Kind.STATIC)
