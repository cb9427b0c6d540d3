"""Flow-sensitive abstract interpretation: the value of every expression in the functions of a project.

The statements of a function are walked in order with an environment from names to values; the branches of an `if` are
joined and a loop is walked until nothing changes, at most three times. Calls into the project use the callee's summary,
calls into torch the API table.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from compilefix.analysis import torch_api, values
from compilefix.analysis.annotations import annotated
from compilefix.analysis.evidence import float_parameters
from compilefix.analysis.function_facts import ClassFacts, FunctionFacts
from compilefix.analysis.statements import Interpreter
from compilefix.analysis.values import Kind, Value, join, static, tensor
from compilefix.source.index import Class, Function, Module, Project

__all__ = ["FunctionFacts", "Inference"]


_MAX_DEPTH = 24


class Inference:
    """Facts of all functions of a project, computed when asked for and kept."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._facts: dict[Function, FunctionFacts] = {}
        self._classes: dict[Class, ClassFacts] = {}
        self._active: list[Function] = []
        self._globals: dict[tuple[str, str], Value] = {}
        self.too_deep: list[Function] = []

    def facts(self, function: Function) -> FunctionFacts:
        """The facts of a function."""
        known = self._facts.get(function)
        if known is None:
            known = self._interpret(function)
            self._facts[function] = known
        return known

    def summary(self, function: Function) -> Value:
        """The value that a call of the function returns, for any arguments; unknown for a recursive call."""
        if function in self._active or len(self._active) > _MAX_DEPTH:
            return values.UNKNOWN if function.node.returns is None else self._declared(function)
        returns = self.facts(function).returns
        declared = self._declared(function)
        if returns.is_unknown and not declared.is_unknown:
            return declared
        return returns

    def float_parameters(self, function: Function) -> frozenset[str]:
        """The parameters that must be floating tensors with dimensions, or the function fails."""
        known = self._facts.get(function)
        return known.float_parameters if known is not None else frozenset()

    def _declared(self, function: Function) -> Value:
        return annotated(function.node.returns, function.module, self.project)

    def _interpret(self, function: Function) -> FunctionFacts:
        self._active.append(function)
        depth = len(self._active)
        try:
            outer: Mapping[str, Value] = {}
            if function.parent is not None and function.parent not in self._active:
                outer = self.facts(function.parent).env_before.get(function.node, {})
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

    def class_facts(self, cls: Class) -> ClassFacts:
        """The attributes that instances of the class have."""
        known = self._classes.get(cls)
        if known is None:
            known = ClassFacts(cls)
            self._classes[cls] = known
            self._fill(known)
        return known

    def _fill(self, facts: ClassFacts) -> None:
        cls = facts.cls
        for base in reversed(self.project.ancestors(cls)[1:]):
            if isinstance(base, Class):
                facts.attributes.update(self.class_facts(base).attributes)
        for node in cls.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                value = annotated(node.annotation, cls.module, self.project)
                facts.attributes[node.target.id] = self._owned(value, node.target.id)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        facts.attributes[target.id] = replace(static(node.value.value), const=None)  # type: ignore[arg-type]
        init = cls.methods.get("__init__")
        ordered = ([init] if init else []) + [m for n, m in cls.methods.items() if n != "__init__"]
        for method in ordered:
            if not any(_assigns_self(method)):
                continue
            assigned = self._self_assignments(method)
            for name, value in assigned.items():
                value = self._owned(value, name)
                if method is init:
                    # A declared tensor (`scale: Tensor` over register_buffer) says more than what is assigned.
                    old = facts.attributes.get(name)
                    facts.attributes[name] = old if value.is_unknown and old is not None else value
                elif name in facts.attributes:
                    facts.attributes[name] = self._owned(join(facts.attributes[name], value), name)
                else:
                    facts.attributes[name] = value

    def _self_assignments(self, method: Function) -> Mapping[str, Value]:
        if method in self._active:
            return {}
        self._active.append(method)
        try:
            interpreter = Interpreter(self, method, {})
            interpreter.run()
            return interpreter.self_assigned
        finally:
            self._active.pop()

    def _owned(self, value: Value, name: str) -> Value:
        """The value as an attribute: outside callers can reach its memory, and another call may have replaced it."""
        leaves = (
            frozenset({f"self.{name}"})
            if value.may_be(Kind.TENSOR) and value.dtype not in ("bool", "int")
            else frozenset[str]()
        )
        return replace(
            value,
            origin=True,
            dtype_id=None,
            shape_id=None if value.rank != 0 else "()",
            storage=frozenset({f"self.{name}"}),
            leaves=leaves,
        )

    def module_global(self, module: Module, name: str) -> Value | None:
        """The value of a name that a module assigns at its top level."""
        if name not in module.assigns:
            return None
        key = (module.name, name)
        if key not in self._globals:
            self._globals[key] = values.UNKNOWN
            self._globals[key] = _global_value(module.assigns[name], module, self)
        return self._globals[key]


def _global_value(node: ast.expr, module: Module, inference: Inference) -> Value:
    if isinstance(node, ast.Constant):
        value = node.value
        return values.STATIC if value is Ellipsis else static(value)
    if isinstance(node, ast.Call):
        name = module.qualified(node.func)
        if name is None:
            return values.UNKNOWN
        found = inference.project.resolve(name)
        if isinstance(found, Class):
            return Value(frozenset({Kind.OBJECT}), ref=found.full_name)
        if isinstance(found, str):
            if found == "logging.getLogger" or found.endswith(".get_logger"):
                return Value(frozenset({Kind.OBJECT}), ref="logging.Logger")
            api = torch_api.function(found)
            if api is not None and api.returns == "Tensor":
                return tensor(storage=frozenset({f"global.{module.name}"}))
        return values.UNKNOWN
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return values.container()
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        return (
            values.STATIC
            if all(
                isinstance(n, ast.Constant | ast.operator | ast.unaryop | ast.BinOp | ast.UnaryOp)
                for n in ast.walk(node)
            )
            else values.UNKNOWN
        )
    return values.UNKNOWN


def _assigns_self(method: Function) -> list[ast.AST]:
    return [
        n
        for n in method.nodes
        if (isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
        or (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr in ("register_buffer", "register_parameter")
        )
    ]
