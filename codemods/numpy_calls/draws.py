"""Random numbers in tensor arithmetic: what torch draws in their place, and where a tensor may stand for the number."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.numpy_calls.deciding import decides
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet

_UNIFORM, _NORMAL, _BETA = "rand", "randn", "Beta"
_DRAWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "random.random": (_UNIFORM, ()),
    "random.uniform": (_UNIFORM, ("a", "b")),
    "random.betavariate": (_BETA, ("alpha", "beta")),
    "random.gauss": (_NORMAL, ("mu", "sigma")),
    "random.normalvariate": (_NORMAL, ("mu", "sigma")),
    "numpy.random.rand": (_UNIFORM, ()),
    "numpy.random.random": (_UNIFORM, ()),
    "numpy.random.random_sample": (_UNIFORM, ()),
    "numpy.random.sample": (_UNIFORM, ()),
    "numpy.random.uniform": (_UNIFORM, ("low", "high")),
    "numpy.random.randn": (_NORMAL, ()),
    "numpy.random.normal": (_NORMAL, ("loc", "scale")),
    "numpy.random.beta": (_BETA, ("a", "b")),
}
"""By draw: torch's function, and the arguments that shift and scale it (low and high, mean and deviation) or, for Beta,
that say which distribution it is."""

_NOT_ORDER = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def torch_draw(node: ast.Call, name: str, scope: Scope, template: Template) -> str | None:
    """Code that draws the number as a tensor without dimensions; None where torch has no such draw."""
    if name not in _DRAWS:
        return None
    function, names = _DRAWS[name]
    given = in_order(node, names)
    if given is None or len(given) not in (0, len(names)):
        return None
    template.refuse(list(_of_arrays(given, name, scope)))
    torch = torch_name(scope)
    if function == _BETA:
        shape = [f"{torch}.tensor({template.use(a)}, dtype={torch}.float64)" for a in given]
        return f"{torch}.distributions.Beta({', '.join(shape)}).sample()" if len(shape) == 2 else None
    code = f"{torch}.{function}((), dtype={torch}.float64)"
    if not given:
        return code
    first, second = (_operand(a, template) for a in given)
    if function == _NORMAL:
        return f"({first} + {second} * {code})"
    low, high = (scope.value(a).const for a in given)
    if low is not None and high is not None and type(low.value) is type(high.value) is int:
        if (low.value, high.value) == (0, 1):
            return code
        return f"({first} + {high.value - low.value} * {code})"
    return f"({first} + ({second} - {first}) * {code})"


def in_order(node: ast.Call, names: Sequence[str]) -> list[ast.expr] | None:
    """The arguments of a call that gives them by place, or by these names in this order; None where it gives others."""
    named = [keyword.arg for keyword in node.keywords]
    if any(isinstance(a, ast.Starred) for a in node.args) or named != [*names][len(node.args) :][: len(named)]:
        return None
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _of_arrays(given: Sequence[ast.expr], name: str, scope: Scope) -> Iterator[Obstacle]:
    """Whether NumPy may be given arrays, and draws as many numbers as they have items."""
    for one in given if name.startswith("numpy.") else ():
        if not scope.value(one).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER):
            yield Obstacle(f"`{snippet(one)}` is not proved to be a number, and of an array each item gets a draw")


def _operand(node: ast.expr, template: Template) -> str:
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    return template.use(node, operand=not negative)


def arithmetic_only(node: ast.expr, scope: Scope, followed: frozenset[str] = frozenset()) -> Iterator[Obstacle]:
    """Whether a drawn number may be a tensor everywhere it goes: arithmetic that ends at a tensor with dimensions.

    `followed`: the names that it was followed through.
    """
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        everywhere = scope.function.places(name)
        if len(scope.names(name, stores=True)) != 1 or len(everywhere) != len(scope.names(name)) + 1:
            yield Obstacle(f"`{name}` gets another value elsewhere, or is used in a nested function")
        for use in scope.names(name) if name not in followed else ():
            yield from arithmetic_only(use, scope, followed | {name})
    elif isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
        other = scope.value(parent.right if parent.left is node else parent.left)
        if other.is_(Kind.STATIC, Kind.SIZE):
            yield from arithmetic_only(parent, scope, followed)
        elif not other.is_tensor:
            yield Obstacle(f"what `{snippet(parent)}` computes with is not proved to be a number or a tensor")
        elif not (other.certain and other.dtype == "float" and other.dimensioned):
            yield Obstacle(f"`{snippet(parent)}` had a Python number in it, and now has a tensor", "number-to-tensor")
    elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub | ast.UAdd):
        yield from arithmetic_only(parent, scope, followed)
    elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and not isinstance(parent.ops[0], _NOT_ORDER):
        yield from decides(node, parent, scope)
    else:
        what = "a branch" if isinstance(parent, ast.Compare | ast.If | ast.IfExp) else f"`{snippet(parent)}`"
        yield Obstacle(f"the number is needed as a Python number in {what}")
