"""Whether a write in place may become something else: a selection, or a write that is always made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.analysis.written_memory import PLAIN
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of

OUTSIDE = ("param:", "self.", "global.")
_RESULT_NOT_KEPT = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def becomes_new_tensor(
    name: str, value: Value, write: ast.stmt, branch: ast.stmt, facts: FunctionFacts
) -> Iterator[Obstacle]:
    """Whether `h += 1` in a branch may make a new `h`: nothing else may hold the memory, inside or outside."""
    shown = snippet(write)
    shared = next(memory_shared(name, value, write, branch, facts), None)
    if shared is not None:
        yield shared
        return
    if any(_makes_leaves(node) for node in facts.function.nodes):
        yield Obstacle(f"`{shown}` may write into a tensor that requires a gradient, which is an error")
    if value.leaves:
        yield from _backward_would_fail(value, write, branch, facts)


def memory_shared(name: str, value: Value, write: ast.stmt, at: ast.stmt, facts: FunctionFacts) -> Iterator[Obstacle]:
    """Whether something else than a name holds the memory that is written through it, before the statement `at`."""
    shown = snippet(write)
    if value.origin or any(token.startswith(OUTSIDE) for token in value.storage):
        yield Obstacle(f"`{shown}` writes into memory that is seen outside the function")
    elif not value.storage:
        yield Obstacle(f"`{shown}` writes in place, and where that memory comes from is not known")
    else:
        for other, held in facts.env_before.get(at, {}).items():
            if other != name and not held.is_(*PLAIN) and may_share(memory_of(held), value.storage):
                yield Obstacle(f"`{shown}` writes into memory that `{other}` may share")


def _makes_leaves(node: ast.AST) -> bool:
    return (isinstance(node, ast.keyword) and node.arg == "requires_grad") or (
        isinstance(node, ast.Attribute) and node.attr in ("requires_grad", "requires_grad_", "Parameter")
    )


def written_always(value: Value, write: ast.stmt, branch: ast.stmt, facts: FunctionFacts) -> Iterator[Obstacle]:
    """Whether a write in place that changes nothing on the other side may be made there too.

    It marks the memory as changed: what an operation kept of it for the backward pass is then refused.
    """
    if value.origin and value.leaves and value.dtype not in ("int", "bool"):
        yield Obstacle(f"`{snippet(write)}` fails on a tensor that requires a gradient", "branches-total")
    if any(token.startswith(OUTSIDE) for token in value.storage) and value.dtype != "bool":
        yield Obstacle(
            f"`{snippet(write)}` writes into memory that the backward pass of code outside may need", "no-aliasing"
        )
    if value.leaves and (cut := _cut_at_once(value, write, facts)) is not None:
        yield Obstacle(f"`{snippet(write)}` writes into memory of which `{snippet(cut)}` gives several views at once")
    made = kept_result(value, branch, facts)
    if made is not None:
        yield Obstacle(f"`{snippet(write)}` writes into the result of `{snippet(made)}`, which its backward pass needs")
    yield from _backward_would_fail(value, write, branch, facts)


def kept_result(value: Value, branch: ast.stmt, facts: FunctionFacts) -> ast.expr | None:
    """What has made the memory and needs it for the backward pass, which fails after each write into it."""
    for node in live_nodes(facts):
        if not isinstance(node, ast.Call | ast.BinOp) or not node.lineno < branch.lineno:
            continue
        if not _keeps_result(node, facts):
            continue
        result = facts.value(node)
        floating = result.is_tensor and bool(result.leaves) and result.dtype not in ("int", "bool")
        if floating and result.storage and result.storage == value.storage:
            return node
    return None


def _keeps_result(node: ast.Call | ast.BinOp, facts: FunctionFacts) -> bool:
    if isinstance(node, ast.BinOp):  # `2 ** x`
        return isinstance(node.op, ast.Pow) and bool(facts.value(node.right).leaves)
    name = (facts.callee(node) or facts.value(node.func).ref or "").rpartition(".")[2]
    return name in _KEEPS_RESULT or name.rstrip("_") in _KEEPS_RESULT


def _cut_at_once(value: Value, write: ast.stmt, facts: FunctionFacts) -> ast.expr | None:
    """What has made several views of the memory at once: PyTorch refuses to use these after it was written into."""
    last = max(_end(_loops(write, facts)), write.lineno)
    for node in live_nodes(facts):
        if getattr(node, "lineno", 0) > last:
            continue
        parts: Sequence[ast.expr] = ()
        spread = isinstance(node, ast.Assign) and any(isinstance(t, ast.Tuple | ast.List) for t in node.targets)
        if isinstance(node, ast.For | ast.comprehension):
            parts = [node.iter]
        elif isinstance(node, ast.Assign | ast.Starred):
            parts = [node.value] if spread or not isinstance(node, ast.Assign) else ()
        elif isinstance(node, ast.Call):
            name = (facts.callee(node) or "").rpartition(".")[2]
            own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            parts = [*own, *node.args] if name in _CUTS else node.args if name in _ITERATES else ()
        for part in parts:
            if facts.value(part).may_be(Kind.TENSOR) and may_share(facts.value(part).storage, value.storage):
                return node if isinstance(node, ast.Call) else part
    return None


_CUTS = frozenset(
    {"unbind", "chunk", "split", "split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit", "unsafe_split"}
)
_ITERATES = frozenset({"list", "tuple", "iter", "enumerate", "zip", "map", "reversed"})


def _backward_would_fail(value: Value, write: ast.stmt, branch: ast.stmt, facts: FunctionFacts) -> Iterator[Obstacle]:
    """Where an operation before the write keeps the memory for the backward pass, the write makes that fail."""
    loops = _loops(write, facts)
    tests = {n for s in live_nodes(facts) if isinstance(s, ast.If) for n in ast.walk(s.test)}
    for node in live_nodes(facts):
        line = getattr(node, "lineno", 0)
        before = line < branch.lineno or branch.lineno <= line < write.lineno or (loops and line <= _end(loops))
        if before and isinstance(node, ast.Subscript | ast.AugAssign):
            if _takes(node, value, facts):
                yield Obstacle(
                    f"`{snippet(write)}` writes into memory that `{snippet(node)}` may keep for the backward pass",
                    "no-aliasing",
                )
                return
            continue
        if not before or not isinstance(node, ast.BinOp | ast.Call) or node in tests:
            continue
        result = facts.value(node)
        name = (facts.callee(node) or "") if isinstance(node, ast.Call) else ""
        operands = _operands(node, name)
        keeps_operand = bool(result.leaves or result.is_unknown) and any(
            may_share(facts.value(o).storage, value.storage) for o in operands
        )
        makes = name not in _SELECTIONS and may_share(result.storage, value.storage) and bool(result.leaves)
        if keeps_operand and not _is_linear(node, facts):
            yield Obstacle(
                f"`{snippet(write)}` writes into memory that `{snippet(node)}` may keep for the backward pass",
                "no-aliasing",
            )
            return
        if makes and not _is_linear(node, facts):
            yield Obstacle(
                f"`{snippet(write)}` writes into the result of `{snippet(node)}`, which the backward pass may need",
                "no-aliasing",
            )
            return


def _takes(node: ast.Subscript | ast.AugAssign, value: Value, facts: FunctionFacts) -> bool:
    """Whether the memory is an index into what gets a gradient, or what that is multiplied by in place."""
    if isinstance(node, ast.AugAssign):
        if isinstance(node.op, ast.Add | ast.Sub):
            return False
        kept, gets = [node.value], facts.value(node.target)
    else:
        kept = elements_of(node.slice)
        gets = facts.value(node.value)
        stored = next((s.value for s in live_nodes(facts) if isinstance(s, ast.Assign) and node in s.targets), None)
        gets = gets if stored is None or gets.leaves or gets.is_unknown else facts.value(stored)
    return bool(gets.leaves or gets.is_unknown) and any(may_share(facts.value(k).storage, value.storage) for k in kept)


def _loops(write: ast.stmt, facts: FunctionFacts) -> list[ast.For | ast.While]:
    loops = [n for n in live_nodes(facts) if isinstance(n, ast.For | ast.While)]
    return [n for n in loops if n.lineno <= write.lineno <= (n.end_lineno or 0)]


def _end(loops: list[ast.For | ast.While]) -> int:
    return max((loop.end_lineno or 0 for loop in loops), default=0)


def _operands(node: ast.BinOp | ast.Call, name: str) -> list[ast.expr]:
    """What an operation may keep for the backward pass: a selection keeps only what decides."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if name in _SELECTIONS and not node.keywords:
        return node.args[1:2] if name == "torch.masked_fill" else node.args[:1]
    own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return [*own, *node.args, *(k.value for k in node.keywords)]


def keeps_no_operand(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether nothing that an expression computes keeps its operands for the backward pass."""
    return all(_is_linear(part, facts) for part in ast.walk(node) if isinstance(part, ast.BinOp | ast.Call))


def _is_linear(node: ast.BinOp | ast.Call, facts: FunctionFacts) -> bool:
    """Whether an operation keeps neither its operands nor its result for the backward pass."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub):
            return True
        numbers = [o for o in (node.left, node.right) if facts.value(o).is_(Kind.STATIC, Kind.SIZE)]
        return (
            isinstance(node.op, _RESULT_NOT_KEPT)
            and len(numbers) == 1
            and not (isinstance(node.op, ast.Div) and numbers[0] is node.left)
        )
    return (facts.callee(node) or "").rpartition(".")[2] in _KEEPS_NOTHING


_SELECTIONS = frozenset(
    {"torch.where", "Tensor.where", "torch.masked_fill", "Tensor.masked_fill", "Tensor.masked_fill_"}
)
"""What keeps for the backward pass which elements it took, and nothing else."""
_KEEPS_RESULT = frozenset(
    {"norm", "vector_norm", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "sigmoid", "tanh", "tan"}
    | {"softmax", "log_softmax", "logsumexp", "relu", "prod", "cumprod", "std", "amax", "amin", "cdist"}
    | {"logcumsumexp", "softmin", "gumbel_softmax", "hypot", "sgn", "dist", "pdist", "pairwise_distance", "matrix_norm"}
    | {"inverse", "inv", "pinverse", "pinv", "cholesky", "solve", "det", "slogdet"}
    | {"elu_", "selu_", "celu_", "leaky_relu_", "rrelu_"}  # of what was written over, the result is left
    | {"ReLU", "Sigmoid", "Tanh", "Softmax", "LogSoftmax", "Softmin"}
)
"""Whose derivative PyTorch computes of the result (tools/autograd/derivatives.yaml)."""
_KEEPS_NOTHING = frozenset(
    {
        "clone",
        "copy_",
        "fill_",
        "zero_",
        "detach",
        "contiguous",
        "float",
        "double",
        "half",
        "bfloat16",
        "to",
        "type_as",
        "view",
        "reshape",
        "flatten",
        "unsqueeze",
        "squeeze",
        "transpose",
        "permute",
        "t",
        "expand",
        "expand_as",
        "chunk",
        "split",
        "unbind",
        "stack",
        "cat",
        "sum",
        "mean",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "isnan",
        "isinf",
        "isfinite",
        "size",
        "dim",
        "numel",
    }
)
