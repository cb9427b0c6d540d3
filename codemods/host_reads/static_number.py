"""CF203: a number that is known without its tensor.

## What it does
Finds integers that take a detour through a tensor although Python knows them: `torch.tensor(x.shape).prod()`,
`torch.prod(torch.tensor(x.shape[1:])).item()`, `int(torch.tensor(sizes).sum())`, `torch.tensor(x.shape[0]) // 2` as a
slice bound or size, `torch.div(x.shape[1], 2, rounding_mode="floor")`, the smaller of two such, a cumulative sum
of Python integers of which the last is read, and the largest, smallest or sum of a list that a tensor with a name was
made of (`lengths = torch.tensor([len(s) for s in x])`, then `lengths.max().item()`): the list gets a name too.

## Why is this bad
The graph ends where the tensor is read as a number (GB0124 for `.item()`, `int()` and slices, GB0033 for sizes), though
the number is a constant or a shape, which Dynamo follows without a tensor.

## Example
```python
size = torch.prod(torch.tensor(x.shape[1:]))
return x.view(x.shape[0], size)
```

## Use instead
```python
size = math.prod(x.shape[1:])
return x.view(x.shape[0], size)
```

## Fix safety
Safe where every use reads the tensor as an integer and the shape is proved to have a dimension: `torch.tensor` of an
empty shape is a float tensor, whose product is the float 1.0 (`static-shape-values` otherwise). Integers of Python do
not wrap round at 2**63. A divisor that is not known must be a positive integer (`static-shape-values`). So must a list
have an item of which that is not known: `max` of none is another error.

Graph breaks: GB0033, GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.tensor_range import is_plain_device
from compilefix.codemods.names import free_name
from compilefix.codemods.numpy_calls.number_signs import sign_of
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_TENSOR_OF = frozenset({"torch.tensor", "torch.as_tensor"})
_INTEGER_DTYPES = frozenset({"torch.int64", "torch.long"})
_DIVISIONS = frozenset({"torch.div", "torch.divide", "torch.floor_divide"})
_OF_TWO = {"torch.min": "min", "torch.minimum": "min", "torch.max": "max", "torch.maximum": "max"}
_REDUCES = {"prod": "math.prod", "sum": "sum", "max": "max", "min": "min", "amax": "max", "amin": "min"}
_BINDS_TIGHTER = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute)
_FOLLOWED = (ast.Add, ast.Sub, ast.Mult)
_SYMBOLS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//"}


@dataclass
class _Code:
    """Python code for what a tensor of integers holds: `vector` for a sequence, else one integer.

    `total`: the tensor is a cumulative sum, and the code is that of its last item.
    """

    template: Template
    vector: bool = False
    text: str = ""
    imports: set[str] = field(default_factory=set)
    total: bool = False


class StaticNumber(Rule):
    """Number that is known without its tensor."""

    code = "CF203"
    name = "static-number"
    summary = "integer known from shapes or constants that is read from a tensor"
    gb = ("GB0033", "GB0124")
    hints = ("tensor(", "div(", "floor_divide(")
    assumptions = ("static-shape-values",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Tensors made of integers that Python knows, where one is read as an integer."""
        for node in scope.nodes:
            if isinstance(node, ast.expr) and is_static(node, scope) and not _inner(node, scope):
                yield from self._judge(node, scope)

    def _judge(self, node: ast.expr, scope: Scope) -> Iterator[Finding]:
        template = Template()
        made = _python(node, scope, template)
        if made is None or made.vector:
            return
        places = _places(node, scope)
        if not places:
            return
        read = next((place for place in places if place is not None and place[1] is not None), None)
        # Of fixed shapes Dynamo knows it, but for bounds of slices and what reads a tensor by a call.
        fixed = all(place is not None and place[1] == "a size" for place in places)
        where = ", where shapes are dynamic" if fixed or not scope.value(node).is_tensor else ""
        message = (
            f"`{snippet(node)}` makes a tensor of integers that Python knows: reading it as a number breaks the graph"
            f"{where}"
        )
        if read is None or None in places:
            if read is not None:
                reason = "some of its uses take the tensor: use a Python integer where an integer is wanted"
                yield self.declined(scope, node, message, reason)
            return
        target = places[0][0] if places[0] is not None and places[0][0] is not None else node
        whole = target if len(places) == 1 and node in ast.walk(target) else node
        code = made.text
        if code.startswith("(") and not isinstance(scope.parents.get(whole), _BINDS_TIGHTER):
            code = code[1:-1]
        edits: list[Edit] = [*template.edits, scope.edit(whole, code, **template.used_in(code))]
        for place in places:
            if place is not None and place[0] is not None and place[0] is not whole:
                edits.append(scope.edit(place[0], "{name}", name=_name_in(place[0])))
        fix = Fix(tuple(edits), tuple(sorted(made.imports)), template.assumptions, template.reasons)
        calls = [place[0] for place in places if place is not None and place[0] is not None]
        elsewhere = calls and len(calls) == len(places) and scope.statement(node) is not scope.statement(calls[0])
        # The graph breaks where the number is read, not where the tensor is made.
        yield self.fixed(scope, calls[0] if elsewhere else node, message, fix)


def is_static(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a tensor made of integers that Python knows."""
    return _python(node, scope, Template()) is not None


def reads_static(source: ast.expr, scope: Scope) -> bool:
    """Whether a tensor that is read is one of those that this rule is about, by itself or under a name."""
    if scope.called.isdisjoint(_TENSOR_OF | _DIVISIONS):
        return False
    if is_static(source, scope):
        return True
    if isinstance(source, ast.BinOp) and isinstance(source.op, _FOLLOWED):
        return any(reads_static(side, scope) for side in (source.left, source.right))
    if not isinstance(source, ast.Name):
        return False
    stores = scope.names(source.id, stores=True)
    statement = scope.parents.get(stores[0]) if len(stores) == 1 else None
    return isinstance(statement, ast.Assign) and is_static(statement.value, scope)


def _python(node: ast.expr, scope: Scope, template: Template) -> _Code | None:
    if isinstance(node, ast.Call):
        return _call(node, scope, template)
    if isinstance(node, ast.Subscript):
        base = _python(node.value, scope, template)
        index = scope.value(node.slice).const
        if base is not None and base.total and index is not None and index.value == -1:
            return _Code(template, text=base.text, imports=base.imports)
        if base is None or not base.vector or base.total or index is None or not isinstance(index.value, int):
            return None
        return _Code(template, text=f"{base.text}[{index.value}]", imports=base.imports)
    if isinstance(node, ast.BinOp) and type(node.op) in _SYMBOLS:
        sides = _sides((node.left, node.right), scope, template)
        if sides is None or not sides.tensor:
            return None
        divisor = scope.value(node.right).const
        if isinstance(node.op, ast.FloorDiv) and (divisor is None or divisor.value == 0):
            return None
        left, right = sides.texts
        return _Code(template, text=f"({left} {_SYMBOLS[type(node.op)]} {right})", imports=sides.imports)
    return None


@dataclass
class _Sides:
    """Code for two integers. `tensor`: whether one of them is read from a tensor as it is written."""

    texts: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    tensor: bool = False


def _sides(nodes: tuple[ast.expr, ast.expr], scope: Scope, template: Template) -> _Sides | None:
    """Code for two integers that Python knows, one of them perhaps in a tensor."""
    found = _Sides()
    for node in nodes:
        code = _python(node, scope, template)
        if code is not None and code.vector:
            return None
        if code is None and not _is_integer(node, scope):
            return None
        found.texts.append(code.text if code is not None else template.use(node, operand=True))
        found.imports |= code.imports if code is not None else set()
        found.tensor = found.tensor or code is not None
    return found


def _is_integer(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int"


def _divided(node: ast.Call, name: str, scope: Scope, template: Template) -> _Code | None:
    """`torch.div(a, b, rounding_mode="floor")` of integers that Python knows."""
    modes = [scope.value(k.value).const for k in node.keywords if k.arg == "rounding_mode"]
    rounding = modes[0].value if modes and modes[0] is not None else None
    named = int(name != "torch.floor_divide")
    if len(node.args) != 2 or not len(node.keywords) == len(modes) == named or (named and rounding is None):
        return None
    dividend, divisor = node.args
    code = _python(dividend, scope, template)
    if code is None and not _is_integer(dividend, scope):
        return None
    positive = sign_of(divisor, scope) == "positive"
    if (rounding == "trunc" and sign_of(dividend, scope) is None) or (
        scope.value(divisor).const is not None and not positive
    ):
        return None  # the two ways of rounding differ for negative integers
    below = _python(divisor, scope, template)
    if below is None and not _is_integer(divisor, scope) and not scope.value(divisor).is_unknown:
        return None
    if code is below is None and not any(scope.value(part).is_(Kind.SIZE) for part in node.args):
        return None  # of constants Dynamo knows the result
    if not positive:
        reason = f"`{snippet(divisor)}` is not proved to be a positive integer"
        template.refuse([Obstacle(reason, "static-shape-values")])
    over = template.use(dividend, operand=True) if code is None else code.text
    under = template.use(divisor, operand=True) if below is None else below.text
    imports = {name for part in (code, below) if part is not None for name in part.imports}
    return _Code(template, text=f"({over} // {under})", imports=imports)


def _call(node: ast.Call, scope: Scope, template: Template) -> _Code | None:
    name = scope.callee(node) or ""
    if name in _TENSOR_OF:
        return _made(node, scope, template)
    if name in _DIVISIONS:
        return _divided(node, name, scope, template)
    if name in _OF_TWO and len(node.args) == 2 and not node.keywords:
        sides = _sides((node.args[0], node.args[1]), scope, template)
        if sides is None or not sides.tensor:
            return None
        text = f"{_OF_TWO[name]}({', '.join(sides.texts)})"
        return _Code(template, text=text, imports=sides.imports)
    bare = name.rpartition(".")[2]
    method = name.startswith("Tensor.") and isinstance(node.func, ast.Attribute)
    if not method and not (name == f"torch.{bare}" and node.args):
        return None
    source = node.func.value if isinstance(node.func, ast.Attribute) and method else node.args[0]
    rest = node.args if method else node.args[1:]
    named = isinstance(source, ast.Name) and bare in _REDUCES
    base = _kept_list(source, scope, template) if named else _python(source, scope, template)
    if base is None or not base.vector or base.total:
        return None
    if bare == "cumsum":
        dim = node.keywords[0].value if node.keywords and not rest else rest[0] if rest else None
        return _Code(template, True, f"sum({base.text})", base.imports, total=True) if _is_zero(dim, scope) else None
    if bare not in _REDUCES or rest or node.keywords:
        return None
    function = _REDUCES[bare]
    imports = base.imports | ({"math"} if function.startswith("math.") else set())
    return _Code(template, text=f"{_function(function, scope)}({base.text})", imports=imports)


def _kept_list(name: ast.expr, scope: Scope, template: Template) -> _Code | None:
    """The integers that a name for a tensor of them was made of, which get a name themselves."""
    assert isinstance(name, ast.Name)
    here = scope.statement(name)
    for statement in reversed(scope.block(here)[: scope.block(here).index(here)]):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, made = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and target.id == name.id:
                break
        if name.id in names_in(statement):
            return None  # it may be written into
    else:
        return None
    if not isinstance(made, ast.Call) or scope.callee(made) not in _TENSOR_OF:
        return None
    code = _made(made, scope, template)
    if code is None or not code.vector:
        return None
    listed = made.args[0]
    kept = free_name(f"{name.id}_numbers", scope)
    if isinstance(listed, ast.ListComp | ast.List):
        template.edits.append(scope.before(statement, f"{kept} = {{listed}}", listed=listed))
        template.edits.append(scope.edit(listed, kept))
    elif isinstance(listed, ast.Name) and not any(scope.local_name(n) or scope.names(n) for n in ("list",)):
        template.edits.append(scope.before(statement, f"{kept} = list({{listed}})", listed=listed))
    else:
        return None
    return _Code(template, True, kept)


def _function(name: str, scope: Scope) -> str:
    module, _, last = name.rpartition(".")
    return f"{scope.local_name(module) or module}.{last}" if module else last


def _is_zero(node: ast.expr | None, scope: Scope) -> bool:
    const = scope.value(node).const if node is not None else None
    return const is not None and const.value in (0, -1) and not isinstance(const.value, bool)


def _made(node: ast.Call, scope: Scope, template: Template) -> _Code | None:
    """`torch.tensor(data)` where the data are Python integers."""
    for keyword in node.keywords:
        integers = keyword.arg == "dtype" and scope.value(keyword.value).ref in _INTEGER_DTYPES
        if not integers and not (keyword.arg == "device" and is_plain_device(keyword.value, scope)):
            return None
    if len(node.args) != 1:
        return None
    data = scope.value(node.args[0])
    if data.is_(Kind.STATIC, Kind.SIZE):
        return _Code(template, text=template.use(node.args[0], operand=True)) if data.dtype == "int" else None
    if not data.is_(Kind.CONTAINER) or data.element is None or data.ref == "dict":
        return None
    if not data.element.is_(Kind.STATIC, Kind.SIZE) or data.element.dtype != "int":
        return None
    if not _length(node.args[0], scope):
        reason = f"`{snippet(node.args[0])}` is not proved to have an item: empty, it makes a tensor of floats"
        template.refuse([Obstacle(reason, "static-shape-values")])
    return _Code(template, True, template.use(node.args[0]))


def _length(node: ast.expr, scope: Scope) -> int:
    """How many items a sequence is proved to have."""
    value = scope.value(node)
    if value.elements is not None:
        return len(value.elements)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        elements = scope.value(node.value).elements
        given = (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [_integer(bound, scope) for bound in given]
        if elements is None or any(b is None and g is not None for b, g in zip(bounds, given, strict=True)):
            return 0
        return len(elements[slice(bounds[0], bounds[1], bounds[2] or None)])
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return int(scope.value(node.value).dimensioned)
    return 0


def _integer(node: ast.expr | None, scope: Scope) -> int | None:
    const = scope.value(node).const if node is not None else None
    return const.value if const is not None and isinstance(const.value, int) else None


def _inner(node: ast.expr, scope: Scope) -> bool:
    """Whether the expression is a part of a larger one of the same sort."""
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.expr) and is_static(parent, scope):
            return True
    return False


_READS = ("`.item()`", "`int()`")
_Place = tuple[ast.expr | None, str | None]


def _places(node: ast.expr, scope: Scope) -> list[_Place | None]:
    """Where the tensor is used: (expression to replace, what reads it); None for a use that takes the tensor."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        loads = scope.names(name)
        everywhere = scope.function.places(name)
        if len(scope.names(name, stores=True)) != 1 or len(everywhere) != len(loads) + 1:
            return [None]
        return [_place(load, scope) for load in loads]
    return [_place(node, scope)]


def _place(node: ast.expr, scope: Scope) -> _Place | None:
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.Attribute) else parent
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and parent.attr == "item" and not call.args:
        return call, _READS[0]
    if isinstance(call, ast.Call) and node in call.args and scope.callee(call) == "int" and len(call.args) == 1:
        return call, _READS[1]
    what = integer_place(node, scope)
    if what is None and isinstance(parent, ast.BinOp) and isinstance(parent.op, _FOLLOWED):
        # An integer beside integers stays one; of a division by zero Python says something else.
        other = parent.right if parent.left is node else parent.left
        what = (_place(parent, scope) or (None, None))[1] if _is_integer(other, scope) else None
        what = what if what not in _READS else None
    return (None, what) if what is not None else None


def _name_in(node: ast.expr) -> ast.expr:
    return next(part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id not in ("int",))
