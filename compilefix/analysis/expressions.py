"""Expressions: names, attributes, subscripts, operators, displays and comprehensions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from compilefix.analysis import autocast, shape_ids, torch_api, values
from compilefix.analysis.array_uses import has_dimensions
from compilefix.analysis.calls import Calls
from compilefix.analysis.function_facts import Env, either, revisited
from compilefix.analysis.leaves import ANY_LEAF, perhaps, place_of_item
from compilefix.analysis.module_calls import part_of_module
from compilefix.analysis.operators import (
    are_texts,
    array_attribute,
    binary,
    by_identity,
    element_of,
    elementwise,
    item_of_turn,
    opaque,
    perhaps_read,
    picked,
    tensor_attribute,
    unsure,
)
from compilefix.analysis.param_groups import PARAM_GROUPS, item_of_group, keeps_groups
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import (
    CONTAINER,
    OWN,
    Kind,
    Value,
    join,
    join_all,
    likely,
    number,
    of_other,
    replace,
    static,
    tensor,
)
from compilefix.analysis.walk import rebound_after
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.tree import children, elements_of, walk

_PERHAPS_BOOL = replace(values.STATIC, dtype="bool", certain=False)


_UNBOUND = replace(values.UNKNOWN, certain=False)
"""A local name where nothing has given it a value."""


class Expressions(Calls):
    """The values of expressions."""

    def eval(self, node: ast.expr, env: Env) -> Value:
        """The value of an expression, which is also kept for the rules."""
        handler = _EXPRESSIONS.get(node.__class__)
        if handler is not None:
            value = handler(self, node, env)
        else:
            for child in children(node):
                if isinstance(child, ast.expr):
                    self.eval(child, env)
            value = values.UNKNOWN
        if self.grad_modes:
            if value.leaves and self._computes(node):
                # Whether gradients are recorded here is not the same as outside.
                value = replace(value, leaves=perhaps(value.leaves, self.grad_modes[-1]))
            if isinstance(node, ast.Call) and value.kinds == CONTAINER:
                value = _items_apart(value)  # some may be what came in, others made here
        if node.__class__ in _MAKES_CONTAINER and value.kinds == CONTAINER:
            # The list itself: under another name it is the same one.
            value = replace(value, storage=value.storage | {self.place(node)})
        known = self.facts.values
        old = known.get(node)
        known[node] = value if old is None else revisited(old, value)
        return value

    def _computes(self, node: ast.expr) -> bool:
        """Whether an expression is an operation, which records gradients or does not, and not just a name."""
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.facts.value(node.value).may_be(Kind.TENSOR)
        return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call)

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
        return replace(function, storage=_memory_of_names(found.node, env))

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

    def _bin_op(self, node: ast.BinOp, env: Env) -> Value:
        left, right = self.eval(node.left, env), self.eval(node.right, env)
        if self.runs_own_code((left, right), OPERATORS):
            return opaque(self.place(node), (left, right))
        result = binary(node.op, left, right, self.place(node))
        if isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and result.is_tensor and result.dtype is None:
            # What is compared may be a number or a tensor: beside a tensor of bools the result is one.
            sides = ((node.left, left), (node.right, right))
            if all(value.dtype == "bool" or (value.is_unknown and _compares(side)) for side, value in sides):
                return replace(result, dtype="bool", dtype_id="bool")
        if result.dtype_id is None or result.dtype in ("bool", "int"):
            return result
        if isinstance(node.op, ast.Pow):
            return replace(result, dtype_id=autocast.of_operation(result.dtype_id, "pow", self.autocast_region))
        if isinstance(node.op, ast.Div) and not left.may_be(Kind.TENSOR):
            # The reciprocal, times the number.
            return replace(result, dtype_id=autocast.of_operation(result.dtype_id, "reciprocal", self.autocast_region))
        return result

    def _unary_op(self, node: ast.UnaryOp, env: Env) -> Value:
        value = self.eval(node.operand, env)
        if not isinstance(node.op, ast.Not) and self.runs_own_code((value,), OPERATORS):
            return opaque(self.place(node), (value,))
        if isinstance(node.op, ast.Not):
            if (value.may_be(Kind.TENSOR) and not value.is_unknown) or value.is_(Kind.NUMBER):
                return number("bool", value.certain)
            if value.is_unknown:
                return values.UNKNOWN
            return perhaps_read("bool") if value.may_be(Kind.NUMBER) else values.BOOL
        if value.is_tensor:
            # `+x` is x.
            same = value.storage if isinstance(node.op, ast.UAdd) else values.NOTHING
            return replace(value, storage=same | {self.place(node)})
        if value.const is not None and isinstance(value.const.value, int | float) and isinstance(node.op, ast.USub):
            return static(-value.const.value)
        if value.dtype == "bool":
            # Of a Python bool these give an int.
            return replace(value, const=None, dtype=None if value.may_be(Kind.TENSOR) else "int")
        return replace(value, const=None)

    def _bool_op(self, node: ast.BoolOp, env: Env) -> Value:
        found: list[Value] = []
        state = dict(env)
        for index, part in enumerate(node.values):
            before = len(self.changes)
            value = self.eval(part, state)
            self.written_within(state, env, self.place(node), before)
            state = self.narrow(part, state, isinstance(node.op, ast.And))
            found.append(value)
            if self.compile_time(part) is isinstance(node.op, ast.Or):
                self.facts.dead.update(node.values[index + 1 :])
        if any(value.is_tensor for value in found):
            # Beside a tensor, what compares things of which nothing is known is most often a bool: `n >= m and t > 0`.
            found = [
                _PERHAPS_BOOL if value.is_unknown and isinstance(part, ast.Compare) else value
                for value, part in zip(found, node.values, strict=True)
            ]
        return join_all(found)

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        operands = [self.eval(part, env) for part in (node.left, node.comparators[0])]
        for part in node.comparators[1:]:  # perhaps not evaluated
            later = dict(env)
            before = len(self.changes)
            operands.append(self.eval(part, later))
            self.written_within(later, env, self.place(node), before)
        kinds = {op.__class__ for op in node.ops}
        if not kinds.isdisjoint((ast.Is, ast.IsNot)):
            return values.BOOL
        if not kinds.isdisjoint((ast.In, ast.NotIn)):
            if len(node.ops) > 1 and any(v.may_be(Kind.TENSOR) for v in operands):
                return values.UNKNOWN  # `x < y in z` may be the tensor that its first comparison gives
            if _is_text(node.left, operands[0]) or are_texts(node.comparators[0]):
                return values.BOOL  # a key: tensors are compared with numbers and tensors
            reads = (
                operands[0].is_tensor
                or operands[-1].is_tensor
                or (operands[-1].element is not None and operands[-1].element.is_tensor)
            )
            if reads or any(v.is_(Kind.NUMBER) for v in operands):
                return number("bool", all(v.certain for v in operands))
            return values.UNKNOWN if any(v.is_unknown for v in operands) else values.BOOL
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq) and by_identity(*operands):
            return values.BOOL
        if self.runs_own_code(operands, _COMPARISONS):
            return opaque(self.place(node), operands)
        if any(v.may_be(Kind.TENSOR) and not v.is_unknown for v in operands):
            if len(node.ops) > 1:
                return number("bool", all(v.certain for v in operands))
            compared = elementwise(operands, self.place(node), "bool")
            if isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(Kind.NONE in v.kinds for v in operands):
                # A tensor is asked whether it equals None as any object is: the answer is a Python bool.
                return values.BOOL if any(v.is_(Kind.NONE) for v in operands) else join_all([compared, values.BOOL])
            return compared
        if any(v.is_unknown for v in operands):
            return replace(values.UNKNOWN, kinds=unsure(operands), storage=frozenset({self.place(node)}))
        if any(v.is_(Kind.NDARRAY) for v in operands):
            return replace(values.NDARRAY, certain=all(v.certain for v in operands if v.is_(Kind.NDARRAY)))
        if any(v.is_(Kind.NUMBER) for v in operands):
            return number("bool", all(v.certain for v in operands))
        if any(v.may_be(Kind.NUMBER) for v in operands):
            return perhaps_read("bool")
        if any(v.is_(Kind.SIZE) for v in operands):
            return replace(values.SIZE, dtype="bool")
        return values.BOOL

    def _if_exp(self, node: ast.IfExp, env: Env) -> Value:
        self.facts.env_before[node] = dict(env)
        self.eval(node.test, env)
        there, elsewhere = self.narrow(node.test, env, True), self.narrow(node.test, env, False)
        before = len(self.changes)
        body, orelse = self.eval(node.body, there), self.eval(node.orelse, elsewhere)
        for way in (there, elsewhere):
            self.written_within(way, env, self.place(node), before)
            before = len(self.changes)
        decided = self.compile_time(node.test)
        if decided is not None:
            self.facts.dead.add(node.orelse if decided else node.body)
            return body if decided else orelse
        if self._is_tensor_for_sure(node.test):
            return body
        return either(self.place(node), body, orelse)

    def _is_tensor_for_sure(self, test: ast.expr) -> bool:
        """Whether `isinstance(x, torch.Tensor)` asks what the code itself has made: an annotation may be wrong."""
        if not isinstance(test, ast.Call) or self.facts.refs.get(test) != "isinstance" or len(test.args) != 2:
            return False
        value = self.facts.value(test.args[0])
        made = isinstance(test.args[0], ast.Attribute) or any(not t.startswith("param:") for t in value.storage)
        return made and value.is_tensor and value.certain and self.facts.value(test.args[1]).ref == "torch.Tensor"

    def _named_expr(self, node: ast.NamedExpr, env: Env) -> Value:
        value = self.eval(node.value, env)
        self.bind(node.target, value, env)
        return value

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set, env: Env) -> Value:
        parts = []
        starred = False
        for item in node.elts:
            if isinstance(item, ast.Starred):
                starred = True
                parts.append(element_of(self.eval(item.value, env)))
            else:
                parts.append(self.eval(item, env))
        joined = _holding(values.container(elements=tuple(parts)), parts)
        return replace(joined, elements=None) if starred or isinstance(node, ast.Set) else joined

    def _dict(self, node: ast.Dict, env: Env) -> Value:
        for key in node.keys:
            if key is not None:
                self.eval(key, env)
        parts = [self.eval(v, env) for v in node.values]
        joined = _holding(values.container(elements=tuple(parts), ref="dict"), parts)
        if None in node.keys:
            return replace(values.container(ref="dict"), storage=values.UNKNOWN.storage, leaves=values.UNKNOWN.leaves)
        return replace(joined, elements=None) if node.values else joined

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env) -> Value:
        inner, before = dict(env), len(self.changes)
        for turn, generator in enumerate(node.generators):
            iterable = self.eval(generator.iter, inner)
            # Within another loop, which may go over the same.
            within = bool(turn or self.loop_exits)
            item = item_of_turn(iterable, self.place(generator.target)) if within else element_of(iterable)
            self.bind(generator.target, item, inner)
            for test in generator.ifs:
                self.eval(test, inner)
                inner = self.narrow(test, inner, True)
        if isinstance(node, ast.DictComp):
            self.eval(node.key, inner)
        item = self.eval(node.value if isinstance(node, ast.DictComp) else node.elt, inner).stripped()
        self.written_within(inner, env, self.place(node), before)
        if any(generator.ifs for generator in node.generators):
            item = picked(item, self.place(node))  # what is left out moves the others up
        return _holding(values.container(item, ref="dict" if isinstance(node, ast.DictComp) else None), [item])

    def _lambda(self, node: ast.Lambda, env: Env) -> Value:
        rebound = rebound_after(self.function, node)
        inner = {name: values.UNKNOWN if name in rebound else value for name, value in env.items()}
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inner[arg.arg] = values.UNKNOWN
        self.eval(node.body, inner)
        return replace(values.FUNCTION, storage=_memory_of_names(node, env))

    def _joined_str(self, node: ast.JoinedStr, env: Env) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value, env)
        return values.STATIC


@lru_cache(maxsize=4096)
def _outside(name: str) -> Value:
    """What a dotted name of another package stands for."""
    known = torch_api.is_dtype(name) or name in _NUMBERS
    return replace(values.STATIC if known else values.FUNCTION, ref=name)


_NUMBERS = frozenset({"math.pi", "math.e", "math.inf", "math.nan", "numpy.pi", "numpy.inf", "torch.inf", "torch.pi"})


_NUMERIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BITWISE = ("and", "or", "xor", "lshift", "rshift")
_UNARY = frozenset({"__neg__", "__pos__", "__invert__"})
OPERATORS = _UNARY.union(f"__{way}{name}__" for name in (*_NUMERIC, *_BITWISE) for way in ("", "r", "i"))
"""The methods that operators call."""
_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})


def _compares(node: ast.expr) -> bool:
    """Whether an expression is a comparison by size or equality, or the opposite of one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _compares(node.operand)
    return isinstance(node, ast.Compare) and all(isinstance(op, _ORDERS) for op in node.ops)


_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _memory_of_names(node: ast.AST, env: Env) -> frozenset[str]:
    """The memory of what the names in a lambda or nested function stand for."""
    names = (n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return values.NOTHING.union(*(memory_of(env[name]) for name in names if name in env))


def _items_apart(made: Value) -> Value:
    """A container of whose items it is not known which gradients they hand on."""
    return replace(
        made,
        leaves=made.leaves | {ANY_LEAF},
        element=None if made.element is None else replace(made.element, leaves=made.element.leaves | {ANY_LEAF}),
        elements=None
        if made.elements is None
        else tuple(replace(v, leaves=v.leaves | {ANY_LEAF}) for v in made.elements),
    )


def _holding(made: Value, parts: Sequence[Value]) -> Value:
    """A container with the memory and the gradients of what it holds."""
    if not parts:
        return made
    if len(parts) == 1:
        return replace(made, storage=parts[0].storage, leaves=parts[0].leaves)
    return replace(
        made,
        storage=values.NOTHING.union(*[p.storage for p in parts]),
        leaves=values.NOTHING.union(*[p.leaves for p in parts]),
    )


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


_MAKES_CONTAINER = frozenset(
    {ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.Call, ast.BinOp}
)
_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.BinOp: Expressions._bin_op,
    ast.UnaryOp: Expressions._unary_op,
    ast.BoolOp: Expressions._bool_op,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._if_exp,
    ast.NamedExpr: Expressions._named_expr,
    ast.Tuple: Expressions._sequence,
    ast.List: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.Lambda: Expressions._lambda,
    ast.JoinedStr: Expressions._joined_str,
    ast.Call: Expressions._call,
}


def _is_text(node: ast.expr, value: Value) -> bool:
    return isinstance(node, ast.JoinedStr) or (value.const is not None and isinstance(value.const.value, str))
