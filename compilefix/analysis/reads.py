"""What is read: constants, names, attributes, items."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Sequence
from functools import lru_cache

from compilefix.analysis import shape_ids, torch_api, values
from compilefix.analysis.array_uses import has_dimensions
from compilefix.analysis.calls import Calls
from compilefix.analysis.function_facts import Env
from compilefix.analysis.leaves import ANY_LEAF, place_of_item
from compilefix.analysis.module_calls import part_of_module
from compilefix.analysis.operators import (
    array_attribute,
    opaque,
    picked,
    tensor_attribute,
)
from compilefix.analysis.param_groups import PARAM_GROUPS, item_of_group, keeps_groups
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import (
    CONTAINER,
    OWN,
    Kind,
    Value,
    join,
    likely,
    of_other,
    replace,
    static,
    tensor,
)
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.tree import elements_of, walk

_UNBOUND = replace(values.UNKNOWN, certain=False)
"""A local name where nothing has given it a value."""


class Reads(Calls):
    """The values of names, attributes and items."""

    def _constant(self, node: ast.Constant, _env: Env) -> Value:
        return values.STATIC if node.value is Ellipsis else static(node.value)

    def _name(self, node: ast.Name, env: Env) -> Value:
        if node.id in env:
            value = env[node.id]
            if value.ref is not None and "<locals>" in value.ref:
                return self._with_captured(value, env)
            return value
        if node.id in self.locals:
            return _UNBOUND
        item = self.module, node.id
        known = self.inference.global_names.get(item)
        if known is None:
            known = self.inference.global_names[item] = self._global_name(node)
        return known

    def _global_name(self, node: ast.Name) -> Value:
        qualified = self.module.qualified(node)
        known = self.inference.module_global(self.module, node.id)
        if known is not None:
            return known
        if qualified == node.id and self.module.imported(node.id) is None and not hasattr(builtins, node.id):
            return values.UNKNOWN  # bound by `import *`, or in a function round this one that is still being walked
        return self._named(qualified) if qualified is not None else values.UNKNOWN

    def _with_captured(self, function: Value, env: Env) -> Value:
        """A nested function, with the memory of what it finds in the functions round it."""
        found = next((f for f in self.module.all_functions if f.full_name == function.ref), None)
        if found is None:
            return function
        return replace(function, storage=memory_of_names(found.node, env))

    def _named(self, name: str) -> Value:
        known = self.inference.named.get(name)
        if known is None:
            known = self.inference.named[name] = self._what_is_named(name)
        return known

    def _what_is_named(self, name: str) -> Value:
        found = self.project.resolve(name)
        if isinstance(found, (Function, Class)):
            return replace(values.FUNCTION, ref=found.full_name)
        if isinstance(found, Module):
            return replace(values.FUNCTION, ref=found.name)
        head, _, last = found.rpartition(".")
        if head in self.project.modules:
            value = self.inference.module_global(self.project.modules[head], last)
            if value is not None:
                return value
        owner = self.project.resolve(head) if head else None
        constant = self.inference.class_constant(owner, last) if isinstance(owner, Class) else None
        return constant or _outside(found)

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        key = self.key(node)
        if key is not None and key in env:
            self.eval(node.value, env)
            return env[key]
        base = self.eval(node.value, env)
        likely_packed = base.is_unknown or (base.is_tensor and not base.certain)
        if node.attr == "batch_sizes" and likely_packed and _packs_sequences(self.module):
            return tensor(dtype="int", rank=1, certain=False, storage=base.storage, leaves=base.leaves)
        if base.may_be(Kind.TENSOR) and not base.is_unknown:
            if node.attr in ("shape", "ndim", "dim", "size") and base.is_(Kind.TENSOR, Kind.STATIC, Kind.NONE):
                # No number, string or None has these: what comes next has a tensor.
                base = base.without(Kind.STATIC, Kind.NONE)
                if isinstance(node.value, ast.Name) and node.value.id in env:
                    env[node.value.id] = base
            return tensor_attribute(node.attr, base, self.place(node))
        if base.ref is not None and base.kinds == values.FUNCTION.kinds:
            return self._named(f"{base.ref}.{node.attr}")
        if base.ref is not None and base.is_(Kind.OBJECT, Kind.NONE):
            own = isinstance(node.value, ast.Name) and node.value.id == self.self_name
            value = self._object_attribute(base.ref, node.attr, self.function if own else None)
            if value.is_unknown and base.storage:
                value = self.inference.attribute_of_global(base.storage, base.ref, node.attr) or value
            if value.kinds == values.FUNCTION.kinds:
                return replace(value, storage=base.storage)  # a bound method has its object
            if not own and value.leaves:
                # Another object's attribute of that name is another tensor.
                computed = "?" if ANY_LEAF in value.leaves else ""
                value = replace(value, leaves=frozenset({computed + self._path(node)}))
            if value.kinds == CONTAINER:
                kept = own and self._is_kept_tuple(node.attr)
                value = _kept_tuple(value) if kept else self._kept_container(value, node.attr)
            if base.storage != OWN and value.storage:
                value = replace(value, storage=of_other(value.storage) | base.storage)
            if value.may_be(Kind.TENSOR) or value.may_be(Kind.CONTAINER):
                return replace(value, storage=value.storage | self.escaped)
            return value
        if base.is_(Kind.NDARRAY) and (part := array_attribute(node.attr)) is not None:
            return part
        part = _part_of_pair(base, node.attr)
        if part is not None:
            return part
        if node.attr == "shape":
            return values.SHAPE
        if node.attr in ("dtype", "device", "ndim", "training", "requires_grad"):
            return values.STATIC
        if node.attr == "type" and base.is_(Kind.STATIC):
            return values.STATIC  # of a device: `x.device.type`
        return picked(_part_of(base), f".{node.attr}")

    def _is_kept_tuple(self, attr: str) -> bool:
        """Whether an attribute of `self` is a tuple wherever it is assigned, whose items nothing changes."""
        cls = self.function.cls
        if cls is None or not self.module.keeps_tuples(attr):
            return False
        others = (base.module for base in self.project.ancestors(cls) if isinstance(base, Class))
        if any(other is not self.module and other.mentions(attr) for other in others):
            return False
        return not self.project.modules.texts.setting(attr, cls.node.name, self.module.name)

    def _kept_container(self, value: Value, attr: str) -> Value:
        """A list or dict in an attribute holds what `__init__` put in only where nothing in the module changes it."""
        if self.module.changes_items(attr) or value.elements == () or value.element is None:
            item = None if value.element is None else likely(value.element)
            return replace(value, elements=None, element=item, leaves=value.leaves | {ANY_LEAF})
        return replace(value, elements=None)

    def _path(self, node: ast.Attribute) -> str:
        """Names an attribute of an attribute of `self`; any other expression names a new thing each time."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        fixed = isinstance(root, ast.Name) and root.id == self.self_name
        return ast.unparse(node) if fixed else f"?{self.place(node)}"

    def _object_attribute(self, ref: str, attr: str, reader: Function | None) -> Value:
        cls = self.project.resolve(ref)
        if isinstance(cls, Class):
            method = self.project.method(cls, attr)
            if method is not None:
                if method.is_property:
                    value = self.inference.summary(method)
                    leaves = value.leaves and value.leaves | {ANY_LEAF}
                    return replace(value, shape_id=None, dtype_id=None, const=None, leaves=leaves)
                if self.inference.hides_method(cls, attr):
                    return values.UNKNOWN
                return replace(values.FUNCTION, ref=method.full_name)
            attribute = self.inference.attribute(cls, attr, reader)
            if attribute is not None:
                return attribute
            if attr == "training":
                return Value(frozenset({Kind.STATIC}), dtype="bool")
            if attr == "param_groups" and keeps_groups(cls, self.project):
                return PARAM_GROUPS
            return values.UNKNOWN
        if ref == "logging.Logger":
            return replace(values.FUNCTION, ref=f"logging.Logger.{attr}")
        if ref == "torch.finfo":
            return Value(frozenset({Kind.STATIC}), dtype="int" if attr == "bits" else "float")
        if ref == "torch.iinfo":
            return Value(frozenset({Kind.STATIC}), dtype="int")
        if ref.startswith("torch.nn."):
            if attr in ("weight", "bias"):
                value = tensor(dtype="float", storage=frozenset({f"self.{attr}"}), leaves=frozenset({f"{ref}.{attr}"}))
                return join(value, values.NONE) if attr == "bias" else value
            if attr == "training":
                return Value(frozenset({Kind.STATIC}), dtype="bool")
            part = ref if attr in ("forward", "__call__") else part_of_module(ref, attr, self.project)
            return values.UNKNOWN if part is None else Value(frozenset({Kind.OBJECT}), ref=part)
        return replace(values.FUNCTION, ref=f"{ref}.{attr}")

    def _subscript(self, node: ast.Subscript, env: Env) -> Value:
        base = self.eval(node.value, env)
        index = self.eval(node.slice, env)
        if (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
            and index.is_(Kind.STATIC)
            and index.dtype == "int"
        ):
            key = self.key(node.value.value)
            if key is not None and key in env and env[key].is_tensor and env[key].rank is None:
                env[key] = replace(env[key], has_dims=True)
        if self._is_count(base, index):
            return replace(values.UNKNOWN, storage=base.storage, leaves=base.leaves)
        if (listed := item_of_group(base, index)) is not None:
            return listed
        if base.may_be(Kind.TENSOR) and base.may_be(Kind.CONTAINER) and not base.is_unknown:
            item = base.element if base.element is not None else values.UNKNOWN
            return join(self._index_tensor(node, base), item.stripped())
        if base.is_tensor or (base.may_be(Kind.TENSOR) and not base.is_unknown):
            item = self._index_tensor(node, base)
            return replace(item, kinds=values.ARRAYS) if base.kinds == values.ARRAYS else item
        if base.is_(Kind.CONTAINER):
            if isinstance(node.slice, ast.Slice):
                shape_id = shape_ids.of_slice(base, node.slice, self.facts.value)
                return replace(self._sliced(node, node.slice, base), elements=None, shape_id=shape_id)
            if isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.slice.elts):
                return replace(values.UNKNOWN, storage=base.storage, leaves=base.leaves)  # no list, whatever was said
            if base.elements is not None and index.const is not None and isinstance(index.const.value, int):
                position = index.const.value
                if -len(base.elements) <= position < len(base.elements):
                    return base.elements[position]
            return self._item(node, index, base)
        if base.is_(Kind.OBJECT) and base.element is not None and not isinstance(node.slice, ast.Slice):
            return self._item(node, index, base)
        if base.is_(Kind.NDARRAY):
            return base
        if self.runs_own_code((base,), ("__getitem__",)):
            return opaque(self.place(node), (base, index))
        if base.is_unknown and has_dimensions(node.slice):
            # Tensors are indexed like this, and arrays, which are tensors to Dynamo.
            picked = self._index_tensor(node, replace(base, kinds=values.ARRAYS, certain=False))
            return replace(picked, kinds=values.ARRAYS)
        return self._item(node, index, replace(base, element=None))

    def _is_count(self, base: Value, index: Value) -> bool:
        """Whether an item of a dictionary that seems to hold tensors is used as a number: `batch["size"]`."""
        seen = base.element if base.element is not None else base
        key = index.const.value if index.const is not None else None
        if not isinstance(key, str) or seen.certain or Kind.TENSOR not in seen.kinds:
            return False
        return key in self.inference.counted_keys(self.module)

    def _sliced(self, node: ast.Subscript, part: ast.Slice, base: Value) -> Value:
        """A slice of a container: it begins with another item, and hangs on some of them alone."""
        if part.lower is part.upper is part.step is None:
            return base
        varies = any(isinstance(inner, ast.Name) for inner in walk(part))
        return picked(base, self.place(node) if varies else place_of_item(ast.unparse(part)))

    def _item(self, node: ast.Subscript, index: Value, base: Value) -> Value:
        item = _part_of(base) if base.element is None else base.element
        return picked(item, self.place(node) if index.const is None else place_of_item(index.const.value))

    def _index_tensor(self, node: ast.Subscript, base: Value) -> Value:
        parts = elements_of(node.slice)
        rank = base.rank
        copied = False
        indices = [v for v in map(self.facts.value, parts) if v.may_be(Kind.TENSOR) or v.is_(Kind.CONTAINER)]
        for part in parts:
            value = self.facts.value(part)
            if isinstance(part, ast.Slice):
                continue
            if isinstance(part, ast.Constant) and part.value is None:
                rank = None if rank is None else rank + 1
            elif value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and value.dtype == "int":
                rank = None if rank is None else rank - 1
            elif isinstance(part, ast.Constant) and part.value is Ellipsis:
                continue
            elif value.is_tensor and value.rank == 1 and len(indices) == 1:
                copied = True  # of indices as of a mask
            elif len(parts) == 1 and _is_mask_of(value, base):
                rank, copied = 1, True  # `x[x > 0]`
            else:
                rank, copied = None, value.may_be(Kind.TENSOR) or copied
        storage = base.storage if not copied else base.storage | {self.place(node)}
        return tensor(
            dtype=base.dtype,
            dtype_id=base.dtype_id,
            rank=rank,
            shape_id=shape_ids.of_subscript(base, parts, self.facts.value) or self.place(node),
            certain=base.certain,
            declared=base.declared and not base.is_tensor,
            storage=storage,
            leaves=base.leaves,
        )

    def runs_own_code(self, operands: Sequence[Value], methods: Collection[str]) -> bool:
        """Whether an operand may be an object of a class of the project that says itself what an operator does."""
        for value in operands:
            cls = self.project.resolve(value.ref) if value.may_be(Kind.OBJECT) and value.ref is not None else None
            if isinstance(cls, Class) and any(self.project.method(cls, name) is not None for name in methods):
                return True
        return False

    def _slice(self, node: ast.Slice, env: Env) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part, env)
        return values.STATIC


@lru_cache(maxsize=4096)
def _outside(name: str) -> Value:
    """What a dotted name of another package stands for."""
    known = torch_api.is_dtype(name) or name in _NUMBERS
    return replace(values.STATIC if known else values.FUNCTION, ref=name)


_NUMBERS = frozenset({"math.pi", "math.e", "math.inf", "math.nan", "numpy.pi", "numpy.inf", "torch.inf", "torch.pi"})


def memory_of_names(node: ast.AST, env: Env) -> frozenset[str]:
    """The memory of what the names in a lambda or nested function stand for."""
    names = (n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return values.NOTHING.union(*(memory_of(env[name]) for name in names if name in env))


def _is_mask_of(index: Value, base: Value) -> bool:
    """Whether an index is a boolean tensor of the shape of what it picks from."""
    boolean = index.is_tensor and index.certain and index.dtype == "bool" and index.shape_id is not None
    return boolean and base.is_tensor and base.certain and base.shape_id == index.shape_id


def _part_of(whole: Value) -> Value:
    """An item or attribute of which nothing is known; an object may hold any tensors."""
    leaves = frozenset({ANY_LEAF}) if Kind.OBJECT in whole.kinds and not whole.leaves else whole.leaves
    return replace(values.UNKNOWN, storage=whole.storage, leaves=leaves)


def _packs_sequences(module: Module) -> bool:
    """Whether a module packs sequences or names what holds packed ones: these alone have `batch_sizes`, a tensor."""
    return any(module.mentions(name) for name in ("PackedSequence", "pack_padded_sequence", "pack_sequence"))


def _kept_tuple(value: Value) -> Value:
    """A tuple that is kept in an attribute: its items stay, but for what a list or dict among them holds."""
    return replace(
        value,
        element=value.element and _perhaps_changed(value.element),
        elements=value.elements and tuple(map(_perhaps_changed, value.elements)),
    )


def _perhaps_changed(item: Value) -> Value:
    """What an item is where other code may have changed what it holds."""
    if not item.may_be(Kind.CONTAINER) or item.is_unknown:
        return item
    return replace(item, elements=None, element=item.element and likely(item.element), leaves=item.leaves | {ANY_LEAF})


def _part_of_pair(base: Value, name: str) -> Value | None:
    """`values` or `indices` of what `sort`, `topk`, `max(dim)` and the like give: a tensor and its integers."""
    if not base.is_(Kind.CONTAINER) or base.ref == "dict" or base.elements is None or len(base.elements) != 2:
        return None
    if not all(part.is_tensor for part in base.elements) or base.elements[1].dtype_id != "int64":
        return None
    return dict(zip(("values", "indices"), base.elements, strict=True)).get(name)
