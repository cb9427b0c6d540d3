"""What a call is given, as it stands in the lambda that carries it out."""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.host_effects.calls import HostKind
from compilefix.codemods.host_effects.late import NUMERIC, conversions, inlined, late
from compilefix.codemods.host_effects.plan import Plan, Refused, bind, capture, is_global
from compilefix.codemods.kept_attributes import only_init_sets
from compilefix.source.syntax import last_name

_POSITIONAL_STACKLEVEL = 2
"""Where `warnings.warn` takes `stacklevel` without its name."""


def receiver_text(func: ast.expr, plan: Plan) -> str:
    """What is called: a name of the module stays, a logger of the function is passed on, or the object that has it.

    PyTorch before 2.12 breaks the graph where it must tell the type of a logger, and the helper asks for those of what
    is passed on as a value (tried with 2.6, 2.8, 2.11, 2.12 and 2.13): a logger is the default of a parameter.
    """
    if not isinstance(func, ast.Attribute):
        return _called(func, plan)
    logger = func.value
    if isinstance(logger, ast.Attribute) and _is_kept_logger(logger, plan):
        return f"{capture(logger.value, plan, checked=False)}.{logger.attr}.{func.attr}"
    return f"{_called(logger, plan)}.{func.attr}"


def _called(node: ast.expr, plan: Plan) -> str:
    text = inlined(node, plan)
    if text is not None:
        return text
    return bind(node, plan) if _is_logger(node, plan) else capture(node, plan, checked=False)


def _is_logger(node: ast.expr, plan: Plan) -> bool:
    """Whether an expression is a logger or a method of one, as far as its type or its name shows."""
    value = plan.scope.value(node)
    name = last_name(node)
    return (value.ref or "").startswith("logging.Logger") or (value.is_unknown and "log" in name.lower())


def _is_kept_logger(node: ast.Attribute, plan: Plan) -> bool:
    """A logger that an object has from its `__init__` on, as far as the file shows."""
    return _is_logger(node, plan) and only_init_sets(node, plan.scope.function)


def arguments(call: ast.Call, kind: HostKind | None, plan: Plan) -> list[str]:
    """All arguments of a call.

    Raises:
        Refused: one of them cannot be carried to the boundary.
    """
    given = call.args
    if kind == "warn" and len(given) > _POSITIONAL_STACKLEVEL:
        if len(given) > _POSITIONAL_STACKLEVEL + 1 or any(isinstance(a, ast.Starred) for a in given):
            raise Refused("`source` ties the warning to an object")
        _check_stacklevel(given[_POSITIONAL_STACKLEVEL], plan)
        given = given[:_POSITIONAL_STACKLEVEL]
    found = _log_arguments(call, plan) if kind == "log" else [argument(a, plan, raw=kind != "write") for a in given]
    named = (keyword_argument(k, kind, plan) for k in call.keywords)
    return found + [text for text in named if text is not None]


def argument(node: ast.expr, plan: Plan, *, raw: bool) -> str:
    """An argument without a name; `raw` says that it is shown by `str` or `repr`."""
    if isinstance(node, ast.Starred):
        if not plan.scope.value(node.value).is_(Kind.CONTAINER) and not _is_rest(node.value, plan):
            raise Refused(f"`{ast.unparse(node)}` is not known to be a list or tuple")
        return "*" + late(node.value, plan, raw=raw)
    return late(node, plan, raw=raw)


def _is_rest(node: ast.expr, plan: Plan, *, by_name: bool = False) -> bool:
    """Whether an expression is what the function is given by `*args`, or by `**options`, as it was given."""
    given = plan.scope.function.node.args
    rest = given.kwarg if by_name else given.vararg
    named = isinstance(node, ast.Name) and rest is not None and node.id == rest.arg
    return named and not plan.scope.names(node.id, stores=True)  # type: ignore[attr-defined]


def keyword_argument(node: ast.keyword, kind: HostKind | None, plan: Plan) -> str | None:
    """An argument with a name; None for one that is left out."""
    if node.arg is None:
        if not _is_rest(node.value, plan, by_name=True):
            raise Refused(f"`**{ast.unparse(node.value)}` cannot be judged")
        plan.reasons.append(f"`**{ast.unparse(node.value)}` is taken to hold no `exc_info`, `stacklevel` or `file`")
        return "**" + late(node.value, plan, raw=True)
    if (
        kind == "log"
        and node.arg in ("exc_info", "stack_info")
        and not (isinstance(node.value, ast.Constant) and not node.value.value)
    ):
        raise Refused(f"`{node.arg}` shows where the program is, which is elsewhere at the boundary")
    if node.arg == "stacklevel" and kind in ("log", "warn") and not is_one(node.value):
        _check_stacklevel(node.value, plan)
        return None
    if node.arg == "source" and kind == "warn":
        raise Refused("`source` ties the warning to an object")
    if node.arg == "file" and not isinstance(node.value, ast.Constant) and not is_global(node.value, plan.scope):
        raise Refused(f"`{ast.unparse(node.value)}` is not known to be `sys.stdout` or `sys.stderr`")
    return f"{node.arg}={late(node.value, plan, raw=node.arg not in ('file', 'flush', 'sep', 'end'))}"


def levels(call: ast.Call, name: str | None) -> list[ast.expr]:
    """What a call gives as the `stacklevel` of a line."""
    given = call.args[_POSITIONAL_STACKLEVEL : _POSITIONAL_STACKLEVEL + 1] if name == "warnings.warn" else []
    return [*given, *(keyword.value for keyword in call.keywords if keyword.arg == "stacklevel")]


def is_one(node: ast.expr) -> bool:
    """Whether a `stacklevel` is that of the line itself."""
    return isinstance(node, ast.Constant) and node.value == 1


def _check_stacklevel(node: ast.expr, plan: Plan) -> None:
    """A `stacklevel` is left out: the frames that it counts are gone at the boundary."""
    if is_one(node):
        return
    if not isinstance(node, ast.Constant | ast.Name | ast.Attribute):
        raise Refused("`stacklevel` names a caller, which is gone at the boundary")
    plan.assume("caller-place", "`stacklevel` names a caller, which is gone at the boundary")


def _log_arguments(call: ast.Call, plan: Plan) -> list[str]:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "exception":
        raise Refused("`exception` shows the exception that is being handled, which is gone at the boundary")
    first = 1 if isinstance(call.func, ast.Attribute) and call.func.attr == "log" else 0
    found = [argument(a, plan, raw=True) for a in call.args[: first + 1]]
    values = call.args[first + 1 :]
    message = call.args[first] if len(call.args) > first else None
    types = conversions(message, len(values))
    return found + [argument(a, plan, raw=t not in NUMERIC) for a, t in zip(values, types, strict=True)]
