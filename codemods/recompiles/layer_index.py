"""CF606: the number of a layer, where layers are compiled one by one.

## What it does
Finds `self.layer_idx` in compiled code, where the layers are made with a running number
(`[Block(config, i) for i in range(depth)]`) and `torch.compile` is given each layer by itself.

## Why is this bad
Compiling one layer for all of them is what regional compilation is for. But an integer of a module is a constant to
Dynamo (`self.layer_idx == 3`): each layer is compiled anew, and after eight layers Dynamo gives up on the function and
runs the others in eager for good. On PyTorch 2.13, twelve such layers made eight compilations, and without the number
one.

## Example
```python
def forward(self, x, caches):
    return self.attend(x, caches[self.layer_idx])

for block in model.blocks:
    block.compile()
```

## Use instead
```python
def forward(self, x, cache):
    return self.attend(x, cache)
```

Give the layer what the number would pick. For a number that goes into arithmetic, a buffer or
`torch._dynamo.config.allow_unspec_int_on_nn_module = True` (two compilations) does.

## Fix safety
This rule has no fix: the callers have to change with it.

Not reported where the whole model is compiled: the layers are part of one graph then, and their numbers do not change.

Graph breaks: GB0039. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from compilefix.analysis.legality import Legality
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.tree import walk

_ADVICE = (
    "give the layer what the number picks; for arithmetic make it a buffer, or set "
    "`torch._dynamo.config.allow_unspec_int_on_nn_module = True`"
)
_DEPTH = 3


class LayerIndex(Rule):
    """Number of a layer, where layers are compiled one by one."""

    code = "CF606"
    name = "layer-index"
    summary = "number of a layer in code that is compiled for each layer by itself"
    gb = ("GB0039",)
    effect = "recompile"
    hints = ("self.",)

    def __init__(self) -> None:
        # The layers of one compile call are looked for once, not for each function that it reaches.
        self._layers: WeakKeyDictionary[Legality, dict[str, frozenset[Class]]] = WeakKeyDictionary()

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Integers of the instance that differ among the layers."""
        cls = scope.function.cls
        if cls is None or not scope.function.parameters or not scope.compiled.from_compile_call:
            return
        own = scope.function.parameters[0].arg
        seen: set[str] = set()
        for node in scope.of(ast.Attribute):
            if not isinstance(node.ctx, ast.Load) or not isinstance(node.value, ast.Name) or node.value.id != own:
                continue
            parameter = None if node.attr in seen else _given(cls, node.attr)
            seen.add(node.attr)
            layers = self._compiled_layers(scope) if parameter is not None else frozenset()
            if not layers or parameter is None:
                continue
            layer = _made_in_turns(cls, parameter, scope.legality.inference.project)
            if layer in layers:
                message = (
                    f"`{ast.unparse(node)}` is a constant to Dynamo and another one in each `{layer.qualname}`: "
                    "each layer is compiled anew"
                )
                yield self.declined(scope, node, message, _ADVICE)

    def _compiled_layers(self, scope: Scope) -> frozenset[Class]:
        """The classes that the compile call on the way here is given, as far as their objects are made in loops."""
        label, project = scope.compiled.root, scope.legality.inference.project
        layers = self._layers.setdefault(scope.legality, {})
        if label not in layers:
            classes = _compiled_classes(label, scope.legality)
            layers[label] = frozenset(cls for cls in classes if _is_made_in_turns(cls, project))
        return layers[label]


def _given(cls: Class, attribute: str) -> str | None:
    """The parameter of `__init__` that an attribute holds, where it holds nothing else."""
    init = cls.methods.get("__init__")
    if init is None:
        return None
    values = [
        node.value
        for node in init.of(ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and target.attr == attribute and ast.unparse(target.value) == "self"
    ]
    names = {p.arg for p in init.parameters[1:]}
    if len(values) == 1 and isinstance(values[0], ast.Name) and values[0].id in names:
        return values[0].id
    return None


def _compiled_classes(label: str, legality: Legality) -> set[Class]:
    """The classes of the modules that a compile call is given."""
    found = (target.cls for _, site in legality.compile_sites if site.label == label for target in site.targets)
    return {cls for cls in found if cls is not None}


def _is_made_in_turns(cls: Class, project: Project) -> bool:
    """Whether objects of a class are made in a loop that counts."""
    name = cls.qualname.rpartition(".")[2]
    return any(
        next(_makes(loop, cls, module, project), None) is not None
        for module in map(project.modules.__getitem__, project.modules.texts.mentioning(f"{name}("))
        for loop in walk(module.tree)
        if _counts(loop)
    )


def _made_in_turns(cls: Class, parameter: str, project: Project, depth: int = _DEPTH) -> Class | None:
    """The class whose objects are made in a loop that counts, where the count ends up as this parameter of `cls`."""
    name = cls.qualname.rpartition(".")[2]
    for module in map(project.modules.__getitem__, project.modules.texts.mentioning(f"{name}(")):
        for loop in walk(module.tree):
            counts = _counts(loop)
            if counts and any(
                isinstance(value := _argument(call, parameter, cls), ast.Name) and value.id in counts
                for call in _makes(loop, cls, module, project)
            ):
                return cls
        if depth == 0:
            continue
        for owner in module.classes.values():
            init = owner.methods.get("__init__")
            for call in _makes(init.node, cls, module, project) if init is not None and owner is not cls else ():
                value = _argument(call, parameter, cls)
                if init is not None and isinstance(value, ast.Name) and value.id in {p.arg for p in init.parameters}:
                    layer = _made_in_turns(owner, value.id, project, depth - 1)
                    if layer is not None:
                        return layer
    return None


def _counts(node: ast.AST) -> set[str]:
    """The running numbers of a loop or comprehension."""
    parts = node.generators if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp) else [node]
    found: set[str] = set()
    for part in parts:
        if not isinstance(part, ast.For | ast.comprehension) or not isinstance(part.iter, ast.Call):
            continue
        called = ast.unparse(part.iter.func)
        if called == "range" and isinstance(part.target, ast.Name):
            found.add(part.target.id)
        elif called == "enumerate" and isinstance(part.target, ast.Tuple) and isinstance(part.target.elts[0], ast.Name):
            found.add(part.target.elts[0].id)
    return found


def _makes(node: ast.AST, cls: Class, module: Module, project: Project) -> Iterator[ast.Call]:
    """The calls below a node that make an object of a class."""
    for part in walk(node):
        name = module.qualified(part.func) if isinstance(part, ast.Call) else None
        if isinstance(part, ast.Call) and name is not None and project.resolve(name) is cls:
            yield part


def _argument(call: ast.Call, parameter: str, cls: Class) -> ast.expr | None:
    """What a call that makes an object gives for a parameter of `__init__`."""
    init: Function = cls.methods["__init__"]
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    names = [p.arg for p in init.parameters[1:]]
    place = names.index(parameter)
    return call.args[place] if place < len(call.args) else None
