"""Flow-sensitive abstract interpretation: the value of every expression in the functions of a project.

The statements of a function are walked in order with an environment from names to values; the branches of an `if` are
joined and a loop is walked until nothing changes, at most three times. Calls into the project use the callee's summary,
calls into torch the API table.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping

from compilefix.analysis import torch_api, values
from compilefix.analysis.annotations import annotated
from compilefix.analysis.attributes import Attributes
from compilefix.analysis.builtin_calls import NUMPY_GENERATORS, generator_of
from compilefix.analysis.counted_items import counted_keys
from compilefix.analysis.decorated import changes_result
from compilefix.analysis.docstrings import no_tensors
from compilefix.analysis.evidence import Evidence
from compilefix.analysis.float_parameters import float_parameters
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.hints import Hints
from compilefix.analysis.in_place_functions import ALL, reshaped_in_place, translated, written_in_place
from compilefix.analysis.leaves import ANY_LEAF
from compilefix.analysis.module_calls import makes_module
from compilefix.analysis.statements import Interpreter
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import Kind, Value, join_all, replace, static, tensor
from compilefix.analysis.walk import rebound_after
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project

__all__ = ["FunctionFacts", "Inference"]


_MAX_DEPTH = 24
_GENERATORS = NUMPY_GENERATORS | {"torch.Generator"}
_PERHAPS_TENSOR = frozenset({Kind.TENSOR, Kind.NONE, Kind.UNKNOWN})
_RENEWALS = 3  # how often the facts of one function are made anew when callers say more of its parameters


class Inference:
    """Facts of all functions of a project, computed when asked for and kept."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.decided: dict[ast.expr, bool | None] = {}
        self.named: dict[str, Value] = {}
        self.global_names: dict[tuple[Module, str], Value] = {}
        self._facts: dict[Function, FunctionFacts] = {}
        self._changing: dict[Function, str | None] = {}
        self._attributes = Attributes(self)
        self._active: list[Function] = []
        self._globals: dict[tuple[str, str], Value] = {}
        self._partial: dict[Function, FunctionFacts] = {}
        self._unsure: set[Function] = set()
        # Nested functions that were called while the function round them was still being walked.
        self._early: dict[Function, FunctionFacts] = {}
        self._hints = Hints(project)
        self._written: dict[Function, frozenset[str]] = {}
        self._reshaped: dict[Function, frozenset[str]] = {}
        self._annotated: dict[ast.expr, Value] = {}
        self._counted: dict[str, frozenset[str]] = {}
        self._evidence: dict[Function, Evidence] = {}
        # Functions whose facts were forgotten because a caller says more of them, in that order, and how often.
        self.outdated: dict[Function, int] = {}
        self._alone: Function | None = None
        self._given: tuple[Function, Mapping[str, Value]] | None = None
        self._with_sizes: dict[tuple[Function, frozenset[str], frozenset[str]], Value] = {}
        self.too_deep: list[Function] = []
        # What `tensor_functions` asks of many functions again and again.
        self.on_the_host: dict[Function, bool] = {}
        # Functions on tensors that are left out only because of what uses them.
        self.for_others: set[Function] = set()

    def facts(self, function: Function) -> FunctionFacts:
        """The facts of a function."""
        known = self._facts.get(function) or self._partial.get(function) or self._early.get(function)
        if known is None:
            early = function.parent is not None and function.parent in self._active
            known = self._interpret(function)
            kept = self._early if early else self._partial if function in self._unsure else self._facts
            kept[function] = known
        return known

    def summary(self, function: Function) -> Value:
        """The value that a call of the function returns, for any arguments; unknown for a recursive call."""
        if function in self._active or len(self._active) > _MAX_DEPTH:
            declared = self._declared(function)
            return replace(declared, storage=values.UNKNOWN.storage) if not declared.is_static else declared
        if self.changed_by(function) is not None:
            return values.UNKNOWN
        declared = values.NONE if function.node.name == "__init__" else self._declared(function)
        if _says_all(declared, function):
            return declared
        returns = self.facts(function).returns
        return _completed(_narrowed(returns, declared, function), declared)

    def changed_by(self, function: Function) -> str | None:
        """The decorator of the project that makes something else of what the function returns."""
        if not function.node.decorator_list:
            return None
        if function not in self._changing:
            self._changing[function] = changes_result(function, self.project)
        return self._changing[function]

    def called_with(self, function: Function, arguments: Mapping[str, Value]) -> None:
        """A caller passes these arguments. Facts that did not know of it are forgotten, a few times for a function."""
        for affected in self._hints.add(function, arguments):
            known = affected in self._facts or affected in self._partial
            times = self.outdated.get(affected, 0)
            if known and times < _RENEWALS and affected not in self._active:
                self.outdated[affected] = times + 1
                self._facts.pop(affected, None)
                self._partial.pop(affected, None)

    def hints(self, function: Function) -> Mapping[str, Value]:
        """What callers pass to parameters of a function of which its own code says nothing."""
        if function is self._alone:
            return {}
        given = self._given[1] if self._given is not None and self._given[0] is function else {}
        passed = self._hints.of(function)
        if any(value.is_tensor and not value.certain for value in passed.values()):
            # What its own docstring calls a list is none because a caller, which is not sure, passes it on as a tensor.
            listed = no_tensors(function.node)
            passed = {n: v for n, v in passed.items() if n not in listed or not v.is_tensor or v.certain}
        return {**passed, **given}

    def takes_tensor(self, function: Function, parameter: ast.arg) -> bool:
        """Whether a parameter is a tensor by its declaration, or else by what the code of the function does with it."""
        if parameter.annotation is not None:
            return self.annotated(parameter.annotation, function.module).is_tensor
        if function not in self._evidence:
            self._evidence[function] = Evidence(function)
        return self._evidence[function].of(parameter.arg) is not None

    def passed_boolean(self, function: Function) -> frozenset[str]:
        """The parameters of a function that callers are seen to pass boolean tensors, and no others."""
        return self._hints.boolean(function)

    def hinted(self, function: Function) -> frozenset[str]:
        """The parameters of a function that count as tensors only because a caller passes one."""
        known = self._facts.get(function) or self._partial.get(function)
        return known.hinted if known is not None else frozenset()

    def without_hints(self, function: Function) -> FunctionFacts:
        """The facts of a function by itself, whatever its callers pass."""
        facts = self.facts(function)
        if not facts.hinted:
            return facts
        self._alone = function
        try:
            return self._interpret(function)
        finally:
            self._alone = None

    def in_call(self, function: Function, arguments: Mapping[str, Value]) -> FunctionFacts:
        """The facts of a function in one call: its parameters are the tensors that this one is seen to pass."""
        tensors = {
            name: values.tensor(dtype=v.dtype, rank=v.rank, has_dims=v.has_dims)
            for name, v in arguments.items()
            if v.is_tensor and v.certain
        }
        if not tensors or function in self._active:
            return self.facts(function)
        self._given = function, tensors
        try:
            return self._interpret(function)
        finally:
            self._given = None

    def with_sizes(self, function: Function, sizes: frozenset[str]) -> Value:
        """What a call of the function returns that is given integers of shapes for these parameters, and no tensors."""
        if function in self._active or len(self._active) > _MAX_DEPTH:
            return self.summary(function)
        key = function, sizes, frozenset(self.hints(function))
        if key not in self._with_sizes:
            given, self._given = self._given, (function, dict.fromkeys(sizes, values.SIZE))
            try:
                self._with_sizes[key] = self._interpret(function).returns
            finally:
                self._given = given
        return self._with_sizes[key]

    def float_parameters(self, function: Function) -> frozenset[str]:
        """The parameters that must be floating tensors with dimensions, or the function fails."""
        known = self._facts.get(function) or self._partial.get(function)
        return known.float_parameters if known is not None else frozenset()

    def written_in_place(self, function: Function) -> frozenset[str]:
        """The memory that a call of the function writes into in place, by its own names: `param:x` is that of `x`."""
        return self._in_place(function, self._written, written_in_place, ALL)

    def reshaped_in_place(self, function: Function) -> frozenset[str]:
        """The memory of the tensors that a call of the function gives another shape or dtype, by its own names."""
        return self._in_place(function, self._reshaped, reshaped_in_place, values.NOTHING)

    def _in_place(
        self,
        function: Function,
        kept: dict[Function, frozenset[str]],
        by_itself: Callable[[Function, FunctionFacts], frozenset[str]],
        unknown: frozenset[str],
    ) -> frozenset[str]:
        """The memory to which a function does something, or what it calls."""
        known = kept.get(function)
        if known is not None:
            return known
        if function in self._active or len(self._active) > _MAX_DEPTH:
            return unknown
        kept[function] = values.NOTHING  # for a recursive call
        facts = self.facts(function)
        found = by_itself(function, facts)
        for call, callee in facts.calls.items():
            if not isinstance(call, ast.Call):
                continue
            given = [*call.args, *(k.value for k in call.keywords)]
            operands = [facts.value(a.value if isinstance(a, ast.Starred) else a) for a in given]
            if callee.parent is not None or any(map(memory_of, operands)):
                inner = self._in_place(callee, kept, by_itself, unknown)
                found |= translated(inner, call, callee, operands, facts)
        kept[function] = found
        return found

    def counted_keys(self, module: Module) -> frozenset[str]:
        """The keys of dictionaries under which a module gets numbers, by what it does with them."""
        if module.name not in self._counted:
            self._counted[module.name] = counted_keys(module)
        return self._counted[module.name]

    def annotated(self, node: ast.expr | None, module: Module) -> Value:
        """The value that an annotation in a module promises."""
        if node is None:
            return values.UNKNOWN
        known = self._annotated.get(node)
        if known is None:
            known = self._annotated[node] = annotated(node, module, self.project)
        return known

    def _declared(self, function: Function) -> Value:
        return self.annotated(function.node.returns, function.module)

    def _interpret(self, function: Function) -> FunctionFacts:
        outer: Mapping[str, Value] = {}
        if function.parent is not None and function.parent not in self._active:
            around = self.facts(function.parent).env_before.get(function.node, {})
            rebound = rebound_after(function.parent, function.node)
            outer = {name: values.UNKNOWN if name in rebound else value for name, value in around.items()}
        self._active.append(function)
        depth = len(self._active)
        try:
            facts = Interpreter(self, function, outer).run()
            floats = float_parameters(facts)
            if floats:
                facts = Interpreter(self, function, outer, floats).run()
                facts.float_parameters = floats
            return facts
        except RecursionError:
            # An expression thousands of levels deep: nothing is known of the function, and the rest goes on.
            self.too_deep.append(function)
            return FunctionFacts(function, dead=set(function.node.body), returns=values.UNKNOWN)
        finally:
            del self._active[depth - 1 :]
            self._forget_inner(function)

    def _forget_inner(self, function: Function) -> None:
        for inner in [f for f in self._early if f.parent is function]:
            del self._early[inner]

    def attribute(self, cls: Class, name: str, reader: Function | None = None) -> Value | None:
        """The attribute that instances of the class have; None where nothing gives them one.

        reader: the method that reads it of its own object.
        """
        return self._attributes.of(cls, name, reader)

    def class_constant(self, cls: Class, name: str) -> Value | None:
        """The number or text that a class has under a name; None where other code may put something else there."""
        return self._attributes.of_the_class(cls, name)

    def hides_method(self, cls: Class, name: str) -> bool:
        """Whether the class puts something else on its objects under the name of one of its methods."""
        return self._attributes.hides_method(cls, name)

    def assigned(self, method: Function) -> Mapping[str, Value]:
        """What a run of the method assigns to attributes of `self`."""
        if method not in self._active:
            return self.facts(method).self_assigned
        self._active.append(method)
        try:
            return Interpreter(self, method, {}).run().self_assigned
        except RecursionError:
            self.too_deep.append(method)
            return {}
        finally:
            self._active.pop()

    @property
    def depth(self) -> int:
        """How many functions are being looked at, each for the sake of the one before."""
        return len(self._active)

    def doubt(self, depth: int) -> None:
        """Keep the facts of functions from `depth` on no longer than until `settle`: they rest on half of the truth."""
        self._unsure.update(self._active[depth:])

    def settle(self) -> None:
        """Forget the facts that were in doubt."""
        self._partial.clear()
        self._unsure.clear()

    def module_global(self, module: Module, name: str) -> Value | None:
        """The value of a name that a module assigns at its top level."""
        if name not in module.assigns:
            return None
        key = (module.name, name)
        if key not in self._globals:
            self._globals[key] = values.UNKNOWN
            given = module.all_given(name)
            found = join_all(_global_value(value, module, self) for value in given)
            self._globals[key] = values.UNKNOWN if found.is_static and self._is_set_elsewhere(module, name) else found
        return self._globals[key]

    def attribute_of_global(self, storage: Collection[str], ref: str, attr: str) -> Value | None:
        """The generator that the file that makes an object of a class gives it: `DEFAULTS.rng = ...`; or None.

        The object may be another one of the file, and have been given something else since: of tensors, numbers and
        modules that would claim a shape, a dtype or that no gradient goes there.
        """
        for name in storage:
            module = self.project.modules.get(name.removeprefix("global.")) if name.startswith("global.") else None
            given = () if module is None else module.attributes_given.get(attr, ())
            found = [
                _global_value(value, module, self)
                for owner, value in given
                if module is not None and (held := self.module_global(module, owner)) is not None and held.ref == ref
            ]
            if found and all(value.is_(Kind.OBJECT) and value.ref in _GENERATORS for value in found):
                return replace(join_all(found), certain=False, const=None)
        return None

    def _is_set_elsewhere(self, module: Module, name: str) -> bool:
        """Whether another file gives a global of a module another value: `settings.SCALE = 2.0`."""
        others = self.project.modules.texts.matching(name, rf"\.{name}\s*[-+*/]?=(?!=)")
        return any(f"{module.name}.{name}" in self.project.modules[other].set_elsewhere for other in others)


def _completed(found: Value, declared: Value) -> Value:
    """What a function was found to return, with what only its annotation says, item by item of a tuple."""
    if found.is_unknown:
        return found if declared.is_unknown else replace(_hanging_on(declared, found), storage=memory_of(found))
    if found.is_tensor and not found.certain and declared.is_tensor:
        return replace(found, certain=declared.certain)
    if found.elements is None and found.element is not None and found.element.is_unknown and declared.element:
        return replace(found, element=_completed(found.element, declared.element))  # `-> Iterable[torch.Tensor]`
    if found.elements is None or declared.elements is None or len(found.elements) != len(declared.elements):
        return found
    items = tuple(_completed(a, b) for a, b in zip(found.elements, declared.elements, strict=True))
    return found if items == found.elements else replace(found, elements=items, element=join_all(items))


def _hanging_on(declared: Value, found: Value) -> Value:
    """What an annotation says of a value of which the code says nothing, nor whose gradient it and its items get."""
    return replace(
        declared,
        leaves=declared.leaves | found.leaves if declared.may_be(Kind.TENSOR) else declared.leaves,
        element=declared.element and _hanging_on(declared.element, found),
        elements=declared.elements and tuple(_hanging_on(item, found) for item in declared.elements),
    )


def _narrowed(found: Value, declared: Value, function: Function) -> Value:
    """What a function was found to return, without the None that a name has before a loop that gives it a tensor.

    `-> Tensor` says that the loop runs. A `return None`, or an end without a `return`, says that it need not.
    """
    if (
        not declared.is_tensor
        or Kind.TENSOR not in found.kinds
        or not found.kinds <= _PERHAPS_TENSOR
        or found.is_tensor
    ):
        return found
    ends = isinstance(function.node.body[-1], ast.Return | ast.Raise)
    says_none = any(
        node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        for node in function.nodes
        if isinstance(node, ast.Return)
    )
    if says_none or not ends:
        return found
    return replace(found, kinds=declared.kinds, certain=declared.certain)


def _says_all(declared: Value, function: Function) -> bool:
    """Whether a return annotation leaves nothing to find out: walking the function would only cost time.

    `-> bool` is also written over functions that return a tensor, so that it counts only where no argument comes in.
    """
    if declared.is_(Kind.NONE) or (declared.is_(Kind.OBJECT) and declared.ref is not None):
        return True
    return declared.is_(Kind.STATIC) and (declared.dtype is None or not (function.parameters or function.parent))


def _table(node: ast.Dict, module: Module, inference: Inference) -> Value | None:
    """A dict of classes of the project or modules of torch: an item is one of them, or what other code puts in."""
    names = [module.qualified(value) for value in node.values]
    found = [inference.project.resolve(name) if name is not None else None for name in names]
    refs = [cls.full_name if isinstance(cls, Class) else cls for cls in found]
    classes = [
        replace(values.FUNCTION, ref=ref)
        for ref, cls in zip(refs, found, strict=True)
        if isinstance(ref, str) and (isinstance(cls, Class) or makes_module(ref))
    ]
    if not classes or len(classes) < len(found):
        return None
    item = replace(values.UNKNOWN, kinds=values.CLASSES, elements=tuple(classes))
    return values.container(item, ref="dict")


def _global_value(node: ast.expr, module: Module, inference: Inference) -> Value:
    if isinstance(node, ast.Constant):
        value = node.value
        return values.STATIC if value is Ellipsis else static(value)
    if isinstance(node, ast.Call):
        name = module.qualified(node.func)
        if name is None:
            return _computed(node, module, inference)
        found = inference.project.resolve(name)
        if isinstance(found, Class):
            return Value(frozenset({Kind.OBJECT}), ref=found.full_name, storage=frozenset({f"global.{module.name}"}))
        if found == "torch.Generator":
            return Value(frozenset({Kind.OBJECT}), ref=found)
        if isinstance(found, str) and (generator := generator_of(found)) is not None:
            return Value(frozenset({Kind.OBJECT}), ref=generator)
        if (found if isinstance(found, str) else found.full_name if isinstance(found, Function) else "").endswith(
            (".getLogger", ".get_logger")
        ):
            # Packages have a function of their own for it, which hands on what `logging` gives.
            return Value(frozenset({Kind.OBJECT}), ref="logging.Logger")
        if isinstance(found, str):
            api = torch_api.function(found)
            if api is not None and api.returns == "Tensor":
                asks = any(k.arg in ("requires_grad", None) for k in node.keywords)
                memory = frozenset({f"global.{module.name}"})
                return tensor(storage=memory, leaves=frozenset({ANY_LEAF}) if asks else values.NOTHING)
        return _computed(node, module, inference)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        name = module.qualified(node)
        if name is not None and torch_api.is_dtype(name):
            return replace(values.STATIC, ref=name)
        owner = inference.module_global(module, node.value.id)
        logger = owner is not None and owner.ref == "logging.Logger"
        return replace(values.FUNCTION, ref=f"logging.Logger.{node.attr}") if logger else values.UNKNOWN
    if isinstance(node, ast.Dict):
        held = _table(node, module, inference) or values.container()
        return replace(held, storage=frozenset({f"global.{module.name}"}))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return replace(values.container(), storage=frozenset({f"global.{module.name}"}))
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        numbers = (ast.Constant, ast.operator, ast.unaryop, ast.BinOp, ast.UnaryOp)
        if all(isinstance(n, numbers) for n in ast.walk(node)):
            return values.STATIC
        return _computed(node, module, inference)
    return values.UNKNOWN


def _computed(node: ast.expr, module: Module, inference: Inference) -> Value:
    """A tensor that a module computes of tensors at its top level, as in `(2 * torch.ones(1)).sqrt()`."""
    parts: tuple[ast.expr, ...]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        api = torch_api.method(node.func.attr)
        parts = (node.func.value,) if api is not None and api.returns == "Tensor" else ()
    elif isinstance(node, ast.BinOp):
        parts = (node.left, node.right)
    else:
        parts = (node.operand,) if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not) else ()
    found = [
        (inference.module_global(module, part.id) or values.UNKNOWN)
        if isinstance(part, ast.Name)
        else _global_value(part, module, inference)
        for part in parts
    ]
    tensors = [value for value in found if value.is_tensor and value.certain]
    if not tensors or any(not (value.is_tensor or value.is_(Kind.STATIC)) for value in found):
        return values.UNKNOWN
    asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"
    leaves = frozenset({ANY_LEAF}) if asks else values.NOTHING.union(*(value.leaves for value in tensors))
    return tensor(storage=frozenset({f"global.{module.name}"}), leaves=leaves)
