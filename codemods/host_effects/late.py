"""Expressions in the lambda: what is computed when the call is carried out, and what before."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.masks import mask_of
from compilefix.codemods.host_effects.calls import kind_of
from compilefix.codemods.host_effects.plan import Plan, Refused, capture, check, check_text, is_global, may_change
from compilefix.codemods.host_effects.reads import CASTS, bound_read, host_chain, read_of, read_text
from compilefix.codemods.host_effects.texts import replaced_parts, source_of
from compilefix.codemods.number_comparison import checked_read
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import ATOMS
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_path
from compilefix.source.tree import names_in

_LATE_BUILTINS = frozenset(
    {"round", "str", "repr", "abs", "min", "max", "len", "sum", "format", "list", "tuple", "sorted", *CASTS}
)

_OF_NUMBERS = frozenset(
    f"numpy.{name}"
    for name in ("degrees", "radians", "rad2deg", "deg2rad", "sqrt", "exp", "log", "log2", "log10", "abs", "round")
)
"""Functions of NumPy that give a number for a number."""

_FIELD = re.compile(r"\{[^{}:!]*[.\[]")

NUMERIC = frozenset("diouxXeEfFgG")

_LITERAL = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)

_CONVERSION = re.compile(
    r"%(?:\((?P<key>\w+)\))?[#0\- +]*(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+))?[hlL]?(?P<type>[a-zA-Z%])"
)


def late(node: ast.expr, plan: Plan, *, raw: bool) -> str:
    """The text of an expression in the lambda. `raw` says that its value is shown by `str` or `repr`."""
    scope = plan.scope
    if all(isinstance(part, _LITERAL) for part in ast.walk(node)):
        return source_of(node, scope)
    if isinstance(node, ast.JoinedStr):
        return _replaced(node, _fields(node), plan)
    if isinstance(node, ast.Name) and node.id in plan.made:
        if raw:
            check_text(node, scope.value(node), plan)
        return plan.made[node.id]
    if plan.made and not names_in(node).isdisjoint(plan.made):
        children = _late_children(node, scope)
        if children is None:
            return whole(node, plan)
        return _replaced(node, list(zip(children, _shown(node, children, raw, scope), strict=True)), plan)
    if is_global(node, scope) and not may_change(node, scope):
        return inline_or_captured(node, plan)
    if isinstance(node, ast.Name) and (read := bound_read(node, scope)) is not None:
        plan.reads[node.id] = read
        return read_text(read, capture(node, plan, checked=False))
    if plan.in_check and (checked := checked_read(node, scope)) is not None:
        return read_text(checked, capture(node, plan, checked=False))
    chain = host_chain(node, scope)
    if chain is not None:
        tensor, suffix = chain
        if raw and suffix == ".cpu()":
            check_text(node, scope.value(node), plan)
        return passed(tensor, plan, checked=False) + suffix
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (source := read_of(node, scope)) is not None:
        return f"{node.func.id}({passed(source, plan, checked=False)})"
    if needs_text(node, scope):
        if raw and scope.value(node).is_tensor:
            check_text(node, scope.value(node), plan)
        children = _late_children(node, scope)
        if children is not None:
            return _replaced(node, list(zip(children, _shown(node, children, raw, scope), strict=True)), plan)
        if any(
            isinstance(p, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda)
            for p in ast.walk(node)
        ):
            raise Refused(f"`{snippet(node)}` reads tensors in a comprehension")
        if any(isinstance(p, ast.Name) and bound_read(p, scope) is not None for p in ast.walk(node)):
            raise Refused(f"`{snippet(node)}` asks for the number itself, which is read when the line is shown")
    return passed(node, plan, checked=True, raw=raw)


def passed(node: ast.expr, plan: Plan, *, checked: bool, raw: bool = False) -> str:
    """A value in the lambda: computed before, or there where it may fail and is wanted under a condition only.

    `x[x < 0][0]` in the text of what is raised for negative numbers exists only where there are some. `x[x < 0]` alone
    always does, and breaks the graph, since its shape depends on values: it is computed there too.
    """
    scope = plan.scope
    doubts = _doubts(node, plan) if plan.conditional else []
    if not doubts and not _has_unknown_size(node, scope):
        return capture(node, plan, checked=checked, raw=raw)
    if not scope.legality.effects.of(node, scope.facts).repeatable or is_path(node):
        plan.failing += doubts
        return capture(node, plan, checked=checked, raw=raw)
    if checked:
        check(node, scope.value(node), plan, raw=raw)
    text = whole(node, plan)
    return text if isinstance(node, ATOMS) or _stands_alone(node, scope) else f"({text})"


def _stands_alone(node: ast.expr, scope: Scope) -> bool:
    """Whether a sum or the like needs no parentheses: it is an argument, or shown by an f-string."""
    parent = scope.parents.get(node)
    alone = isinstance(parent, ast.FormattedValue | ast.keyword) or (
        isinstance(parent, ast.Call) and node in parent.args
    )
    return alone and isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp)


def _has_unknown_size(node: ast.expr, scope: Scope) -> bool:
    """Whether the shape of a part of an expression depends on values."""
    for part in ast.walk(node):
        if part not in scope.parents:
            continue
        if isinstance(part, ast.Subscript) and mask_of(part, scope) is not None:
            return True
        if isinstance(part, ast.Call):
            name = scope.callee(part) or ""
            method = name.removeprefix("Tensor.")
            api = torch_api.function(name) if method == name else torch_api.method(method)
            if api is not None and (api.dynamic or (api.dynamic_form == "one_argument" and len(part.args) == 1)):
                return True
    return False


def _doubts(node: ast.expr, plan: Plan) -> list[Obstacle]:
    """Why an expression may fail, or do more than give a value, where the condition is false."""
    if node not in plan.scope.parents or (is_path(node) and _is_plain(node, plan.scope)):
        return []
    if ast.dump(node) in _asked(node, plan.scope):
        return []
    acts = next((n for n in ast.walk(node) if isinstance(n, ast.Call) and kind_of(n, plan.scope) is not None), None)
    if acts is not None:
        return [Obstacle(f"`{snippet(acts)}` acts on the host only where the condition is true")]
    return list(plan.scope.legality.both_evaluated([node], plan.scope.facts))


def _is_plain(node: ast.expr, scope: Scope) -> bool:
    """Whether reading an attribute does nothing else, as a property may that prints, counts or fails."""
    does = scope.legality.effects.of(node, scope.facts)
    return does.repeatable and not does.raises


def _asked(node: ast.expr, scope: Scope) -> set[str]:
    """What the condition is made of that decides about an expression: it is computed in any case."""
    around = next((a for a in scope.ancestors(node) if isinstance(a, ast.If | ast.Assert)), None)
    pending: list[ast.AST] = [around.test] if around is not None else []
    found: set[str] = set()
    while pending:
        part = pending.pop()
        found.add(ast.dump(part))
        if isinstance(part, ast.BoolOp):
            pending.append(part.values[0])
        elif not isinstance(part, ast.IfExp | ast.Lambda) and not hasattr(part, "generators"):
            pending.extend(ast.iter_child_nodes(part))
    return found


def whole(node: ast.expr, plan: Plan) -> str:
    """The text of an expression that is computed in the lambda from the names and attributes in it."""
    return replaced_parts(node, list(_leaves(node, plan)), plan.scope)


def _leaves(node: ast.AST, plan: Plan, *, called: bool = False) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda):
        raise Refused(f"`{snippet(node)}` reads tensors in a comprehension")
    if isinstance(node, ast.Name | ast.Attribute) and is_path(node):
        if isinstance(node, ast.Name) and node.id in plan.made:
            yield node, plan.made[node.id]
        elif is_global(node, plan.scope) and (called or not may_change(node, plan.scope)):
            plan.inlined.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        else:
            plan.failing += _doubts(node, plan) if plan.conditional else []
            yield node, capture(node, plan, checked=False)
        return
    for child in ast.iter_child_nodes(node):
        function = isinstance(node, ast.Call) and child is node.func
        if function and isinstance(child, ast.Attribute) and not is_global(child, plan.scope):
            yield from _leaves(child.value, plan)
        elif isinstance(child, ast.expr | ast.keyword):
            yield from _leaves(child, plan, called=function)


def inline_or_captured(node: ast.expr, plan: Plan) -> str:
    """The text in the lambda of what is called or of a name of the module: passed on only where it must be."""
    text = inlined(node, plan)
    return capture(node, plan, checked=False) if text is None else text


def inlined(node: ast.expr, plan: Plan) -> str | None:
    """The text of what means the same in the lambda; None for what must be given to it."""
    if is_global(node, plan.scope) or _is_logger_of_name(node, plan.scope):
        plan.inlined.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return source_of(node, plan.scope)
    return None


def _is_logger_of_name(node: ast.expr, scope: Scope) -> bool:
    """`logging.getLogger("name")`, which gives the same logger at any time."""
    return (
        isinstance(node, ast.Call)
        and scope.callee(node) == "logging.getLogger"
        and is_global(node.func, scope)
        and all(isinstance(a, ast.Constant) or (isinstance(a, ast.Name) and a.id == "__name__") for a in node.args)
    )


def conversions(message: ast.expr | None, count: int) -> list[str]:
    """The type of the % conversion that each value goes through; `s` where that is not known."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        found = [m for m in _CONVERSION.finditer(message.value) if m["type"] != "%"]
        if len(found) == count and not any(m["key"] or m["width"] == "*" or m["precision"] == "*" for m in found):
            return [m["type"] for m in found]
    return ["s"] * count


def _fields(node: ast.JoinedStr) -> list[tuple[ast.expr, bool]]:
    """The expressions in an f-string, those in format specs included, and whether each is shown by `str` or `repr`."""
    found: list[tuple[ast.expr, bool]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            found.append((part.value, part.conversion != -1 or part.format_spec is None))
            if isinstance(part.format_spec, ast.JoinedStr):
                found.extend((inner, False) for inner, _ in _fields(part.format_spec))
    return found


def _late_children(node: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """The parts of an expression that is computed in the lambda from its parts; None for one that must not be."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Tuple | ast.List):
        return None if any(isinstance(e, ast.Starred) for e in node.elts) else node.elts
    if isinstance(node, ast.Dict):
        return None if None in node.keys else [k for k in (*node.keys, *node.values) if k is not None]
    if isinstance(node, ast.Call) and all(k.arg for k in node.keywords):
        name = scope.callee(node) or ""
        operands = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
        operands += [k.value for k in node.keywords]
        if name in _LATE_BUILTINS or name.startswith("math."):
            return operands
        numbers = all(scope.value(operand).is_(Kind.NUMBER, Kind.STATIC, Kind.SIZE) for operand in operands)
        if name in _OF_NUMBERS and numbers and is_global(node.func, scope):
            return operands
        if isinstance(node.func, ast.Attribute) and _is_method_of_text(node, scope):
            return [node.func.value, *operands]
    return None


def _shown(node: ast.expr, children: Sequence[ast.expr], raw: bool, scope: Scope) -> list[bool]:
    """For each part of an expression whether it is shown by `str` or `repr`."""
    if isinstance(node, ast.BinOp):
        if not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)):
            return [False, False]
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return [True, any(kind not in NUMERIC for kind in conversions(node.left, len(values)))]
    if isinstance(node, ast.Call) and _makes_text(node, scope):
        return [True] * len(children)
    return [raw and not isinstance(node, ast.Compare)] * len(children)


def _makes_text(node: ast.Call, scope: Scope) -> bool:
    name = scope.callee(node) or ""
    return name in ("str", "repr", "format") or _is_method_of_text(node, scope)


def _is_method_of_text(node: ast.Call, scope: Scope) -> bool:
    """`"...".format(x)`, `text.format(x)`, `", ".join(parts)`."""
    if not isinstance(node.func, ast.Attribute):
        return False
    text = node.func.value
    if isinstance(text, ast.Constant) and _FIELD.search(str(text.value)):
        return False  # `"{0.requires_grad}".format(x)` asks the tensor itself, of which a copy is passed on
    if isinstance(text, ast.Constant | ast.JoinedStr):
        return True
    value = scope.value(text)
    return node.func.attr == "format" and isinstance(text, ast.Name) and (value.is_(Kind.STATIC) or value.is_unknown)


def needs_text(node: ast.expr, scope: Scope) -> bool:
    """Whether the expression reads a tensor's value or makes text of one: neither may happen in the graph."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            return True
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and bound_read(part, scope) is not None:
            return True
        if isinstance(part, ast.Call):
            if read_of(part, scope) is not None:
                return True
            if _makes_text(part, scope):
                return True
        if (
            isinstance(part, ast.BinOp)
            and isinstance(part.op, ast.Mod)
            and isinstance(part.left, ast.Constant)
            and isinstance(part.left.value, str)
        ):
            return True
    return False


def _replaced(node: ast.expr, parts: Sequence[tuple[ast.expr, bool]], plan: Plan) -> str:
    """The source of a node with some of its parts as they are in the lambda."""
    return replaced_parts(node, [(part, late(part, plan, raw=raw)) for part, raw in parts], plan.scope)
