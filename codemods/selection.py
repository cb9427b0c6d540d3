"""Turning a branch on a tensor into `torch.where`: the selected values, and what stands in the way."""

from __future__ import annotations

import ast
import copy
import re
import struct
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from compilefix.analysis.leaves import ANY_LEAF, are_same, leaf_of
from compilefix.analysis.legality import Obstacle, reached
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.codemods.added_in_place import added_after
from compilefix.codemods.computed_truths import is_looked_up
from compilefix.codemods.copied_tensors import warns_of_copy
from compilefix.codemods.devices import on_default_device
from compilefix.codemods.dynamic_shapes.ragged import is_ragged
from compilefix.codemods.dynamic_shapes.ragged_sizes import selection_of
from compilefix.codemods.finding import Edit
from compilefix.codemods.gradient_mode import is_changed, is_decorated, is_only_computed_with
from compilefix.codemods.other_objects import asked_as_object, is_other_object
from compilefix.codemods.resized import asked_to_differ, is_empty, is_placed_otherwise, is_resized
from compilefix.codemods.returned_truths import are_truths, as_tensor
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_path

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
CASTS = ("float", "int", "bool")
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)
_OF_GRADIENTS = frozenset({"finite-derivative", "gradient-zeros"})
_PLACEHOLDER = re.compile(r"compilefix_(operand|whole)_(\d+)")
_NUMBER_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_TYPE_QUESTIONS = frozenset({"isinstance", "type", "torch.is_tensor", "hasattr"})
_OF_ONE_TENSOR = frozenset(
    {"is_leaf", "grad_fn", "grad", "retain_grad", "retains_grad", "requires_grad_", "register_hook", "detach_"}
    | {"_version", "_base", "data_ptr", "storage", "untyped_storage", "is"}
)
_DIFFERENTIATE = ("autograd.grad", "autograd.backward", "Tensor.backward")
_NUMBER_METHODS = frozenset({"mul", "div", "add", "sub", "mul_", "div_", "add_", "sub_", "true_divide", "multiply"})


def ends_of(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions one of which an expression gives: both sides of a conditional one."""
    if isinstance(node, ast.IfExp):
        yield from ends_of(node.body)
        yield from ends_of(node.orelse)
    else:
        yield node


@dataclass(frozen=True)
class Given:
    """What a branch gives a target: its last expression, and for names in it the steps that led there.

    built: the expression does not stand in the file: it was made of the parts of one that writes in place.
    """

    node: ast.expr
    inlined: tuple[tuple[ast.expr, Given], ...] = ()
    built: bool = False

    @property
    def steps(self) -> tuple[ast.expr, ...]:
        """All expressions that are computed, the last one last."""
        return (*(step for _, inner in self.inlined for step in inner.steps), self.node)

    @property
    def hands_on(self) -> bool:
        """Whether the value is an existing object, and not the result of an operation."""
        return any(isinstance(end, ast.Name | ast.Attribute | ast.Subscript) for end in ends_of(self.node))


@dataclass
class Template:
    """Code under construction: text with placeholders, the nodes that these stand for, and the open obstacles.

    edits: what else must change in the function for the code to be right. named: conditions that have a name already.
    mixes: whether a condition may be made of what is a tensor on one way and a Python bool on another: it may then be
    on another device than the tensors of the function. unrecorded: no gradient is recorded where the code runs.
    """

    parts: dict[str, ast.AST] = field(default_factory=dict)
    obstacles: list[Obstacle] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    named: dict[tuple[ast.expr, ...], str] = field(default_factory=dict)
    mixes: bool = False
    unrecorded: bool = False
    _stays: tuple[int, int, int] = (0, 0, 0)

    def use(self, node: ast.AST, *, operand: bool = False) -> str:
        """A placeholder for a node; `operand` asks for parentheses where the node is no atom."""
        name = f"p{len(self.parts)}"
        self.parts[name] = node
        return f"({{{name}}})" if operand and not isinstance(node, ATOMS) else f"{{{name}}}"

    def code(self, given: Given, *, operand: bool = False) -> str:
        """The code of a value that a branch gives a target, with the steps that led to it put in."""
        if not given.inlined and not given.built:
            return self.use(given.node, operand=operand)
        text = ast.unparse(self._assembled(given, given.node, operand=False)).replace("{", "{{").replace("}", "}}")
        text = _PLACEHOLDER.sub(lambda m: f"({{p{m[2]}}})" if m[1] == "operand" else f"{{p{m[2]}}}", text)
        return f"({text})" if operand and not isinstance(given.node, ATOMS) else text

    def _assembled(self, given: Given, node: ast.AST, *, operand: bool) -> ast.AST:
        """A copy of a node in which original nodes are placeholders and names are what was inlined for them."""
        for name, inner in given.inlined:
            if name is node:
                return self._assembled(inner, inner.node, operand=operand)
        made = (given.built and node is given.node) or not hasattr(node, "lineno")
        whole = not made and not any(name in ast.walk(node) for name, _ in given.inlined)
        if isinstance(node, ast.expr) and whole and not _is_signed_number(node) and not _is_slice(node):
            self.use(node)
            return ast.Name(f"compilefix_{'operand' if operand else 'whole'}_{len(self.parts) - 1}", ast.Load())
        copied = copy.copy(node)
        for field_name, child in ast.iter_fields(node):
            inside = isinstance(node, _OPERATIONS) or (field_name in ("value", "func") and isinstance(node, ast.expr))
            if isinstance(child, list):
                parts = [self._assembled(given, c, operand=inside) if isinstance(c, ast.AST) else c for c in child]
                setattr(copied, field_name, parts)
            elif isinstance(node, ast.Subscript) and child is node.slice and isinstance(child, ast.Tuple):
                # `i, j` in brackets is no expression by itself.
                elements = [self._assembled(given, c, operand=False) for c in child.elts]
                copied.slice = ast.Tuple(elements, ast.Load())  # type: ignore[attr-defined,arg-type]
            elif isinstance(child, ast.expr):
                loose = not isinstance(node, ast.IfExp) or isinstance(child, ast.IfExp | ast.Lambda | ast.NamedExpr)
                setattr(copied, field_name, self._assembled(given, child, operand=inside and loose))
        return copied

    def used_in(self, code: str) -> dict[str, ast.AST]:
        """The parts that a text names, where the code is several texts."""
        return {name: part for name, part in self.parts.items() if f"{{{name}}}" in code}

    def keep(self) -> None:
        """What was written so far stays when another way to write the rest is tried."""
        self._stays = (len(self.parts), len(self.obstacles), len(self.edits))

    def reset(self) -> None:
        """Begin again: another way to write the code is tried."""
        parts, obstacles, edits = self._stays
        self.parts = dict(list(self.parts.items())[:parts])
        del self.obstacles[obstacles:]
        del self.edits[edits:]

    def refuse(self, obstacles: Iterable[Obstacle]) -> None:
        """Note what stands in the way."""
        self.obstacles.extend(o for o in obstacles if o not in self.obstacles)

    @property
    def broken(self) -> str | None:
        """The condition that no assumption can heal."""
        return next((o.reason for o in self.obstacles if o.assumption is None), None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What could not be proved."""
        return tuple(dict.fromkeys(o.reason for o in self._open))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the user must vouch for."""
        return tuple(dict.fromkeys(o.assumption for o in self._open if o.assumption is not None))

    @property
    def _open(self) -> list[Obstacle]:
        return [o for o in self.obstacles if not self.unrecorded or o.assumption not in _OF_GRADIENTS]


def read_of(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The tensor whose value a call reads as one number: `t.item()`, `float(t)`, `int(t.item())`, `bool(t)`."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        if not scope.value(node.func.value).is_tensor or _is_cast(scope.parents.get(node), scope):
            return None  # `int(t.item())` reads the number as a whole
        return node.func.value
    if not _is_cast(node, scope):
        return None
    given = node.args[0]
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "item":
        given = given if given.args else given.func.value
    return given if scope.value(given).is_tensor else None


def _is_cast(node: ast.AST | None, scope: Scope) -> bool:
    """Whether a node is `float(x)`, `int(x)` or `bool(x)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in CASTS
        and scope.callee(node) == node.func.id
        and len(node.args) == 1
    )


def decides(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression is (part of) the test of a statement or conditional expression, and nothing else."""
    child = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
            return parent.test is child
        compares = isinstance(parent, ast.Compare) and child is node
        negates = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        if not (compares or negates or isinstance(parent, ast.BoolOp)):
            return False
        child = parent
    return False


def where(scope: Scope) -> str:
    """How this file writes `torch.where`."""
    return f"{torch_name(scope)}.where"


def torch_name(scope: Scope) -> str:
    """The local name of torch; a fix that uses it must list `imports(scope)`."""
    return scope.local_name("torch") or "torch"


def imports(scope: Scope) -> tuple[str, ...]:
    """The import that `torch_name` needs."""
    return () if scope.local_name("torch") else ("torch",)


def numbers(values: Sequence[Value]) -> list[bool | int | float] | None:
    """The constants, when all of the values are constant numbers of one type, or floats that are fixed while tracing.

    One of these that is not known counts as one that no tensor holds exactly.
    """
    if not all(v.is_(Kind.STATIC, Kind.SIZE) for v in values):
        return None
    unknown = [v for v in values if v.const is None]
    if unknown and not all(v.dtype == "float" and v.certain for v in values):
        return None
    found = [v.const.value if v.const is not None else _NOT_EXACT for v in values]
    if not all(isinstance(n, int | float) for n in found):
        return None
    if len({type(n) for n in found}) != 1 or isinstance(found[0], bool):
        return None
    return [n for n in found if isinstance(n, int | float)]


_NOT_EXACT = 0.1


def number_conversion(
    uses: Sequence[ast.expr], constants: Sequence[bool | int | float], scope: Scope, at: ast.AST
) -> tuple[str, list[Obstacle]]:
    """What to append to `torch.where(c, 0.5, 1.0)` so that every use gives the same tensor, and what is not proved.

    A tensor without dimensions acts like a Python number beside a tensor that has dimensions. Beside one that may have
    none it would widen the result, so it takes that tensor's dtype.
    """
    obstacles: list[Obstacle] = []
    partners: list[ast.expr] = []
    added = next(added_after(uses, at, scope), None)
    if added is not None:
        reason = f"`{snippet(added)}` would change the tensor in place, where a number became another one"
        obstacles.append(Obstacle(reason))
    for use in uses:
        partner = _partner(use, scope)
        if partner is None and _needs_number(use, scope):
            reason = f"line {use.lineno} needs the selected number as a Python number, and would read the tensor"
            obstacles.append(Obstacle(reason))
        elif partner is None:
            statement = scope.statement(use)
            obstacles.append(
                Obstacle(
                    f"line {statement.lineno} uses the selected number otherwise than in tensor arithmetic",
                    "number-to-tensor",
                )
            )
            if _rounds_otherwise(use, scope):
                reason = f"line {statement.lineno}: a power or quotient is rounded otherwise for a tensor"
                obstacles.append(Obstacle(reason, "float32-rounding"))
        else:
            partners.append(partner)
    if not (partners or obstacles):
        return "", [Obstacle("the selected number is not used")]
    if not all(exact(c) for c in constants):
        obstacles.append(
            Obstacle(
                "a number is not exact in half precision: as a tensor it is rounded before it is used",
                "float32-rounding",
            )
        )
    if not partners:
        return "", obstacles
    if all(scope.value(p).dimensioned for p in partners):
        return "", obstacles
    first = partners[0]
    value = scope.value(first)
    env = scope.facts.env_before.get(scope.statement(at), {})
    known = (
        isinstance(first, ast.Name)
        and first.id in env
        and env[first.id].dtype_id is not None
        and all(scope.value(p).dtype_id == env[first.id].dtype_id for p in partners)
    )
    if known and value.dtype == "float" and isinstance(first, ast.Name):
        return f".to({first.id}.dtype)", obstacles
    obstacles.append(
        Obstacle(
            f"`{ast.unparse(first)}` is not proved to have a dimension: without one, the result's dtype would widen",
            "number-to-tensor",
        )
    )
    return "", obstacles


def _needs_number(use: ast.expr, scope: Scope) -> bool:
    """Whether a use needs a Python number: as a bound, size, level, key or text, or to decide what runs.

    `torch.tensor` takes a tensor too, and warns of it.
    """
    child: ast.AST = use
    for parent in scope.ancestors(use):
        if isinstance(parent, ast.Slice | ast.FormattedValue) or is_looked_up(child, parent):
            return True
        if isinstance(parent, ast.Subscript):
            return parent.slice is child and not scope.value(parent.value).may_be(Kind.TENSOR)
        if isinstance(parent, ast.keyword):
            call = scope.parents.get(parent)
            copied = isinstance(call, ast.Call) and warns_of_copy(child, call, scope)
            return copied or parent.arg in ("dim", "size", "k", "dims")
        if isinstance(parent, ast.Call):
            # A line that was carried to the boundary shows the number.
            shown = isinstance(parent.func, ast.Name) and parent.func.id == "emit"
            name = scope.callee(parent) or ""
            read = shown or _takes_numbers(name) or _of_library(name, scope) or warns_of_copy(child, parent, scope)
            return child is not parent.func and read
        if isinstance(parent, ast.BinOp) and any(_is_sequence(side, scope) for side in (parent.left, parent.right)):
            return True
        if isinstance(parent, ast.stmt) or not isinstance(parent, ast.BinOp | ast.UnaryOp):
            return isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is child
        child = parent
    return False


def _takes_numbers(name: str) -> bool:
    """Whether a function reads a tensor back, or shows another text: what comes with Python, and sizes."""
    if "." in name and name.partition(".")[0] in sys.stdlib_module_names:
        return True
    place, _, short = name.rpartition(".")
    return name in _OF_NUMBERS or (place in ("torch", "Tensor") and short in _OF_SIZES)


def _of_library(name: str, scope: Scope) -> bool:
    """Whether a function is one of a library that is neither torch nor part of the project: it may ask for a number."""
    package, _, inner = name.partition(".")
    outside = bool(inner) and package not in ("torch", "Tensor")
    return outside and isinstance(scope.legality.inference.project.resolve(name), str)


_OF_NUMBERS = frozenset(
    {"range", "int", "float", "bool", "str", "repr", "format", "print", "isinstance", "type", "hash", "len", "round"}
)
_OF_SIZES = frozenset(
    {"zeros", "ones", "empty", "rand", "randn", "eye", "view", "reshape", "expand", "repeat", "unflatten", "split"}
    | {"chunk", "topk", "narrow", "transpose", "movedim", "squeeze", "unsqueeze", "select", "flip", "roll", "unfold"}
)


def _is_sequence(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).is_(Kind.CONTAINER) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _rounds_otherwise(use: ast.expr, scope: Scope) -> bool:
    """Whether a tensor takes a number in a way that rounds otherwise for another tensor: `x ** 3` multiplies."""
    parent = scope.parents.get(use)
    if isinstance(parent, ast.Call):
        return (scope.callee(parent) or "").rpartition(".")[2] in ("pow", "div", "true_divide")
    return isinstance(parent, ast.BinOp | ast.AugAssign) and isinstance(parent.op, ast.Pow | ast.Div)


def _partner(use: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that a number is combined with, when that is all that happens to it."""
    parent = scope.parents.get(use)
    other: ast.expr | None = None
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _NUMBER_OPERATORS):
        other = parent.right if parent.left is use else parent.left
        if isinstance(parent.op, ast.Div) and parent.left is use:
            return None  # torch divides a number by a tensor through the reciprocal, which rounds otherwise
    elif isinstance(parent, ast.AugAssign) and parent.value is use and isinstance(parent.op, _NUMBER_OPERATORS):
        other = parent.target
    elif (
        isinstance(parent, ast.Call)
        and use in parent.args
        and len(parent.args) == 1
        and not parent.keywords
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in _NUMBER_METHODS
    ):
        other = parent.func.value
    if other is None or not scope.value(other).is_tensor or not scope.value(other).certain:
        return None
    return other


def exact(number: object) -> bool:
    """Whether a constant is a number that is the same in float16, bfloat16 and float32."""
    if not isinstance(number, int | float):
        return False
    value = float(number)
    try:
        half = struct.unpack("e", struct.pack("e", value))[0]
    except OverflowError:
        return False
    bits = struct.unpack("I", struct.pack("f", value))[0]
    return bool(half == value and bits & 0xFFFF == 0)


def judge_selection(
    names: Sequence[str],
    sides: Sequence[Given | None],
    values: Sequence[Value],
    uses: Sequence[ast.expr],
    scope: Scope,
    at: ast.AST,
    template: Template,
    computed: ast.stmt | None = None,
    finite: Collection[ast.expr] = (),
) -> str:
    """Note what stands in the way of computing all sides and selecting one; what to append to the selection.

    `names` are the targets; a side that is None keeps what the target has. `uses` are the places where two selected
    numbers would go, and `at` is the statement or expression that is replaced. `computed` is the statement in which
    the sides are computed, where that is another one. `finite` are sides that `double_where` writes.
    """
    if _is_truth(values, names, at):
        template.refuse(as_tensor(names, uses, scope))
    constants = numbers(values)
    if constants is not None or any(value.leaves for value in values):
        for test in (node.test for node in ast.walk(at) if isinstance(node, ast.If | ast.IfExp)):
            template.refuse(scope.recomputed(test, _own_writes(uses, scope)))
    if constants is not None:
        if any(value.const is None for value in values):
            steps = [step for side in sides if side is not None for step in side.steps]
            template.refuse(scope.legality.both_evaluated(steps, scope.facts))
        suffix, obstacles = number_conversion(uses, constants, scope, at)
        template.refuse(obstacles)
        return suffix
    last = len(sides) - 1
    for index in range(last):
        pair = (values[index], values[last])
        template.refuse(_selected((sides[index], sides[last]), pair, scope, at, names, computed, finite))
    if names and all(v.is_unknown for v in values) and not any(_is_more_than_handed_on(name, scope) for name in names):
        template.refuse([Obstacle(f"nothing tells that `{names[0]}` is a tensor: it is only handed on")])
    if any(v.is_(Kind.STATIC, Kind.SIZE) for v in values):
        read = next((use for use in uses if _needs_number(use, scope)), None)
        if read is not None:
            template.refuse([Obstacle(f"line {read.lineno} needs a Python number, and would read the tensor")])
    if not all(v.is_tensor for v in values):
        template.refuse(_asked_for_type(names, scope.statement(at), scope))
    kept = [v for side, v in zip(sides, values, strict=True) if side is None or _shares(side.node, v, scope)]
    template.refuse(scope.legality.aliasing(names, kept, scope.statement(at), scope.facts))
    asked = _OF_ONE_TENSOR if kept else frozenset[str]()
    if not all(are_same(value.leaves, values[-1].leaves) for value in values):
        asked |= {"requires_grad"}
    template.refuse(_asked_for_identity(names, asked, scope.statement(at), scope))
    return ""


def _is_more_than_handed_on(name: str, scope: Scope) -> bool:
    """Whether a function does more with a local name than to return it, or to put it into an object or a list."""
    if not name.isidentifier():
        return True
    for load in scope.function.of(ast.Name):
        if load.id != name or not isinstance(load.ctx, ast.Load):
            continue
        around = scope.parents.get(load)
        if isinstance(around, ast.keyword):
            around = scope.parents.get(around)
        if isinstance(around, ast.Call):
            made = ast.unparse(around.func).rpartition(".")[2].lstrip("_")
            if load is around.func or not made[:1].isupper() or (scope.callee(around) or "").startswith("torch."):
                return True
        elif not isinstance(around, ast.Return | ast.Tuple | ast.List | ast.Dict):
            return True
    return False


def _picks_from(end: ast.expr, other: str, at: ast.AST, scope: Scope) -> bool:
    """Whether a side is rows of the other: `x[rows]` beside `x` where the test asks `rows`, or values list them."""
    if not isinstance(end, ast.Subscript) or ast.unparse(end.value) != other:
        return False
    rows = end.slice.elts[0] if isinstance(end.slice, ast.Tuple) and end.slice.elts else end.slice
    if not isinstance(rows, ast.Name):
        return False
    asked = isinstance(at, ast.If | ast.IfExp) and any(
        isinstance(n, ast.Name) and n.id == rows.id for n in ast.walk(at.test)
    )
    return scope.value(rows).may_be(Kind.TENSOR) and (asked or selection_of(rows, scope) is not None)


def _is_truth(values: Sequence[Value], names: Sequence[str], at: ast.AST) -> bool:
    """Whether an `if` selects a truth, for a name or to return it."""
    return are_truths(values) and (bool(names) or isinstance(at, ast.If))


def _asked_for_type(names: Sequence[str], at: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """Whether what is selected is asked for its type later: where a side is no tensor, the answer would be another."""
    for name in names:
        for load in scope.names(name) if name.isidentifier() else ():
            call = scope.parents.get(load)
            if (
                isinstance(call, ast.Call)
                and load in call.args[:1]
                and scope.callee(call) in _TYPE_QUESTIONS
                and load.lineno > (at.end_lineno or at.lineno)
            ):
                yield Obstacle(f"line {load.lineno} asks for the type of `{name}`, which would always be a tensor")


def _asked_for_identity(names: Sequence[str], asked: Collection[str], at: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """Whether code asks later which tensor it has, by `is` or an attribute in `asked`.

    Where a tensor was kept, there is a new one now, which is never a leaf.
    """
    again = any(isinstance(around, ast.For | ast.While) for around in scope.ancestors(at))
    for name in names:
        for load in scope.names(name) if name.isidentifier() else ():
            later = again or load.lineno > (at.end_lineno or at.lineno)
            if later and _asks(load, asked, scope):
                yield Obstacle(f"line {load.lineno} asks which tensor `{name}` is, which would always be a new one")


def _asks(load: ast.Name, asked: Collection[str], scope: Scope) -> bool:
    parent = scope.parents.get(load)
    if isinstance(parent, ast.Attribute):
        return parent.attr in asked
    if "is" in asked and isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Is | ast.IsNot):
        return not any(isinstance(side, ast.Constant) for side in (parent.left, *parent.comparators))
    if "is" not in asked:
        return False
    return _is_differentiated_by(load, scope) or _is_key(load, parent, scope)


def _is_key(load: ast.Name, parent: ast.AST | None, scope: Scope) -> bool:
    """Whether a tensor is looked up, or kept, by its identity: `x in seen`, `known[x]`, `{x: 1}`, `id(x)`."""
    if isinstance(parent, ast.Compare):
        return parent.left is load and isinstance(parent.ops[0], ast.In | ast.NotIn)
    if isinstance(parent, ast.Subscript):
        return parent.slice is load and scope.value(parent.value).is_(Kind.CONTAINER)
    if isinstance(parent, ast.Dict):
        return load in parent.keys
    if isinstance(parent, ast.Call):
        return load in parent.args and scope.callee(parent) in ("id", "hash", "weakref.ref")
    return isinstance(parent, ast.Set)


def _is_differentiated_by(load: ast.Name, scope: Scope) -> bool:
    """Whether a gradient with respect to a tensor is asked for: what was computed of the one before has none."""
    asked: ast.expr = load
    around = scope.parents.get(load)
    while isinstance(around, ast.Tuple | ast.List | ast.keyword):
        asked = asked if isinstance(around, ast.keyword) else around
        around = scope.parents.get(around)
    if not isinstance(around, ast.Call) or not (scope.callee(around) or "").endswith(_DIFFERENTIATE):
        return False
    named = any(k.arg == "inputs" and k.value is asked for k in around.keywords)
    return named or ((scope.callee(around) or "").endswith(".grad") and asked in around.args[1:2])


def _own_writes(uses: Sequence[ast.expr], scope: Scope) -> frozenset[ast.AST]:
    """The writes in place that are all that a number is used for: `x.div_(n)` in every use of `n`.

    What is written is then what the number works on. Where that needs a gradient it is not read again (measured in
    tests/codemods/test_recomputed.py), and where it needs none nobody asks for the number in the backward pass.
    """
    found = [scope.parents.get(use) for use in uses]
    calls = [
        call
        for call, use in zip(found, uses, strict=True)
        if isinstance(call, ast.Call)
        and call.args == [use]
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ("mul_", "div_")
    ]
    return frozenset(calls) if len(calls) == len(uses) else frozenset()


def _selected(
    sides: tuple[Given | None, Given | None],
    values: tuple[Value, Value],
    scope: Scope,
    at: ast.AST,
    names: Sequence[str],
    computed: ast.stmt | None,
    finite: Collection[ast.expr],
) -> Iterator[Obstacle]:
    steps = [step for side in sides if side is not None for step in side.steps]
    yield from scope.legality.both_evaluated(steps, scope.facts)
    unmended = [side.node for side in sides if side is not None and side.node not in finite]
    yield from scope.legality.indices(unmended, scope.facts)
    if not _is_truth(values, names, at):
        yield from scope.legality.same_type(*values)
    yield from _unlike(sides, scope, at, names)
    then, orelse = (side.node if side is not None else None for side in sides)
    kept = frozenset(names) if None in sides else frozenset[str]()
    used = {ast.unparse(n) for step in steps for n in reached(step, scope.facts) if is_path(n)}
    for side, value in zip(sides, values, strict=True):
        if side is None:
            for name in names:
                if name.replace(".", "").isidentifier() and name not in used:
                    yield from scope.legality.kept(name, value, scope.statement(at), scope.facts)
    yield from scope.legality.gradients(then, orelse, values, scope.facts, kept, finite)
    if values[0].leaves or values[1].leaves:
        earlier = [step for side in sides if side is not None for step in side.steps[:-1]]
        yield from scope.legality.finite(earlier, scope.facts)
    yield from scope.legality.saved(steps, computed or scope.statement(at), scope.facts)
    if is_changed(scope, at) and not is_only_computed_with(names, scope, at):
        yield from _unrecorded(sides, values, scope, at)


def _unlike(
    sides: tuple[Given | None, Given | None], scope: Scope, at: ast.AST, names: Sequence[str]
) -> Iterator[Obstacle]:
    """Where the sides are seen to be no two tensors of one shape, dtype, device and layout."""
    shown = [ast.unparse(side.node) if side is not None else ", ".join(names) for side in sides]
    given = [(shown[0], shown[1], at), *_given_in(at, names)]
    if any(asked_to_differ(one, other, place, scope) for one, other, place in given):
        yield Obstacle(f"the sides differ in shape where `{shown[0]}.shape` was compared with `{shown[1]}.shape`")
    ways = [tuple(ends_of(side.node)) if side is not None else () for side in sides]
    for first, second in product(*ways):
        if is_placed_otherwise(first, second):
            yield Obstacle(f"the sides differ in shape: `{snippet(first)}` and `{snippet(second)}`")
        whole, divided = (first, second) if scope.value(first).dtype in ("bool", "int") else (second, first)
        if scope.value(whole).is_tensor and scope.value(whole).dtype in ("bool", "int") and _is_quotient(divided):
            yield Obstacle(f"the sides differ in dtype: `{snippet(divided)}` is never {scope.value(whole).dtype}")
    for side, other in zip(sides, reversed(shown), strict=True):
        ends = tuple(ends_of(side.node)) if side is not None else ()
        for end in ends:
            if is_resized(end, other, scope):
                yield Obstacle(f"the sides differ in shape: `{snippet(end)}` has another one than `{other}`")
            if is_empty(end, scope) and other != ast.unparse(end):
                yield Obstacle(f"the sides differ in shape: `{snippet(end)}` has no elements")
            if is_other_object(end, scope):
                yield Obstacle(f"`{snippet(end)}` is not a tensor")
            if is_ragged(end, scope) or _picks_from(end, other, at, scope):
                yield Obstacle(f"the size of `{snippet(end)}` depends on values, and is not that of the other side")
        calls = [end.func for end in ends if isinstance(end, ast.Call)]
        if any(isinstance(func, ast.Attribute) and func.attr == "contiguous" for func in calls):
            yield Obstacle("one side is laid out anew in memory, and a later `view` depends on it", "same-shape-dtype")
    taken = [end.id for side in sides if side is not None for end in ends_of(side.node) if isinstance(end, ast.Name)]
    for name in dict.fromkeys((*names, *taken)):
        read = asked_as_object(name, at, scope, before=None in sides or name in taken)
        if read is not None:
            yield Obstacle(f"`{name}` is not a tensor, which has no `{read.attr}`")
    tests = [node.test for node in ast.walk(at) if isinstance(node, ast.If | ast.IfExp)]
    for side in sides:
        made = side is not None and on_default_device(side.node, scope)
        if side is not None and made and not all(on_default_device(test, scope) for test in tests[:1]):
            reason = f"`{snippet(side.node)}` is made on the default device, and the condition may be on another one"
            yield Obstacle(reason, "same-shape-dtype")


def _unrecorded(
    sides: tuple[Given | None, Given | None], values: tuple[Value, Value], scope: Scope, at: ast.AST
) -> Iterator[Obstacle]:
    """Where a side would lose its gradient, as none is recorded for what is selected."""
    for side, value in zip(sides, values, strict=True):
        if value.leaves and (side is None or side.built or side.hands_on):
            decorated = is_decorated(scope, at)
            if decorated and not _keeps_leaf(value, scope):
                continue  # it was computed here
            # Of its arguments a whole function hands one on as it was given; a parameter of a module is trained.
            arguments = {parameter.arg for parameter in scope.function.parameters}
            handed_on = decorated and all(leaf_of(leaf) in arguments for leaf in value.leaves)
            reason = "no gradient is recorded here: the selected tensor would lose the one that it has"
            yield Obstacle(reason, "no-aliasing" if handed_on else None)


def _keeps_leaf(value: Value, scope: Scope) -> bool:
    """Whether a tensor may share the memory of one that its gradient would go to, and is not only computed of it."""
    memory = value.storage
    leaves = set(map(leaf_of, value.leaves))
    if all(token.startswith(f"{scope.function.qualname}@") for token in memory):
        leaves.discard(ANY_LEAF)  # it is new memory, and the leaf was there before
    return bool(memory) and (ANY_LEAF in leaves or any({leaf, f"param:{leaf}"} & memory for leaf in leaves))


def _is_quotient(node: ast.expr) -> bool:
    """Whether an expression is a true division, which gives no integers."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _given_in(at: ast.AST, names: Sequence[str]) -> Iterator[tuple[str, str, ast.AST]]:
    """What the names are given in a branch, each name, and where: a test inside the branch may say more of it."""
    for node in ast.walk(at) if isinstance(at, ast.If) else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in names:
            yield ast.unparse(node.value), target.id, node


def _shares(node: ast.expr, value: Value, scope: Scope) -> bool:
    """Whether a value may be, or be a view of, a tensor that stands in its expression."""
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return any(may_share(scope.value(name).storage, value.storage) for name in names)


def _is_slice(node: ast.AST) -> bool:
    """Whether an index is no expression by itself: `1:` and `:, 1:`."""
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Tuple) and any(map(_is_slice, node.elts)))


def _is_signed_number(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
