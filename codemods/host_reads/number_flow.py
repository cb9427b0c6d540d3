"""What is known of a number that was read from a tensor, on its way through the code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.devices import perhaps_on_default_device
from compilefix.codemods.host_reads.integer_places import integer_place, is_index
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.definitions import Function
from compilefix.source.operators import SYMBOLS
from compilefix.source.snippets import snippet

Build = Callable[["Renderer"], str]


@dataclass
class Flow:
    """Where a number goes: the arithmetic on the way, the expressions to rewrite, and what stands in the way.

    operations: Python arithmetic on the way. integral: all of it adds, subtracts or multiplies by a small integer.
    beside: it meets tensors in arithmetic, where the precision of what was computed on the way shows.
    handed_out: it is returned or stored. picks: it is an index, and must be an integer.
    narrow: it meets a tensor without dimensions, whose dtype a wider one would change.
    elsewhere: the tensor that is read may be on another device than those that the function makes.
    alike: the names of the tensors that have as many elements as the one that is read: one, if the read does not fail.
    asked: an argument of unknown kind whose methods give the tensor that is read: a tensor, if the read does not fail.
    meets: a name that holds the number is used for more than deciding.
    decides: what is computed of the number decides an `if`.
    shown: it also stands in a line that is printed or logged, where it is read again. raised: so in an exception.
    listed: it is one of several that are given names together. apart: each of these is read by itself.
    plain: what is rewritten to code that takes a Python number as well. bounds: where it bounds a slice that is filled.
    typed: its type is asked for, which is told by the dtype of the tensor where nothing is computed of it.
    unseen: nothing is known of what may stand in its place, so that no rule would see a tensor there.
    read: what is known of the tensor. boolean: the number is a bool. following: names whose uses are being looked at.
    """

    read: Value
    boolean: bool = False
    operations: int = 0
    whole: bool = True
    negates: bool = False
    integral: bool = True
    exactly: bool = True
    beside: bool = False
    narrow: bool = False
    alike: frozenset[str] = frozenset()
    asked: str | None = None
    elsewhere: bool = False
    handed_out: bool = False
    picks: bool = False
    meets: bool = False
    decides: bool = False
    shown: bool = False
    raised: bool = False
    listed: bool = False
    reduced: bool = False
    apart: bool = False
    typed: bool = False
    unseen: bool = False
    rewrites: list[tuple[ast.expr | ast.stmt, Build]] = field(default_factory=list)
    plain: set[ast.expr] = field(default_factory=set)
    bounds: list[ast.expr] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    calls: int = 0
    following: set[tuple[Function, str, ast.stmt | None]] = field(default_factory=set)

    def refuse(self, reason: str, assumption: str | None = None) -> None:
        """Note what stands in the way."""
        self.obstacles.append(Obstacle(reason, assumption))

    def say_where(self, function: str, first: int) -> None:
        """Name the function, of another file, in which the lines stand that the obstacles from a place on speak of."""
        for place, obstacle in enumerate(self.obstacles[first:], first):
            if obstacle.reason.startswith("line "):
                self.obstacles[place] = replace(obstacle, reason=f"{function}, {obstacle.reason}")

    def compute(
        self, *, integral: bool = False, exactly: bool = False, whole: bool = False, negates: bool = False
    ) -> None:
        """Note an operation on the number. whole: it makes integers of integers. negates: it may turn their sign."""
        if self.boolean:
            self.refuse("arithmetic on a bool makes an integer of it")
        self.operations += 1
        self.whole = self.whole and whole
        self.negates = self.negates or negates
        self.integral = self.integral and integral
        self.exactly = self.exactly and exactly

    @property
    def keeps_dtype(self) -> bool:
        """Whether the arithmetic gives the same in the tensor's own dtype.

        One operation with a constant that the dtype holds, rounded once, is what Python's double precision gives when
        it is rounded to that dtype; with integers it is exact.
        """
        if self.picks:
            return True
        small = self.integral or (self.exactly and self.read.dtype == "float")
        return self.operations == 1 and small and not self.beside and self.read.dtype != "bool"


class Renderer:
    """Code for an expression in which some nodes have new code."""

    def __init__(self, template: Template, codes: Mapping[ast.AST, str]) -> None:
        self.template = template
        self.codes = codes

    def __call__(self, node: ast.expr) -> str:
        """The code, as an operand."""
        if node in self.codes:
            return self.codes[node]
        if any(n in self.codes for n in ast.walk(node)):
            if isinstance(node, ast.BinOp):
                symbol = SYMBOLS[type(node.op)]
                return f"({self(node.left)} {symbol} {self(node.right)})"
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                return f"(-{self(node.operand)})"
            if isinstance(node, ast.List):
                return f"[{', '.join(map(self, node.elts))}]"
            if isinstance(node, ast.Tuple):
                return f"({', '.join(map(self, node.elts))}{',' if len(node.elts) == 1 else ''})"
        return self.template.use(node, operand=not isinstance(node, ast.List))


def met(other: ast.expr, scope: Scope, flow: Flow) -> None:
    """The number meets what should be a tensor: does the result keep its dtype?"""
    flow.beside = True
    same_dtype(other, scope, flow)
    place = None if flow.read.dtype in ("int", "bool") else _integer_place_behind(other, scope)
    if place is not None:
        flow.picks = True
        flow.refuse(
            f"line {place.lineno}: the number is taken to be an integer, as it is in a size or index", "index-in-range"
        )


def _integer_place_behind(other: ast.expr, scope: Scope) -> ast.expr | None:
    """Where arithmetic with a tensor gives a size, an index or the bound of a slice, which takes no float."""
    result = scope.parents.get(other)
    if not isinstance(result, ast.BinOp | ast.UnaryOp):
        return None
    result = _whole_arithmetic(result, scope)
    uses: list[ast.expr] = [result]
    around = scope.parents.get(result)
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(around.targets[0], ast.Name):
        uses += [_whole_arithmetic(use, scope) for use in scope.names(around.targets[0].id)]
    return next((use for use in uses if integer_place(use, scope) is not None or is_index(use, scope)), None)


def _whole_arithmetic(node: ast.expr, scope: Scope) -> ast.expr:
    """The sum, product or the like that an expression is a part of."""
    while isinstance(around := scope.parents.get(node), ast.BinOp | ast.UnaryOp):
        node = around
    return node


def has_other_dtype(value: Value, other: Value) -> bool:
    """Whether two tensors are known to differ in their dtype."""
    return value.is_tensor and value.dtype is not None and other.dtype is not None and value.dtype != other.dtype


def same_dtype(other: ast.expr, scope: Scope, flow: Flow) -> None:
    """Note what stands against the result having the dtype that it has with a Python number."""
    value = scope.value(other)
    if not is_tensor_there(other, scope, flow):
        return
    if holds_whole_numbers(other, scope):
        flow.refuse(
            f"`{snippet(other)}` is of an integer dtype: the result's dtype would follow the tensor that was read"
        )
    elif value.dtype != "float" or not value.dimensioned or flow.read.dtype in (None, "complex"):
        flow.narrow = flow.narrow or value.rank == 0 or (value.rank is None and ast.unparse(other) in flow.alike)
        same = value.dtype_id is not None and value.dtype_id == flow.read.dtype_id
        if value.rank == 0 and value.dtype == "float" and same:
            return
        flow.refuse(
            f"`{snippet(other)}` is not proved to be a floating tensor with "
            f"dimensions: the result's dtype could change",
            "number-to-tensor",
        )


def is_tensor_there(other: ast.expr, scope: Scope, flow: Flow) -> bool:
    """Note what stands against an expression being a tensor on the device of the one that is read."""
    value = scope.value(other)
    if flow.elsewhere and perhaps_on_default_device(other, scope):
        flow.refuse(
            f"`{snippet(other)}` is made on the default device, and the tensor that is read may be on another one",
            "number-to-tensor",
        )
    if not (value.is_tensor or _is_asked(other, scope, flow)):
        around = scope.parents.get(other)
        if isinstance(other, ast.Attribute) and isinstance(around, ast.AugAssign) and around.target is other:
            flow.refuse(f"`{snippet(other)}` keeps a number for later calls: keep a tensor, and read it elsewhere")
            return False
        known = "known to be a tensor or a number" if value.is_unknown else "proved to be a tensor"
        flow.refuse(f"`{snippet(other)}` is not {known}")
        return False
    if not (value.is_tensor and value.certain):
        flow.refuse(f"`{snippet(other)}` is not proved to be a tensor", "is-tensor")
    return True


def holds_whole_numbers(tensor: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is one of integers or booleans."""
    return scope.value(tensor).dtype in ("int", "bool") or _counts(tensor, scope)


def meets_whole_numbers(node: ast.expr, other: ast.expr, scope: Scope, flow: Flow) -> bool:
    """Whether an integer meets a tensor of integers, which gives the same with a tensor of 64 bits in its place.

    In sums, products and comparisons; so it is where the number does not fit the tensor's dtype (measured on torch
    2.13 with all dtypes of integers and bool, and with a tensor that has dimensions).
    """
    whole = scope.value(node).dtype == "int" and (flow.whole or not flow.operations)
    if not whole or not holds_whole_numbers(other, scope):
        return False
    flow.picks = True
    if flow.elsewhere and isinstance(other, ast.Name) and perhaps_on_default_device(other, scope):
        # A comparison takes a number from no other device, unless it has none.
        flow.rewrites.append((node, lambda render: f"{render(node)}.to({render.template.use(other)}.device)"))
    else:
        is_tensor_there(other, scope, flow)
    value = scope.value(other)
    if value.dtype == "int" and value.dtype_id != "int64" and not value.dimensioned:
        reason = f"`{snippet(other)}` may have no dimensions and fewer than 64 bits, which it takes beside a tensor"
        flow.refuse(reason, "number-to-tensor")
    return True


def _is_asked(node: ast.expr, scope: Scope, flow: Flow) -> bool:
    """Whether an expression is the argument whose methods give the tensor that is read, or computed with it."""
    if isinstance(node, ast.BinOp):
        return _is_asked(node.left, scope, flow) or _is_asked(node.right, scope, flow)
    if not isinstance(node, ast.Name) or node.id != flow.asked:
        return False
    again = any(isinstance(around, ast.For | ast.AsyncFor | ast.While) for around in scope.ancestors(node))
    return not again and all(store.lineno >= node.lineno for store in scope.names(node.id, stores=True))


def _counts(node: ast.expr, scope: Scope, depth: int = 4) -> bool:
    """Whether an expression is a range of whole numbers, in another shape perhaps: `torch.arange(n)[:, None]`."""
    if isinstance(node, ast.Name) and depth:
        stores = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
        given = [s.value for s in stores if isinstance(s, ast.Assign)]
        return bool(given) and all(_counts(value, scope, depth - 1) for value in given)
    if isinstance(node, ast.Subscript):
        return _counts(node.value, scope, depth)
    if not isinstance(node, ast.Call):
        return False
    if scope.callee(node) == "torch.arange":
        plain = all(k.arg in ("device", "requires_grad", "start", "end", "step") for k in node.keywords)
        numbers = [*node.args, *(k.value for k in node.keywords if k.arg in ("start", "end", "step"))]
        return plain and all(_is_whole(scope.value(number)) for number in numbers)
    reshaped = isinstance(node.func, ast.Attribute) and node.func.attr in _RESHAPES
    return reshaped and isinstance(node.func, ast.Attribute) and _counts(node.func.value, scope, depth)


_RESHAPES = frozenset({"view", "reshape", "unsqueeze", "flatten", "expand", "repeat", "flip", "cuda", "cpu"})


def _is_whole(value: Value) -> bool:
    return value.is_(Kind.SIZE) or (value.is_(Kind.STATIC) and value.dtype == "int")
