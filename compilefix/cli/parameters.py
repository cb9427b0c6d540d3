"""Commands whose texts and paths are converted without pydantic.

Typer (0.29) imports pydantic to convert even what is not given. That takes as long as all of compilefix takes to start,
and the pre-commit hook starts for each commit (`benchmarks/hook.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup


class PlainCommand(TyperCommand):
    """A command whose parameters convert texts and paths themselves."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, that of `--help` too."""
        return _plain(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group whose parameters convert texts and paths themselves."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, that of `--help` too."""
        return _plain(super().get_params(ctx))


def _plain(parameters: Sequence[Any]) -> Sequence[Any]:
    for parameter in parameters:
        declared = getattr(parameter, "type_descriptor", None)
        # Where Typer does not say what a parameter is declared as it is older, and converts without pydantic.
        if declared is not None and not parameter.required and not isinstance(parameter.process_value, partial):
            convert = _CONVERSIONS.get(declared.annotation)
            parameter.process_value = partial(_processed, parameter, convert, parameter.process_value)
    return parameters


def _processed(
    parameter: Any, convert: Callable[[Any], object] | None, process: Callable[[Any, Any], object], ctx: Any, value: Any
) -> object:
    """The value of a parameter. What is given, and neither a text nor a path, is left to Typer (`process`)."""
    found: object
    if value is None:
        found = () if parameter.multiple or parameter.nargs == -1 else None
    elif value == parameter.default:
        found = value
    elif convert is not None:
        found = convert(value)
    else:
        return process(ctx, value)
    return found if parameter.callback is None else parameter.callback(ctx, parameter, found)


def _paths(values: Sequence[str]) -> list[Path]:
    return [Path(value) for value in values]


_CONVERSIONS: dict[object, Callable[[Any], object]] = {str: str, Path: Path, list[str]: list, list[Path]: _paths}
