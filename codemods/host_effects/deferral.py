"""Turning a print or a log line into one that is carried out at the compile boundary.

`print(x.norm().item())` becomes `emit(lambda x_norm: print(x_norm.item()), x.norm())`: what the call needs from the
function is computed where it stood and passed on, and the text is made when the call is carried out. Reading a tensor's
value goes into the lambda, so that nothing waits for the device inside the graph.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.rule import Scope
from compilefix.source.index import Function, Module, Project
from compilefix.source.snippets import snippet

_READS = frozenset({"item", "tolist"})
_TO_HOST = frozenset({"cpu", "numpy"})
_CASTS = frozenset({"float", "int", "bool"})
_LATE_BUILTINS = frozenset(
    {"round", "str", "repr", "abs", "min", "max", "len", "sum", "format", "list", "tuple", "sorted", *_CASTS}
)
_FRESH = frozenset(
    {
        "mean",
        "sum",
        "norm",
        "max",
        "min",
        "abs",
        "exp",
        "log",
        "sqrt",
        "std",
        "var",
        "any",
        "all",
        "pow",
        "amax",
        "amin",
        "prod",
    }
)
_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "fatal", "log"})
_NUMERIC = frozenset("diouxXeEfFgG")
_LITERAL = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)
_CONVERSION = re.compile(
    r"%(?:\((?P<key>\w+)\))?[#0\- +]*(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+))?[hlL]?(?P<type>[a-zA-Z%])"
)
_REDIRECTS = ("redirect_stdout", "redirect_stderr", "catch_warnings")


class Refused(Exception):
    """The call cannot be moved to the boundary; the text says why."""


@dataclass
class _Plan:
    """One call on its way into a lambda: what is passed to it, and what is taken on trust."""

    scope: Scope
    captured: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    reads: dict[str, ast.expr] = field(default_factory=dict)
    inlined: set[str] = field(default_factory=set)
    lenient: bool = False
    gradient_texts: list[str] = field(default_factory=list)


def kind_of(node: ast.Call, scope: Scope) -> str | None:
    """What a call does on the host: `print`, `log` or `warn`; None for every other call."""
    name = scope.callee(node) or ""
    if name == "print":
        return "print"
    if name == "warnings.warn":
        return "warn"
    owner, _, method = name.rpartition(".")
    if owner in ("logging.Logger", "logging") and (
        method in _LEVELS or method == "exception" or method.endswith("_once")
    ):
        return "log"
    return None


def effects(scope: Scope, kind: str) -> Iterator[ast.Call]:
    """The calls of one kind that the function itself makes; those in a lambda run when the lambda does."""
    for node in scope.of(ast.Call):
        if kind_of(node, scope) != kind:
            continue
        if not any(isinstance(parent, ast.Lambda) for parent in scope.ancestors(node)):
            yield node


def where_to_wrap(scope: Scope) -> str:
    """What the user has to add for the boundary to be there, as the end of a message; empty where the fix adds it."""
    root = scope.compiled.reached_by[0]
    if root.startswith(("torch.compile(", "@torch.compile")):
        return ""
    if root.endswith(".compile()"):
        return f"; with the fix, add `boundary({root.removesuffix('.compile()')})` after `{root}`"
    return "; with the fix, wrap the compiled callable: `boundary(torch.compile(...))`"


def deferred(call: ast.Call, scope: Scope) -> Fix:
    """The fix that moves a call to the boundary, with the calls that share a number read from a tensor with it.

    Raises:
        Refused: a part of the call cannot be moved.
    """
    _check_function(scope)
    calls, texts = [call], {}
    edits: list[Edit] = []
    reasons = ["the text appears when the compiled call returns"]
    reads: dict[str, ast.expr] = {}
    for item in calls:
        plan = _Plan(scope)
        texts[item] = _emitted(item, plan)
        reasons.extend(plan.reasons)
        related = _calls_under(guard, scope) if (guard := level_guard(item, scope)) is not None else []
        for name, read in plan.reads.items():
            reads[name] = read
            related += _calls_with(name, scope)
        calls.extend(other for other in dict.fromkeys(related) if other not in calls)
    for item, text in texts.items():
        guard = level_guard(item, scope)
        if guard is None:
            edits.append(_edit(item, text, scope))
        elif item is _calls_under(guard, scope)[0]:
            edits.append(scope.edit(guard, _escaped("\n".join(texts[other] for other in _calls_under(guard, scope)))))
    for read in reads.values():
        edits.append(scope.edit(read, _escaped(_kept(read, scope))))
    reasons.extend(
        f"`{call}` is taken not to run this function: under it, a line appears once instead of twice"
        for call in scope.legality.checkpoints.unresolved
    )
    return Fix(tuple(edits), (), ("log-late",), tuple(dict.fromkeys(reasons)), boundary=True)


def deferred_raise(statement: ast.Raise | ast.Assert, failed: str, scope: Scope) -> tuple[str, list[str]]:
    """Code that raises at the boundary what a statement raises, where the code `failed` gives a true tensor.

    The second part says which tensors in the exception's text would lose what it shows of their gradient.

    Raises:
        Refused: a part of the exception cannot be made later.
    """
    _check_function(scope)
    exception = statement.exc if isinstance(statement, ast.Raise) else None
    if isinstance(statement, ast.Raise) and (exception is None or statement.cause is not None):
        raise Refused("`raise ... from` and a bare `raise` name another exception")
    for parent in scope.ancestors(statement):
        if isinstance(parent, ast.Try) and parent.handlers:
            raise Refused("a handler in the function may catch the exception")
    plan = _Plan(scope, lenient=True)
    if isinstance(statement, ast.Assert):
        body = f"AssertionError({_argument(statement.msg, plan, raw=True) if statement.msg is not None else ''})"
    elif isinstance(exception, ast.Call):
        function = _function(exception.func, plan)
        arguments = [_argument(a, plan, raw=True) for a in exception.args]
        arguments += [_keyword(k, None, plan) for k in exception.keywords]
        body = f"{function}({', '.join(arguments)})"
    else:
        assert exception is not None
        body = _inline_or_captured(exception, plan)
    head = f"lambda {', '.join(plan.captured.values())}: " if plan.captured else "lambda: "
    code = f"emit({', '.join([_escaped(head + body), *map(_escaped, plan.captured)])}, raise_if={failed})"
    return code, plan.gradient_texts


def level_guard(node: ast.AST, scope: Scope) -> ast.If | None:
    """The `if logger.isEnabledFor(logging.DEBUG):` around log lines that ask for nothing else themselves.

    The test is not needed where all that it guards are lines of the same logger and level, without side effects.
    """
    guard = next((parent for parent in scope.ancestors(node) if isinstance(parent, ast.If)), None)
    if (
        guard is None
        or guard.orelse
        or not isinstance(guard.test, ast.Call)
        or not isinstance(guard.test.func, ast.Attribute)
    ):
        return None
    test = guard.test
    if (
        scope.callee(test) != "logging.Logger.isEnabledFor"
        or len(test.args) != 1
        or isinstance(scope.parents.get(guard), ast.If)
    ):
        return None
    level = (scope.function.module.qualified(test.args[0]) or "").removeprefix("logging.").lower()
    calls = _calls_under(guard, scope)
    if level not in _LEVELS or len(calls) != len(guard.body):
        return None
    for call in calls:
        if (
            not isinstance(call.func, ast.Attribute)
            or call.func.attr != level
            or ast.dump(call.func.value) != ast.dump(guard.test.func.value)
        ):
            return None
        for argument in (*call.args, *(k.value for k in call.keywords)):
            does = scope.legality.effects.of(_read_of(argument, scope) or argument, scope.facts)
            if does.mutates or does.random or does.raises or does.unknown:
                return None
    return guard


def _calls_under(guard: ast.If, scope: Scope) -> list[ast.Call]:
    return [
        s.value
        for s in guard.body
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and kind_of(s.value, scope) == "log"
    ]


def _check_function(scope: Scope) -> None:
    function = scope.function
    project = scope.legality.inference.project
    if function.cls is not None and project.is_autograd_function(function.cls):
        raise Refused("the function is a custom derivative, which must not leave anything behind outside its results")
    if function in scope.legality.checkpoints.functions:
        raise Refused(
            "the function runs under `torch.utils.checkpoint`, which runs it, and prints, again in the backward pass"
        )
    module = function.module
    if _binds_emit(module, function) or (
        "emit" in module.imports and not _is_helper(module.imports["emit"], module, project)
    ):
        raise Refused("the file uses the name `emit` for something else")


def _binds_emit(module: Module, function: Function) -> bool:
    if "emit" in module.functions or "emit" in module.classes or "emit" in module.assigns:
        return True
    names = {n.id for n in ast.walk(function.node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return "emit" in names | {a.arg for a in ast.walk(function.node) if isinstance(a, ast.arg)}


def _is_helper(imported: str, module: Module, project: Project) -> bool:
    """Whether an imported `emit` is that of a helper module that an earlier run wrote."""
    source = project.modules.get(imported.rpartition(".")[0])
    return (
        "boundary" in imported
        or "emit(lambda" in module.file.text
        or (source is not None and "HELPER_VERSION" in source.file.text)
    )


# -- one call


def _emitted(call: ast.Call, plan: _Plan) -> str:
    scope = plan.scope
    if not isinstance(scope.parents.get(call), ast.Expr):
        raise Refused("the result of the call is used")
    for parent in scope.ancestors(call):
        if isinstance(parent, ast.With) and any(
            name in ast.unparse(item.context_expr) for item in parent.items for name in _REDIRECTS
        ):
            raise Refused("a `with` block around the call redirects it")
    for part in ast.walk(call):
        if isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise Refused(f"an argument does more than give a value: `{ast.unparse(part)}`")
    kind = kind_of(call, scope)
    function = _function(call.func, plan)
    arguments = _log_arguments(call, plan) if kind == "log" else [_argument(a, plan, raw=True) for a in call.args]
    arguments += [_keyword(k, kind, plan) for k in call.keywords]
    body = f"{function}({', '.join(arguments)})"
    head = f"lambda {', '.join(plan.captured.values())}: " if plan.captured else "lambda: "
    return f"emit({', '.join([head + body, *plan.captured])})"


def _function(func: ast.expr, plan: _Plan) -> str:
    """What is called: a name of the module stays, a logger of the object or of the function is passed on."""
    if isinstance(func, ast.Attribute):
        return f"{_inline_or_captured(func.value, plan)}.{func.attr}"
    return _inline_or_captured(func, plan)


def _inline_or_captured(node: ast.expr, plan: _Plan) -> str:
    if _is_global(node, plan.scope):
        plan.inlined.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return _source(node, plan.scope)
    return _capture(node, plan, checked=False)


def _argument(node: ast.expr, plan: _Plan, *, raw: bool) -> str:
    if isinstance(node, ast.Starred):
        if not plan.scope.value(node.value).is_(Kind.CONTAINER):
            raise Refused(f"`{ast.unparse(node)}` is not known to be a list or tuple")
        return "*" + _late(node.value, plan, raw=raw)
    return _late(node, plan, raw=raw)


def _keyword(node: ast.keyword, kind: str | None, plan: _Plan) -> str:
    if node.arg is None:
        raise Refused(f"`**{ast.unparse(node.value)}` cannot be judged")
    if (
        kind == "log"
        and node.arg in ("exc_info", "stack_info")
        and not (isinstance(node.value, ast.Constant) and not node.value.value)
    ):
        raise Refused(f"`{node.arg}` shows where the program is, which is elsewhere at the boundary")
    if node.arg == "stacklevel" and not (isinstance(node.value, ast.Constant) and node.value.value == 1):
        raise Refused("`stacklevel` names a caller, which is gone at the boundary")
    if node.arg == "source":
        raise Refused("`source` ties the warning to an object")
    if node.arg == "file" and not isinstance(node.value, ast.Constant) and not _is_global(node.value, plan.scope):
        raise Refused(f"`{ast.unparse(node.value)}` is not known to be `sys.stdout` or `sys.stderr`")
    return f"{node.arg}={_late(node.value, plan, raw=node.arg not in ('file', 'flush', 'sep', 'end'))}"


def _log_arguments(call: ast.Call, plan: _Plan) -> list[str]:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "exception":
        raise Refused("`exception` shows the exception that is being handled, which is gone at the boundary")
    first = 1 if isinstance(call.func, ast.Attribute) and call.func.attr == "log" else 0
    arguments = [_argument(a, plan, raw=True) for a in call.args[: first + 1]]
    values = call.args[first + 1 :]
    message = call.args[first] if len(call.args) > first else None
    types = _conversions(message, len(values))
    return arguments + [_argument(a, plan, raw=t not in _NUMERIC) for a, t in zip(values, types, strict=True)]


def _conversions(message: ast.expr | None, count: int) -> list[str]:
    """The type of the % conversion that each value goes through; `s` where that is not known."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        found = [m for m in _CONVERSION.finditer(message.value) if m["type"] != "%"]
        if len(found) == count and not any(m["key"] or m["width"] == "*" or m["precision"] == "*" for m in found):
            return [m["type"] for m in found]
    return ["s"] * count


# -- expressions in the lambda


def _late(node: ast.expr, plan: _Plan, *, raw: bool) -> str:
    """The text of an expression in the lambda. `raw` says that its value is shown by `str` or `repr`."""
    scope = plan.scope
    if all(isinstance(part, _LITERAL) for part in ast.walk(node)):
        return _source(node, scope)
    if isinstance(node, ast.JoinedStr):
        return _replaced(node, _fields(node), plan)
    if _is_global(node, scope):
        return _inline_or_captured(node, plan)
    if isinstance(node, ast.Name) and (read := _bound_read(node, scope)) is not None:
        plan.reads[node.id] = read
        return _read_text(read, _capture(node, plan, checked=False))
    chain = _host_chain(node, scope)
    if chain is not None:
        tensor, suffix = chain
        if raw and suffix == ".cpu()":
            _check_text(node, scope.value(node), plan)
        return _capture(tensor, plan, checked=False) + suffix
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (source := _read_of(node, scope)) is not None:
        return f"{node.func.id}({_capture(source, plan, checked=False)})"
    if _needs_text(node, scope):
        if raw and scope.value(node).is_tensor:
            _check_text(node, scope.value(node), plan)
        children = _late_children(node, scope)
        if children is not None:
            return _replaced(node, list(zip(children, _shown(node, children, raw, scope), strict=True)), plan)
        if any(
            isinstance(p, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda)
            for p in ast.walk(node)
        ):
            raise Refused(f"`{snippet(node)}` reads tensors in a comprehension")
    return _capture(node, plan, checked=True, raw=raw)


def _fields(node: ast.JoinedStr) -> list[tuple[ast.expr, bool]]:
    """The expressions in an f-string, those in format specs included, and whether each is shown by `str` or `repr`."""
    found: list[tuple[ast.expr, bool]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            found.append((part.value, part.conversion != -1 or part.format_spec is None))
            if isinstance(part.format_spec, ast.JoinedStr):
                found.extend((inner, False) for inner, _ in _fields(part.format_spec))
    return found


def _late_children(node: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """The parts of an expression that is computed in the lambda from its parts; None for one that must not be."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Tuple | ast.List):
        return None if any(isinstance(e, ast.Starred) for e in node.elts) else node.elts
    if isinstance(node, ast.Dict):
        return None if None in node.keys else [k for k in (*node.keys, *node.values) if k is not None]
    if (
        isinstance(node, ast.Call)
        and not any(isinstance(a, ast.Starred) for a in node.args)
        and all(k.arg for k in node.keywords)
    ):
        name = scope.callee(node) or ""
        operands = [*node.args, *(k.value for k in node.keywords)]
        if name in _LATE_BUILTINS or name.startswith("math."):
            return operands
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant | ast.JoinedStr):
            return [node.func.value, *operands]
    return None


def _shown(node: ast.expr, children: Sequence[ast.expr], raw: bool, scope: Scope) -> list[bool]:
    """For each part of an expression whether it is shown by `str` or `repr`."""
    if isinstance(node, ast.BinOp):
        if not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)):
            return [False, False]
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return [True, any(kind not in _NUMERIC for kind in _conversions(node.left, len(values)))]
    if isinstance(node, ast.Call) and _makes_text(node, scope):
        return [True] * len(children)
    return [raw and not isinstance(node, ast.Compare)] * len(children)


def _makes_text(node: ast.Call, scope: Scope) -> bool:
    name = scope.callee(node) or ""
    method_of_text = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant | ast.JoinedStr)
    return name in ("str", "repr", "format") or method_of_text


def _needs_text(node: ast.expr, scope: Scope) -> bool:
    """Whether the expression reads a tensor's value or makes text of one: neither may happen in the graph."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            return True
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and _bound_read(part, scope) is not None:
            return True
        if isinstance(part, ast.Call):
            if _read_of(part, scope) is not None:
                return True
            if _makes_text(part, scope):
                return True
        if (
            isinstance(part, ast.BinOp)
            and isinstance(part.op, ast.Mod)
            and isinstance(part.left, ast.Constant)
            and isinstance(part.left.value, str)
        ):
            return True
    return False


def _host_chain(node: ast.expr, scope: Scope) -> tuple[ast.expr, str] | None:
    """`x.cpu().numpy()` as the tensor that is passed on and what is left to do at the boundary."""
    if not (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
    ):
        return None
    method, base = node.func.attr, node.func.value
    if method in _READS:
        inner = _host_chain(base, scope)
        if inner is not None and inner[1].endswith(".numpy()"):
            return inner[0], f"{inner[1]}.{method}()"
        return (_peeled(base, scope), f".{method}()") if _is_read(base, scope) else None
    if method not in _TO_HOST or not scope.value(base).is_tensor:
        return None
    tensor, suffix = _host_chain(base, scope) or (base, "")
    return tensor, f"{suffix}.{method}()"


def _is_read(base: ast.expr, scope: Scope) -> bool:
    """Whether `.item()` or `.tolist()` reads a tensor here: nothing else in compiled code has these methods."""
    value = scope.value(base)
    return bool(value.is_tensor or value.is_unknown)


def _peeled(node: ast.expr, scope: Scope) -> ast.expr:
    """The tensor without the moves to the host that reading its value does anyway."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("cpu", "detach")
        and not node.args
    ):
        if not _is_read(node.func.value, scope):
            break
        node = node.func.value
    return node


def _read_of(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor whose value an expression reads as Python numbers."""
    if not isinstance(node, ast.Call):
        return None
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in _READS
        and not node.args
        and _is_read(node.func.value, scope)
    ):
        return _peeled(node.func.value, scope)
    if (
        isinstance(node.func, ast.Name)
        and node.func.id in _CASTS
        and scope.callee(node) == node.func.id
        and len(node.args) == 1
    ):
        return _peeled(node.args[0], scope) if scope.value(node.args[0]).is_tensor else None
    return None


def _read_text(read: ast.expr, tensor: str) -> str:
    assert isinstance(read, ast.Call)
    return (
        f"{tensor}.{read.func.attr}()"
        if isinstance(read.func, ast.Attribute)
        else f"{ast.unparse(read.func)}({tensor})"
    )


# -- numbers that are read before the call: `loss = total.item()`


def _bound_read(node: ast.Name, scope: Scope) -> ast.expr | None:
    """The read that a name is bound to, when only prints and log lines use the name."""
    stores = scope.names(node.id, stores=True)
    if len(stores) != 1:
        return None
    read = _assigned(stores[0], scope)
    if read is None or _read_of(read, scope) is None:
        return None
    everywhere = [
        n
        for n in ast.walk(scope.function.node)
        if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Load)
    ]
    loads = scope.names(node.id)
    if len(everywhere) != len(loads) or any(_effect_around(load, scope) is None for load in loads):
        return None
    return read


def _assigned(store: ast.Name, scope: Scope) -> ast.expr | None:
    parent = scope.parents.get(store)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return parent.value
    if isinstance(parent, ast.Tuple):
        assign = scope.parents.get(parent)
        if not isinstance(assign, ast.Assign) or len(assign.targets) != 1 or not isinstance(assign.value, ast.Tuple):
            return None
        targets, sources = parent.elts, assign.value.elts
        if len(targets) == len(sources) and not any(isinstance(e, ast.Starred) for e in (*targets, *sources)):
            return sources[targets.index(store)]
    return None


def _effect_around(node: ast.AST, scope: Scope) -> ast.Call | None:
    found: ast.Call | None = None
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Lambda):
            return None
        if isinstance(parent, ast.Call) and kind_of(parent, scope) is not None:
            found = parent
        if isinstance(parent, ast.stmt):
            return found if isinstance(parent, ast.Expr) and parent.value is found else None
    return None


def _calls_with(name: str, scope: Scope) -> list[ast.Call]:
    return list(dict.fromkeys(call for load in scope.names(name) if (call := _effect_around(load, scope)) is not None))


def _kept(read: ast.expr, scope: Scope) -> str:
    """The tensor in the place of the number that was read from it: a copy, where later code could write into it."""
    tensor = _read_of(read, scope)
    assert tensor is not None
    text = _operand(tensor, scope)
    fresh = (
        isinstance(tensor, ast.Call)
        and isinstance(tensor.func, ast.Attribute)
        and tensor.func.attr in _FRESH
        and not tensor.args
    )
    return text if fresh or isinstance(tensor, ast.BinOp) else f"{text}.detach().clone()"


# -- what is passed to the lambda


def _capture(node: ast.expr, plan: _Plan, *, checked: bool, raw: bool = False) -> str:
    scope = plan.scope
    text = _source(node, scope)
    if checked:
        _check(node, scope.value(node), plan, raw=raw)
    if text not in plan.captured:
        plan.captured[text] = _parameter(node, plan)
    return plan.captured[text]


def _check(node: ast.expr, value: Value, plan: _Plan, *, raw: bool) -> None:
    if value.is_(Kind.STATIC, Kind.SIZE, Kind.NONE, Kind.NUMBER):
        return
    if value.is_(Kind.OBJECT, Kind.CALLABLE, Kind.NDARRAY):
        raise Refused(f"`{snippet(node)}` is an object, which may have changed when it is shown")
    if value.is_(Kind.CONTAINER) and value.ref == "torch.Size":
        return
    parts = [value, *([] if value.element is None else [value.element])]
    if raw and any(Kind.TENSOR in part.kinds for part in parts):
        for part in parts:
            _check_text(node, part, plan)
        return
    if value.is_unknown or value.is_(Kind.CONTAINER):
        plan.reasons.append(
            f"`{snippet(node)}` is not known to be a number, a text or a tensor without gradient: "
            "what it shows could change until the call returns"
        )


def _check_text(node: ast.expr, value: Value, plan: _Plan) -> None:
    """The text of a tensor names its gradient function, which a detached copy has not."""
    if Kind.TENSOR not in value.kinds or value.dtype in ("bool", "int"):
        return
    if value.leaves and not (value.rank == 0 and isinstance(plan.scope.parents.get(node), ast.FormattedValue)):
        if plan.lenient:
            plan.gradient_texts.append(f"the text of `{snippet(node)}` would not show that it requires a gradient")
            return
        raise Refused(
            f"the text of `{snippet(node)}` shows whether it requires a gradient: "
            f"show `{snippet(node)}.detach()`, or a number"
        )


def _parameter(node: ast.expr, plan: _Plan) -> str:
    words = [w for w in _words(node) if w not in ("self", "detach")]
    name = "_".join(words)
    if not name.isidentifier() or len(name) > 24:
        name = words[-1] if words and words[-1].isidentifier() and not words[-1].isdigit() else "value"
    taken = {*plan.captured.values(), *plan.inlined, *dir(builtins), "emit"}
    taken |= {
        n.id for n in ast.walk(plan.scope.statement(node)) if isinstance(n, ast.Name) and _is_global(n, plan.scope)
    }
    base, number = name, 1
    while name in taken or keyword.iskeyword(name):
        number += 1
        name = f"{base}_{number}"
    return name


def _words(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [*_words(node.value), node.attr]
    if isinstance(node, ast.Call):
        return _words(node.func)
    if isinstance(node, ast.Subscript):
        index = [str(node.slice.value)] if isinstance(node.slice, ast.Constant) else []
        return [*_words(node.value), *index]
    return []


def _is_global(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression means the same in the lambda as here: a builtin, or what the module imports or defines."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    name, module = root.id, scope.function.module
    bound = {a.arg for a in ast.walk(scope.function.node) if isinstance(a, ast.arg)}
    bound |= {
        n.id for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    owner = scope.function.parent
    while owner is not None:
        bound |= {n.id for n in ast.walk(owner.node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} | {
            a.arg for a in ast.walk(owner.node) if isinstance(a, ast.arg)
        }
        owner = owner.parent
    if name in bound:
        return False
    if name in module.top_level_imports.values() or name in module.functions or name in module.classes:
        return True
    if name in module.assigns:
        return bool(scope.value(root).ref == "logging.Logger")
    return name not in module.imports and hasattr(builtins, name)


# -- checkpoint


# -- text


def _replaced(node: ast.expr, parts: Sequence[tuple[ast.expr, bool]], plan: _Plan) -> str:
    """The source of a node with some of its parts as they are in the lambda."""
    scope = plan.scope
    new = [(part, _late(part, plan, raw=raw)) for part, raw in parts]
    whole = _segment(node, scope)
    places = [_offset(node, part, scope) for part, _ in new]
    if whole is None or not all(place is not None and place[0] >= 0 and place[1] <= len(whole) for place in places):
        return _unparsed(node, dict(new))
    text = whole
    for place, text_of_part in sorted(
        zip(places, (t for _, t in new), strict=True), reverse=True, key=lambda item: item[0] or (0, 0)
    ):
        assert place is not None
        text = text[: place[0]] + text_of_part + text[place[1] :]
    return _on_one_line(text)


def _segment(node: ast.expr, scope: Scope) -> str | None:
    """The source of a node, if it is really that: inside f-strings, Python before 3.12 can give a wrong place."""
    text = scope.file.segment(node)
    try:
        same = ast.dump(ast.parse(f"({text}\n)", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return None
    return text if same else None


def _offset(whole: ast.expr, part: ast.expr, scope: Scope) -> tuple[int, int] | None:
    """Where a part stands in the source of the whole, in code points."""
    text = _segment(part, scope)
    if text is None:
        return None
    position = scope.file.position
    start = position(part.lineno, part.col_offset) - position(whole.lineno, whole.col_offset)
    return start, start + len(text)


def _unparsed(node: ast.expr, new: dict[ast.expr, str]) -> str:
    class Put(ast.NodeTransformer):
        def visit(self, item: ast.AST) -> Any:
            if isinstance(item, ast.expr) and item in new:
                return ast.parse(new[item], mode="eval").body
            return super().visit(item)

    copied = _rebuilt(node, new)
    return ast.unparse(Put().visit(copied))


def _rebuilt(node: ast.expr, new: dict[ast.expr, str]) -> ast.expr:
    """A copy in which the replaced parts are still the same objects, so that they can be found."""

    def copy(item: Any) -> Any:
        if isinstance(item, ast.expr) and item in new:
            return item
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(item):
            if isinstance(value, list):
                fields[name] = [copy(v) if isinstance(v, ast.AST) else v for v in value]
            else:
                fields[name] = copy(value) if isinstance(value, ast.AST) else value
        return type(item)(**fields)

    result = copy(node)
    assert isinstance(result, ast.expr)
    return result


def _source(node: ast.expr, scope: Scope) -> str:
    text = _segment(node, scope)
    return ast.unparse(node) if text is None else _on_one_line(text)


def _on_one_line(text: str) -> str:
    """Code that came on several lines, where it means the same on one: a text in triple quotes does not."""
    if "\n" not in text:
        return text
    flat = re.sub(r"\s*\n\s*", " ", text)
    try:
        same = ast.dump(ast.parse(flat, mode="eval")) == ast.dump(ast.parse(f"({text}\n)", mode="eval"))
    except SyntaxError:
        return text
    return flat if same else text


def _operand(node: ast.expr, scope: Scope) -> str:
    text = _source(node, scope)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"


def _edit(call: ast.Call, text: str, scope: Scope) -> Edit:
    statement = scope.statement(call)
    lines = scope.function.module.lines
    span = scope.span(statement)
    alone = (
        not lines[span.line - 1][: span.column].strip()
        and lines[span.end_line - 1][span.end_column :].split("#")[0].strip() == ""
    )
    return scope.edit(statement if alone else call, _escaped(text))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
