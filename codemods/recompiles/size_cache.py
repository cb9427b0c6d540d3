"""Dicts of a module that keep what was computed for each size, as code that computes it at each call.

if key not in self.cache:                 value = torch.arange(x.shape[1])
    value = torch.arange(x.shape[1])      computed = value * 2
    self.cache[key] = value * 2           return x + computed
return x + self.cache[key]
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.finding import Edit
from compilefix.codemods.kept_attributes import assigned
from compilefix.codemods.names import free_name
from compilefix.codemods.recompiles.sizes import definition_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.definitions import Class
from compilefix.source.module import Module
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import names_in

_ASKED = frozenset({"shape", "size", "device", "dtype", "dim", "ndim", "numel", "is_cuda", "layout", "type"})
_PLAIN_KEY = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.UnaryOp,
    ast.USub,
    ast.expr_context,
)


@dataclass(frozen=True)
class SizeCache:
    """A dict of the instance, the `if` that looks for a key in it, and the statement that puts a value there.

    found: what the `if` returns where the key is there; else the branch computes what is missing.
    """

    container: ast.Attribute
    key: ast.expr
    store: ast.Assign
    guard: ast.If
    found: ast.expr | None


def size_cache(store: ast.Assign, scope: Scope) -> SizeCache | None:
    """The cache that a statement `self.cache[key] = value` fills; None where the `if` has another form."""
    target = store.targets[0]
    if len(store.targets) != 1 or not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Attribute):
        return None
    container, key = target.value, target.slice
    around = scope.parents.get(store)
    if isinstance(around, ast.If) and around.body[-1] is store and not around.orelse:
        missing = _looks_up(around.test, ast.NotIn, container, key)
        return SizeCache(container, key, store, around, None) if missing else None
    for node in scope.of(ast.If):
        only = node.body[0] if len(node.body) == 1 and not node.orelse else None
        if isinstance(only, ast.Return) and only.value is not None and _looks_up(node.test, ast.In, container, key):
            return SizeCache(container, key, store, node, only.value)
    return None


def calls_unknown(cache: SizeCache, scope: Scope) -> str | None:
    """A call of something unknown that is made at each call then."""
    found = (scope.legality.effects.of(part, scope.facts).unknown for part in _parts(cache, scope))
    return next((reason for reason in found if reason is not None), None)


def computed_each_time(cache: SizeCache, scope: Scope) -> tuple[Edit, ...] | str:
    """The edits after which the value is computed at each call, or why they would not do."""
    reads = [n for n in scope.of(ast.Subscript) if isinstance(n.ctx, ast.Load) and _is_item(n, cache)]
    inside = [cache.guard] if cache.found is None else [cache.guard, cache.store]
    reason = _used_elsewhere(cache, reads, scope) or _key_moves(cache, scope)
    reason = reason or hangs_on(cache.key, _parts(cache, scope), scope)
    reason = reason or next((f"`{snippet(read)}` is written into" for read in reads if _is_written(read, scope)), None)
    if reason is not None:
        return reason
    block = _block_of(cache.guard, scope)
    around = scope.parents.get(cache.guard)
    if isinstance(around, ast.If) and around.orelse == [cache.guard]:
        return "the question stands in a chain"
    if cache.found is not None:
        kept = [n for n in ast.walk(cache.found) if isinstance(n, ast.Subscript) and _is_item(n, cache)]
        if _block_of(cache.store, scope) is not block or block[-1] is cache.store:
            return "what is kept is computed in a block of its own"
        if len(kept) != 1:
            return f"`{snippet(cache.found)}` is made of what is kept"
        if not _is_returned(cache, _behind(cache, block)):
            return f"what is computed is not returned as `{snippet(cache.found)}`"
        reads.remove(kept[0])
    elif not reads:
        return f"nothing here reads `{snippet(cache.container)}`"
    before = cache.guard.body[:-1] if cache.found is None else _between(cache, scope)
    for statement in (*before, cache.store):
        doubt = _effect(statement, cache, scope)
        if doubt is not None:
            return doubt
    behind = block[block.index(inside[-1]) + 1 :]
    there = {id(node) for statement in behind for node in ast.walk(statement)}
    if any(id(read) not in there for read in reads):
        return f"`{snippet(cache.container)}` is read before the value is there"
    return _edits(cache, reads, block, scope)


def _edits(cache: SizeCache, reads: Sequence[ast.expr], block: Sequence[ast.stmt], scope: Scope) -> tuple[Edit, ...]:
    template = Template()
    name = free_name("computed", scope)
    edits = [scope.edit(read, name) for read in reads]
    if cache.found is not None and not _is_item(cache.found, cache):
        # What the next calls return is returned by each.
        returned = ast.unparse(_Named(cache, name).visit(copy.deepcopy(cache.found)))
        edits = [scope.edit(_behind(cache, block), "return " + returned.replace("{", "{{").replace("}", "}}"))]
    kept = f"{name} = {template.use(cache.store.value)}" if edits else ""
    key = _given_for_this(cache, block, scope)
    if key is not None:
        edits.append(scope.edit(key, ""))
    if cache.found is not None:
        return (scope.edit(cache.guard, ""), scope.edit(cache.store, kept, **template.parts), *edits)
    lines = [template.use(statement) for statement in cache.guard.body[:-1]]
    return (scope.edit(cache.guard, "\n".join([*lines, *([kept] if kept else [])]), **template.parts), *edits)


def _is_returned(cache: SizeCache, behind: ast.stmt) -> bool:
    """Whether the statement behind the one that keeps the value returns what the next calls do: it, or what it is a
    part of."""
    returned = behind.value if isinstance(behind, ast.Return) else None
    if returned is None or cache.found is None:
        return False
    value = cache.store.value
    if _is_item(cache.found, cache):
        return _is_item(returned, cache) or (isinstance(value, ast.Name) and ast.unparse(returned) == value.id)
    whole = value.value if isinstance(value, ast.Subscript) else value
    return isinstance(whole, ast.Name) and ast.unparse(returned) == whole.id


def _behind(cache: SizeCache, block: Sequence[ast.stmt]) -> ast.stmt:
    return block[block.index(cache.store) + 1]


class _Named(ast.NodeTransformer):
    """The value by its name in place of the item of the dict."""

    def __init__(self, cache: SizeCache, name: str) -> None:
        self.cache, self.name = cache, name

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if _is_item(node, self.cache):
            return ast.Name(self.name, ast.Load())
        self.generic_visit(node)
        return node


def _looks_up(test: ast.expr, how: type[ast.cmpop], container: ast.expr, key: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], how):
        return False
    where = ast.unparse(test.comparators[0]).removesuffix(".keys()")
    return where == ast.unparse(container) and ast.unparse(test.left) == ast.unparse(key)


def _is_item(node: ast.expr, cache: SizeCache) -> bool:
    if not isinstance(node, ast.Subscript) or ast.unparse(node.value) != ast.unparse(cache.container):
        return False
    return ast.unparse(node.slice) == ast.unparse(cache.key)


def _block_of(node: ast.stmt, scope: Scope) -> list[ast.stmt]:
    """The statements among which one stands."""
    parent = scope.parents.get(node)
    blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
    return next(block for block in blocks if isinstance(block, list) and node in block)


def _used_elsewhere(cache: SizeCache, reads: Sequence[ast.expr], scope: Scope) -> str | None:
    """Another place that looks at the dict, or fills it."""
    attribute, modules = cache.container.attr, scope.legality.inference.project.modules
    known = [cache.store.targets[0], cache.guard.test, *reads]
    allowed = {id(node) for part in known for node in ast.walk(part)}
    empty = 0
    for module in (modules[name] for name in modules.texts.mentioning(attribute)):
        others = {id(node) for node in _of_other_classes(attribute, module, scope)}
        for statement in ast.walk(module.tree):
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            target = targets[0] if len(targets) == 1 else getattr(statement, "target", None)
            made = isinstance(target, ast.Attribute) and target.attr == attribute and id(target) not in others
            if made and _is_empty_dict(getattr(statement, "value", None)):
                allowed.add(id(target))
                empty += 1
        for node in ast.walk(module.tree):
            named = isinstance(node, ast.Constant) and node.value == attribute
            used = isinstance(node, ast.Attribute) and node.attr == attribute
            if named or (used and id(node) not in allowed | others):
                return f"`{snippet(cache.container)}` is used elsewhere, too"
    return None if empty == 1 else f"`{snippet(cache.container)}` is not made in one place"


def _of_other_classes(attribute: str, module: Module, scope: Scope) -> Iterator[ast.Attribute]:
    """The attributes of this name of instances of classes that are no relatives."""
    own, project = scope.function.cls, scope.legality.inference.project
    for cls in module.classes.values():
        if own is None or cls is own or own in project.ancestors(cls) or cls in project.ancestors(own):
            continue
        for method in cls.methods.values():
            first = method.parameters[0].arg if method.parameters and not method.is_static else None
            for node in ast.walk(method.node):
                if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                    continue
                if node.attr == attribute and node.value.id == first:
                    yield node


def is_of_other_class(node: ast.Attribute, module: Module, scope: Scope) -> bool:
    """Whether an attribute is one of an instance of a class that is no relative."""
    return any(other is node for other in _of_other_classes(node.attr, module, scope))


def _is_empty_dict(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("dict", "OrderedDict") and not node.args
    return isinstance(node, ast.Dict) and not node.keys


def _key_moves(cache: SizeCache, scope: Scope) -> str | None:
    names = names_in(cache.key)
    moved = next((name for name in sorted(names) if len(scope.names(name, stores=True)) > 1), None)
    return None if moved is None else f"`{moved}` is given several values"


def hangs_on(key: ast.expr, parts: Sequence[ast.AST], scope: Scope, known: Collection[ast.AST] = ()) -> str | None:
    """What a kept value, computed by these parts, is made of beside sizes, devices and what stays, or is `known`."""
    inner = {id(n) for part in parts for n in ast.walk(part)}
    own = [n for part in parts for n in ast.walk(part) if n not in known]
    moved = next((n for n in own if _moves(n, scope)), None)
    if moved is not None:
        return f"`{snippet(moved)}` is given another value"
    trained = next((n for n in own if _is_trained(n, scope)), None)
    if trained is not None:
        return f"the value hangs on `{snippet(trained)}`, which may be trained"
    key = definition_of(key, scope)
    keyed = {n.id for n in ast.walk(key) if isinstance(n, ast.Name) and not _is_asked(n, scope)}
    for node in (n for part in parts for n in ast.walk(part)):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        made_here = [store for store in scope.names(node.id, stores=True) if id(store) in inner]
        if made_here or node.id in keyed:
            continue
        value = scope.value(node)
        if not _is_own_number(node, scope) and (value.is_static or not _may_hold_values(node, scope)):
            continue
        return f"the value hangs on `{node.id}`"
    return None


def _is_written(read: ast.expr, scope: Scope) -> bool:
    """Whether what is kept is written in place, by its name too."""
    parent = scope.parents.get(read)
    target = single_target(parent)
    names = [n for n in scope.of(ast.Name) if isinstance(target, ast.Name) and n.id == target.id]
    return any(_writes(node, scope) for node in (read, *names))


def _writes(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr.endswith("_") and not parent.attr.endswith("__")
    if isinstance(parent, ast.Subscript):
        return parent.value is node and not isinstance(parent.ctx, ast.Load)
    return isinstance(parent, ast.AugAssign) and parent.target is node


def _moves(node: ast.AST, scope: Scope) -> bool:
    """Whether an attribute of the instance is given another value after `__init__`; a move to a device is none."""
    if not _is_own(node, scope) or not isinstance(node, ast.Attribute) or scope.function.cls is None:
        return False
    owners = (one for one in scope.legality.inference.project.ancestors(scope.function.cls) if isinstance(one, Class))
    later = (method for one in owners for name, method in one.methods.items() if name != "__init__")
    for statement in (s for method in later for s in ast.walk(method.node)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        stored = [n for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Attribute)]
        if any(n.attr == node.attr and isinstance(n.ctx, ast.Store) for n in stored):
            value = getattr(statement, "value", None)
            called = value.func if isinstance(value, ast.Call) else None
            if not isinstance(called, ast.Attribute) or called.attr not in ("to", "cuda", "cpu"):
                return True
            if ast.unparse(called.value) != ast.unparse(node):
                return True
    return False


def _is_own(node: ast.AST, scope: Scope) -> bool:
    """Whether it reads an attribute of the instance."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == scope.function.parameters[0].arg


def _is_trained(node: ast.AST, scope: Scope) -> bool:
    """Whether an attribute of the instance is a parameter or a module, or nothing is known of it."""
    cls = scope.function.cls
    if cls is None or not isinstance(node, ast.Attribute) or not _is_own(node, scope):
        return False
    project = scope.legality.inference.project
    owners = [one for one in project.ancestors(cls) if isinstance(one, Class)]
    if any(node.attr in one.methods for one in owners):
        return False  # what it does is among the effects
    parent = scope.parents.get(node)
    if scope.value(node).is_static or (isinstance(parent, ast.Call) and parent.func is node):
        return not scope.value(node).is_static
    methods = [(one, method) for one in owners for method in one.methods.values()]
    made = [(one, v) for one, method in methods for v in assigned(method.node, node.attr) if isinstance(v, ast.Call)]
    names = [one.module.qualified(value.func) or "" for one, value in made]
    classes = [found for name in names if isinstance(found := project.resolve(name), Class)]
    if any(name.startswith("torch.nn.") for name in names) or any(map(project.is_module_class, classes)):
        return True
    return not any(_gives(method.node, node.attr) for _, method in methods)


def _gives(node: ast.AST, attribute: str) -> bool:
    """Whether a method stores an attribute, or makes a buffer of this name."""
    return _registers(node, attribute) or any(
        isinstance(n, ast.Attribute) and n.attr == attribute and isinstance(n.ctx, ast.Store) for n in ast.walk(node)
    )


def _registers(node: ast.AST, attribute: str) -> bool:
    """Whether a method makes a buffer of this name."""
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr == "register_buffer"
        and bool(n.args)
        and isinstance(n.args[0], ast.Constant)
        and n.args[0].value == attribute
        for n in ast.walk(node)
    )


def _is_asked(node: ast.Name, scope: Scope) -> bool:
    """Whether only a part of what a name stands for makes a key: `x` in `x.shape[1]`, `len(x)`."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Attribute | ast.Call) or (isinstance(parent, ast.Subscript) and parent.value is node)


def _is_own_number(node: ast.Name, scope: Scope) -> bool:
    """Whether a name is a number that each call is given."""
    value = scope.value(node)
    return value.is_static and value.dtype is not None and scope.function.takes(node.id)


def _may_hold_values(node: ast.Name, scope: Scope) -> bool:
    """Whether more of a name is read than its size, its device, a function, or an attribute of the instance."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Attribute) and (parent.attr in _ASKED or node.id == scope.function.parameters[0].arg):
        return False
    if isinstance(parent, ast.keyword) and parent.arg in ("device", "dtype"):
        return False
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "to":
        return False  # its device and dtype
    if scope.value(node).ref is not None and not scope.value(node).is_tensor:
        return False
    return bool(scope.names(node.id, stores=True)) or scope.function.takes(node.id)


def _parts(cache: SizeCache, scope: Scope) -> list[ast.AST]:
    """What the value is computed by."""
    before = cache.guard.body[:-1] if cache.found is None else [*_between(cache, scope)]
    return [*before, cache.store.value]


def _between(cache: SizeCache, scope: Scope) -> Iterator[ast.stmt]:
    """What is computed between the question and the place where the value is kept."""
    block = _block_of(cache.guard, scope)
    if cache.store in block:
        yield from block[block.index(cache.guard) + 1 : block.index(cache.store)]


def _effect(statement: ast.stmt, cache: SizeCache, scope: Scope) -> str | None:
    """Why a statement does more than compute the value."""
    if statement is not cache.store:
        stored = [n for n in ast.walk(statement) if isinstance(getattr(n, "ctx", None), ast.Store)]
        other = next((n for n in stored if not _is_local(n, scope)), None)
        if other is not None:
            return f"`{snippet(other)}` is written, too"
        names = [n.id for n in stored if isinstance(n, ast.Name)] if cache.found is None else []
        live = next((name for name in names if live_after(name, cache.guard, scope)), None)
        if live is not None:
            return f"`{live}` is read behind the branch"
    part = cache.store.value if statement is cache.store else statement
    effects = scope.legality.effects.of(part, scope.facts)
    writes = effects.mutates if not _writes_items(part) else None
    found = effects.random or writes or effects.always or effects.host
    return None if found is None else f"without the cache each call would do more than compute: {found}"


def _is_local(node: ast.AST, scope: Scope) -> bool:
    """Whether a name is stored, or an item of memory that nobody else sees."""
    if isinstance(node, ast.Subscript):
        memory = scope.value(node.value)
        seen = any(token.startswith(("param:", "self.")) for token in memory.storage)
        return isinstance(node.value, ast.Name) and memory.is_tensor and not seen
    return isinstance(node, ast.Name | ast.Tuple)


def _writes_items(node: ast.AST) -> bool:
    """Whether all that it changes are items, which `_is_local` has judged."""
    calls = (n.func.attr for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return not any(name.endswith("_") and not name.endswith("__") for name in calls) and any(
        isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in ast.walk(node)
    )


def _given_for_this(cache: SizeCache, block: Sequence[ast.stmt], scope: Scope) -> ast.Assign | None:
    """The statement that makes the key, where nothing else asks for it."""
    if not isinstance(cache.key, ast.Name):
        return None
    statement = scope.only_assignment(cache.key.id)
    if statement is None or statement not in block:
        return None
    if not all(isinstance(n, _PLAIN_KEY) for n in ast.walk(statement.value)):
        return None
    key = cache.key.id
    gone = [cache.guard.test, cache.store.targets[0], *([cache.found] if cache.found is not None else [])]
    gone += [n for n in scope.of(ast.Subscript) if _is_item(n, cache)]
    known = {id(n) for part in gone for n in ast.walk(part)}
    loads = [n for n in scope.names(key) if isinstance(n.ctx, ast.Load)]
    return statement if all(id(n) in known for n in loads) else None
