"""Indices, weights to draw by, and matrices to invert or take apart that a test on tensors keeps from failing.

Code behind `if place + 1 < len(x):` reads `x[place + 1]`, code behind `if weights.sum() > 0:` draws by the weights, and
code behind `if torch.det(a) == 0: return` inverts the matrix. Evaluated always, it fails exactly where the test was
there to keep it from running. A number below zero does not count: as an index it counts from the end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.presence import only_source
from compilefix.analysis.values import Kind
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, walk

_TAKING = frozenset(
    {
        *("gather", "take", "index_select", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy"),
        *("index_fill", "embedding", "one_hot"),
    }
)
_DRAWN_BY = {"multinomial": "input", "Categorical": "probs", "OneHotCategorical": "probs"}
_SMALL = 1e-2
_INVERTS = frozenset({"inverse", "inv", "solve", "cholesky", "cholesky_inverse", "tensorinv"})
_TELLS_SINGULAR = frozenset(
    {"det", "slogdet", "logdet", "eigvals", "eigvalsh", "eigh", "matrix_rank", "cond", "svdvals"}
)
_NEEDS_FINITE = frozenset(
    {"bernoulli", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "histc", "lstsq", "matrix_rank", "pca_lowrank"}
    | {"pinv", "pinverse", "svd", "svd_lowrank", "svdvals", *_DRAWN_BY}
)
"""They raise an error for NaN, or stop the whole process (`eigvals` on a CPU, torch 2.13)."""
_TELLS_FINITE = frozenset({"isfinite", "isinf", "isnan"})
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_READ = frozenset({Kind.TENSOR, Kind.NUMBER})
_KNOWN = frozenset({Kind.STATIC, Kind.SIZE})


def indices_kept_in_range(node: ast.expr, facts: FunctionFacts) -> Iterator[str]:
    """The indices that are out of range where a test on tensors around or before them came out otherwise, in words."""
    for part in walk(node):
        for index in _indices(part, facts):
            bound = next(_bounds(part, index, facts), None)
            if bound is not None:
                yield f"`{snippet(part)}` is out of range where `{snippet(bound)}` says so"


def kept_from_failing(node: ast.expr, facts: FunctionFacts) -> Iterator[str]:
    """The draws, and inverses, that fail where a test on their weights or their matrix came out otherwise, in words."""
    for part in walk(node):
        for given, asks in (
            (_weights(part, facts), _asks_weights),
            (_given_to(part, _INVERTS, facts), _asks_matrix),
            (_given_to(part, _NEEDS_FINITE, facts), _asks_finite),
        ):
            if given is None:
                continue
            found = next((t for t in _tests(part, facts) if _is_read(t[0], facts) and asks(*t, given, facts)), None)
            if found is not None:
                yield f"`{snippet(part)}` fails where `{snippet(found[0])}` is {str(not found[1]).lower()}"


def _indices(part: ast.AST, facts: FunctionFacts) -> Sequence[ast.expr]:
    """The tensors, or numbers read from some, that say where something is taken or written."""
    if isinstance(part, ast.Subscript):
        found = elements_of(part.slice)
    elif isinstance(part, ast.Call) and (facts.callee(part) or "").rpartition(".")[2].rstrip("_") in _TAKING:
        found = [*part.args, *(k.value for k in part.keywords if k.arg in ("index", "input"))]
    else:
        return ()
    values = ((index, facts.value(index)) for index in found)
    integers = [(i, v) for i, v in values if not v.is_unknown and v.dtype in ("int", None)]
    return [i for i, v in integers if v.kinds & _READ or (v.kinds & _KNOWN and not _counts_turns(i, facts))]


def _counts_turns(index: ast.expr, facts: FunctionFacts) -> bool:
    """Whether an index is known, or numbers the turns of a loop, whose end keeps it in range."""
    if not isinstance(index, ast.Name):
        return not _names(index)
    return any(
        index.id in {n.id for n in walk(loop.target) if isinstance(n, ast.Name)} for loop in facts.function.of(ast.For)
    )


def _bounds(part: ast.AST, index: ast.expr, facts: FunctionFacts) -> Iterator[ast.expr]:
    """The comparisons that keep an index below something that is no constant."""
    names = _names(index)
    for test, holds in _tests(part, facts):
        for compared, below, above in _ordered(test, holds, facts):
            # `if i.max() < 10: F.one_hot(i, 10)`: another constant says nothing of how many there are
            limits = not isinstance(above, ast.Constant) or _takes(part, above)
            read = facts.value(below).kinds & _READ or Kind.TENSOR in facts.value(above).kinds
            if limits and names & _names(below) and read:
                yield compared


def _takes(part: ast.AST, constant: ast.Constant) -> bool:
    """Whether a call is given a number that a test compares with."""
    return isinstance(part, ast.Call) and any(
        isinstance(a, ast.Constant) and type(a.value) is int and a.value == constant.value
        for a in (*part.args, *(k.value for k in part.keywords))
    )


def _ordered(
    test: ast.expr, holds: bool, facts: FunctionFacts, depth: int = 4
) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    """The comparisons that hold where a test came out so: each with what lies below, and what above."""
    asked = _asked_of(test, facts)
    if asked is not None and depth:
        yield from _ordered(asked, holds, facts, depth - 1)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _ordered(test.operand, not holds, facts, depth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:
            for part in test.values:
                yield from _ordered(part, holds, facts, depth)
    elif (every := _every(test, facts)) is not None and depth:
        # `if (index >= n).any(): return` and `if (index < n).all():`, and `(step < n).any()` of one number
        quantor, tensor = every
        found = _ordered(tensor, holds, facts, depth - 1)
        strict = quantor == ("all" if holds else "any")
        yield from (one for one in found if strict or not facts.value(one[1]).kinds & _READ)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        less = isinstance(test.ops[0], ast.Lt | ast.LtE)
        if less or isinstance(test.ops[0], ast.Gt | ast.GtE):
            sides = test.left, test.comparators[0]
            yield (test, *(sides if less is holds else reversed(sides)))


def _asked_of(test: ast.expr, facts: FunctionFacts) -> ast.expr | None:
    """What a test was computed of under another name, or is read of: `done = x.all()`, `x.all().item()`, `bool(x)`."""
    if isinstance(test, ast.Name):
        return only_source(test.id, facts)
    if not isinstance(test, ast.Call) or test.keywords:
        return None
    if isinstance(test.func, ast.Attribute) and test.func.attr == "item" and not test.args:
        return test.func.value
    return test.args[0] if isinstance(test.func, ast.Name) and test.func.id == "bool" and test.args else None


def _every(test: ast.expr, facts: FunctionFacts) -> tuple[str, ast.expr] | None:
    """The word and the tensor of `x.all()`, `x.any()` and the functions of these names."""
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute) or test.keywords:
        return None
    if test.func.attr not in ("all", "any"):
        return None
    if facts.callee(test) == f"torch.{test.func.attr}":
        return (test.func.attr, test.args[0]) if len(test.args) == 1 else None
    return None if test.args else (test.func.attr, test.func.value)


def _weights(part: ast.AST, facts: FunctionFacts) -> ast.expr | None:
    """The weights by which `torch.multinomial` or a distribution draws, which refuse to be zero altogether."""
    name = facts.callee(part) or "" if isinstance(part, ast.Call) else ""
    word = name.rpartition(".")[2]
    if not isinstance(part, ast.Call) or word not in _DRAWN_BY:
        return None
    if name.startswith("Tensor.") and isinstance(part.func, ast.Attribute):
        return part.func.value
    return part.args[0] if part.args else next((k.value for k in part.keywords if k.arg == _DRAWN_BY[word]), None)


def _given_to(part: ast.AST, functions: frozenset[str], facts: FunctionFacts) -> ast.expr | None:
    """What one of some functions is given first, as the matrix that is inverted, or taken apart."""
    name = facts.callee(part) or "" if isinstance(part, ast.Call) else ""
    if not isinstance(part, ast.Call) or name.rpartition(".")[2] not in functions:
        return None
    if name.startswith("Tensor.") and isinstance(part.func, ast.Attribute):
        return part.func.value
    return part.args[0] if part.args else next((k.value for k in part.keywords), None)


def _is_read(test: ast.expr, facts: FunctionFacts) -> bool:
    return bool(facts.value(test).kinds & _READ)


def _asks_weights(test: ast.expr, holds: bool, weights: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a test asks for what weights are made of, or are added up to: whether that is zero where it is false."""
    kept = holds or any(_is_small(bound, facts) for bound in _bounds_below(test, facts))
    return kept and bool(_sources(weights, facts) & _sources(test, facts))


def _bounds_below(test: ast.expr, facts: FunctionFacts, depth: int = 4) -> Iterator[ast.expr]:
    """What something is not below, or not equal to, where a test is false: `x.sum() == 0`, `(x < eps).all()`."""
    asked = _asked_of(test, facts)
    every = _every(test, facts)
    if asked is not None and depth:
        yield from _bounds_below(asked, facts, depth - 1)
    elif every is not None and depth:
        yield from _bounds_below(every[1], facts, depth - 1)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for part in test.values:
            yield from _bounds_below(part, facts, depth)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield ast.Constant(0)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.Eq | ast.Lt | ast.LtE):
            yield test.comparators[0]
        if isinstance(test.ops[0], ast.Eq | ast.Gt | ast.GtE):
            yield test.left


def _is_small(bound: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a bound is zero, or a number just above it."""
    known = facts.value(bound).const
    value = bound.value if isinstance(bound, ast.Constant) else None if known is None else known.value
    return isinstance(value, int | float) and abs(value) < _SMALL


def _asks_matrix(test: ast.expr, _: bool, matrix: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a test asks what tells a singular matrix, of one or of what it is made of: its determinant, its rank."""
    return _asks_by(_TELLS_SINGULAR, test, matrix, facts)


def _asks_finite(test: ast.expr, _: bool, given: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a test asks for NaN or infinities in something, or in what it is made of."""
    return _asks_by(_TELLS_FINITE, test, given, facts)


def _asks_by(functions: frozenset[str], test: ast.expr, given: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a test is made with one of some functions, and of what something is made of."""
    names = _sources(test, facts)
    assigned = [a.value for a in facts.function.of(ast.Assign) if names & frozenset(map(ast.unparse, a.targets))]
    calls = (n for given in (test, *assigned) for n in walk(given) if isinstance(n, ast.Call))
    tells = any((facts.callee(call) or "").rpartition(".")[2] in functions for call in calls)
    return tells and bool(_sources(given, facts) & names)


def _sources(node: ast.expr, facts: FunctionFacts, depth: int = 3) -> frozenset[str]:
    """The names that an expression, and what these are assigned, reads."""
    found = new = _names(node)
    assigns = facts.function.of(ast.Assign)
    while depth and new:
        given = (a.value for a in assigns if any(isinstance(t, ast.Name) and t.id in new for t in a.targets))
        new = frozenset().union(*map(_names, given)) - found
        found |= new
        depth -= 1
    return found


def _names(node: ast.expr) -> frozenset[str]:
    return frozenset(n.id for n in walk(node) if isinstance(n, ast.Name)) - {"torch", "len", "self", "F", "nn"}


def _tests(part: ast.AST, facts: FunctionFacts) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that led to a place, and how they came out: around it, and of an `if` before it that leaves."""
    function = facts.function
    blocks: list[Sequence[ast.stmt]] = [function.node.body]
    for branch in function.of(ast.If):
        blocks += [branch.body, branch.orelse]
        arms = (branch.body, True), (branch.orelse, False)
        yield from ((branch.test, holds) for arm, holds in arms if _holds(arm, part))
    for chosen in function.of(ast.IfExp):
        yield from ((chosen.test, one is chosen.body) for one in (chosen.body, chosen.orelse) if _holds([one], part))
    loops: Sequence[ast.For | ast.While] = [*function.of(ast.For), *function.of(ast.While)]
    for loop in loops:
        blocks += [loop.body, loop.orelse]
    for block in blocks:
        for place, earlier in enumerate(block if _holds(block, part) else ()):
            if not isinstance(earlier, ast.If) or earlier.orelse or not isinstance(earlier.body[-1], _LEAVES):
                continue
            if _holds(block[place + 1 :], part):
                yield earlier.test, False


def _holds(block: Sequence[ast.AST], part: ast.AST) -> bool:
    """Whether a place lies in statements, by where it stands: of a target there are copies that read it."""
    if not block or not hasattr(part, "lineno"):
        return False
    start, end = _place(block[0])[0], _place(block[-1])[1]
    own = _place(part)
    return start <= own[0] and own[1] <= end


def _place(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
