"""CF608: an argument that changes in a loop, where the compiled code needs a constant.

## What it does
Finds calls of a compiled callable in a loop with an argument that is another one in each turn, where the compiled
function uses it as something that Dynamo keeps as a constant: a string, the number of turns of a loop, the index of a
layer, the probability of a dropout, a smoothing, a margin, an epsilon.

## Why is this bad
An integer or a float that is only computed with is compiled a second time, for all values. These are not: each value
is a guard (`name == 'block_3'`, `p == 0.12`) and a compilation. After eight Dynamo gives the function up and runs it
in eager for good.

## Example
```python
@torch.compile
def step(x, p):
    return model(F.dropout(x, p))

for epoch, x in enumerate(loader):
    step(x, 0.5 * epoch / len(loader))
```

## Use instead
```python
@torch.compile
def step(x, keep):
    return model(x * torch.bernoulli(keep.expand_as(x)) / keep)

for epoch, x in enumerate(loader):
    step(x, torch.tensor(1 - 0.5 * epoch / len(loader)))
```

Or change the value a few times only, leave what needs it outside of the compiled code, or compile each layer by itself.

## Fix safety
This rule has no fix: which values occur, and who else calls the function, is not in the code.

Not reported: loops that are known to have eight turns at most, and numbers that the function only computes with.
Which uses are constants was measured on PyTorch 2.13 with twelve values each.

Graph breaks: GB0039. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from compilefix.analysis.summaries import filled
from compilefix.codemods.compile_calls.compiled_uses import (
    Turns,
    calls_of,
    compiled_function,
    compiled_in,
    made_in,
    turns_around,
)
from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import ModuleRule, ModuleView
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_NN = "torch.nn.functional"
_CONSTANTS: Mapping[str, tuple[int, tuple[str, ...]]] = {
    **{f"{_NN}.{name}": (1, ("p",)) for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")},
    f"{_NN}.layer_norm": (4, ("eps",)),
    f"{_NN}.rms_norm": (3, ("eps",)),
    f"{_NN}.group_norm": (4, ("eps",)),
    f"{_NN}.batch_norm": (6, ("momentum", "eps")),
    f"{_NN}.cross_entropy": (7, ("label_smoothing",)),
    f"{_NN}.scaled_dot_product_attention": (4, ("dropout_p", "scale")),
    f"{_NN}.interpolate": (2, ("scale_factor",)),
    f"{_NN}.huber_loss": (3, ("delta",)),
    f"{_NN}.smooth_l1_loss": (5, ("beta",)),
    f"{_NN}.margin_ranking_loss": (3, ("margin",)),
    f"{_NN}.triplet_margin_loss": (3, ("margin",)),
    f"{_NN}.avg_pool1d": (1, ("kernel_size",)),
    f"{_NN}.adaptive_avg_pool1d": (1, ("output_size",)),
    f"{_NN}.one_hot": (1, ("num_classes",)),
    "torch.quantile": (1, ("q",)),
    "torch.chunk": (1, ("chunks",)),
    "torch.linalg.matrix_power": (1, ("n",)),
}
_LISTS = ("torch.nn.ModuleList", "torch.nn.ParameterList", "list")
_FEW = 8
_ADVICE = (
    "pass a tensor to operations that take one, change the value a few times only, or leave what needs it outside of "
    "the compiled code"
)


class ConstantArgument(ModuleRule):
    """Argument that changes in a loop, where the compiled code needs a constant."""

    code = "CF608"
    name = "constant-argument"
    summary = "argument that changes in a loop, where the compiled code needs a constant"
    gb = ("GB0039",)
    effect = "recompile"
    hints = ("compile",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The arguments of compiled callables that are another constant in each turn."""
        if view.is_trial:
            return
        seen: set[ast.AST] = set()
        for compiled in compiled_in(view):
            function = compiled_function(compiled, view)
            if function is None:
                continue
            for call in calls_of(compiled, view):
                around = [turns for turns in turns_around(call, view) if not _are_few(turns)]
                changing = {name for turns in around for name in made_in(turns)}
                for parameter, given in _arguments(call, function):
                    changes = given not in seen and names_in(given) & changing
                    use = _use(parameter, given, function, view) if changes else None
                    if use is not None:
                        seen.add(given)
                        message = (
                            f"`{snippet(given)}` is another one in each turn, and `{parameter}` is a constant to "
                            f"Dynamo, as {use}: each value is compiled anew"
                        )
                        yield self.declined_at(view, given, message, _ADVICE)


def _are_few(turns: Turns) -> bool:
    """Whether a loop is known to have no more turns than Dynamo compiles versions, or hardly ever another value.

    The groups of an optimizer differ in a few options, if they do.
    """
    over = turns.iterated
    if isinstance(over, ast.Attribute) and over.attr == "param_groups":
        return True
    if isinstance(over, ast.Tuple | ast.List):
        return len(over.elts) <= _FEW
    ranged = isinstance(over, ast.Call) and ast.unparse(over.func) == "range"
    last = over.args[-1] if isinstance(over, ast.Call) and len(over.args) == 1 else None
    return ranged and isinstance(last, ast.Constant) and isinstance(last.value, int) and last.value <= _FEW


def _arguments(call: ast.Call, function: Function) -> Iterator[tuple[str, ast.expr]]:
    """The arguments of a call with the parameters that they are given for."""
    names = [p.arg for p in filled(call, function)]
    if not any(isinstance(a, ast.Starred) for a in call.args):
        yield from zip(names, call.args, strict=False)
    yield from ((k.arg, k.value) for k in call.keywords if k.arg in names)


def _use(parameter: str, given: ast.expr, function: Function, view: ModuleView) -> str | None:
    """What makes a constant of a parameter that gets a changing argument."""
    loads = function.places(parameter)
    if any(not isinstance(n.ctx, ast.Load) for n in loads):
        return None
    text = isinstance(given, ast.JoinedStr) or (isinstance(given, ast.Call) and ast.unparse(given.func) == "str")
    if text and loads:
        return "a string is"
    for node in function.nodes:
        if isinstance(node, ast.Call):
            name = _called(node, function)
            if any(isinstance(value, ast.Name) and value.id == parameter for value in _constants(node, name)):
                return "the number of turns of a loop" if name == "range" else f"that of `{ast.unparse(node.func)}`"
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Name)
            and node.slice.id == parameter
            and _is_list(node.value, function, view)
        ):
            return f"the index in `{ast.unparse(node.value)}`"
    return None


def _constants(call: ast.Call, name: str | None) -> list[ast.expr]:
    """The arguments of a call that Dynamo keeps as constants."""
    if name == "range":
        return call.args
    place, keywords = _CONSTANTS.get(name or "", (len(call.args), ()))
    return [*call.args[place : place + 1], *(k.value for k in call.keywords if k.arg in keywords)]


def _called(node: ast.Call, function: Function) -> str | None:
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        return "range"
    return function.module.qualified(node.func)


def _is_list(node: ast.expr, function: Function, view: ModuleView) -> bool:
    """Whether `self.blocks` is a list that `__init__` makes."""
    if not isinstance(node, ast.Attribute) or function.cls is None:
        return False
    init = view.project.method(function.cls, "__init__")
    values = [
        assign.value
        for assign in (init.of(ast.Assign) if init is not None else ())
        if any(ast.unparse(t) == ast.unparse(node) for t in assign.targets)
    ]
    return bool(values) and all(
        isinstance(v, ast.List | ast.ListComp)
        or (isinstance(v, ast.Call) and (init.module.qualified(v.func) or ast.unparse(v.func)) in _LISTS)
        for v in values
        if init is not None
    )
