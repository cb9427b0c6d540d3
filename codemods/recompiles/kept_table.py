"""Tables that an object keeps for the last size, or the largest one, as code that computes them at each call.

if seq_len != self.length or self.cos.device != x.device:     self.length = seq_len
    self.length = seq_len                                     t = torch.arange(seq_len, device=x.device)
    t = torch.arange(seq_len, device=x.device)                self.cos = torch.outer(t, self.frequencies).cos()
    self.cos = torch.outer(t, self.frequencies).cos()         return x * self.cos
return x * self.cos
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from compilefix.analysis import torch_api
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.finding import Edit
from compilefix.codemods.recompiles.size_cache import hangs_on, is_of_other_class
from compilefix.codemods.recompiles.sizes import definition_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import elements_of, parents

GROWS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
_PLAIN = (
    *(ast.UnaryOp, ast.Compare, ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.List, ast.keyword),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
_FILLED = frozenset({"ones", "zeros", "full", "triu", "tril"})
_ASKS = frozenset({"size", "dim", "numel", "is_inference"})
_BY_ROWS = frozenset({"arange", "outer", "to", "type_as", "type", "float", "half", "double", "unsqueeze", "contiguous"})


@dataclass(frozen=True)
class KeptTable:
    """An `if` that computes anew what the object keeps where that does not fit. kept: the attributes that it fills."""

    guard: ast.If
    kept: frozenset[str]
    asked: tuple[ast.Compare, ...]

    @property
    def grows(self) -> bool:
        """Whether a table that is longer than needed is kept."""
        return any(isinstance(question.ops[0], GROWS) for question in self.asked)

    @property
    def sizes(self) -> Iterator[ast.expr]:
        """What is compared with what is kept."""
        for question in self.asked:
            yield from (s for s in (question.left, *question.comparators) if not reads(s, self.kept))


def kept_table(store: ast.Assign, scope: Scope) -> KeptTable | None:
    """The table that is kept with the size which a statement stores; None where the code has another form."""
    guard = scope.parents.get(store)
    if not isinstance(guard, ast.If) or guard.orelse or store not in guard.body:
        return None
    above = scope.parents.get(guard)
    if isinstance(above, ast.If | ast.For | ast.While) and getattr(above, "orelse", None) == [guard]:
        return None
    kept: set[str] = set()
    for statement in guard.body:
        target = single_target(statement)
        if isinstance(target, ast.Attribute) and is_self(target.value, scope):
            kept.add(target.attr)
        elif not isinstance(target, ast.Name):
            return None
    parts = guard.test.values if isinstance(guard.test, ast.BoolOp) else [guard.test]
    if isinstance(guard.test, ast.BoolOp) and isinstance(guard.test.op, ast.And):
        return None
    if not all(reads(part, frozenset(kept)) and only_asks(part) for part in parts):
        return None
    asked = tuple(n for part in parts for n in ast.walk(part) if isinstance(n, ast.Compare) and len(n.ops) == 1)
    return KeptTable(guard, frozenset(kept), asked)


def computed_at_each_call(table: KeptTable, scope: Scope) -> tuple[Edit, ...] | str:
    """The edits after which the table is computed at each call, or why they would not do."""
    body = table.guard.body
    earlier = (n for n in scope.of(ast.Return) if n.lineno < table.guard.lineno)
    if scope.block(table.guard) is not scope.function.node.body or next(earlier, None) is not None:
        return "the question is asked on one way only"
    key = ast.Tuple([definition_of(size, scope) for size in table.sizes], ast.Load())
    parts: list[ast.AST] = [*body]
    stored = _stored_sizes(table, scope)
    read_here = [n for part in parts for n in ast.walk(part) if reads_itself(n, table.kept)]
    read = next((n for n in read_here if n not in stored), None)
    if read is not None:
        return f"`{snippet(read)}` is made of what is kept"
    reason = hangs_on(key, parts, scope, stored)
    if reason is not None:
        return reason
    for statement in body:
        effects = scope.legality.effects.of(statement.value, scope.facts)  # type: ignore[attr-defined]
        found = effects.random or effects.mutates or effects.always or effects.host
        if found is not None:
            return f"computed at each call, it would do more than compute: {found}"
    names = (n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    live = next((name for name in names if live_after(name, table.guard, scope)), None)
    if live is not None:
        return f"`{live}` is read behind the branch"
    if table.grows:
        named = [*table.sizes, *stored, *(definition_of(size, scope) for size in table.sizes)]
        texts = {ast.unparse(node) for node in named}
        values = [n for s in body if isinstance(s, ast.Assign) for n in down_to(texts, s.value)]
        other = next((node for node in values if not by_rows(node, texts, scope)), None)
        if other is not None:
            return f"`{snippet(other)}` may depend on how many rows are kept"
    used = next((text for name in sorted(table.kept) if (text := _used_elsewhere(name, table, scope))), None)
    if used is not None:
        return used
    template = Template()
    lines = [template.use(statement) for statement in body]
    return (scope.edit(table.guard, "\n".join(lines), **template.parts),)


def _stored_sizes(table: KeptTable, scope: Scope) -> frozenset[ast.AST]:
    """The places in the branch that read a size which the branch has stored before: `self.length = x.shape[1]`."""
    sizes = {ast.unparse(definition_of(size, scope)) for size in table.sizes}
    found: set[ast.AST] = set()
    for place, statement in enumerate(table.guard.body):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
            continue
        if ast.unparse(definition_of(statement.value, scope)) in sizes:
            name = frozenset({statement.targets[0].attr})
            found.update(n for s in table.guard.body[place + 1 :] for n in ast.walk(s) if reads_itself(n, name))
    return frozenset(found)


def is_self(node: ast.AST, scope: Scope) -> bool:
    """Whether it is the instance whose method this is."""
    return isinstance(node, ast.Name) and node.id == scope.function.parameters[0].arg


def reads(node: ast.AST, kept: frozenset[str]) -> bool:
    """Whether what is kept is read in a piece of code."""
    return any(reads_itself(part, kept) for part in ast.walk(node))


def reads_itself(node: ast.AST, kept: frozenset[str]) -> bool:
    """Whether it is `self.table`; `angles.cos` is a method where `self.cos` is kept."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return own and node.attr in kept and isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]


def only_asks(test: ast.expr) -> bool:
    """Whether a question changes nothing: it compares, and calls only what tells a size."""
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call)]
    return all(isinstance(call.func, ast.Attribute) and call.func.attr in _ASKS for call in calls)


def down_to(sizes: Collection[str], node: ast.AST) -> Iterator[ast.AST]:
    """An expression and its parts, down to the sizes in it."""
    yield node
    if isinstance(node, ast.Subscript):
        yield from down_to(sizes, node.value) if ast.unparse(node) not in sizes else ()
    elif not isinstance(node, ast.expr) or ast.unparse(node) not in sizes:
        for part in ast.iter_child_nodes(node):
            yield from down_to(sizes, part)


def by_rows(node: ast.AST, sizes: Collection[str], scope: Scope, *, filled: bool = False) -> bool:
    """Whether the first rows are the same, however many are computed: sizes only say how many there are."""
    if isinstance(node, ast.Call):
        bare = (scope.callee(node) or "").rpartition(".")[2]
        last = [ast.unparse(k.value) for k in node.keywords if k.arg in ("dim", "axis")]
        if bare in ("cat", "stack"):
            return last == ["-1"]
        api = torch_api.method(bare) if (scope.callee(node) or "").startswith("Tensor.") else None
        api = api or torch_api.function(scope.callee(node) or "")
        if filled and bare in _FILLED:
            return True
        return bare in _BY_ROWS or (api is not None and api.pointwise)
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.MatMult)
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and ast.unparse(node) in sizes:
        above = scope.parents.get(node)
        ranged = isinstance(above, ast.Call) and scope.callee(above) == "torch.arange" and above.args == [node]
        ranged = ranged or (filled and _is_size_of_new(node, scope))
        device = isinstance(above, ast.keyword) and above.arg in ("device", "dtype")
        cast = isinstance(above, ast.Call) and (scope.callee(above) or "").rpartition(".")[2] in ("to", "type")
        return ranged or device or cast or isinstance(above, ast.Assign)
    if isinstance(node, ast.Subscript):
        index = elements_of(node.slice)
        return all(_is_whole(part) for part in index)
    plain = isinstance(node, _PLAIN) and not isinstance(node, ast.Slice)
    return plain and (not isinstance(node, ast.Attribute) or node.attr not in ("shape", "ndim"))


def _is_whole(index: ast.expr) -> bool:
    """Whether an index takes a dimension as it is, or adds one."""
    if isinstance(index, ast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, ast.Constant) and index.value in (None, Ellipsis)


def _used_elsewhere(attribute: str, table: KeptTable, scope: Scope) -> str | None:
    """Another place where an attribute is used: who has not called this method before may find another table."""
    own, modules = scope.function, scope.legality.inference.project.modules
    inside = {id(node) for node in ast.walk(table.guard)}
    for module in (modules[name] for name in modules.texts.mentioning(attribute)):
        around = parents(tuple(ast.walk(module.tree)))
        functions = {id(n): f for f in module.all_functions for n in f.nodes}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and node.value == attribute:
                return f"`{attribute}` is named elsewhere, too"
            if not isinstance(node, ast.Attribute) or node.attr != attribute or id(node) in inside:
                continue
            if is_of_other_class(node, module, scope):
                continue
            function = functions.get(id(node))
            if isinstance(node.ctx, ast.Store):
                begins = function is not None and function.node.name == "__init__"
                fine = (begins and is_nothing(node, around)) or (
                    function is not None and _gives_back(node, around, scope)
                )
            else:
                fine = function is not None and _is_behind(node, function, own, table, scope)
                fine = fine and not _is_changed(node, around)
                fine = fine and (not table.grows or _is_cut(node, function, around, table, scope))
            if not fine:
                return f"`{snippet(node)}` is used elsewhere, too"
    return None


def _gives_back(node: ast.AST, around: Mapping[ast.AST, ast.AST], scope: Scope) -> bool:
    """Whether an attribute is given what the method returns: `self.cos, self.sin = self.update(x)`."""
    while not isinstance(node, ast.stmt):
        node = around[node]
    call = node.value if isinstance(node, ast.Assign) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == f"self.{scope.function.node.name}"


def _is_size_of_new(node: ast.AST, scope: Scope) -> bool:
    """Whether a size is one of a tensor filled with one number: `torch.ones((n, n))`."""
    above = scope.parents.get(node)
    size = above if isinstance(above, ast.Tuple | ast.List) else node
    call = scope.parents.get(size)
    if not isinstance(call, ast.Call) or scope.callee(call) not in ("torch.ones", "torch.zeros", "torch.full"):
        return False
    return scope.callee(call) != "torch.full" or call.args[:1] == [size]  # what it is filled with is no size


def is_nothing(node: ast.AST, around: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an attribute begins as what fits no size: None, or zero."""
    statement = around[node]
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand if isinstance(value.operand, ast.Constant) and value.operand.value == 1 else None
        return value is not None
    return isinstance(value, ast.Constant) and (value.value is None or value.value == 0)


def _is_cut(
    node: ast.AST, function: Function | None, around: Mapping[ast.AST, ast.AST], table: KeptTable, scope: Scope
) -> bool:
    """Whether only as many rows are read as the table was asked for: `self.cos[:n]`, in a caller with its argument."""
    above = around.get(node)
    index = above.slice if isinstance(above, ast.Subscript) and above.value is node else None
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    if not isinstance(first, ast.Slice) or first.lower is not None or first.upper is None or first.step is not None:
        return False
    sizes = {ast.unparse(part) for size in table.sizes for part in (size, definition_of(size, scope))}
    if function is not scope.function and function is not None:
        calls = scope.legality.inference.facts(function).calls
        made = [call for call, callee in calls.items() if callee is scope.function and isinstance(call, ast.Call)]
        sizes = {ast.unparse(a) for call in made for a in (*call.args, *(k.value for k in call.keywords))}
        if len(made) != 1:
            return False
    return ast.unparse(first.upper) in sizes


def _is_behind(node: ast.Attribute, function: Function, own: Function, table: KeptTable, scope: Scope) -> bool:
    """Whether a place is reached only when the table was computed in the same call."""
    if function is own:
        return node.lineno > (table.guard.end_lineno or 0)
    calls = scope.legality.inference.facts(function).calls
    made = [
        statement
        for statement in function.node.body
        if any(calls.get(part) is own for part in ast.walk(statement)) and isinstance(statement, ast.Expr | ast.Assign)
    ]
    return bool(made) and node.lineno > (made[0].end_lineno or 0)


def _is_changed(node: ast.AST, around: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether what is kept is written in place."""
    above = around.get(node)
    while isinstance(above, ast.Subscript) and above.value is node and isinstance(above.ctx, ast.Load):
        node, above = above, around.get(above)
    if isinstance(above, ast.Attribute):
        return above.attr.endswith("_") and not above.attr.endswith("__")
    if isinstance(above, ast.Subscript):
        return above.value is node
    return isinstance(above, ast.AugAssign) and above.target is node
