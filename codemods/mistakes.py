"""Flags by which somebody looks for a mistake, or lets the code say what it does: `self.debug`, `self.verbose`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis.given_constants import defaults
from compilefix.codemods.unpassed import is_off
from compilefix.source.definitions import Function
from compilefix.source.syntax import asks_for_something, last_name

_DEBUGS = re.compile(r"(^|_)debug(ging|_mode)?(_|$)|^(show|plot|visuali[sz]e)_|^visuali[sz]e$", re.I)
"""How flags and arguments are called that are given where somebody looks for a mistake, or at a result."""
_TIMES = re.compile(r"^(timing|timeit|profil(e|ing))$")
"""How flags are called that make code measure itself, told last as those that make it speak."""
_SPEAKS = re.compile(r"(^|_)verbose$", re.I)
"""How flags are called that make code say what it does: told last where they are off until somebody says otherwise."""


def looks_for_mistakes(branch: ast.If, block: list[ast.stmt], function: Function) -> bool:
    """Whether a block runs where somebody looks for a mistake: `if self.debug:`, `if debug_scale is not None:`.

    Not so where the flag is on until somebody says otherwise.
    """
    tests = branch.test.values if isinstance(branch.test, ast.BoolOp) else [branch.test]
    if len(tests) > 1 and (block is not branch.body or isinstance(branch.test.op, ast.Or)):  # type: ignore[attr-defined]
        return False
    taken = block is branch.body
    return any(
        asked is taken
        and (
            (_DEBUGS.search(_mode(part) or last_name(part)) is not None or _is_quiet(part, function))
            and not any(_is_on(part, value) for value in _first_values(part, function))
        )
        for part, asked in map(_flag_and_answer, tests)
    )


def _is_quiet(flag: ast.expr, function: Function) -> bool:
    """Whether a flag of the object, or an argument, makes the code say what it does, and is off if nobody sets it."""
    if not isinstance(flag, ast.Attribute | ast.Name) or not _asks_to_be_watched(last_name(flag)):
        return False
    if isinstance(flag, ast.Name) and not _is_left_off(flag.id, function):
        return False
    first = list(_first_values(flag, function))
    return bool(first) and all(isinstance(value, ast.Constant) and not value.value for value in first)


def _is_left_off(name: str, function: Function) -> bool:
    """Whether a name is an argument that keeps its default: it gets nothing else, and no call in the file sets it.

    An argument called `timing` or `profile` may be data, where its default is not False.
    """
    own = defaults(function)
    if name not in own or (_TIMES.search(name) is not None and not is_off(own[name])):
        return False
    if any(n.id == name and not isinstance(n.ctx, ast.Load) for n in function.of(ast.Name)):
        return False
    calls = (call for one in function.module.all_functions for call in one.of(ast.Call))
    passed = (keyword.value for call in calls for keyword in call.keywords if keyword.arg == name)
    return not any(isinstance(value, ast.Constant) and bool(value.value) for value in passed)


def _asks_to_be_watched(name: str) -> bool:
    return _SPEAKS.search(name) is not None or _TIMES.search(name) is not None


def _mode(test: ast.expr) -> str | None:
    """The mode that a test asks for by its name: `debug` of `self.mode == "debug"`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        mode = test.comparators[0]
        return mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None
    return None


def _is_on(test: ast.expr, value: ast.expr) -> bool:
    """Whether a flag that has a value lets a test be true; of a mode, that it asks for it."""
    mode = _mode(test)
    return isinstance(value, ast.Constant) and (value.value == mode if mode is not None else bool(value.value))


def _first_values(flag: ast.expr, function: Function) -> Iterator[ast.expr]:
    """What a flag is where nobody gives it another value: the default of a parameter, or what `__init__` stores."""
    if isinstance(flag, ast.Compare) and _mode(flag) is not None:
        flag = flag.left
    if isinstance(flag, ast.Name):
        default = defaults(function).get(flag.id)
        given = [default] if flag.id in function.bound else function.module.all_given(flag.id)
        yield from (value for value in given if value is not None)
    elif isinstance(flag, ast.Attribute) and function.cls is not None:
        init = function.cls.methods.get("__init__")
        for assign in init.of(ast.Assign) if init is not None else ():
            if init is not None and any(ast.unparse(target) == ast.unparse(flag) for target in assign.targets):
                default = defaults(init).get(assign.value.id) if isinstance(assign.value, ast.Name) else None
                yield default or assign.value


def _flag_and_answer(test: ast.expr) -> tuple[ast.expr, bool]:
    """What a test asks of, and whether it is true where that is given: `not x`, `x == False`, `x is not None`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        part, given = _flag_and_answer(test.operand)
        return part, not given
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        if asks_for_something(test):
            return test.left, True
        if isinstance(test.ops[0], ast.Eq | ast.Is) and isinstance(test.comparators[0].value, bool):
            return test.left, test.comparators[0].value
    return test, True
