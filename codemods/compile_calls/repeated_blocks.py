"""CF810: a module of many equal blocks, compiled as a whole.

## What it does
Finds `torch.compile(model)` and `model.compile()` where `model` runs a loop over blocks of one class, which
`__init__` makes in a loop or comprehension (four at least, where their number is written out).

## Why is this bad
The graph holds each block once more, and the compiler optimises each of them anew: compiling takes longer with every
block, for the same code each time. Measured on PyTorch 2.13 with 12 transformer blocks of width 64 (inductor, CPU;
processor time of the first call, and the fastest of 40 calls in inference):

| compiled | inference | training | a call |
|---|---|---|---|
| the whole model | 13.2 s | 27.6 s | 1.88 ms |
| each block by itself | 3.5 s, 3.8 times less | 11.9 s, 2.3 times less | 2.14 ms |
| the whole model, its blocks marked as regions | 4.5 s, 2.9 times less | 17.7 s, 1.6 times less | 1.99 ms |

## Example
```python
model = torch.compile(Transformer(layers=12))
```

## Use instead
```python
model = Transformer(layers=12)
for block in model.blocks:
    block.compile()
```

The first block is compiled, and the others use its code (in training a second time, where the input of the first needs
no gradient). What stands around the blocks runs in eager then, and each block checks its guards at each call; a number
that differs from block to block compiles each anew (CF606). To keep one graph, mark the blocks, which PyTorch 2.13
compiles once then; the model is compiled as before:

```python
class Block(nn.Module):
    @torch.compiler.nested_compile_region
    def forward(self, x): ...
```

## Fix safety
This rule has no fix: which of the two is faster for a model has to be measured (`compilefix verify --compare-with`).

Not reported: blocks that call a single module, that get their number or another item of the loop, and that are compiled
or marked already.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compilefix.analysis.regions import reached_from
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.view import span_of
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project
from compilefix.source.tree import names_in, walk

_LISTS = ("torch.nn.ModuleList", "torch.nn.Sequential")
_OF_TORCH = ("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer")
_MARKS = ("nested_compile_region", "mark_compile_region")
_FEWEST = 4


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The attribute that holds equal blocks, their class, and how many they are, where that is written out."""

    attribute: str
    name: str
    cls: Class | None
    count: int | None


class RepeatedBlocks(Rule):
    """Module of many equal blocks, compiled as a whole."""

    code = "CF810"
    name = "repeated-blocks"
    summary = "module of many equal blocks, compiled as a whole"
    effect = "slow"

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The compile calls of this function, where it runs a loop over equal blocks."""
        function = scope.function
        if scope.compiled.callers or not scope.compiled.from_compile_call or function.cls is None:
            return
        for module, site in scope.legality.compiled_by(function):
            if not isinstance(site.node, ast.Call):
                continue
            blocks = _blocks_in(function, scope)
            if blocks is None or any(isinstance(n, ast.Attribute) and n.attr in _MARKS for n in walk(module.tree)):
                return
            many = "the" if blocks.count is None else str(blocks.count)
            message = f"`{site.label}` compiles {many} equal blocks of `{blocks.attribute}` each anew, in one graph"
            advice = (
                f"compile the blocks instead, with `block.compile()` for each `{blocks.name}`, or mark "
                f"`{blocks.name}.forward` with `torch.compiler.nested_compile_region`: the code of one serves all"
            )
            span = span_of(site.node, module.lines)
            finding = self.declined(scope, function.node, message, advice)
            yield replace(finding, path=module.file.path.as_posix(), span=span, source_line=module.lines[span.line - 1])


def _blocks_in(function: Function, scope: Scope) -> _Blocks | None:
    """The equal blocks that a compiled `forward` runs, itself or in what it calls."""
    inference = scope.legality.inference
    compiled = {target for _, site in scope.legality.compile_sites for target in site.targets}
    for inner in sorted(reached_from([function], inference), key=lambda f: (f.module.name, f.node.lineno)):
        for attribute in _run_in_turns(inner) if inner.cls is not None else ():
            blocks = _made(inner, attribute, inference.project)
            if blocks is None or (blocks.count is not None and blocks.count < _FEWEST):
                continue
            forward = inference.project.method(blocks.cls, "forward") if blocks.cls is not None else None
            if forward is None and blocks.name not in _OF_TORCH:
                continue
            if forward is not None and (forward in compiled or not _is_large(forward) or _is_marked(forward)):
                continue
            return blocks
    return None


def _run_in_turns(function: Function) -> Iterator[str]:
    """The attributes of the object whose items a method runs: those of its loops, and those that it calls."""
    own = function.parameters[0].arg if function.parameters else ""
    for node in function.nodes:
        held = node.iter if isinstance(node, ast.For) else node.func if isinstance(node, ast.Call) else None
        while isinstance(held, ast.Call) and held.args:
            held = held.args[0]
        while isinstance(held, ast.Subscript):
            held = held.value
        if held is not None and own and (text := ast.unparse(held)).startswith(f"{own}."):
            yield text.partition(".")[2]


def _made(function: Function, attribute: str, project: Project) -> _Blocks | None:
    """What `__init__` puts into an attribute, where that is a list of objects of one class made in turns.

    The list may be an entry of a `ModuleDict`: then `attribute` is `layers.blocks`.
    """
    init = project.method(function.cls, "__init__") if function.cls is not None else None
    first, _, entry = attribute.partition(".")
    for node in init.of(ast.Assign) if init is not None else ():
        own = any(isinstance(target, ast.Attribute) and target.attr == first for target in node.targets)
        made = _entry(node.value, entry) if entry else node.value
        if own and init is not None and isinstance(made, ast.Call):
            turns = _turns(made, attribute, init) if init.module.qualified(made.func) in _LISTS else None
            return None if turns is None else _described(attribute, *turns, init, project)
    return None


def _entry(made: ast.expr, name: str) -> ast.expr | None:
    """The module that `ModuleDict({name: ...})` or `ModuleDict(dict(name=...))` holds under a name."""
    for part in walk(made):
        if isinstance(part, ast.Dict):
            for key, value in zip(part.keys, part.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return value
        elif isinstance(part, ast.Call) and ast.unparse(part.func) == "dict":
            return next((k.value for k in part.keywords if k.arg == name), None)
    return None


def _turns(made: ast.Call, attribute: str, init: Function) -> tuple[ast.expr, ast.expr] | None:
    """What is made in each turn, and what the turns run over; None where each turn makes something of its own."""
    given = made.args[0] if len(made.args) == 1 else None
    given = given.value if isinstance(given, ast.Starred) else given
    if isinstance(given, ast.ListComp | ast.GeneratorExp) and len(given.generators) == 1:
        turns = given.generators[0]
        return None if _are_apart(given.elt, turns.target) else (given.elt, turns.iter)
    grown = f"self.{attribute}" if given is None else given.id if isinstance(given, ast.Name) else ""
    for loop in init.of(ast.For):
        for statement in loop.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{grown}.append" and call.args:
                return None if _are_apart(call.args[0], loop.target) else (call.args[0], loop.iter)
    return None


def _are_apart(item: ast.expr, counter: ast.expr) -> bool:
    """Whether blocks get their number or an item of their own: they may differ, and one's code does not serve all."""
    return bool(names_in(item) & {ast.unparse(n) for n in walk(counter)})


def _described(attribute: str, item: ast.expr, over: ast.expr, init: Function, project: Project) -> _Blocks | None:
    name = init.module.qualified(item.func) if isinstance(item, ast.Call) else None
    if name is None:
        return None
    found = project.resolve(name)
    count: int | None = None
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "range" and len(over.args) == 1:
        last = over.args[0]
        count = last.value if isinstance(last, ast.Constant) and isinstance(last.value, int) else None
    cls = found if isinstance(found, Class) else None
    return _Blocks(attribute, cls.qualname if cls is not None else name, cls, count)


def _is_large(forward: Function) -> bool:
    """Whether a block runs several modules of its own."""
    own = forward.parameters[0].arg if forward.parameters else ""
    called = {
        call.func.attr
        for call in forward.of(ast.Call)
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == own
    }
    return len(called) > 1


def _is_marked(forward: Function) -> bool:
    return any(mark in decorator for decorator in forward.decorators for mark in _MARKS)
