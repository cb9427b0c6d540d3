"""How names get values: parameters, assignment targets, registered buffers."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis import values
from compilefix.analysis.evidence import Evidence
from compilefix.analysis.function_facts import Env
from compilefix.analysis.leaves import ANY_LEAF, perhaps
from compilefix.analysis.narrowing import Narrowing
from compilefix.analysis.operators import unpack
from compilefix.analysis.registered import registered
from compilefix.analysis.values import ANY_MEMORY, Kind, Value, join, join_all, replace, static


class Binding(Narrowing):
    """Binds parameters and targets."""

    evidence: Evidence | None = None

    def parameters(self) -> Env:
        """The environment in which the body starts."""
        env: Env = dict(self.outer)
        node = self.function.node
        args = node.args
        defaults: dict[str, ast.expr] = {}
        positional = [*args.posonlyargs, *args.args]
        for arg, default in zip(reversed(positional), reversed(args.defaults), strict=False):
            defaults[arg.arg] = default
        for arg, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if kw_default is not None:
                defaults[arg.arg] = kw_default
        evidence = self.evidence = Evidence(self.function)
        hints = self.inference.hints(self.function)
        for index, arg in enumerate(self.function.parameters):
            if (
                index == 0
                and self.function.parent is None
                and self.function.cls is not None
                and not self.function.is_static
            ):
                env[arg.arg] = replace(values.ANY_OBJECT, ref=self.function.cls.full_name, storage=values.OWN)
                continue
            env[arg.arg] = self._parameter(arg, defaults.get(arg.arg), evidence, hints.get(arg.arg))
        if args.vararg:
            rest = values.container(self.inference.annotated(args.vararg.annotation, self.module))
            env[args.vararg.arg] = _given_as(rest, args.vararg.arg)
        if args.kwarg:
            more = values.container(self.inference.annotated(args.kwarg.annotation, self.module), ref="dict")
            env[args.kwarg.arg] = _given_as(more, args.kwarg.arg)
        if self.unstable:
            env.update(dict.fromkeys(self.unstable & set(env), values.UNKNOWN))
        for name in self.rearranged & set(env):
            if env[name].is_(Kind.CONTAINER):
                env[name] = values.UNKNOWN
        return env

    def _parameter(self, arg: ast.arg, default: ast.expr | None, evidence: Evidence, hint: Value | None) -> Value:
        value = self.inference.annotated(arg.annotation, self.module)
        if value.is_tensor and self.objects_too(arg.arg):
            value = join(value, values.ANY_OBJECT)
        default_value = _default(default)
        if value.is_unknown and arg.annotation is None:
            kind = evidence.of(arg.arg)
            if kind is not None:
                value = kind
                if not kind.certain and default_value is not None and default_value.is_(Kind.STATIC):
                    value = join(value, replace(default_value, const=None))
            elif default_value is not None and default_value.is_(Kind.STATIC) and default_value.dtype in ("bool",):
                value = replace(default_value, const=None)
            elif hint is not None:
                self.facts.hinted |= {arg.arg}
                value = hint
                if default_value is not None and default_value.is_(Kind.STATIC):
                    value = join(value, replace(default_value, const=None))
            elif isinstance(default, ast.Call) and self.module.qualified(default.func) in (
                "torch.tensor",
                "torch.zeros",
                "torch.ones",
            ):
                value = values.tensor(certain=False)  # who gives another one gives a tensor, too
        elif hint is not None and not value.is_tensor and Kind.CONTAINER not in hint.kinds:
            # Declared as a number, or as a number or a tensor, and a caller passes a tensor.
            self.facts.hinted |= {arg.arg}
            value = replace(join(value, hint), declared=False)
        if default_value is not None and default_value.kinds == values.NONE.kinds:
            unknown = replace(value, kinds=value.kinds | values.NONE.kinds)
            value = unknown if value.is_unknown else join(value, values.NONE)
        if hint is not None and hint.certain and not (value.is_tensor and value.certain):
            value = hint  # in this one call
        if value.may_be(Kind.TENSOR) and not value.is_unknown:
            name = f"{self.function.qualname}.{arg.arg}"
            if arg.arg in self.floats and value.is_tensor:
                value = replace(value, dtype=value.dtype or "float", has_dims=True)
            value = replace(
                value,
                origin=True,
                dtype_id=f"dtype of {name}",
                shape_id="()" if value.rank == 0 else f"shape of {name}",
                storage=frozenset({f"param:{arg.arg}"}),
                leaves=frozenset() if value.dtype in ("bool", "int") else frozenset({arg.arg}),
            )
        elif value.is_unknown or value.is_(Kind.CONTAINER, Kind.OBJECT, Kind.CALLABLE, Kind.NDARRAY, Kind.NONE):
            if value.element is None and value.elements is None:
                return replace(value, storage=frozenset({f"param:{arg.arg}"}), leaves=frozenset({arg.arg}))
            value = replace(_given_as(value, arg.arg), leaves=frozenset({arg.arg}))
        return value

    def _part(self, target: ast.Name, value: Value) -> Value:
        """What a name gets: of a part of what the function is given, the name's uses may say that it is a tensor."""
        evidence = self.evidence
        if not value.is_unknown or evidence is None or evidence.taken.get(target.id) is not target:
            return value
        if evidence.of(target.id) is None:
            return value
        return values.tensor(certain=False, storage=value.storage | {ANY_MEMORY}, leaves=value.leaves | {ANY_LEAF})

    def bind(self, target: ast.expr, value: Value, env: Env) -> None:
        """Give a target its value."""
        if isinstance(target, ast.Name):
            value = self._part(target, value)
            changing = target.id in self.unstable or (target.id in self.rearranged and value.is_(Kind.CONTAINER))
            env[target.id] = values.UNKNOWN if changing else value
            self.facts.values[target] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = _spread(target.elts, value) or unpack(value, len(target.elts), self.place(target))
            for item, part in zip(target.elts, parts, strict=True):
                if isinstance(item, ast.Starred):
                    # A new list, of which it is not known how many items it has.
                    rest = values.container(part)
                    self.bind(
                        item.value,
                        replace(rest, storage=part.storage | {self.place(item)}, leaves=part.leaves),
                        env,
                    )
                else:
                    self.bind(item, part, env)
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value, env)
            self.facts.values[target] = value
            self.escapes([value])
            if isinstance(target.value, ast.Name) and target.value.id in env and value.is_(Kind.CONTAINER):
                # What changes the one under the name of the object changes the other.
                env[target.value.id] = replace(owner, storage=owner.storage | value.storage)
            if target.attr == "data" and owner.is_tensor:
                self.reshapes_others(owner.storage, value.storage, env)
            if target.attr == "data" and owner.is_tensor and (key := self.key(target.value)) is not None:
                env[key] = replace(
                    owner,
                    rank=None,
                    has_dims=False,
                    shape_id=self.place(target),
                    dtype=None,
                    dtype_id=None,
                    storage=owner.storage | value.storage,
                )
            if target.attr == "requires_grad" and owner.may_be(Kind.TENSOR):
                made = frozenset({f"?{self.place(target)}"})
                self.hangs_on(owner, made, env, self.place(target), self.key(target.value))
            if isinstance(target.value, ast.Name) and target.value.id == self.self_name:
                env[f"{self.self_name}.{target.attr}"] = value
                self.assigned_storage |= value.storage
                old = self.facts.self_assigned.get(target.attr)
                self.facts.self_assigned[target.attr] = value if old is None else join(old, value)
        elif isinstance(target, ast.Subscript):
            base = self.eval(target.value, env)
            self.eval(target.slice, env)
            self.facts.values[target] = value
            if base.ref in ("torch.nn.ModuleDict", "torch.nn.ModuleList", "torch.nn.Sequential"):
                self.put_into(target, base, value, env)
            if not base.is_(Kind.CONTAINER, Kind.TENSOR):
                self.escapes([value])
            if base.is_unknown:  # a list that is known under another name, perhaps
                self.changed(base, value, env, self.place(target))
            if base.is_(Kind.CONTAINER):
                put = None if isinstance(target.slice, ast.Slice) else value
                self.changed(base, put, env, self.place(target))
            elif base.may_be(Kind.TENSOR) and not value.leaves <= base.leaves:
                self.hangs_on(base, value.leaves, env, self.place(target), self.key(target.value))

    def put_into(self, place: ast.expr, holder: Value, item: Value, env: Env) -> None:
        """A module was put into a `ModuleList`, `Sequential` or `ModuleDict`, by a method or an assignment."""
        owner = place.value if isinstance(place, ast.Attribute | ast.Subscript) else place
        if not holder.is_(Kind.OBJECT):
            return
        element = item if holder.element is None else join(holder.element, item)
        now = replace(holder, element=element, elements=None)
        names = [key for key, value in env.items() if value == holder]  # its other names, too
        own = self.key(owner)
        for key in names if own is None or own in names else [own, *names]:
            env[key] = now
            name, _, attr = key.partition(".")
            if attr and name == self.self_name:
                self.facts.self_assigned[attr] = now

    def register(self, node: ast.expr) -> None:
        """`self.register_buffer("scale", tensor)` makes an attribute."""
        call = registered(node)
        if call is None or call.name is None or call.value is None:
            return
        name = self.facts.value(call.name).const
        if name is None or not isinstance(name.value, str):
            return
        if isinstance(call.owner, ast.Name) and call.owner.id == self.self_name:
            value = _registered(self.facts.value(call.value))
            self.facts.self_assigned[name.value] = replace(value, leaves=frozenset()) if call.is_buffer else value


def _spread(targets: Sequence[ast.expr], value: Value) -> Sequence[Value] | None:
    """The items of a tuple for `first, *rest = value`; the starred target gets what holds of all of its items."""
    items, count = value.elements, len(targets) - 1
    star = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if star is None or items is None or len(items) < count or value.may_be(Kind.OBJECT):
        return None
    end = len(items) - (count - star)
    return [*items[:star], join_all(items[star:end]), *items[end:]]


def _registered(value: Value) -> Value:
    """A value as a buffer or parameter: a tensor or None, or registering it fails."""
    if value.is_tensor or value.is_(Kind.NONE) or not value.may_be(Kind.TENSOR):
        return value
    kinds = frozenset({Kind.TENSOR}) if value.is_unknown else value.kinds & {Kind.TENSOR, Kind.NONE}
    return replace(value, kinds=kinds, certain=False)


def _given_as(value: Value, name: str, place: str = "") -> Value:
    """What callers pass for a parameter, and the items of it, with the memory and the gradient of the parameter.

    place: which item of a tuple it is; each gets a gradient of its own.
    """
    memory = frozenset({f"param:{name}"})
    item = None if value.element is None else _given_as(value.element, name, place)
    items = value.elements and tuple(_given_as(v, name, f"{place}[{i}]") for i, v in enumerate(value.elements))
    held = memory if not value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) else value.storage
    value = replace(value, element=item, elements=items, storage=held)
    if not value.may_be(Kind.TENSOR) or value.is_unknown:
        return value
    leaves = values.NOTHING if value.dtype in ("bool", "int") else frozenset({name})
    return replace(value, origin=True, leaves=perhaps(leaves, f"?{place}") if place and leaves else leaves)


def _default(node: ast.expr | None) -> Value | None:
    if isinstance(node, ast.Constant) and node.value is not Ellipsis:
        return static(node.value)
    return None
