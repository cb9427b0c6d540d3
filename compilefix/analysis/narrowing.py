"""What a test, an unpacking or a call proves of a name from there on."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from compilefix.analysis import torch_api, values
from compilefix.analysis.annotations import annotated, is_tensor_type
from compilefix.analysis.asked_classes import asked_types, computing_class, computing_classes
from compilefix.analysis.compile_tests import compile_time
from compilefix.analysis.dtypes import dtype_class
from compilefix.analysis.function_facts import Env
from compilefix.analysis.values import Kind, Value, join_all, replace, tensor
from compilefix.analysis.walk import Walk
from compilefix.source.definitions import Function

_ARRAYS = frozenset({"numpy.ndarray"})
_LISTS = frozenset({"list", "tuple"})


class Narrowing(Walk):
    """Narrows the environment by what must hold where the code goes on."""

    _asked_for: dict[str, frozenset[str]] | None = None

    def narrow(self, test: ast.expr, env: Env, truth: bool) -> Env:
        """The environment in which a test had this outcome."""
        result = self._narrowed(test, env, truth)
        if self.unstable:
            for name in self.unstable & set(env):
                result[name] = env[name]  # any call may give it another value
        return result

    def _narrowed(self, test: ast.expr, env: Env, truth: bool) -> Env:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.narrow(test.operand, env, not truth)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == truth:
                for part in test.values:
                    env = self.narrow(part, env, truth)
            return dict(env)
        result = dict(env)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            self._narrow_dimensions(test, result, truth)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], _ORDERS):
            self._narrow_ordered(test, result)
        key = self.key(test.left) if isinstance(test, ast.Compare) else None
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and key is not None:
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None and isinstance(test.ops[0], ast.Is | ast.IsNot):
                is_none = isinstance(test.ops[0], ast.Is) == truth
                value = self.facts.value(test.left)
                result[key] = values.NONE if is_none else value.without(Kind.NONE)
        elif isinstance(test, ast.Compare) and (owner := self._asked_for_gradient(test, result, truth)) is not None:
            result[owner] = replace(result[owner], ref=values.HAS_GRADIENT)
        elif (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.left, ast.Attribute)
            and test.left.attr == "dtype"
        ):
            self._narrow_dtype(
                test.left.value,
                test.comparators[0],
                result,
                isinstance(test.ops[0], ast.Eq | ast.Is if truth else ast.NotEq | ast.IsNot),
            )
        elif isinstance(test, ast.Call) and self.module.qualified(test.func) in _ASK_FOR_TENSOR:
            self._narrow_isinstance(test, result, truth)
        elif (asked := _exact_type(test)) is not None:
            if isinstance(asked[1], ast.Is | ast.Eq) == truth:
                self._narrow_isinstance(asked[0], result, True)
        elif (
            truth
            and isinstance(test, ast.Call)
            and isinstance(test.func, ast.Attribute)
            and test.func.attr == "is_floating_point"
        ):
            owner = self.key(test.func.value)
            value = self.facts.value(test.func.value)
            if owner is not None and value.is_tensor:
                result[owner] = replace(value, dtype="float")
        elif truth and (key := self.key(test)) is not None:
            result[key] = self.facts.value(test).without(Kind.NONE)
        return result

    def _asked_for_gradient(self, test: ast.Compare, env: Env, truth: bool) -> str | None:
        """The tensor that is seen to have a gradient: `p.grad is not None`."""
        left, right = test.left, test.comparators[0]
        if not (isinstance(left, ast.Attribute) and left.attr == "grad" and isinstance(left.value, ast.Name)):
            return None
        asks = len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot if truth else ast.Is)
        none = isinstance(right, ast.Constant) and right.value is None
        seen = left.value.id in env and env[left.value.id].is_tensor
        return left.value.id if asks and none and seen else None

    def _narrow_dimensions(self, test: ast.Compare, env: Env, truth: bool) -> None:
        """`x.ndim == 3`, `x.dim() == 3` and `len(x.shape) == 3`."""
        if isinstance(test.ops[0], ast.Eq) != truth or not isinstance(test.ops[0], ast.Eq | ast.NotEq):
            return
        right = test.comparators[0]
        owner = _of_dimensions(test.left)
        if owner is None or not isinstance(right, ast.Constant) or type(right.value) is not int:
            return
        key, value = self.key(owner), self.facts.value(owner)
        if key is not None and value.is_tensor and value.rank is None:
            rank = right.value
            env[key] = replace(value, rank=rank, shape_id="()" if rank == 0 else value.shape_id)

    def _narrow_ordered(self, test: ast.Compare, env: Env) -> None:
        """`a > b` fails where one of the two is None, whatever it would say of the other."""
        for side in (test.left, test.comparators[0]):
            key, value = self.key(side), self.facts.value(side)
            if key is not None and Kind.NONE in value.kinds:
                env[key] = value.without(Kind.NONE)

    def _narrow_dtype(self, node: ast.expr, dtype: ast.expr, env: Env, equal: bool) -> None:
        key, ref = self.key(node), self.facts.value(dtype).ref
        value = self.facts.value(node)
        exact = torch_api.dtype_name(ref) if ref is not None else None
        if equal and key is not None and exact is not None and value.is_tensor:
            env[key] = replace(value, dtype=dtype_class(exact), dtype_id=exact)

    def _narrow_isinstance(self, test: ast.Call, env: Env, truth: bool) -> None:
        key = self.key(test.args[0]) if test.args else None
        if key is None:
            return
        if len(test.args) > 1:
            types = asked_types(test.args[1], self.function)
            names = [self.module.qualified(t) or "" for t in types]
            if any(isinstance(t, ast.Call) for t in types) or any(name.endswith("NoneType") for name in names):
                return  # `type(y)` is that of None where `y` is None
        else:
            names = ["torch.Tensor"]
        old = self.facts.value(test.args[0])
        tensors = [is_tensor_type(n) or _is_kind_of_tensor(n) for n in names]
        if truth and all(tensors):
            env[key] = (
                replace(old, kinds=frozenset({Kind.TENSOR}), certain=True)
                if old.may_be(Kind.TENSOR)
                else tensor(storage=old.storage, leaves=old.leaves)
            )
            if old.is_unknown and old.shape_id is None and key in self.parameter_names():
                env[key] = replace(
                    env[key],
                    shape_id=f"shape of {self.function.qualname}.{key}",
                    dtype_id=f"dtype of {self.function.qualname}.{key}",
                )
        elif truth and old.is_(Kind.NUMBER):
            # It is read from a tensor all the same: `assert isinstance(t.item(), int)` is for type checkers.
            of = join_all(annotated(t, self.module, self.project) for t in types)
            env[key] = replace(old, dtype=old.dtype or of.dtype)
        elif truth:
            known = join_all(annotated(t, self.module, self.project) for t in types)
            if known.is_unknown and all(name.startswith("numpy.") for name in names):
                known = Value(frozenset({Kind.NDARRAY}))
            if known.is_unknown and old.is_tensor and not any(tensors):
                known = _no_tensor(old)  # what says that it is a tensor holds of the other calls
            if old.is_tensor and known.kinds == values.CONTAINER and known.element is None and set(names) <= _LISTS:
                known = replace(known, element=values.LIKELY_TENSOR)  # `if isinstance(x, list): x = x[0]`
            env[key] = (
                replace(known, storage=old.storage, leaves=old.leaves)
                if not known.is_unknown or old.is_tensor
                else old.without(Kind.NONE)
            )
        elif any(tensors):
            left = _no_tensor(old) if old.is_tensor else old.without(Kind.TENSOR)
            none = left.kinds == values.UNKNOWN.kinds and left.ref is None and _TENSOR_ITSELF & set(names)
            env[key] = replace(left, ref=values.NO_TENSOR) if none else left
        elif old.kinds >= _TENSOR_OR_OBJECT and (asked := self.objects_too(key)):
            if asked <= {computing_class(t, self.function, self.project) for t in types}:
                env[key] = old.without(Kind.OBJECT)
        elif old.kinds == values.ARRAYS and set(names) <= _ARRAYS:
            env[key] = replace(old.without(Kind.NDARRAY), certain=True)
        elif Kind.TENSOR in old.kinds and set(names) >= _LISTS and Kind.CONTAINER in old.kinds:
            # What is declared as a tensor or a list, and is no list.
            env[key] = replace(old.without(Kind.CONTAINER), element=None, elements=None, certain=False)

    def objects_too(self, name: str) -> frozenset[str]:
        """The classes that compute like tensors, but are none, which the function asks a parameter for."""
        if self._asked_for is None:
            self._asked_for = computing_classes(self.function, self.project)
        return self._asked_for.get(name, frozenset())

    def narrow_rank(self, node: ast.Assign, env: Env) -> None:
        """`b, c, h, w = x.shape` fails unless `x` has four dimensions."""
        target, shape = node.targets[0], node.value
        if (
            isinstance(shape, ast.Call)
            and isinstance(shape.func, ast.Attribute)
            and shape.func.attr == "size"
            and not shape.args
        ):
            owner: ast.expr = shape.func.value
        elif isinstance(shape, ast.Attribute) and shape.attr == "shape":
            owner = shape.value
        else:
            return
        key = self.key(owner)
        if isinstance(target, ast.Tuple | ast.List) and key is not None and key in env and env[key].is_tensor:
            starred = sum(isinstance(t, ast.Starred) for t in target.elts)
            if starred == 0:
                env[key] = replace(env[key], rank=len(target.elts))
            elif len(target.elts) > 1:
                env[key] = replace(env[key], has_dims=True)

    def narrow_arguments(self, nodes: Sequence[ast.expr], env: Env) -> None:
        """torch's functions and modules take tensors: a name passed to one is a tensor from then on."""
        for node in nodes:
            key = self.key(node)
            value = self.facts.value(node)
            if key is not None and value.is_tensor and not value.certain and isinstance(node, ast.Name):
                if key in env and env[key] is value:
                    env[key] = replace(value, certain=True)
            elif key is not None and value.is_unknown:
                if isinstance(node, ast.Attribute) or key in self.unstable:
                    continue
                is_parameter = (
                    key in self.parameter_names() and key in env and env[key].storage == frozenset({f"param:{key}"})
                )
                name = f"{self.function.qualname}.{key}" if is_parameter else self.place(node)
                env[key] = replace(
                    value, kinds=frozenset({Kind.TENSOR}), dtype_id=f"dtype of {name}", shape_id=f"shape of {name}"
                )

    def narrow_declared(self, node: ast.Call, callee: Function, arguments: Mapping[str, Value], env: Env) -> None:
        """A name of which nothing is known that a parameter declared as a tensor gets is likely one from then on."""
        given = (*node.args, *(k.value for k in node.keywords))
        for (name, value), argument in zip(arguments.items(), given, strict=False):
            if not value.is_unknown or not isinstance(argument, ast.Name) or env.get(argument.id) is not value:
                continue
            annotation = next(p.annotation for p in callee.parameters if p.arg == name)
            if annotation is None or argument.id in self.unstable:
                continue
            declared = annotated(annotation, callee.module, self.project)
            if declared.is_tensor and not declared.declared:
                env[argument.id] = replace(value, kinds=declared.kinds, certain=False)

    def compile_time(self, test: ast.expr) -> bool | None:
        """What a test for being compiled gives in compiled code, or one whether a size is a tensor; None for any other.

        Sizes are tensors only where `torch.jit.trace` runs the code.
        """
        if self._asks_size_for_tensor(test):
            return False
        decided = self.inference.decided
        if test not in decided:  # loops, and functions of which more is known later, are walked several times
            decided[test] = compile_time(test, self.module, self.project, self.function)
        return decided[test]

    def _asks_size_for_tensor(self, test: ast.expr) -> bool:
        if not isinstance(test, ast.Call) or self.module.qualified(test.func) not in _ASK_FOR_TENSOR or not test.args:
            return False
        value = self.facts.value(test.args[0])
        if not value.is_(Kind.SIZE) or not value.certain:
            return False
        return all(
            is_tensor_type(self.module.qualified(t) or "")
            for of in test.args[1:]
            for t in asked_types(of, self.function)
        )


_TENSOR_OR_OBJECT = frozenset({Kind.TENSOR, Kind.OBJECT})
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_TENSOR_ITSELF = frozenset({"torch.Tensor", "torch._C.TensorBase"})
_ASK_FOR_TENSOR = frozenset({"isinstance", "torch.is_tensor", "torch.overrides.is_tensor_like"})


def _is_kind_of_tensor(name: str) -> bool:
    """Whether a name is that of a class of torch whose objects are tensors."""
    last = name.rpartition(".")[2]
    return name.startswith("torch.") and (last in ("Parameter", "Buffer") or last.endswith("Tensor"))


def _no_tensor(value: Value) -> Value:
    """What is left of a tensor behind a test that says that it is none."""
    return replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves)


def _exact_type(test: ast.expr) -> tuple[ast.Call, ast.cmpop] | None:
    """`type(x) is int` as the `isinstance` that holds where it does, and how it compares; None for other tests."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Call)):
        return None
    called, compares = test.left, test.ops[0]
    exact = isinstance(compares, ast.Is | ast.IsNot | ast.Eq | ast.NotEq)
    if not exact or not isinstance(called.func, ast.Name) or called.func.id != "type" or len(called.args) != 1:
        return None
    return ast.Call(called.func, [called.args[0], test.comparators[0]], []), compares


def _of_dimensions(node: ast.expr) -> ast.expr | None:
    """The tensor whose number of dimensions an expression gives."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "ndim" else None
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.value if node.func.attr in ("dim", "ndimension") else None
    if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        shape = node.args[0]
        if isinstance(shape, ast.Attribute) and shape.attr == "shape":
            return shape.value
        if isinstance(shape, ast.Call) and isinstance(shape.func, ast.Attribute) and shape.func.attr == "size":
            return shape.func.value if not shape.args and not shape.keywords else None
    return None


def asked_for_tensors(function: Function) -> frozenset[str]:
    """The parameters of a function that it asks whether they are tensors."""
    known = {parameter.arg for parameter in function.parameters}
    tests = (
        call.args[0]
        for call in function.of(ast.Call)
        if call.args and function.module.qualified(call.func) in _ASK_FOR_TENSOR
    )
    return frozenset(test.id for test in tests if isinstance(test, ast.Name) and test.id in known)
