"""NumPy's draws of random numbers: which of them break the graph where they are drawn, and what does not."""

from __future__ import annotations

import ast

from compilefix.analysis.builtin_calls import NUMPY_DRAWS, NUMPY_GENERATORS, draws_one
from compilefix.analysis.values import ARRAYS, Kind
from compilefix.codemods.finding import Fix
from compilefix.codemods.rule import Scope

OTHER_NUMBERS = "torch's generator gives other numbers of the same distribution"
_NOT_DRAWS = frozenset({"seed", "get_state", "set_state"})


def breaks_when_drawn(node: ast.Call, name: str, scope: Scope) -> str | None:
    """The graph-break id of a call of `numpy.random`; None where it is traced, and where it is no draw.

    torch's NumPy shuffles arrays where they are, and no lists (`torch._numpy.random.shuffle`).
    """
    if not name.startswith("numpy.random."):
        return None
    if name.rpartition(".")[0] in NUMPY_GENERATORS:
        return "GB0156"
    short = name.removeprefix("numpy.random.")
    if "." in short or short in _NOT_DRAWS or short[:1].isupper():
        return None
    if short == "shuffle" and node.args and scope.value(node.args[0]).is_(*ARRAYS):
        return None
    if short == "choice":
        return "GB0033"
    if short not in NUMPY_DRAWS:
        return "GB0294"
    return "GB0033" if draws_one(short, len(node.args), [k.arg for k in node.keywords]) else None


def of_numpy_itself(node: ast.Call, name: str, scope: Scope) -> str:
    """The function of `numpy.random` that draws what a generator's method does; the name itself for another call.

    Also where the function makes the generator, which breaks the graph all the same.
    """
    owner, _, method = name.rpartition(".")
    if owner not in NUMPY_GENERATORS or not _is_given(node, scope):
        return name
    return "numpy.random.randint" if method == "integers" else f"numpy.random.{method}"


_BOUNDS = frozenset({"low", "high", "loc", "scale"})


def without_generator(node: ast.Call, name: str, scope: Scope) -> Fix | None:
    """`np.random.uniform(size=n)` for `self.rng.uniform(size=n)`, which Dynamo traces; None where it does not.

    Only of arrays of floats: those of integers differ in their dtype.
    """
    owner, _, method = name.rpartition(".")
    if owner not in NUMPY_GENERATORS or method not in NUMPY_DRAWS or method == "randint":
        return None
    named = [keyword.arg for keyword in node.keywords]
    if not _is_given(node, scope) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if not {*named} <= {*_BOUNDS, "size"} or draws_one(method, len(node.args), named):
        return None
    if method not in ("rand", "randn") and len(node.args) > NUMPY_DRAWS[method] + 1:
        return None  # behind the size a generator takes a dtype, which the function does not
    bounds = [*node.args[: NUMPY_DRAWS[method]], *(k.value for k in node.keywords if k.arg in _BOUNDS)]
    if not all(scope.value(bound).is_(Kind.STATIC, Kind.SIZE) for bound in bounds):
        return None
    module = scope.local_name("numpy")
    edit = scope.edit(node.func, f"{module or 'numpy'}.random.{method}")
    return Fix((edit,), () if module else ("numpy",), ("rng-stream",), (OTHER_NUMBERS,))


def _is_given(node: ast.Call, scope: Scope) -> bool:
    """Whether a method is one of an argument, or of what an argument keeps (`self.rng`)."""
    root = node.func.value if isinstance(node.func, ast.Attribute) else None
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and scope.function.takes(root.id) and not scope.names(root.id, stores=True)
