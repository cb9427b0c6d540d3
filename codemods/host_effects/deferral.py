"""Turning a print or a log line into one that is carried out at the compile boundary.

`print(x.norm().item())` becomes `emit(lambda x_norm: print(x_norm.item()), x.norm())`: what the call needs from the
function is computed where it stood and passed on, and the text is made when the call is carried out. Reading a tensor's
value goes into the lambda, so that nothing waits for the device inside the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from compilefix.analysis.live_code import is_noted
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.regions import CompiledFunction
from compilefix.codemods.bound_names import unbound_in
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.host_effects.arguments import (
    argument,
    arguments,
    is_one,
    keyword_argument,
    levels,
    receiver_text,
)
from compilefix.codemods.host_effects.calls import calls_with, kind_of, taken_by_name
from compilefix.codemods.host_effects.exception_texts import asserted_text, make
from compilefix.codemods.host_effects.late import inline_or_captured, needs_text
from compilefix.codemods.host_effects.levels import calls_under, level_guard
from compilefix.codemods.host_effects.once import LEVELS, is_cached, once_function
from compilefix.codemods.host_effects.plan import Plan, Refused
from compilefix.codemods.host_effects.reads import kept, read_of
from compilefix.codemods.host_effects.running_with import running_with
from compilefix.codemods.host_effects.texts import escaped, source_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.codemods.tried import around, met_on_the_way
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.snippets import snippet

_NAMES_EMIT = r"\bdef emit\b|\bclass emit\b|^emit\s*[:=]|\bimport\b[^\n#]*\bemit\b"
_TELLS = frozenset(
    {"setLevel", "simplefilter", "filterwarnings", "resetwarnings", "captureWarnings", "basicConfig", "dictConfig"}
    | {"addHandler", "removeHandler", "addFilter", "removeFilter", "setFormatter", "set_printoptions", "set_verbosity"}
)
_SETTINGS = frozenset({"propagate", "disabled", "level", "handlers", "filters", "formatter", "stdout", "stderr"})
_SHOW_FRAMES = frozenset(
    {"sys._getframe", "inspect.stack", "inspect.currentframe", "traceback.extract_stack", "traceback.format_stack"}
)
_REDIRECTS = ("redirect_stdout", "redirect_stderr", "catch_warnings", "printoptions")


def where_to_wrap(scope: Scope) -> str:
    """What the user has to add for the boundary to be there, as the end of a message; empty where the fix adds it."""
    if scope.compiled.from_compile_call:
        return ""
    return "; with the fix, wrap the compiled callable: `boundary(torch.compile(...))`"


def deferred(call: ast.Call, scope: Scope) -> Fix:
    """The fix that moves a call to the boundary, with the calls that share a number read from a tensor with it.

    Raises:
        Refused: a part of the call cannot be moved.
    """
    check_function(scope)
    calls, texts = [call], {}
    edits: list[Edit] = []
    reasons = ["the text appears when the compiled call returns"]
    assumptions = ["log-late"]
    reads: dict[str, ast.expr] = {}
    for item in calls:
        plan = Plan(scope, conditional=_depends(item, scope))
        texts[item] = _emitted(item, plan)
        reasons.extend([*plan.reasons, *plan.gradient_texts])
        assumptions.extend(_assumed(plan))
        related = calls_under(guard, scope) if (guard := level_guard(item, scope)) is not None else []
        for name, read in plan.reads.items():
            reads[name] = read
            related += calls_with(name, scope)
        calls.extend(other for other in dict.fromkeys(related) if other not in calls)
    stays = _left_in_place(calls, assumptions, scope)
    if stays is not None:
        assumptions.append("text-order")
        reasons.append(f"`{snippet(stays)}` stays where it is, and comes before what is carried to the boundary")
    for item, text in texts.items():
        guard = level_guard(item, scope)
        if guard is None:
            edits.append(edit_of(item, text, scope))
        elif item is calls_under(guard, scope)[0]:
            edits.append(scope.edit(guard, escaped("\n".join(texts[other] for other in calls_under(guard, scope)))))
    for read in reads.values():
        edits.append(scope.edit(read, escaped(kept(read, scope))))
    reasons.extend(
        f"`{call}` is taken not to run this function: under it, a line appears once instead of twice"
        for call in scope.legality.checkpoints.unresolved
    )
    return Fix(tuple(edits), (), tuple(dict.fromkeys(assumptions)), tuple(dict.fromkeys(reasons)), boundary=True)


def _depends(call: ast.Call, scope: Scope) -> bool:
    """Whether a tensor decides about a call: the condition goes to the boundary with it, and what it needs may fail."""
    return any(isinstance(around, ast.If) and is_tensor_test(around.test, scope) for around in scope.ancestors(call))


def _assumed(plan: Plan) -> list[str]:
    """What moving a call rests on, beside `log-late`."""
    return [*plan.assumptions, *(["gradient-text"] if plan.gradient_texts else [])]


def _left_in_place(moved: Sequence[ast.Call], assumed: Collection[str], scope: Scope) -> ast.Call | None:
    """A call that shows something too, and that is not moved with what the others rest on.

    It may stand in another function that runs in the same compiled call.
    """
    for call, needs in _shown(scope):
        if call not in moved and (needs is None or not needs <= set(assumed)):
            return call
    for function, is_called in running_with(scope):
        for call, needs in _shown_by(function, scope):
            if not is_called or needs is None or not needs <= {*assumed, "log-late"}:
                return call
    return None


def _shown(scope: Scope) -> Iterator[tuple[ast.Call, frozenset[str] | None]]:
    """The calls of a function that show something, and what moving each rests on; None where it stays."""
    for call in scope.of(ast.Call):
        kind = kind_of(call, scope)
        if kind is None and _looks_like_a_line(call, scope):
            yield call, None
        if kind is None or kind == "write" or once_function(scope.function) is not None:
            continue
        if any(isinstance(parent, ast.Lambda) for parent in scope.ancestors(call)):
            if not any(isinstance(a, ast.Call) and is_noted(a, scope.facts) for a in scope.ancestors(call)):
                yield call, None
            continue
        plan = Plan(scope)
        try:
            _emitted(call, plan)
        except Refused:
            yield call, None
        else:
            yield call, frozenset(_assumed(plan))


def _writes_a_line(node: ast.AST, scope: Scope) -> bool:
    return isinstance(node, ast.Call) and (kind_of(node, scope) is not None or _looks_like_a_line(node, scope))


def _looks_like_a_line(call: ast.Call, scope: Scope) -> bool:
    """Whether something that nothing is known of is called like a logger: `sink.info(...)`."""
    is_level = isinstance(call.func, ast.Attribute) and call.func.attr in LEVELS - {"log"}
    return is_level and scope.value(call.func.value).is_unknown  # type: ignore[attr-defined]


def _shown_by(function: Function, scope: Scope) -> tuple[tuple[ast.Call, frozenset[str] | None], ...]:
    """The same of another function, asked once."""
    known = scope.legality.shown
    if function not in known:
        facts = scope.legality.inference.facts(function)
        other = Scope(CompiledFunction(function, facts, function.qualname), scope.legality, scope.path)
        try:
            check_function(other)
            known[function] = tuple(_shown(other))
        except Refused:
            known[function] = tuple((call, None) for call, _ in _shown(other))
    return known[function]


def deferred_raise(
    statement: ast.stmt, failed: str, scope: Scope, texts: Sequence[ast.stmt] = ()
) -> tuple[str, list[Obstacle]]:
    """Code that raises at the boundary what a statement raises, where the code `failed` gives a true tensor.

    `texts` are the statements before it that only its exception needs. The second part says which tensors in the
    exception's text would lose what it shows of their gradient, and what of it is computed always and may fail.

    Raises:
        Refused: a part of the exception cannot be made later.
    """
    check_function(scope)
    exception = statement.exc if isinstance(statement, ast.Raise) else None
    if isinstance(statement, ast.Raise) and (exception is None or statement.cause is not None):
        raise Refused("`raise ... from` and a bare `raise` name another exception")
    met = met_on_the_way(statement, exception, scope)
    if met is not None:
        raise Refused(met)
    plan = Plan(scope, in_check=True, conditional=True)
    make(texts, plan)
    asserted = asserted_text(statement, scope)
    if asserted is not None:
        body = f"AssertionError({argument(asserted, plan, raw=True)})"
    elif isinstance(statement, ast.Assert):
        body = f"AssertionError({_message(statement.msg, plan) if statement.msg is not None else ''})"
    elif isinstance(exception, ast.Call):
        function = receiver_text(exception.func, plan)
        body = f"{function}({', '.join(arguments(exception, None, plan))})"
    else:
        assert exception is not None
        body = inline_or_captured(exception, plan)
    line = next((call for part in plan.nodes for call in ast.walk(part) if _writes_a_line(call, scope)), None)
    if line is not None:
        raise Refused(f"`{snippet(line)}` would be carried out whether the check fails or not")
    code = f"emit({', '.join([escaped(plan.head + body), *map(escaped, plan.captured)])}, raise_if={failed})"
    unbound = unbound_in(plan.nodes, statement, scope)
    return code, [*(Obstacle(text, "gradient-text") for text in plan.gradient_texts), *plan.failing, *unbound]


def _message(node: ast.expr, plan: Plan) -> str:
    """What an assert says: `assert ok, print(...)` prints where it fails."""
    if isinstance(node, ast.Call) and kind_of(node, plan.scope) in ("print", "log", "warn"):
        return _line(node, plan)
    return argument(node, plan, raw=True)


def deferred_check(call: ast.Call, flags: Mapping[ast.expr, tuple[str, str]], scope: Scope) -> tuple[str, list[str]]:
    """Code that makes a call at the boundary which raises where its arguments are not as they should be.

    `flags` gives for arguments that are a Python bool read from tensors the code of a boolean tensor, and a name for
    it. The second part says which tensors in a text would lose what it shows of their gradient.

    Raises:
        Refused: a part of the call cannot be made later.
    """
    check_function(scope)
    met = met_on_the_way(call, None, scope)
    if met is not None:
        raise Refused(met)
    plan = Plan(scope, in_check=True)
    plan.inlined.update(name for _, name in flags.values())
    function = receiver_text(call.func, plan)

    def passed(node: ast.expr) -> str:
        return f"bool({flags[node][1]})" if node in flags else argument(node, plan, raw=True)

    given: list[str | None] = [passed(a) for a in call.args]
    given += [
        f"{k.arg}={passed(k.value)}" if k.value in flags else keyword_argument(k, None, plan) for k in call.keywords
    ]
    listed = ", ".join(text for text in given if text is not None)
    names = ", ".join([*(name for _, name in flags.values()), *plan.parameters])
    body = f"lambda {names}: " if names else "lambda: "
    values = [*(code for code, _ in flags.values()), *map(escaped, plan.captured)]
    code = f"emit({', '.join([escaped(f'{body}{function}(') + escaped(listed) + ')', *values])})"
    return code, plan.gradient_texts


def deferred_if(call: ast.Call, condition: str, scope: Scope) -> tuple[str, list[Obstacle]]:
    """Code that makes a call at the boundary where the code `condition` gave a true tensor, and what that rests on.

    The call may itself note an effect already, `emit(lambda x: print(x), x)`.

    Raises:
        Refused: a part of the call cannot be moved.
    """
    check_function(scope)
    reasons = ["the text appears when the compiled call returns"]
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Lambda):
        values = [source_of(a, scope) for a in call.args[1:]]
        names = [a.arg for a in first.args.args]
        names[len(values) :] = [f"{n}={source_of(d, scope)}" for n, d in _with_defaults(first)]
        body = source_of(first.body, scope)
        body = f"({body})" if isinstance(first.body, ast.IfExp | ast.Lambda) else body
    else:
        plan = Plan(scope, conditional=True)
        body = _called(call, plan)
        if plan.reads:
            raise Refused(f"`{next(iter(plan.reads))}` is read from a tensor before the `if`")
        names, values = plan.parameters, list(plan.captured)
        reasons += plan.reasons
        evaluated = scope.legality.both_evaluated([p for p in plan.nodes if p in scope.parents], scope.facts)
        late = [Obstacle(r, "log-late") for r in reasons]
        stays = _left_in_place([call], _assumed(plan), scope)
        if stays is not None:
            reason = f"`{snippet(stays)}` stays where it is, and comes before what is carried to the boundary"
            late.append(Obstacle(reason, "text-order"))
        more = [Obstacle("`stacklevel` names a caller, which is gone at the boundary", a) for a in plan.assumptions]
        more += [Obstacle(text, "gradient-text") for text in plan.gradient_texts]
        unbound = unbound_in(plan.nodes, scope.statement(call), scope)
        return _conditional(body, names, values, condition), [*late, *more, *evaluated, *unbound]
    return _conditional(body, names, values, condition), [
        *(Obstacle(r, "log-late") for r in reasons),
        *noted_unbound(call, scope),
    ]


def noted_unbound(call: ast.Call, scope: Scope) -> Iterator[Obstacle]:
    """What of the values that a noted call is given may not be there: `emit(lambda x, log=log: log.info(x), x)`."""
    noted = call.args[0]
    defaults = noted.args.defaults if isinstance(noted, ast.Lambda) else []
    yield from unbound_in([*call.args[1:], *defaults], scope.statement(call), scope)


def _with_defaults(node: ast.Lambda) -> list[tuple[str, ast.expr]]:
    """The parameters of a lambda that have a default, with it."""
    given = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    return [(parameter.arg, default) for parameter, default in zip(given, node.args.defaults, strict=True)]


def _conditional(body: str, names: Sequence[str], values: Sequence[str], condition: str) -> str:
    flag, number = "condition", 1
    while any(flag == name.partition("=")[0] for name in names):
        number += 1
        flag = f"condition_{number}"
    text = escaped(f"lambda {', '.join([flag, *names])}: {body} if {flag} else None")
    return f"emit({', '.join([text, condition, *map(escaped, values)])})"


def check_function(scope: Scope) -> None:
    """Whether a function may leave something to be carried out later.

    Raises:
        Refused: it may not, for the reason that is given.
    """
    function = scope.function
    project = scope.legality.inference.project
    if function.cls is not None and project.is_autograd_function(function.cls):
        raise Refused("the function is a custom derivative, which must not leave anything behind outside its results")
    if function in scope.legality.checkpoints.functions:
        raise Refused(
            "the function runs under `torch.utils.checkpoint`, which runs it, and prints, again in the backward pass"
        )
    if once_function(function) is not None or is_cached(function):
        raise Refused(
            f"`{function.qualname}` writes each text once, and Dynamo does not see that: "
            "its calls are carried out as a whole"
        )
    module = function.module
    imported = module.imported("emit")
    if _binds_emit(module, function) or (imported is not None and not _is_helper(imported, module, project)):
        raise Refused("the file uses the name `emit` for something else")
    taker = _takes_emit(module, project)
    if taker is not None:
        raise Refused(f"`import *` in `{taker}` would take the name `emit`, which stands for something else there")


def _binds_emit(module: Module, function: Function) -> bool:
    if "emit" in module.functions or "emit" in module.classes or "emit" in module.assigns:
        return True
    return "emit" in function.bound


def _takes_emit(module: Module, project: Project) -> str | None:
    """Another module with a name `emit` of its own that takes all names of this one."""
    if "__all__" in module.assigns:
        return None
    for name in project.modules.texts.matching("import *", _NAMES_EMIT):
        other = project.modules[name]
        if other is not module and module.name in other.stars:
            imported = other.imports.get("emit")
            if imported is None or not _is_helper(imported, other, project):
                return name
    return None


def _is_helper(imported: str, module: Module, project: Project) -> bool:
    """Whether an imported `emit` is that of a helper module that an earlier run wrote."""
    source = project.modules.get(imported.rpartition(".")[0])
    return (
        "boundary" in imported
        or "emit(lambda" in module.file.text
        or (source is not None and "HELPER_VERSION" in source.file.text)
    )


def _emitted(call: ast.Call, plan: Plan) -> str:
    body = _called(call, plan)
    return f"emit({', '.join([plan.head + body, *plan.captured])})"


def _called(call: ast.Call, plan: Plan) -> str:
    """The call as it is made in the lambda."""
    scope = plan.scope
    check_statement(call, scope)
    if kind_of(call, scope) == "write" and isinstance(call.func, ast.Attribute):
        target = call.func.value
        if isinstance(target, ast.Name) and scope.names(target.id, stores=True):
            raise Refused(f"`{target.id}` is opened in the function, and closed before the compiled call returns")
        if isinstance(target, ast.Call) and scope.callee(target) == "open":
            raise Refused(f"`{snippet(target)}` is written and closed at once, and may be read in the same call")
    return _line(call, plan)


def _line(call: ast.Call, plan: Plan) -> str:
    if (taken := taken_by_name(call, plan.scope)) is not None:
        plan.reasons.append(taken)
    if (counting := _counts_frames(call, plan.scope)) is not None:
        named = f"`{counting}` names a caller, by `stacklevel` or a frame"
        plan.assume("caller-place", f"{named}, which is gone at the boundary")
    return f"{receiver_text(call.func, plan)}({', '.join(arguments(call, kind_of(call, plan.scope), plan))})"


def _counts_frames(call: ast.Call, scope: Scope) -> str | None:
    """The function of the project behind a call that looks at its callers, by `stacklevel` or by their frames."""
    callee = scope.facts.calls.get(call)
    for function in () if callee is None else dict.fromkeys((callee, *scope.legality.reached(callee))):
        called = scope.legality.inference.facts(function).refs
        for node in function.of(ast.Call):
            if called.get(node) in _SHOW_FRAMES or any(not is_one(level) for level in levels(node, called.get(node))):
                return function.qualname
    return None


def check_statement(call: ast.Call, scope: Scope) -> None:
    """Whether a call stands by itself, so that it may be carried out elsewhere or not at all.

    Raises:
        Refused: its result is used, it is redirected, or an argument does more than give a value.
    """
    if not isinstance(scope.parents.get(call), ast.Expr):
        raise Refused("the result of the call is used")
    if any(isinstance(parent, ast.With) and _redirects(parent, scope) for parent in scope.ancestors(call)):
        raise Refused("a `with` block around the call redirects it")
    for caller, way in scope.calls_here:
        if any(isinstance(outer, ast.With) and _redirects(outer) for outer in around(way, caller, ast.With)):
            raise Refused(f"a `with` block in `{caller.qualname}` redirects it")
    ways = dict.fromkeys((scope.function, *scope.facts.calls.values(), *(caller for caller, _ in scope.calls_here)))
    told = next(((n, f) for f in ways for n in (*f.of(ast.Call), *f.of(ast.Attribute)) if _tells(n)), None)
    if told is not None:
        node, function = told
        decides = f"`{snippet(node)}` decides what is shown from there on"
        if function in scope.facts.calls.values() and function is not scope.function:
            decides += f": call `{function.node.name}`, which does that, before the compiled code"
        raise Refused(decides)
    if is_tried(call, scope) and any(isinstance(p, ast.Call) and read_of(p, scope) is not None for p in ast.walk(call)):
        raise Refused("a handler in the function may catch the error of a read")
    if kind_of(call, scope) == "warn" and (caught := _caught_warning(call, scope)) is not None:
        raise Refused(f"a handler catches `{caught}`, which the warning may be raised as")
    for part in ast.walk(call):
        if isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise Refused(f"an argument does more than give a value: `{ast.unparse(part)}`")
    changing = next((part for part in _parts(call) if _changes(part, scope)), None)
    twice = [
        ast.unparse(n) for given in _given(call) for n in ast.walk(given) if isinstance(n, ast.Name | ast.Attribute)
    ]
    if changing is not None and (len(set(twice)) < len(twice) or any(needs_text(a, scope) for a in _given(call))):
        raise Refused(f"`{snippet(changing)}` changes something while the line is made, which a part of it may show")


def _tells(node: ast.expr) -> bool:
    """Whether code decides what is shown, or how: a level, a filter, where lines go, how numbers are written."""
    if isinstance(node, ast.Attribute):
        return node.attr in _SETTINGS and isinstance(node.ctx, ast.Store)
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Name):
        return function.id in _TELLS
    if not isinstance(function, ast.Attribute):
        return False
    return function.attr in _TELLS or (function.attr == "disable" and ast.unparse(function.value) == "logging")


def _redirects(block: ast.With, scope: Scope | None = None) -> bool:
    """Whether a block redirects what is written in it, by itself or by a context of the project, as far as is known."""
    for item in block.items:
        text = ast.unparse(item.context_expr)
        ref = scope.value(item.context_expr).ref if scope is not None else None
        made = scope.legality.inference.project.resolve(ref) if scope is not None and ref is not None else None
        if isinstance(made, Class | Function):
            text += "\n".join(made.module.lines[made.node.lineno - 1 : made.node.end_lineno])
        if any(name in text for name in _REDIRECTS):
            return True
    return False


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _parts(call: ast.Call) -> Iterator[ast.Call]:
    """The calls in what a call is given."""
    return (part for given in _given(call) for part in ast.walk(given) if isinstance(part, ast.Call))


def _changes(call: ast.Call, scope: Scope) -> bool:
    return call in scope.parents and scope.legality.effects.of(call, scope.facts).mutates is not None


def is_tried(node: ast.AST, scope: Scope) -> bool:
    """Whether a node stands in the body of a `try` that has handlers."""
    child = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Try) and parent.handlers and child in parent.body:
            return True
        child = parent
    return False


def _caught_warning(call: ast.Call, scope: Scope) -> str | None:
    """The class of warnings that a handler round a call is there for: a filter may raise them."""
    for outer in around(call, scope.function, ast.Try):
        for handler in outer.handlers if isinstance(outer, ast.Try) else ():
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            names = (ast.unparse(kind) for kind in kinds if kind is not None)
            if (name := next((n for n in names if n.endswith("Warning")), None)) is not None:
                return name
    return None


def edit_of(call: ast.Call, text: str, scope: Scope) -> Edit:
    """The edit that puts code in the place of a call, of the whole line where the call stands alone on it."""
    statement = scope.statement(call)
    lines = scope.function.module.lines
    span = scope.span(statement)
    alone = (
        not lines[span.line - 1][: span.column].strip()
        and lines[span.end_line - 1][span.end_column :].split("#")[0].strip() == ""
    )
    return scope.edit(statement if alone else call, escaped(text))
