"""CF607: batches of varying size for a compiled callable.

## What it does
Finds a `DataLoader` that keeps a smaller last batch (no `drop_last=True`), where a loop over it calls a compiled
callable with the batch, and batches padded to their longest item (`padding=True`, `pad_sequence`) where the compile
call fixes sizes with `dynamic=False`.

## Why is this bad
The first batch is compiled for its size alone. At the first batch of another size Dynamo prints `tensor 'x' size
mismatch at index 0. expected 64, actual 17` and compiles everything again, this time for all sizes. That costs the
time of a whole compilation in the middle of the run, and from then on the full batches run in the code for all sizes
too: on PyTorch 2.13 the code of the first batch is not used again (three small models on a CPU then took 0 to 19 %
longer for a call, the fastest of 150). With `dynamic=False` each size is compiled by itself, and after eight sizes
Dynamo gives the function up and runs it in eager. A last batch of exactly one item is compiled apart in any case.

## Example
```python
loader = DataLoader(data, batch_size=64, shuffle=True)
step = torch.compile(model)
for x, y in loader:
    loss = F.cross_entropy(step(x), y)
    loss.backward()
```

## Use instead
```python
loader = DataLoader(data, batch_size=64, shuffle=True, drop_last=True)
```

Where each item counts, as in evaluation: `torch._dynamo.mark_dynamic(x, 0)` before the first call, or
`torch.compile(model, dynamic=True)`, which compile once for all sizes; or pad the last batch.

## Fix safety
This rule has no fix: without its last batch the training is another one.

Not reported: loaders with a batch size of one, with a sampler of batches, and calls that are compiled for all sizes
from the start.

Graph breaks: none (recompiles). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.compile_calls.compiled_uses import (
    Compiled,
    Turns,
    calls_of,
    compiled_in,
    made_in,
    passed_through,
    turns_around,
    value_at,
    values_of,
)
from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import ModuleRule, ModuleView
from compilefix.source.tree import names_in

_LOADERS = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
_PADS = frozenset({"pad_sequence", "DataCollatorWithPadding"})
_SETTLED = ("mark_dynamic", "mark_unbacked", "automatic_dynamic_shapes", "assume_static_by_default")
_TRAINING = (
    "pass `drop_last=True`, or `torch._dynamo.mark_dynamic(x, 0)` before the first call to compile for all sizes"
)
_EVALUATION = (
    "call `torch._dynamo.mark_dynamic(x, 0)` before the first call to compile once for all sizes, or pad the last batch"
)
_FIXED = "pass `drop_last=True`, pad the last batch, or leave `dynamic=False` out"
_LENGTHS = "pad to a few fixed lengths (`pad_to_multiple_of`), or leave `dynamic=False` out"


class VaryingSizes(ModuleRule):
    """Batches of varying size for a compiled callable."""

    code = "CF607"
    name = "varying-sizes"
    summary = "batches of varying size for a compiled callable"
    gb = ("GB0039",)
    effect = "recompile"
    hints = ("DataLoader", "padding", "pad_sequence")

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The loaders and paddings that vary the size of what a compiled callable gets."""
        if view.is_trial or any(word in view.file.text for word in _SETTLED):
            return
        seen: set[ast.AST] = set()
        for compiled in compiled_in(view):
            if compiled.takes_all_sizes():
                continue
            for call in calls_of(compiled, view):
                for turns, iterated in _data(call, view):
                    for loader in _loaders(iterated, compiled, view):
                        if loader not in seen:
                            seen.add(loader)
                            yield self._last_batch(loader, compiled, turns, view)
                if compiled.is_fixed_to_sizes():
                    for padding in _paddings(call, view):
                        if padding not in seen:
                            seen.add(padding)
                            message = (
                                f"each length is compiled anew for `{compiled.name}`, which `dynamic=False` fixes to "
                                "sizes: batches are padded to their longest item"
                            )
                            yield self.declined_at(view, padding, message, _LENGTHS)

    def _last_batch(self, loader: ast.Call, compiled: Compiled, turns: Turns, view: ModuleView) -> Finding:
        message = f"the last batch may be smaller: `{compiled.name}` is compiled "
        if compiled.is_fixed_to_sizes():
            return self.declined_at(view, loader, f"{message}for that size too", _FIXED)
        message += "again, for all sizes, and the full batches run in that from then on"
        trains = any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in ast.walk(turns.whole))
        return self.declined_at(view, loader, message, _TRAINING if trains else _EVALUATION)


def _data(call: ast.Call, view: ModuleView) -> Iterator[tuple[Turns, ast.expr]]:
    """The loops whose items a call gets, and what they run over."""
    given = set().union(*(names_in(a) for a in (*call.args, *(k.value for k in call.keywords))))
    for turns in turns_around(call, view):
        if given & made_in(turns):
            yield from ((turns, iterated) for iterated in passed_through(turns.iterated))


def _loaders(iterated: ast.expr, compiled: Compiled, view: ModuleView) -> Iterator[ast.Call]:
    """The loaders with a smaller last batch that an expression may stand for."""
    for value in values_of(iterated, view, compiled.handed):
        if isinstance(value, ast.Call) and view.is_value(value, _LOADERS) and _keeps_a_rest(value):
            yield value


def _keeps_a_rest(loader: ast.Call) -> bool:
    given = {k.arg: k.value for k in loader.keywords}
    if None in given or len(loader.args) > 2 or any(isinstance(a, ast.Starred) for a in loader.args):
        return False
    size = loader.args[1] if len(loader.args) > 1 else given.get("batch_size")
    whole = size is None or (isinstance(size, ast.Constant) and size.value in (1, None))
    drop = given.get("drop_last")
    dropped = drop is not None and not (isinstance(drop, ast.Constant) and drop.value is False)
    return not whole and not dropped and "batch_sampler" not in given


def _paddings(call: ast.Call, view: ModuleView) -> Iterator[ast.Call]:
    """The calls that pad to the longest item, of which a call gets the result."""
    for part in (*call.args, *(k.value for k in call.keywords)):
        for name in ast.walk(part):
            if isinstance(name, ast.Name):
                value = value_at(name, view)
                yield from _padding_in(value, view) if value is not None else ()
    for _, iterated in _data(call, view):
        for value in values_of(iterated, view):
            if isinstance(value, ast.Call) and view.is_value(value, _LOADERS):
                collate = next((k.value for k in value.keywords if k.arg == "collate_fn"), None)
                yield from _collated(collate, view) if collate is not None else ()


def _collated(collate: ast.expr, view: ModuleView) -> Iterator[ast.Call]:
    """The paddings in what makes a batch: an object, or a function of the module."""
    value = value_at(collate, view) or collate
    yield from _padding_in(value, view)
    if isinstance(collate, ast.Name):
        for function in view.module.all_functions:
            if function.qualname == collate.id:
                yield from _padding_in(function.node, view)


def _padding_in(node: ast.AST, view: ModuleView) -> Iterator[ast.Call]:
    for part in ast.walk(node):
        if not isinstance(part, ast.Call):
            continue
        given = {k.arg: k.value for k in part.keywords}
        name = (view.module.qualified(part.func) or "").rpartition(".")[2]
        padding = given.get("padding")
        longest = isinstance(padding, ast.Constant) and (padding.value is True or padding.value == "longest")
        if "pad_to_multiple_of" not in given and (longest or name in _PADS):
            yield part
