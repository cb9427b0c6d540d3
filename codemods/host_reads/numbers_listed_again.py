"""Numbers of a vector that are computed one by one, and listed again as a tensor.

`torch.tensor([int(n + 1) // 2 for n in lengths])` reads each number, and makes what `(lengths + 1).long() // 2` is. So
does `torch.tensor([max(n - 1, 0) for n in lengths.tolist()])` of integers. What Python computes otherwise, in double
precision or with errors of its own, is declined.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.operators import COMPARISONS, SYMBOLS
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_MAKES = frozenset({"torch.tensor", "torch.as_tensor", "torch.LongTensor"})
_WHOLE = (ast.Add, ast.Sub, ast.Mult)
_ROUNDED = (ast.FloorDiv, ast.Mod)
_BOUNDS = {"max": "min", "min": "max"}


class _Stuck(Exception):
    """An item is computed in a way that a tensor does not follow."""


def listed_again_fix(read: ast.Call, scope: Scope) -> Fix | None:
    """The fix for a read in the list that a tensor is made of; None where that is not the form, or it is not known."""
    listed = next((around for around in scope.ancestors(read) if isinstance(around, ast.ListComp)), None)
    made = scope.parents.get(listed) if listed is not None else None
    if listed is None or not isinstance(made, ast.Call) or made.args != [listed] or len(listed.generators) != 1:
        return None
    loop, name = listed.generators[0], scope.callee(made)
    if name not in _MAKES or loop.ifs or loop.is_async or not isinstance(loop.target, ast.Name):
        return None
    whole = loop.iter is read
    source = read.func.value if whole and isinstance(read.func, ast.Attribute) else loop.iter
    value = scope.value(source)
    if not value.is_tensor or value.rank not in (None, 1) or (whole and value.dtype != "int"):
        return None
    template = Template()
    items = _Items(loop.target.id, source, read, scope, template)
    try:
        compared = isinstance(listed.elt, ast.Compare)
        code = items.render(listed.elt)
        if as_made := _made_like(made, name, scope, template, fresh=items.fresh, truths=compared):
            loose = isinstance(listed.elt, ast.BinOp | ast.UnaryOp)
            code = f"({code}){as_made}" if loose else f"{code}{as_made}"
    except _Stuck:
        return None
    told = name == "torch.LongTensor" or any(keyword.arg == "dtype" for keyword in made.keywords)
    if not told:
        reason = f"of no elements `{snippet(made)}` is a floating tensor"
        template.refuse([Obstacle(reason, "dimension-not-empty")])
    if value.rank is None:
        reason = f"`{snippet(source)}` is not proved to have one dimension: with more, an item is no number"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    if not value.certain:
        template.refuse([Obstacle(f"`{snippet(source)}` is not proved to be a tensor", "is-tensor")])
    if not items.found or template.broken is not None:
        return None
    edit = scope.edit(made, code, **template.used_in(code))
    return Fix((edit,), imports(scope) if "torch." in code else (), template.assumptions, template.reasons)


@dataclass
class _Items:
    """Writes for all items of a vector at once what a list computes of each.

    name: what the list calls an item, which `read` makes a number.
    found: whether the read has been met. fresh: whether the code gives a new tensor.
    """

    name: str
    source: ast.expr
    read: ast.Call
    scope: Scope
    template: Template
    found: bool = False
    fresh: bool = False

    def render(self, node: ast.expr, *, operand: bool = False) -> str:
        """The code of an item's number; Python computes with it."""
        if isinstance(node, ast.Compare) and not operand:
            return self._compared(node)
        if node is self.read or (isinstance(node, ast.Name) and node.id == self.name and self._is_number()):
            return self._number(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._computed(node)
            code = f"-{self.render(node.operand, operand=True)}"
            return f"({code})" if operand else code
        if isinstance(node, ast.BinOp):
            code = self._arithmetic(node)
            return f"({code})" if operand else code
        if isinstance(node, ast.Call) and self.scope.callee(node) in _BOUNDS:
            return self._bounded(node)
        raise _Stuck

    def _is_number(self) -> bool:
        """Whether the list runs over numbers: over what `tolist` gave."""
        return isinstance(self.read.func, ast.Attribute) and self.read.func.value is self.source

    def _number(self, node: ast.expr) -> str:
        if self.found:
            raise _Stuck
        self.found = True
        source, scope = self.source, self.scope
        if isinstance(node, ast.Name):
            return self._as_long(self.template.use(source, operand=True), scope.value(source).dtype_id)
        method = isinstance(self.read.func, ast.Attribute)
        inner = self.read.func.value if isinstance(self.read.func, ast.Attribute) else self.read.args[0]
        if scope.value(source).dtype != "int" if method else scope.callee(self.read) != "int":
            raise _Stuck
        if any(scope.value(part).dtype != "int" for part in (source, inner)):  # `n / 2` of an integer is none
            reason = f"`{snippet(self.read)}` raises an error for what is not finite, or too large"
            self.template.refuse([Obstacle(reason, "math-errors")])
        if isinstance(inner, ast.Name) and inner.id == self.name:
            return self._as_long(self.template.use(source, operand=True), scope.value(source).dtype_id)
        if method:
            raise _Stuck
        self.fresh = True
        return f"({self._of_tensor(inner)}).long()"

    def _as_long(self, code: str, dtype_id: str | None) -> str:
        return code if dtype_id == "int64" else f"{code}.long()"

    def _of_tensor(self, node: ast.expr) -> str:
        """The code of arithmetic with an item that is a tensor still: with numbers it has the dtype of all items."""
        if isinstance(node, ast.Name) and node.id == self.name:
            return self.template.use(self.source, operand=True)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (*_WHOLE, *_ROUNDED, ast.Div)):
            sides = [self._beside(side) if not self._is_of_item(side) else None for side in (node.left, node.right)]
            if isinstance(node.op, ast.FloorDiv) and self._may_be_half(node.right):
                raise _Stuck  # PyTorch rounds the quotient of one half otherwise than those of many
            left, right = (
                f"({self._of_tensor(side)})" if code is None and not isinstance(side, ast.Name) else code or ""
                for side, code in zip((node.left, node.right), sides, strict=True)
            )
            left = left or self._of_tensor(node.left)
            right = right or self._of_tensor(node.right)
            return f"{left} {SYMBOLS[type(node.op)]} {right}"
        raise _Stuck

    def _may_be_half(self, node: ast.expr) -> bool:
        """Whether a divisor is made of the item, and may be of half precision."""
        value = self.scope.value(self.source)
        return self._is_of_item(node) and value.dtype != "int" and value.dtype_id not in ("float32", "float64")

    def _is_of_item(self, node: ast.expr) -> bool:
        return self.name in names_in(node)

    def _beside(self, node: ast.expr, *, whole: bool = False) -> str:
        """The code of a number beside the item: one that Python knows, and that is no call."""
        value = self.scope.value(node)
        plain = isinstance(node, ast.Constant | ast.Name | ast.Attribute) and value.is_(Kind.STATIC, Kind.SIZE)
        if not plain or value.dtype not in (("int",) if whole else ("int", "float")):
            raise _Stuck
        return self.template.use(node, operand=True)

    def _arithmetic(self, node: ast.BinOp) -> str:
        self._computed(node)
        symbol = SYMBOLS[type(node.op)]
        if isinstance(node.op, _ROUNDED):
            const = self.scope.value(node.right).const
            if const is None or not isinstance(const.value, int) or const.value <= 0:
                raise _Stuck
        elif not isinstance(node.op, _WHOLE):
            raise _Stuck
        elif self._is_of_item(node.right):
            return f"{self._beside(node.left, whole=True)} {symbol} {self.render(node.right, operand=True)}"
        return f"{self.render(node.left, operand=True)} {symbol} {self._beside(node.right, whole=True)}"

    def _bounded(self, node: ast.Call) -> str:
        if len(node.args) != 2 or node.keywords:
            raise _Stuck
        self.fresh = True
        item, bound = node.args if self._is_of_item(node.args[0]) else node.args[::-1]
        code = self.render(item, operand=True)
        return f"{code}.clamp({_BOUNDS[self.scope.callee(node) or '']}={self._beside(bound, whole=True)})"

    def _compared(self, node: ast.Compare) -> str:
        symbol = COMPARISONS.get(type(node.ops[0]))
        if len(node.ops) != 1 or symbol is None or not self._is_of_item(node.left):
            raise _Stuck
        self.fresh = True
        bound = self._beside(node.comparators[0], whole=True)
        return f"({self.render(node.left, operand=True)} {symbol} {bound})"

    def _computed(self, node: ast.expr) -> None:
        self.fresh = True
        reason = f"`{snippet(node)}` is computed with 64 bits, where Python's integers grow"
        self.template.refuse([Obstacle(reason, "number-to-tensor")])


def _made_like(made: ast.Call, name: str, scope: Scope, template: Template, *, fresh: bool, truths: bool) -> str:
    """What makes of the numbers the tensor that the call makes: its dtype, its device and memory of its own."""
    if name == "torch.LongTensor":
        if made.keywords or truths:
            raise _Stuck
        return ".cpu()" if fresh else ".cpu().clone()"
    options: list[str] = []
    for keyword in made.keywords:
        value = scope.value(keyword.value)
        if keyword.arg not in ("dtype", "device") or value.may_be(Kind.NONE):
            raise _Stuck
        options.append(f"{keyword.arg}={template.use(keyword.value)}")
        if keyword.arg == "dtype":
            reason = f"`{snippet(made)}` raises for a number that the dtype does not hold, and for a tensor it does not"
            template.refuse([Obstacle(reason, "math-errors")])
    if not any(keyword.arg == "device" for keyword in made.keywords):  # the default, also where `.cpu()` is another
        options.append(f"device={torch_name(scope)}.zeros(()).device")
    moved = f".to({', '.join(options)})" if options else ""
    return moved if fresh else f"{moved}.clone()"
