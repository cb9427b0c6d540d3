"""CF707: a value that the first call computes and keeps.

## What it does
Finds `if self.cache is None: self.cache = ...` (also `if not hasattr(self, "cache")`) in the compiled code of a module,
and makes a buffer of it where `__init__` can compute the value.

## Why is this bad
Whether the value is there is a guard: the second call finds another answer than the first, and the code is compiled
twice. Where the value is stored by the first graph, that graph runs once and never again.

## Example
```python
def __init__(self, length):
    super().__init__()
    self.length = length
    self.mask = None

def forward(self, x):
    if self.mask is None:
        self.mask = torch.ones(self.length)
    return x * self.mask
```

## Use instead
```python
def __init__(self, length):
    super().__init__()
    self.length = length
    self.register_buffer("mask", torch.ones(self.length), persistent=False)

def forward(self, x):
    if self.mask is None:
        self.mask = torch.ones(self.length)
    return x * self.mask
```

## Fix safety
Under `cache-in-init`: what the value is made of does not change between `__init__` and the first call, nobody looks
whether it is there, and it may move and be cast with the module as buffers are. The test stays, for code that sets the
attribute back to None. A module that is made on the meta device has to fill its buffers again.

Declined where the value hangs on an argument of the function (compute it before the compiled call then, and pass it
in), where it is made of something else than constants and attributes that `__init__` has set before, for good and in
any case, where it hangs on what is trained, and where `__init__` does not set the attribute to None, or something else
sets it.

Graph breaks: none (a recompile). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TypeGuard

from compilefix.analysis import torch_api
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in, walk

_OF_DEVICE = frozenset(
    {"torch.cuda.CUDAGraph", "torch.cuda.Stream", "torch.cuda.Event", "torch.cuda.make_graphed_callables"}
)
_NEW = frozenset({"new_tensor", "new_zeros", "new_ones", "new_full", "new_empty"})
"""Methods that make a tensor of the dtype and device of another, and of nothing else of it."""
_PROPERTIES = ("device", "dtype", "shape", "size", "ndim", "dim")


class LazyCache(Rule):
    """Value that the first call computes and keeps."""

    code = "CF707"
    name = "lazy-cache"
    summary = "a value that the first call computes and keeps"
    effect = "recompile"
    hints = ("is None", "hasattr")
    assumptions = ("cache-in-init",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Tests for an attribute of `self` that the branch then fills."""
        cls = scope.function.cls
        if cls is None or not scope.legality.inference.project.is_module_class(cls):
            return
        for node in scope.of(ast.If):
            name = _tested(node.test, scope)
            if name is None:
                continue
            filled = [s for s in node.body if _fills(s, name, scope)]
            if not filled or any(isinstance(s, ast.Assign) and _is_of_device(s.value, scope) for s in filled):
                continue
            if _is_emptied(name, scope):
                continue  # each call finds it missing
            message = f"`self.{name}` is filled by the first call, and the second one is compiled again"
            reason = "compute it in `__init__`, as a buffer with `persistent=False` where it is a tensor"
            given = _hangs_on(filled, scope)
            found = _in_init(node, name, cls, scope)
            if _runs_on(name, node, scope):
                why = "later calls may give it another value: start with one that `__init__` makes, as a buffer"
                yield self.declined(scope, node.test, message, f"{why} with `persistent=False`")
            elif given is not None:
                why = f"the value hangs on `{given}`, which the caller gives: compute it before the compiled call"
                yield self.declined(scope, node.test, message, f"{why}, and pass it in")
            elif (trained := _trained(filled, scope)) is not None:
                why = (
                    f"it is made of `{trained}`, which training and loading change: compute it at each call, or fill it"
                )
                yield self.declined(scope, node.test, message, f"{why} before the compiled code is called")
            elif isinstance(found, str):
                like = next((node.id for node in _computed_of(filled, scope) if _is_pattern(node, scope)), None)
                if like is not None:
                    found = f"the value has the dtype and device of `{like}`"
                yield self.declined(scope, node.test, message, f"{found}: {reason}")
            else:
                why = f"what `self.{name}` is made of is taken not to change before the first call"
                yield self.fixed(scope, node.test, message, Fix((found,), (), ("cache-in-init",), (why,)))


def _tested(test: ast.expr, scope: Scope) -> str | None:
    """The attribute of `self` that a test looks for."""
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Is)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    ):
        return _attribute(test.left, scope.function)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call):
        call = test.operand
        if scope.callee(call) == "hasattr" and len(call.args) == 2 and isinstance(call.args[1], ast.Constant):
            owner, name = call.args[0], str(call.args[1].value)
            own = isinstance(owner, ast.Name) and owner.id == _self(scope.function)
            return name if own and not _is_given_in_init(name, scope) else None
    return None


def _is_given_in_init(name: str, scope: Scope) -> bool:
    """Whether `__init__` gives an attribute a value whichever way it goes: `hasattr` then always says yes."""
    init = None if scope.function.cls is None else scope.function.cls.methods.get("__init__")
    return init is not None and any(name in _surely_set(statement, init) for statement in init.node.body)


def _fills(statement: ast.stmt, name: str, scope: Scope) -> bool:
    return isinstance(statement, ast.Assign) and any(_attribute(t, scope.function) == name for t in statement.targets)


def _is_of_device(value: ast.expr, scope: Scope) -> bool:
    """Whether a value is one that code with CUDA graphs or streams of its own keeps, which nobody compiles."""
    return isinstance(value, ast.Call) and scope.callee(value) in _OF_DEVICE


def _runs_on(name: str, node: ast.If, scope: Scope) -> bool:
    """Whether the function gives the attribute a value elsewhere, too: one that runs on from call to call."""
    inside = {part for statement in node.body for part in walk(statement)}
    stores = (s for s in scope.of(ast.Assign) if _fills(s, name, scope) and s not in inside)
    return any(not isinstance(s.value, ast.Constant) for s in stores)


def _is_emptied(name: str, scope: Scope) -> bool:
    """Whether a method that the function calls sets the attribute back: `self._reset()`."""
    called = {callee for callee in scope.facts.calls.values() if callee.cls is scope.function.cls}
    return any(
        isinstance(statement.value, ast.Constant)
        and statement.value.value is None
        and any(_attribute(target, callee) == name for target in statement.targets)
        for callee in called
        for statement in callee.of(ast.Assign)
    )


def _hangs_on(filled: Sequence[ast.stmt], scope: Scope) -> str | None:
    """An argument of the function that the value is computed of, also by way of names that the function gives.

    What is asked for its device or dtype alone is none: a buffer has these from the module.
    """
    arguments = scope.function.node.args
    gathered = {parameter.arg for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None}
    given = {p.arg for p in scope.function.parameters} | gathered
    given -= {_self(scope.function), "device", "dtype"}
    names = (node for node in _computed_of(filled, scope) if isinstance(node, ast.Name) and node.id in given)
    return next((node.id for node in names if not _gives_its_type(node, scope)), None)


def _trained(filled: Sequence[ast.stmt], scope: Scope) -> str | None:
    """A parameter of the module that the value is computed of, also by way of names that the function gives."""
    for node in _computed_of(filled, scope):
        name = _attribute(node, scope.function) if isinstance(node, ast.Attribute) else None
        asked = _is_asked(node, scope, _PROPERTIES)
        if not asked and ((name is not None and _is_parameter(name, scope)) or _is_of_layer(node, scope)):
            return snippet(node)
    return None


def _is_of_layer(node: ast.AST, scope: Scope) -> bool:
    """Whether a node is a parameter of a layer that the module keeps: `self.conv.weight`."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("weight", "bias"):
        return False
    kept = isinstance(node.value, ast.Attribute) and _attribute(node.value, scope.function) is not None
    return kept and (scope.value(node.value).ref or "").startswith("torch.nn.")


def _is_parameter(name: str, scope: Scope) -> bool:
    """Whether a module keeps a parameter under a name: one that it makes, or one of a layer of torch."""
    cls, project = scope.function.cls, scope.legality.inference.project
    family = [] if cls is None else [cls, *project.ancestors(cls)]
    methods = (method for one in family if isinstance(one, Class) for method in one.methods.values())
    if any(_makes_parameter(statement, name, method) for method in methods for statement in method.of(ast.Assign)):
        return True
    layers = (base for base in family if isinstance(base, str) and base.startswith("torch.nn."))
    return name in ("weight", "bias") and any(not base.endswith(".Module") for base in layers)


def _makes_parameter(statement: ast.Assign, name: str, method: Function) -> bool:
    made = isinstance(statement.value, ast.Call) and method.module.qualified(statement.value.func)
    is_one = made in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
    return is_one and any(_attribute(target, method) == name for target in statement.targets)


def _gives_its_type(node: ast.AST, scope: Scope) -> bool:
    """Whether what a name holds gives a new value its device or dtype alone."""
    return _is_asked(node, scope, ("device", "dtype")) or _is_pattern(node, scope)


def _is_pattern(node: ast.AST, scope: Scope) -> TypeGuard[ast.Name]:
    """Whether a name is that of a tensor whose method makes one of its dtype and device: `x.new_tensor(1.0)`."""
    method = scope.parents.get(node)
    made = scope.parents.get(method) if isinstance(method, ast.Attribute) and method.attr in _NEW else None
    return isinstance(node, ast.Name) and isinstance(made, ast.Call) and made.func is method


def _is_asked(node: ast.AST, scope: Scope, about: Collection[str] = _PROPERTIES) -> bool:
    """Whether just the device or dtype of something is asked for, or what else it is asked about."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in about


def _computed_of(filled: Sequence[ast.stmt], scope: Scope) -> Iterator[ast.AST]:
    """What stands in the value, and in what the function gives the names in it."""
    pending: list[ast.AST] = [s.value for s in filled if isinstance(s, ast.Assign)]
    seen: set[str] = set()
    while pending:
        for node in walk(pending.pop()):
            yield node
            if isinstance(node, ast.Name) and node.id not in seen and not _gives_its_type(node, scope):
                seen.add(node.id)
                pending += (s.value for s in _giving(node.id, scope) if s.lineno < node.lineno)


def _giving(name: str, scope: Scope) -> Iterator[ast.Assign]:
    """What gives a name its value, or writes into what it holds: `counts = zeros(n)`, `counts[i] = x.sum()`."""
    for statement in scope.of(ast.Assign):
        for target in statement.targets:
            while isinstance(target, ast.Subscript):
                target = target.value
            if name in names_in(target):
                yield statement


def _in_init(node: ast.If, name: str, cls: Class, scope: Scope) -> Edit | str:
    """The edit that makes the attribute a buffer in `__init__`, or why that cannot be done."""
    if len(node.body) != 1 or node.orelse or not isinstance(node.test, ast.Compare):
        return "the branch does more than fill it"
    assignment = node.body[0]
    assert isinstance(assignment, ast.Assign)
    init = cls.methods.get("__init__")
    if init is None or len(assignment.targets) != 1:
        return "the class has no `__init__` of its own"
    api = torch_api.function(scope.callee(assignment.value) or "") if isinstance(assignment.value, ast.Call) else None
    if api is None or api.random or not scope.value(assignment.value).is_tensor:
        return "the value is not made by a function of torch alone"
    empty = [s for s in init.node.body if _sets_none(s, name, init)]
    if len(empty) != 1:
        return "`__init__` does not set it to None in a place of its own"
    obstacle = _other_owner(name, cls, (node, empty[0]), scope) or _made_of(assignment.value, empty[0], init, scope)
    if obstacle is not None:
        return obstacle
    read = [scope.value(node) for node in ast.walk(assignment.value) if isinstance(node, ast.Attribute)]
    if scope.value(assignment.value).leaves and any(value.is_tensor and value.leaves for value in read):
        return "the value hangs on what is trained"
    text = scope.file.segment(assignment.value).replace("{", "{{").replace("}", "}}")
    owner = _self(init)
    inner = scope.in_function(init)
    return inner.edit(empty[0], f'{owner}.register_buffer("{name}", {text}, persistent=False)')


def _sets_none(statement: ast.stmt, name: str, init: Function) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and _attribute(statement.targets[0], init) == name
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
    )


def _made_of(value: ast.expr, place: ast.stmt, init: Function, scope: Scope) -> str | None:
    """Something in the value that is not there, or not the same, at the place in `__init__`."""
    started = init.node.body[: init.node.body.index(place)]
    before = {name for statement in started for name in _surely_set(statement, init)}
    if not any(
        "super().__init__(" in scope.file.segment(s) or "Module.__init__(" in scope.file.segment(s) for s in started
    ):
        return "`__init__` sets it before the module is one"
    if _self(init) != _self(scope.function):
        return "`__init__` calls `self` by another name"
    own = {a.arg for a in ast.walk(init.node.args) if isinstance(a, ast.arg)}
    own |= {n.id for n in init.of(ast.Name) if not isinstance(n.ctx, ast.Load)}
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            parent = scope.parents.get(node)
            if node.id == _self(scope.function):
                if not isinstance(parent, ast.Attribute) or parent.attr not in before:
                    return f"`{snippet(parent or node)}` is not set before in `__init__`"
                if _set_later(parent.attr, started, init, scope):
                    return f"`{snippet(parent)}` is set again later"
            elif node.id not in scope.function.module.imports or node.id in own:
                return f"the value hangs on `{node.id}`"
        elif isinstance(node, ast.keyword) and node.arg in ("dtype", "device", "requires_grad"):
            return f"`{node.arg}` is given, which a buffer has from the module"
    return None


def _surely_set(statement: ast.stmt, init: Function) -> set[str]:
    """The attributes of `self` that a statement stores whichever way it goes."""
    if isinstance(statement, ast.If):
        ways = [{n for part in way for n in _surely_set(part, init)} for way in (statement.body, statement.orelse)]
        return ways[0] & ways[1]
    if isinstance(statement, ast.With):
        return {name for part in statement.body for name in _surely_set(part, init)}
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    stored = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Attribute)]
    return {name for node in stored if isinstance(node.ctx, ast.Store) and (name := _attribute(node, init))}


def _set_later(name: str, started: list[ast.stmt], init: Function, scope: Scope) -> bool:
    """Whether a method stores an attribute, also of a class that the project makes of this one."""
    known = {id(part) for statement in started for part in ast.walk(statement)}
    methods = [m for cls in _family(init, scope) for m in cls.methods.values()]
    return any(
        node.attr == name and not isinstance(node.ctx, ast.Load) and id(node) not in known
        for method in methods
        for node in method.of(ast.Attribute)
    )


def _other_owner(name: str, cls: Class, allowed: tuple[ast.AST, ...], scope: Scope) -> str | None:
    """Another place that gives the attribute a value, in the class, those that it is made of and those made of it."""
    known = {id(part) for place in allowed for part in ast.walk(place)}
    if name.startswith("__"):
        return "its name is the class's own"
    init = cls.methods["__init__"]
    for owner in _family(init, scope):
        if _in_body(name, owner):
            return f"`{owner.node.name}` has `{name}` of its own"
        for method in owner.methods.values():
            for node in method.of(ast.Attribute):
                if node.attr == name and not isinstance(node.ctx, ast.Load) and id(node) not in known:
                    return f"`{method.qualname}` stores `self.{name}` too"
    return None


def _family(init: Function, scope: Scope) -> list[Class]:
    """The class of `__init__`, the project's classes that it is made of, and those that are made of it."""
    project = scope.legality.inference.project
    cls = init.cls
    assert cls is not None
    above = [base for base in project.ancestors(cls) if isinstance(base, Class)]
    likely = (project.modules[name] for name in project.modules.texts.mentioning(cls.node.name))
    below = [one for module in likely for one in module.classes.values() if cls in project.ancestors(one)]
    return list({id(one): one for one in (cls, *above, *below)}.values())


def _in_body(name: str, cls: Class) -> bool:
    """Whether a class itself binds a name, so that its instances have it before anything is stored."""
    if name in cls.methods:
        return True
    stored = (n for s in cls.node.body if isinstance(s, ast.Assign | ast.AnnAssign) and s.value for n in ast.walk(s))
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == name for n in stored)


def _attribute(node: ast.expr, function: Function) -> str | None:
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == _self(function)
    return node.attr if is_own else None  # type: ignore[attr-defined]


def _self(function: Function) -> str:
    arguments = function.node.args.args
    return arguments[0].arg if arguments and function.cls is not None and not function.is_static else ""
