"""What the branches of an `if` on a tensor print, log, warn of or raise, beside the values that they give.

if t.any():                          condition = t.any()
    logger.info("clipped")           emit(lambda condition: logger.info("clipped") if condition else None, condition)
    x = x.clamp(max=1.0)             x = torch.where(condition, x.clamp(max=1.0), x)

Each such statement goes to the boundary with the condition under which its branch is taken, and the rest of the
branches is selected as if it did not stand there. One that shows what its branch has computed is noted behind the
selection: where the branch is taken, the selected value is that of the branch. A branch that raises gives no values.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compilefix.analysis.values import Kind
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.arms import Link
from compilefix.codemods.control_flow.checked_indices import indexed_later
from compilefix.codemods.control_flow.guarded_effects import is_noted, shows, taken_on_trust
from compilefix.codemods.control_flow.guarded_writes import evaluated
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.tensor_validation import LATE
from compilefix.codemods.host_effects.deferral import deferred_if, deferred_raise, noted_unbound
from compilefix.codemods.host_effects.exception_texts import ends_in_exception, exception_of, is_text
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target

_PLAIN = (Kind.STATIC, Kind.SIZE, Kind.NONE, Kind.NUMBER, Kind.CALLABLE)


@dataclass(frozen=True)
class _Split:
    """A link without its acts: those to be noted before the selection and behind it, and what else is left.

    texts: the assignments that only an exception at the end of the link needs. late: those that are made with it.
    """

    link: Link
    before: tuple[ast.stmt, ...]
    after: tuple[ast.stmt, ...]
    rest: tuple[ast.stmt, ...]
    texts: tuple[ast.stmt, ...] = ()
    late: tuple[ast.stmt, ...] = ()
    raises: bool = False


@dataclass(frozen=True)
class Acts:
    """The statements of a chain that act on the host, and the chain that is left without them."""

    of: tuple[_Split, ...]
    links: tuple[Link, ...]

    def __bool__(self) -> bool:
        return any(split.before or split.after for split in self.of)

    @property
    def alone(self) -> bool:
        """Whether the chain is one block that does one of these things and nothing else."""
        first = self.of[0]
        acts = (*first.before, *first.after)
        one = len(self.of) == 1 and len(acts) == 1 and not isinstance(acts[0], ast.If)
        return one and not first.rest and not first.texts


def split_acts(links: Sequence[Link], around: ast.If, scope: Scope) -> Acts:
    """Take the statements that print, log, warn or raise out of the links of a chain.

    Raises:
        Refused: one cannot be moved before or behind what its branch computes.
    """
    found = tuple(
        replace(split, raises=any(exception_of(act, scope) is not None for act in (*split.before, *split.after)))
        for split in (_split(link, around, scope) for link in links)
    )
    left = [Link(split.link.node, split.rest) for split in found if not split.raises]
    if left and links[-1].node is None and left[-1].node is not None:
        left[-1] = Link(None, left[-1].body)  # `else` raises: who comes here has taken the last branch that is left
    return Acts(found, tuple(left))


def act_lines(
    acts: Acts, scope: Scope, template: Template, *, inline: bool = False
) -> tuple[list[str], list[str]] | None:
    """The lines before and behind the selection; None where a condition cannot be written.

    `inline`: the condition is used once, and needs no name.

    Raises:
        Refused: a statement cannot be carried out later.
    """
    lines: list[str] = []
    taken: list[tuple[str, str]] = []
    for index, split in enumerate(acts.of):
        test = split.link.test
        if test is None:
            continue
        if index:
            template.refuse(evaluated(test, scope))
        if index and not is_tensor_test(test, scope):
            code = template.use(test, operand=True)
            taken.append((f"bool({code})", f"(not {code})"))
            continue
        tests = [test] if index else split_static(test, scope)[1]
        found = condition(tests, scope, template, operand=inline)
        if found is None:
            return None
        name = found
        if not inline:
            name = free_name("condition", scope, template.named.values())
            lines.append(f"{name} = {found}")
            template.named[tuple(tests)] = name
        taken.append((name, f"~{name}"))
    behind: list[str] = []
    for index, split in enumerate(acts.of):
        ways = [no for _, no in taken[:index]] + ([taken[index][0]] if split.link.test is not None else [])
        way = " & ".join(ways)
        for statement in split.texts:
            template.refuse(scope.legality.both_evaluated([statement.value], scope.facts))  # type: ignore[attr-defined]
            lines.append(template.use(statement))
        for statement in split.before:
            late = split.late if split.raises else ()
            lines += _noted(statement, split.link, way, scope, template, late)
        for statement in split.after:
            behind += _noted(statement, split.link, way, scope, template)
    template.keep()
    return lines, behind


def _split(link: Link, around: ast.If, scope: Scope) -> _Split:
    before: list[ast.stmt] = []
    after: list[ast.stmt] = []
    rest: list[ast.stmt] = []
    texts: list[ast.stmt] = []
    body = list(link.body)
    for index, statement in enumerate(body):
        if rest and exception_of(statement, scope) is not None and _made_late(rest, scope):
            return _Split(link, (*before, *after, statement), (), (), tuple(texts), tuple(rest))
        if not _acts(statement, scope):
            rest.append(statement)
            continue
        needed = _needed(statement, rest, link, around, scope)
        others = [s for s in rest if s not in needed]
        shown = next((s for s in others if _may_show(statement, [s], scope)), None)
        if exception_of(statement, scope) is not None:
            if shown is not None:
                raise Refused(f"`{snippet(statement)}` shows what `{snippet(shown)}` does before it")
            does = next((s for s in others if not _only_names(s, scope)), None)
            if does is not None:
                raise Refused(f"`{snippet(does)}` stands before an exception, and may do more than give a value")
            return _Split(link, (*before, *after, statement), (), (), (*texts, *needed))
        if not after and shown is None:
            before.append(statement)
            texts += needed
            rest = others
            continue
        later = next((s for s in body[index + 1 :] if _may_show(statement, [s], scope)), None)
        if later is not None and not _acts(later, scope):
            raise Refused(f"`{snippet(statement)}` stands between what its branch computes, and may show it")
        after.append(statement)
    return _Split(link, tuple(before), tuple(after), tuple(rest), tuple(texts))


def _made_late(before: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether the temporaries before an exception are made with it: those that read tensors, or are put together."""
    if not is_text(before, scope):
        return False
    for statement in before:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            return True
        does = scope.legality.effects.of(statement.value, scope.facts)
        shown = statement.value.values if isinstance(statement.value, ast.JoinedStr) else ()
        fields = [part.value for part in shown if isinstance(part, ast.FormattedValue)]
        if any(not scope.value(field).is_(*_PLAIN) for field in fields):
            return True
        if does.host is not None or does.raises is not None:
            return True
    return False


def _needed(act: ast.stmt, rest: Sequence[ast.stmt], link: Link, around: ast.If, scope: Scope) -> list[ast.stmt]:
    """The temporaries among the statements before an act that it shows, which can be computed before the selection."""
    needed: list[ast.stmt] = []
    read = _names(act, ast.Load)
    for before in reversed(rest):
        stored = _names(before, ast.Store)
        if not stored & read:
            continue
        if not _gives_values(before) or not all(_only_here(name, link, around, scope) for name in stored):
            return []
        read |= _names(before, ast.Load)
        needed.insert(0, before)
    return needed


def _gives_values(statement: ast.stmt) -> bool:
    """Whether a statement gives one name a value, or several what is unpacked: `smallest, place = torch.min(x, 0)`."""
    target = single_target(statement)
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(part, ast.Name) for part in parts)


def _only_here(name: str, link: Link, around: ast.If, scope: Scope) -> bool:
    """Whether a link is all that gives a name a value in the chain, once, and that reads this value."""
    own = {part for statement in link.body for part in ast.walk(statement)}
    uses = [n for n in ast.walk(around) if isinstance(n, ast.Name) and n.id == name]
    stores = [n for n in uses if not isinstance(n.ctx, ast.Load)]
    before = any(n.lineno <= stores[0].lineno for n in uses if n is not stores[0])
    return len(stores) == 1 and own.issuperset(uses) and not before and not live_after(name, around, scope)


def _may_show(act: ast.stmt, statements: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether a statement that acts on the host may show what other statements change."""
    read = _names(act, ast.Load)
    shown = [n for n in ast.walk(act) if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Load)]
    tensors = any(not scope.value(n).is_(*_PLAIN) for n in shown if _is_own(n, scope))
    for statement in statements:
        if read & _names(statement, ast.Store):
            return True
        changed = {n.attr for n in ast.walk(statement) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        if changed & {n.attr for n in shown if isinstance(n, ast.Attribute)}:
            return True
        if tensors and not _binds_names_only(statement):
            return True
    return False


def _is_own(node: ast.expr, scope: Scope) -> bool:
    """Whether a value is one that the function holds, and not a name of the module such as a logger or a class."""
    while isinstance(node, ast.Attribute):
        node = node.value
    names = {a.arg for a in scope.function.parameters}
    return not isinstance(node, ast.Name) or node.id in names or bool(scope.names(node.id, stores=True))


def _names(node: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


def _binds_names_only(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return bool(targets) and all(
        isinstance(n, ast.Name | ast.Tuple) for t in targets for n in (t, *getattr(t, "elts", []))
    )


def _only_names(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement does nothing but give names values, so that nobody misses it before an exception."""
    if not isinstance(statement, ast.Assign):
        return isinstance(statement, ast.Pass)
    return scope.legality.effects.of(statement.value, scope.facts).repeatable and _binds_names_only(statement)


def _acts(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement only prints, logs, warns, raises, or imports for that, perhaps under a fixed condition."""
    if isinstance(statement, ast.If):
        if is_tensor_test(statement.test, scope):
            return False
        ways = [[s for s in way if not isinstance(s, ast.Pass)] for way in (statement.body, statement.orelse)]
        return any(ways) and all(all(_acts(s, scope) for s in w) or ends_in_exception(w, scope) for w in ways if w)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return shows(statement.value, scope) or exception_of(statement, scope) is not None
    return isinstance(statement, ast.Raise) or _imports_at_hand(statement)


def _imports_at_hand(statement: ast.stmt) -> bool:
    """Whether a statement imports modules of Python itself, which are there and may be imported always."""
    return isinstance(statement, ast.Import) and all(
        alias.name.partition(".")[0] in sys.stdlib_module_names for alias in statement.names
    )


def _noted_block(body: Sequence[ast.stmt], link: Link, taken: str, scope: Scope, template: Template) -> Iterator[str]:
    body = [statement for statement in body if not isinstance(statement, ast.Pass)]
    if not body:
        yield "pass"
        return
    if not all(_acts(statement, scope) for statement in body):
        yield from _noted(body[-1], link, taken, scope, template, body[:-1])
        return
    for statement in body:
        yield from _noted(statement, link, taken, scope, template)


def _noted(
    statement: ast.stmt,
    link: Link,
    taken: str,
    scope: Scope,
    template: Template,
    texts: Sequence[ast.stmt] = (),
) -> Iterator[str]:
    if isinstance(statement, ast.If):
        template.refuse(scope.legality.both_evaluated([statement.test], scope.facts))
        yield f"if {template.use(statement.test)}:"
        yield from (f"    {line}" for line in _noted_block(statement.body, link, taken, scope, template))
        if statement.orelse:
            others = list(_noted_block(statement.orelse, link, taken, scope, template))
            if isinstance(statement.orelse[0], ast.If) and len(statement.orelse) == 1:
                yield from (f"el{others[0]}", *others[1:])
            else:
                yield from ("else:", *(f"    {line}" for line in others))
    elif isinstance(statement, ast.Import):
        yield template.use(statement)
    elif exception_of(statement, scope) is not None or isinstance(statement, ast.Raise):
        index = indexed_later(link.test, statement, scope) if link.test is not None else None
        if index is not None:
            raise Refused(
                f"line {index.lineno} uses the checked tensor as an index, "
                "which would fail before the exception is raised"
            )
        line, shown = deferred_raise(statement, taken, scope, texts)
        template.refuse([LATE, *shown])
        yield line
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield noted_call(statement.value, taken, scope, template)


def noted_call(call: ast.Call, taken: str, scope: Scope, template: Template) -> str:
    """What prints, logs or warns, or notes something already, as a note that counts where a way is `taken`.

    Raises:
        Refused: it cannot be carried out later.
    """
    if is_noted(call, scope):
        template.refuse(scope.legality.both_evaluated(call.args[1:], scope.facts))
    if call.keywords and is_noted(call, scope):
        failed = call.keywords[0].value
        template.refuse([LATE, *scope.legality.both_evaluated([failed], scope.facts), *noted_unbound(call, scope)])
        given = ", ".join(template.use(a) for a in call.args)
        return f"emit({given}, raise_if={taken} & {template.use(failed, operand=True)})"
    line, obstacles = deferred_if(call, taken, scope)
    template.refuse([*obstacles, *taken_on_trust(call, scope)])
    return line
