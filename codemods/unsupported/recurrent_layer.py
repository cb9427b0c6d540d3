"""CF715: `nn.LSTM`, `nn.GRU` or `nn.RNN` in compiled code.

## What it does
Finds calls of recurrent layers in compiled code, also of classes derived from them, and whatever else meets such a
layer there: it is passed on, kept in a name, tested, or asked for `flatten_parameters` or its `hidden_size`.

## Why is this bad
Dynamo does not trace them (GB0014). Up to PyTorch 2.14 nothing of the function that calls one is compiled, only the
modules that it calls besides; later the graph ends there.

## Example
```python
def forward(self, x):
    x = self.norm(self.project(x).relu())
    y, _ = self.lstm(x)
    return self.head(y) * self.scale
```

## Use instead
```python
@torch.compiler.disable
def recur(self, x):
    return self.lstm(x)

def forward(self, x):
    x = self.norm(self.project(x).relu())
    y, _ = self.recur(x)
    return self.head(y) * self.scale
```

## Fix safety
There is no fix: what helps hangs on the sequence and the device. In a method under `torch.compiler.disable` the layer
stays one call, on a GPU of cuDNN, and what stands before and behind it is compiled. With
`torch._dynamo.config.allow_rnn = True` it is unrolled step by step in the graph: on an H200 (PyTorch 2.11, an LSTM of
256 over 64 steps between small layers) that compiled for 29 seconds and took 2.67 ms, where the uncompiled code took
1.57 ms, the code compiled as written 1.78, and with the method 1.71.

Graph breaks: GB0014. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet

_LAYERS = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_BASES = frozenset(f"torch.nn.{path}RNNBase" for path in ("", "modules.", "modules.rnn."))
"""Their base class, by the names that annotations give it."""
_WORDS = ("LSTM", "GRU", "RNN", "flatten_parameters")
_METHOD = "flatten_parameters"
_FLAG = "allow_rnn"
_ADVICE = (
    "call {it} in a method under `torch.compiler.disable`, so that the rest is compiled; "
    "`torch._dynamo.config.allow_rnn` unrolls the sequence, which is slow to compile"
)
_ELSEWHERE = (
    "leave it to a method under `torch.compiler.disable` that calls the layer, and keep what else is needed of it"
)
_ELSEWHERE += " in attributes of the module"


class RecurrentLayer(Rule):
    """Recurrent layer."""

    code = "CF715"
    name = "recurrent-layer"
    summary = "a recurrent layer in compiled code"
    gb = ("GB0014",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Mentions of objects of the three classes: Dynamo breaks where it meets the layer, be it no call."""
        modules = scope.legality.inference.project.modules
        if modules.texts.mentioning(_FLAG) or not any(modules.texts.mentioning(word) for word in _WORDS):
            return
        by_name = _asked_to_flatten(scope)
        flattened, run = _calls_of_layers(by_name, scope)
        called = {*flattened, *run}
        names, others = ({ast.unparse(layer) for layer in layers} for layers in (flattened, run))
        for layer, node in (*flattened.items(), *run.items()):
            name = ast.unparse(layer)
            message = f"`{snippet(node)}`: Dynamo does not trace recurrent layers, and the graph breaks"
            advice = _ADVICE.format(it=f"it and `{_METHOD}`" if name in names & others else "it")
            # What is asked of a layer that the function runs as well goes where the layer goes. The function is given
            # up where it first meets the layer.
            if layer in flattened:
                repeats = name in others and not any(_is_behind(node, by, scope) for by in _same(name, run))
            else:
                repeats = any(_is_behind(by, node, scope) for by in _same(name, flattened))
            yield replace(self.declined(scope, node, message, advice), repeats=repeats)
        mentions: list[ast.Attribute | ast.Name] = [*scope.of(ast.Attribute), *scope.of(ast.Name)]
        for mention in mentions:
            asks = isinstance(mention.ctx, ast.Load) and mention not in called and not _is_iterated(mention, scope)
            if asks and _holds_layer(mention, by_name, scope):
                message = f"`{snippet(mention)}`: Dynamo does not trace recurrent layers, and the graph breaks where it"
                yield self.declined(scope, mention, f"{message} meets one", _ELSEWHERE)


def _calls_of_layers(
    by_name: frozenset[str], scope: Scope
) -> tuple[Mapping[ast.expr, ast.Call], Mapping[ast.expr, ast.Call]]:
    """By layer the calls of `flatten_parameters`, and those of the layer itself."""
    flattened: dict[ast.expr, ast.Call] = {}
    run: dict[ast.expr, ast.Call] = {}
    for node in scope.of(ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == _METHOD:
            if _holds_layer(func.value, by_name, scope):
                flattened[func.value] = node
        elif _holds_layer(func, by_name, scope):
            run[func] = node
    return flattened, run


def _same(name: str, calls: Mapping[ast.expr, ast.Call]) -> Iterator[ast.Call]:
    return (call for layer, call in calls.items() if ast.unparse(layer) == name)


def _is_behind(first: ast.Call, second: ast.Call, scope: Scope) -> bool:
    """Whether the second call stands in what follows the statement of the first, in its block."""
    block = scope.block(scope.statement(first))
    behind = block[block.index(scope.statement(first)) + 1 :]
    return any(second is node for statement in behind for node in ast.walk(statement))


def _asked_to_flatten(scope: Scope) -> frozenset[str]:
    """What nothing is known of but that it has a method of recurrent layers alone, as text."""
    asked = [node.value for node in scope.of(ast.Attribute) if node.attr == _METHOD]
    return frozenset(ast.unparse(node) for node in asked if scope.value(node).is_unknown)


def _holds_layer(node: ast.expr, by_name: frozenset[str], scope: Scope) -> bool:
    """Whether an expression gives one of the layers, as far as is known."""
    value = scope.value(node)
    if by_name and value.is_unknown and ast.unparse(node) in by_name:
        return True
    refs = [value.ref] if value.ref is not None else [v.ref for v in value.elements or ()]
    return value.is_(Kind.OBJECT, Kind.UNKNOWN, Kind.NONE) and any(
        ref is not None and _is_recurrent(ref, scope) for ref in refs
    )


def _is_iterated(node: ast.expr, scope: Scope) -> bool:
    """Whether the items of something are asked for: of one of several kinds, that is a list of layers then."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Call):
        return node in parent.args and scope.callee(parent) in ("enumerate", "zip", "len", "reversed", "iter")
    if isinstance(parent, ast.Subscript):
        return parent.value is node
    return isinstance(parent, ast.For | ast.comprehension) and parent.iter is node


def _is_recurrent(ref: str, scope: Scope) -> bool:
    """Whether a class is one of the layers, or derived from one."""
    if ref in _LAYERS or ref in _BASES:
        return True
    project = scope.legality.inference.project
    cls = project.resolve(ref) if not ref.startswith("torch.") else None
    return isinstance(cls, Class) and not _LAYERS.isdisjoint(b for b in project.ancestors(cls) if isinstance(b, str))
