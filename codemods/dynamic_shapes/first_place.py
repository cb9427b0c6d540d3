"""CF508: the places where a tensor is true are listed, and only the first or the last is read.

## What it does
Finds `(ids == eos).nonzero()[0]`, `torch.where(mask)[0][-1]`, `mask.nonzero().min()`, `(steps == t).nonzero().item()`
and names that such a list is given, where all that is asked of it is its first or last place, and how many places it
has. Another place too, where its number is asked for first: `k = 1 if len(places) > 1 else 0; places[k]`.

## Why is this bad
The list has as many places as the values say. Dynamo cannot know how many while it traces, so the graph ends there
(GB0036), and on a GPU the program waits for the device.

## Example
```python
ends = (ids == eos).nonzero()
length = ends[0, 0] if len(ends) > 0 else ids.shape[0]
```

## Use instead
```python
is_end = ids == eos
first_end = (is_end.cumsum(0) == 0).sum()
length = torch.where(is_end.sum() > 0, first_end, ids.shape[0])
```

## Fix safety
The first place is the `argmax` of the truth values, which is the first of equal ones, and the last is that of their
running count. The mask must have one dimension, and where the only place is read no more than one true value
(`one-dimension`). Where it is true nowhere, the list was empty and reading it raised an error, which is not raised any
more (`mask-not-empty`); a place that is read behind a question for the number of places is computed so that an
empty mask raises nothing. The number of places becomes a tensor where it is asked for (`number-to-tensor`). Two places
of one list share its memory: `no-aliasing` is named where both go on as tensors, and none may be written into.

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.counts import count_uses
from compilefix.codemods.dynamic_shapes.true_places import Asked, Listed, asked_of, listed_places
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet


class FirstPlace(Rule):
    """List of places of which the first or last is read."""

    code = "CF508"
    name = "first-place"
    summary = "list of the places where a mask is true, of which only the first or last is read"
    gb = ("GB0036",)
    hints = ("nonzero", "where(", "argwhere(")
    assumptions = ("one-dimension", "mask-not-empty", "number-to-tensor", "float32-rounding", "no-aliasing")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that list places, in their longest form."""
        for node in scope.among(ast.Call, ast.Subscript):
            listed = listed_places(node, scope) if isinstance(node, ast.Call | ast.Subscript) else None
            if listed is not None and _longer(listed, scope) is None:
                yield from self._judge(listed, scope)

    def _judge(self, listed: Listed, scope: Scope) -> Iterator[Finding]:
        statement = scope.parents.get(listed.node)
        names = statement.targets if isinstance(statement, ast.Assign) else []
        name = names[0] if len(names) == 1 and isinstance(names[0], ast.Name) else None
        uses: Sequence[ast.expr] = [listed.node] if name is None else _reads(name, scope)
        asked = [asked_of(use, listed, scope) for use in uses]
        places = [one for one in asked if one is not None]
        if len(places) < len(uses) or not any(one.what != "count" for one in places):
            return
        template = Template()
        places_of = f"`{snippet(listed.node)}` has as many places as `{snippet(listed.source)}` has true values"
        message = f"{places_of}: the graph breaks"
        _refuse(listed, places, template, scope)
        template.refuse(_shared(places, scope))
        edits: tuple[Edit, ...]
        if name is None and places[0].what == "numbered":
            return
        if name is None:
            code = _code(template.use(listed.source, operand=True), listed, places[0], scope)
            edits = (scope.edit(places[0].node, code, **template.parts),)
        else:
            assert isinstance(statement, ast.Assign)
            edits = _named(listed, places, name.id, statement, template, scope)
        if template.broken is not None:
            yield self.declined(scope, listed.node, message, template.broken)
            return
        yield self.fixed(scope, listed.node, message, Fix(edits, (), template.assumptions, template.reasons))


def _longer(listed: Listed, scope: Scope) -> Listed | None:
    """The list that code round a list makes of it: `m.nonzero().flatten()` of `m.nonzero()`."""
    outer = scope.parents.get(listed.node)
    outer = scope.parents.get(outer) if isinstance(outer, ast.Attribute) else outer
    return listed_places(outer, scope) if isinstance(outer, ast.Call | ast.Subscript) else None


def _reads(name: ast.Name, scope: Scope) -> Sequence[ast.expr]:
    """The reads of a name that one statement gives a value, or the name itself where that is not certain."""
    every = scope.function.places(name.id)
    loads = scope.names(name.id)
    certain = len(every) == len(loads) + 1 and len(scope.names(name.id, stores=True)) == 1
    return loads if certain and not scope.function.takes(name.id) else [name]


def _refuse(listed: Listed, places: Sequence[Asked], template: Template, scope: Scope) -> None:
    source = snippet(listed.source)
    only = any(one.what == "only" for one in places)
    if only or scope.value(listed.source).rank != 1:
        text = "have one dimension and no more than one true value" if only else "have one dimension"
        template.refuse([Obstacle(f"`{source}` is not proved to {text}", "one-dimension")])
    for one in places:
        if one.what == "count":
            template.refuse(list(count_uses(one.node, scope)))
        elif one.what == "numbered":
            template.refuse(_is_there(one, places, scope))
        elif not _asked_before(one, places, scope):
            template.refuse([Obstacle(f"`{source}` may be true nowhere", "mask-not-empty")])


def _is_there(place: Asked, places: Sequence[Asked], scope: Scope) -> Iterator[Obstacle]:
    """Whether a list has the place that is read by its number, or only lacks it where it is empty."""
    missing = f"`{snippet(place.node)}` is not proved to be there: reading it raises, and the computed place does not"
    node, counts = place.number, frozenset(one.node for one in places if one.what == "count")
    tests = list(_tests_before(place.node, scope))
    if isinstance(node, ast.Constant):
        fewest = node.value + 1 if isinstance(node.value, int) else 0
        if not any(_is_some(test, counts, scope, holds=holds, least=fewest) for test, holds in tests):
            yield Obstacle(missing)
        return
    chosen = scope.only_value(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(chosen, ast.IfExp):
        yield Obstacle(missing)
        return
    for side, holds in ((chosen.body, True), (chosen.orelse, False)):
        number = side.value if isinstance(side, ast.Constant) and type(side.value) is int else -1
        if number < 0 or (number and not _is_some(chosen.test, counts, scope, holds=holds, least=number + 1)):
            yield Obstacle(missing)
        elif not number and not any(_is_some(test, counts, scope, holds=so) for test, so in tests):
            yield Obstacle(f"`{snippet(place.node)}` is read where there may be no place", "mask-not-empty")


def _shared(places: Sequence[Asked], scope: Scope) -> Iterator[Obstacle]:
    """Whether it shows that two places were parts of one list, or that one place is a tensor for all its reads."""
    read = [one.node for one in places if one.what != "count"]
    if len(read) < 2:
        return
    for node in read:
        if scope.legality.memory.writer(scope.value(node).storage, (), scope.facts) is not None:
            yield Obstacle(f"`{snippet(node)}` is written into, and the list with it")
            return
    above = [(node, scope.parents.get(node)) for node in read]
    # Of `first if flag else last` one goes on.
    going_on = {part if isinstance(part, ast.IfExp) else node for node, part in above if not isinstance(part, _READS)}
    if len(going_on) > 1:
        yield Obstacle("two places of a list share its memory", "no-aliasing")


_READS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Slice, ast.FormattedValue)
"""What only reads a place that stands in it."""


def _asked_before(place: Asked, places: Sequence[Asked], scope: Scope) -> bool:
    """Whether a place is read only where there is one: behind a test of their number, or an `if` on it that leaves."""
    counts = frozenset(one.node for one in places if one.what == "count")
    return any(_is_some(test, counts, scope, holds=holds) for test, holds in _tests_before(place.node, scope))


def _tests_before(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that code stands behind, and whether they hold there."""
    for around in scope.ancestors(node):
        if isinstance(around, ast.If) and node is not around.test:
            yield around.test, node in around.body
        elif isinstance(around, ast.IfExp) and node is not around.test:
            yield around.test, node is around.body
        if isinstance(node, ast.stmt):
            block = scope.block(node)
            for before in block[: block.index(node)]:
                if isinstance(before, ast.If) and isinstance(before.body[-1], _LEAVES):
                    yield before.test, False
                elif isinstance(before, ast.Assert):
                    yield before.test, True
        node = around


def _is_some(test: ast.expr, counts: Collection[ast.expr], scope: Scope, *, holds: bool, least: int = 1) -> bool:
    """Whether a number of places is not zero, or at least another one, where a test holds, or where it does not."""
    if test in counts:
        return holds and least == 1
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_some(test.operand, counts, scope, holds=not holds, least=least)
    if isinstance(test, ast.BoolOp):
        found = [_is_some(part, counts, scope, holds=holds, least=least) for part in test.values]
        return any(found) if isinstance(test.op, ast.And) == holds else all(found)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or test.left not in counts:
        return False
    const, compare = scope.value(test.comparators[0]).const, _ORDERS.get(type(test.ops[0]))
    if const is None or compare is None or not isinstance(const.value, int):
        return False
    return all(compare(fewer, const.value) != holds for fewer in range(least))


_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_ORDERS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}


def _named(
    listed: Listed, places: Sequence[Asked], name: str, statement: ast.Assign, template: Template, scope: Scope
) -> tuple[Edit, ...]:
    """A name for each of what is asked for, in the place of the list."""
    guarded = any(one.what == "count" for one in places)
    numbered = [one for one in places if one.what == "numbered"]
    places = [one for one in places if one.what != "numbered"]
    given: dict[tuple[str, bool], str] = {}
    taken: list[str] = []
    for one in places:
        if (one.what, one.row) not in given:
            wanted = {"count": f"count_{name}", "last": f"last_{name}"}.get(one.what, f"first_{name}")
            taken.append(free_name(wanted, scope, taken))
            given[one.what, one.row] = taken[-1]
    mask = template.use(listed.source)
    lines: list[str] = []
    if (len(given) > 1 or guarded) and not isinstance(listed.source, ast.Name):
        taken.append(free_name("mask", scope, taken))
        lines.append(f"{taken[-1]} = {mask}")
        mask = taken[-1]
    elif not isinstance(listed.source, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        mask = f"({mask})"
    for one in places:
        line = f"{given[one.what, one.row]} = {_code(mask, listed, one, scope, total=guarded)}"
        if line not in lines:
            lines.append(line)
    parts = template.parts
    edits = [scope.edit(statement, "\n".join(lines), **parts)]
    edits += [scope.edit(one.node, given[one.what, one.row]) for one in places]
    if numbered:  # which one may be known only there
        template.refuse(_stays(listed.source, scope))
        whole = mask if "{" not in mask else ast.unparse(listed.source)
        edits += [scope.edit(one.node, _code(whole, listed, one, scope)) for one in numbered]
    return tuple(edits)


def _stays(source: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether a mask that has a name already keeps its value until a place is read."""
    if isinstance(source, ast.Name):
        stores = len(scope.names(source.id, stores=True)) + scope.function.takes(source.id)
        if stores != 1 or scope.legality.memory.writer(scope.value(source).storage, (), scope.facts) is not None:
            yield Obstacle(f"`{source.id}` may be another before a place is read")


def _code(mask: str, listed: Listed, asked: Asked, scope: Scope, *, total: bool = False) -> str:
    """Code for a place of a mask, or for the number of its places; `total` code takes an empty mask too."""
    if scope.value(listed.source).dtype != "bool":
        mask = f"({mask} != 0)"
    if asked.what == "count":
        return f"{mask}.sum()"
    if asked.number is not None:
        code = f"({mask}.cumsum(0) <= {ast.unparse(asked.number)}).sum()"
        return f"{code}[None]" if asked.row else code
    if total:
        count = f"{mask}.cumsum(0)"
        size = f"{mask}.shape[0] - 1 - "
        code = f"({count} == 0).sum()" if asked.what != "last" else f"{size}({mask}.flip(0).cumsum(0) == 0).sum()"
        return f"({code})[None]" if asked.row else code
    keep = ", keepdim=True" if asked.row else ""
    steps = ".cumsum(0)" if asked.what == "last" else ".int()"
    return f"{mask}{steps}.argmax(0{keep})"
