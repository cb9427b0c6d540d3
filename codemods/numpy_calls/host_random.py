"""CF403: random numbers drawn on the host.

## What it does
Finds draws of NumPy and of Python's `random` in compiled code that break the graph, `torch.manual_seed`, reads and
writes of the state of torch's generator, generators that are made there, and draws from those. A draw that breaks
nothing by itself is reported where its number decides.

## Why is this bad
`np.random.rand()` and other draws of one number are needed as a Python number (GB0033); `np.random.beta`,
`permutation` and other distributions are unknown to torch (GB0294), as are NumPy's generators (GB0156). Python's
`random.random`, `choice`, `shuffle`, `gauss` are not traced (GB0007). `random.uniform`, `randint` and `randrange`
are, unless the number decides a branch or bounds a slice or loop (GB0170, GB0124, GB4841). Draws of whole arrays
(`np.random.rand(4, 6)`) do not break, but for `choice`, nor does `np.random.shuffle` of an array, and they are not
reported; when compiled they come from torch's generator.

## Example
```python
if self.training and random.random() < self.layerdrop:
    return x
```

## Use instead
Draw the number where the compiled function is called and pass it as an argument (the same stream), or draw it as a
tensor with `torch.rand(())` and select with `torch.where` (another stream).

## Fix safety
A uniform or normal number that is only used in arithmetic with tensors becomes `torch.rand((), dtype=torch.float64)`:
torch's generator gives other numbers of the same distribution, so this needs `rng-stream`, and seeds set for NumPy or
Python no longer decide it. A number that decides a branch becomes a tensor where the branch then becomes a selection
(CF101), with the assumptions of that, or where it is looked at only under a fixed condition such as `self.training`.
An integer that is an index, or where a slice of fixed length begins (`x[..., i : i + n]`, random crops), becomes
`torch.randint(low, high, ())`, with the assumptions of CF201. What a generator
of NumPy draws that the object or the caller made is drawn in the same ways, and floats that it draws as an array by
`np.random` (`self.rng.uniform(size=n)`), which Dynamo traces: from torch's stream where it is compiled. There is no fix
where the object makes it with a seed, or the code sets a seed or a state itself: its numbers are no others then. One
that the function makes would break the graph all the same. Where a number goes elsewhere there is no fix: only the
caller can draw it before the compiled code.

Graph breaks: GB0007, GB0033, GB0055, GB0124, GB0156, GB0170, GB0294, GB4841, GB7650. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.tensor_if import TensorIf
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_reads.number_arithmetic import NumberArithmetic
from compilefix.codemods.numpy_calls.drawn_places import place_fix
from compilefix.codemods.numpy_calls.draws import arithmetic_only, torch_draw
from compilefix.codemods.numpy_calls.numpy_draws import (
    OTHER_NUMBERS,
    breaks_when_drawn,
    of_numpy_itself,
    without_generator,
)
from compilefix.codemods.numpy_calls.promised_draws import promised
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.snippets import snippet

_PYTHON_TRACED = frozenset(
    {
        *(f"random.{name}" for name in ("uniform", "randint", "randrange")),
        *(f"random.Random.{name}" for name in ("random", "uniform", "randint", "randrange")),
    }
)
_STATE = frozenset(
    f"{module}.{name}"
    for module in ("torch", "torch.random")
    for name in ("get_rng_state", "set_rng_state", "manual_seed")
) | frozenset(
    f"{module}.{name}" for module in ("torch.cuda", "torch.cuda.random") for name in ("manual_seed", "manual_seed_all")
)
"""Reads and writes of the state of torch's generator."""
_GENERATOR = frozenset(
    f"torch.Generator{suffix}" for suffix in ("", ".manual_seed", ".seed", ".get_state", ".set_state", ".initial_seed")
)
_PYTHON = frozenset(
    f"random.{name}"
    for name in (
        "random",
        "choice",
        "choices",
        "shuffle",
        "sample",
        "gauss",
        "normalvariate",
        "betavariate",
        "expovariate",
        "triangular",
        "lognormvariate",
        "gammavariate",
        "vonmisesvariate",
        "paretovariate",
        "weibullvariate",
        "getrandbits",
        "randbytes",
        "seed",
    )
)
_GENERATORS = frozenset(
    f"numpy.random.{name}"
    for name in (
        "default_rng",
        "RandomState",
        "Generator",
        "SeedSequence",
        "PCG64",
        "PCG64DXSM",
        "Philox",
        "MT19937",
        "SFC64",
    )
)
_ADVICE = (
    "draw it where the compiled function is called and pass it as an argument, "
    "or draw a tensor with `torch.rand` (another stream)"
)


_OUTSIDE = "draw from torch's own generator, or outside the compiled code"


class HostRandom(Rule):
    """Random number drawn on the host."""

    code = "CF403"
    name = "host-random"
    summary = "random number drawn by NumPy or Python in compiled code"
    gb = ("GB0007", "GB0033", "GB0055", "GB0124", "GB0156", "GB0170", "GB0294", "GB4841", "GB7650")
    assumptions = tuple(
        dict.fromkeys(("rng-stream", "number-to-tensor", *TensorIf.assumptions, *NumberArithmetic.assumptions))
    )
    hints = (
        "rand",
        "Rand",
        "shuffle",
        "choice",
        "sample",
        "gauss",
        "beta",
        "permutation",
        "normal",
        "rng",
        "uniform",
        "integers",
        "poisson",
        "binomial",
        "exponential",
        "gamma(",
        "seed",
        "Generator",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Draws that Dynamo does not trace, or whose number it needs while it traces."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if name in _PYTHON_TRACED:
                needed = _needed(node, scope)
                if needed is not None:
                    yield self._judge(node, *needed, scope)
            elif (gb := _broken_by(node, name, scope)) is not None:
                yield self._judge(node, node, gb, scope)
            elif _takes_generator(node, scope):
                message = f"`{snippet(node)}` draws from a generator that the graph cannot hold: it breaks"
                yield self.declined(scope, node, message, _OUTSIDE, gb=("GB0055",))

    def _judge(self, node: ast.Call, place: ast.expr, gb: str, scope: Scope) -> Finding:
        """The finding for a draw. `place` is where the graph breaks."""
        if scope.callee(node) in _STATE or gb == "GB7650":
            message = f"`{snippet(node)}` is not traced: the graph breaks"
            return self.declined(scope, node, message, "set or read the generator outside the compiled code", gb=(gb,))
        does = "makes a generator" if scope.callee(node) in _GENERATORS else "draws a random number"
        does = "sets the seed" if scope.callee(node) == "random.seed" else does
        message = f"`{snippet(node)}` {does} on the host: the graph breaks"
        name = scope.callee(node) or ""
        if (reason := promised(node, name, scope)) is not None:
            return self.declined(scope, place, message, f"{reason}: {_ADVICE}", gb=(gb,))
        plain = without_generator(node, name, scope)
        if plain is not None:
            return self.fixed(scope, place, message, plain, gb=(gb,))
        name = of_numpy_itself(node, name, scope)
        placed = place_fix(node, name, scope)
        if isinstance(placed, Fix):
            return self.fixed(scope, place, message, placed, gb=(gb,))
        if placed is not None:
            return self.declined(scope, place, message, f"{placed}: {_ADVICE}", gb=(gb,))
        template = Template()
        code = torch_draw(node, name, scope, template)
        template.refuse(arithmetic_only(node, scope))
        if code is None or template.broken is not None:
            reason = _ADVICE if code is None else f"{template.broken}: {_ADVICE}"
            return self.declined(scope, place, message, reason, gb=(gb,))
        template.refuse([Obstacle(OTHER_NUMBERS, "rng-stream")])
        if "number-to-tensor" in template.assumptions:
            # Beside a tensor without dimensions float64 would decide the dtype, as a Python number did not.
            double = f", dtype={torch_name(scope)}.float64"
            code = f"{code}.float()" if ".sample()" in code else code.replace(double, "")
        edit = scope.edit(node, code, **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, place, message, fix, gb=(gb,))


def _broken_by(node: ast.Call, name: str, scope: Scope) -> str | None:
    """The graph-break id of a draw; None where it is traced."""
    if name in _PYTHON or name in _STATE:
        return "GB0007"
    if name in _GENERATOR:
        return "GB7650"
    if name in _GENERATORS:
        return "GB0156"
    return breaks_when_drawn(node, name, scope)


def _takes_generator(node: ast.Call, scope: Scope) -> bool:
    given = next((k.value for k in node.keywords if k.arg == "generator"), None)
    value = scope.value(given) if given is not None else None
    return value is not None and value.is_(Kind.OBJECT) and value.ref == "torch.Generator"


def _needed(node: ast.expr, scope: Scope, depth: int = 0) -> tuple[ast.expr, str] | None:
    """Where a traced draw decides a branch, bounds a slice or a loop, with the graph-break id."""
    parent = scope.parents.get(node)
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
        and depth == 0
    ):
        found = (_needed(load, scope, 1) for load in scope.names(parent.targets[0].id))
        return next((needed for needed in found if needed is not None), None)
    if isinstance(parent, ast.Slice):
        return node, "GB0124"
    if isinstance(parent, ast.Subscript) and parent.slice is node and scope.value(parent.value).is_tensor:
        return node, "GB0033"
    if isinstance(parent, ast.Call) and scope.callee(parent) == "range":
        return node, "GB4841"
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Is | ast.IsNot):
        return None  # whether there is a number is known while tracing
    if isinstance(parent, ast.Compare | ast.BoolOp | ast.UnaryOp):
        child: ast.AST = parent
        for outer in scope.ancestors(parent):
            if isinstance(outer, ast.If | ast.While | ast.IfExp):
                return (node, "GB0170") if outer.test is child else None
            if not isinstance(outer, ast.BoolOp | ast.UnaryOp):
                return None
            child = outer
    decides = isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is node
    return (node, "GB0170") if decides else None
