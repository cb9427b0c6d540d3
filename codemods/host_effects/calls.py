"""Which calls act on the host, and where they stand in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from compilefix.analysis.values import Kind
from compilefix.codemods.host_effects.once import LEVELS, named_like_a_logger, once_function
from compilefix.codemods.rule import Scope

HostKind = Literal["print", "log", "warn", "write"]
"""What a call does on the host: it prints, logs, warns, or writes to a file or a collector of metrics."""

_MORE_LEVELS = frozenset({"trace", "success", "log_first_n", "log_every_n", "log_if", "warn_once"})
_PRINTS = frozenset(
    {"print", "builtins.print", "pprint.pprint", "pprint.pp", "rich.print", "click.echo", "click.secho"}
)
_STREAMS = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")
_STREAM_METHODS = frozenset({"write", "writelines", "flush"})
_LOGGERS = ("logging.Logger", "logging", "loguru.logger", "absl.logging", "structlog")
_WRITE_FUNCTIONS = frozenset(
    {"wandb.log", "wandb.run.log", "mlflow.log_metric", "mlflow.log_metrics", "mlflow.log_param", "mlflow.log_params"}
)
_WRITER_METHODS = frozenset(
    {"add_scalar", "add_scalars", "add_histogram", "add_image", "add_images", "add_text", "add_figure", "add_video"}
)


_PASSES_ON = (ast.BoolOp, ast.IfExp, ast.List, ast.Tuple, ast.ListComp, ast.Await)
"""What a call stands in that nothing uses, in a statement of its own: `self.writer and self.writer.add_scalar(...)`."""


def kind_of(node: ast.Call, scope: Scope) -> HostKind | None:
    """What a call does on the host; None for every call that is not known to do nothing else."""
    callee = scope.facts.calls.get(node)
    if callee is not None:
        once = once_function(callee)
        return once if once is None or isinstance(scope.parents.get(node), ast.Expr) else None
    name = scope.callee(node) or ""
    owner, _, method = name.rpartition(".")
    if name in _PRINTS or (owner in _STREAMS and method in _STREAM_METHODS):
        return "print"
    if owner.startswith("tqdm.") and method == "write":
        return "print"
    if name == "warnings.warn":
        return "warn"
    if name in _WRITE_FUNCTIONS or (owner == "open" and method in _STREAM_METHODS):
        return "write"
    if owner in _LOGGERS:
        return "log" if _is_level(method) else None
    if not isinstance(node.func, ast.Attribute):
        return None
    return _kind_by_name(node, node.func, scope)


def _kind_by_name(node: ast.Call, func: ast.Attribute, scope: Scope) -> HostKind | None:
    """Loggers and writers of metrics of which only the names are known."""
    receiver = scope.value(func.value)
    if not receiver.is_unknown and not receiver.is_(Kind.OBJECT, Kind.NONE, Kind.CALLABLE):
        return None
    if func.attr in _WRITER_METHODS:
        # A writer gives nothing: `x = self.quantized.add_scalar(x, 3.0)` computes.
        return "write" if _is_alone(node, scope) else None
    return "log" if named_like_a_logger(func.value) and _is_level(func.attr) and func.attr != "log" else None


def _is_alone(node: ast.Call, scope: Scope) -> bool:
    """Whether nothing uses the result of a call that a writer may get; a `return` of one begins with a tag's text."""
    around = scope.parents.get(node)
    while isinstance(around, _PASSES_ON):
        around = scope.parents.get(around)
    if isinstance(around, ast.Return):
        tag = node.args[0] if node.args else None
        return isinstance(tag, ast.JoinedStr) or (isinstance(tag, ast.Constant) and isinstance(tag.value, str))
    return isinstance(around, ast.Expr | ast.Lambda) or around is None


def taken_by_name(node: ast.Call, scope: Scope) -> str | None:
    """What a call is taken for because of its name alone, in words; None where more is known."""
    owner = (scope.callee(node) or "").rpartition(".")[0]
    if scope.facts.calls.get(node) is not None or not isinstance(node.func, ast.Attribute):
        return None
    if owner in _LOGGERS or not _kind_by_name(node, node.func, scope):
        return None
    what = "a writer of metrics" if node.func.attr in _WRITER_METHODS else "a logger"
    return f"`{ast.unparse(node.func.value)}` is taken to be {what}, by its name"


def _is_level(method: str) -> bool:
    return method in LEVELS or method in _MORE_LEVELS or method == "exception" or method.endswith("_once")


def effects(scope: Scope, kind: HostKind) -> Iterator[ast.Call]:
    """The calls of one kind that the function itself makes; those in a lambda run when the lambda does.

    What an assert says is not said in a graph: where it fails there is none. None for a function that writes once: its
    calls are what is looked at.
    """
    if once_function(scope.function) is not None:
        return
    for node in scope.of(ast.Call):
        if kind_of(node, scope) != kind:
            continue
        if not any(isinstance(parent, ast.Lambda | ast.Assert) for parent in scope.ancestors(node)):
            yield node


def effect_around(node: ast.AST, scope: Scope) -> ast.Call | None:
    """The print, log line or warning whose arguments hold a node; None where the node is used otherwise."""
    found: ast.Call | None = None
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Lambda):
            return None
        if isinstance(parent, ast.Call) and kind_of(parent, scope) is not None:
            found = parent
        if isinstance(parent, ast.stmt):
            return found if isinstance(parent, ast.Expr) and parent.value is found else None
    return None


def calls_with(name: str, scope: Scope) -> list[ast.Call]:
    """The prints, log lines and warnings that show a local name."""
    return list(dict.fromkeys(call for load in scope.names(name) if (call := effect_around(load, scope)) is not None))
