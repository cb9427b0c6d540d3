"""CF206: a number read from a tensor that only `__init__` sets.

## What it does
Finds `float(self.ratio.min())`, `self.steps.item()`, `for step in self.steps.tolist()` and the like in compiled code
where the tensor is an attribute that only `__init__` assigns and nothing writes into, and reads the number once, in
`__init__`. Items of such a tensor that are sizes or bound a slice (`x[:, self.ends[i] : self.ends[i + 1]]`) come from a
list that is made there.

## Why is this bad
The graph ends where the tensor is read (GB0124, GB0109) and on a GPU each call waits for the device, for a number that
is the same at every call. As a Python number it is a constant of the graph, and may decide an `if` or give a size.

## Example
```python
def __init__(self, ratio=(0.75, 1.33)):
    super().__init__()
    self.ratio = torch.tensor(ratio)

def forward(self, x):
    smallest = float(self.ratio.min())
    return x if x.shape[-1] < smallest else x / smallest
```

## Use instead
```python
def __init__(self, ratio=(0.75, 1.33)):
    super().__init__()
    self.ratio = torch.tensor(ratio)
    self._ratio_min = float(self.ratio.min())

def forward(self, x):
    smallest = self._ratio_min
    return x if x.shape[-1] < smallest else x / smallest
```

## Fix safety
The fix needs the assumption `fixed-attribute`: nobody sets the attribute from outside the class or writes into it
through another name, and an error of the read may come when the module is made, as it does on the meta device. Offered
only for attributes that no other code of the project assigns and that are in no state dict: plain tensors, and buffers
with `persistent=False`. Parameters and other buffers may be loaded or trained after `__init__`. An index that the list
does not have raises with another text (`index-in-range`). Many modules of one class with different numbers compile once
for each number.

Graph breaks: GB0109, GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_effects.texts import escaped
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.number_rewrite import number_fix
from compilefix.codemods.host_reads.static_number import reads_static
from compilefix.codemods.number_reads import decides, read_of
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name
from compilefix.source.tree import names_in

_WRITES = re.compile(r"[a-z]_$")
_ARRAY_WRITES = re.compile(
    r"^(?:fill|sort|put|place|putmask|copyto|resize|itemset|partition|set\w+|shuffle|fill_diagonal|at)$"
)
_OF_NUMBERS = frozenset({"abs", "bool", "float", "int", "max", "min", "pow", "range", "round"})
_READS = frozenset({"item", "tolist", "max", "min", "sum", "prod", "mean", "all", "any"})


class FixedAttribute(Rule):
    """Number read from a tensor that only __init__ sets."""

    code = "CF206"
    name = "fixed-attribute"
    summary = "number read at every call from a tensor that only __init__ sets"
    gb = ("GB0109", "GB0124")
    hints = ("self.",)
    assumptions = ("fixed-attribute", "index-in-range", "enough-dimensions")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of such a tensor that cannot stay a tensor."""
        for node in scope.of(ast.Call):
            made = made_in_init(node, scope)
            if made is not None:
                yield self._judge(node, made, scope)
        items: dict[ast.stmt, list[ast.Subscript]] = {}
        for item in scope.of(ast.Subscript):
            made = made_for_item(item, scope)
            if made is not None:
                items.setdefault(made, []).append(item)
        for made, found in items.items():
            yield self._judge_items(found, made, scope)

    def _judge_items(self, items: list[ast.Subscript], made: ast.stmt, scope: Scope) -> Finding:
        """One list for all items that a function reads of an attribute, or the one that another function reads."""
        first, owner = items[0], items[0].value
        assert isinstance(owner, ast.Attribute)
        message = f"`{snippet(first)}` reads at every call a number that `__init__` has fixed, and breaks the graph"
        kept = _kept(f"self.{owner.attr}.tolist()", scope)
        name = kept or _free(f"_{owner.attr.lstrip('_')}_values", scope)
        edits = [] if kept else [scope.edit(made, f"{{made}}\nself.{name} = self.{owner.attr}.tolist()", made=made)]
        edits += [scope.edit(item, f"self.{name}[{{index}}]", index=item.slice) for item in items]
        reasons = (
            f"`{ast.unparse(owner)}` may be set or written from elsewhere after `__init__`",
            f"an index out of range in `{snippet(first)}` raises with another text",
        )
        return self.fixed(scope, first, message, Fix(tuple(edits), (), ("fixed-attribute", "index-in-range"), reasons))

    def _judge(self, node: ast.Call, made: ast.stmt, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` reads at every call a number that `__init__` has fixed, and breaks the graph"
        return self.fixed(scope, node, message, read_once(node, ast.unparse(node), made, scope))


def read_once(node: ast.expr, code: str, made: ast.stmt, scope: Scope) -> Fix:
    """The fix that has `__init__` keep what `code` gives behind the statement that makes the attribute it reads."""
    owner = next(n for n in ast.walk(node) if _is_own(n, scope, Kind.TENSOR, Kind.NDARRAY))
    kept = _kept(code, scope)
    attribute = f"self.{kept or _new_name(ast.parse(code, mode='eval').body, scope)}"
    edits = [scope.edit(node, attribute)]
    if kept is None:
        edits.insert(0, scope.edit(made, f"{{made}}\n{attribute} = {escaped(code)}", made=made))
    assumptions = ["fixed-attribute"]
    reasons = [f"`{ast.unparse(owner)}` may be set or written from elsewhere after `__init__`"]
    listed = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    if _is_list(node) and scope.value(listed).rank != 1 and _may_change(node, scope):
        assumptions.append("enough-dimensions")
        reasons.append(f"`{snippet(node)}` may hold lists, which are the same in each call and may be changed")
    return Fix(tuple(edits), (), tuple(assumptions), tuple(reasons))


def made_in_init(node: ast.Call, scope: Scope) -> ast.stmt | None:
    """Where `__init__` makes the tensor that a call reads numbers from, if nothing else sets it; else None.

    Where the number may stay a tensor, or only decides a branch, there is a better way.
    """
    cls = scope.function.cls
    source = _read_tensor(node, scope)
    if cls is None or source is None or scope.function.node.name == "__init__" or scope.function.parent is not None:
        return None
    names = names_in(node)
    owners = [n for n in ast.walk(source) if _is_own(n, scope)]
    if names - {"self", "float", "int", "bool"} or "self" not in names or len({ast.unparse(o) for o in owners}) != 1:
        return None
    if len(owners) != sum(isinstance(n, ast.Name) and n.id == "self" for n in ast.walk(node)):
        return None
    if not scope.legality.effects.of(source, scope.facts).repeatable:
        return None
    cast = node.func.id if isinstance(node.func, ast.Name) else "item"
    if decides(node, scope) or reads_static(source, scope):
        return None
    owner = owners[0]
    assert isinstance(owner, ast.Attribute)
    made = _only_assignment(owner.attr, scope)
    if made is None or (cast in ("item", "float", "int", "bool") and _has_better(node, source, cast, scope)):
        return None
    return made


def array_made_in_init(node: ast.expr, scope: Scope) -> ast.stmt | None:
    """Where `__init__` makes the one array that an expression is computed of, if nothing else sets it; else None."""
    cls, function = scope.function.cls, scope.function
    if cls is None or function.node.name == "__init__" or function.parent is not None:
        return None
    parts = list(ast.walk(node))
    owners = [n for n in parts if _is_own(n, scope, Kind.NDARRAY)]
    names = [n.id for n in parts if isinstance(n, ast.Name)]
    if len({ast.unparse(o) for o in owners}) != 1 or len(owners) != names.count("self"):
        return None
    if set(names) - {"self", "float", "int", "bool"} or any(isinstance(n, ast.NamedExpr | ast.Starred) for n in parts):
        return None
    if any(isinstance(c.func, ast.Attribute) and c.func.attr not in _READS for c in parts if isinstance(c, ast.Call)):
        return None
    if isinstance(node, ast.Call) and _is_list(node) and not _only_gone_through(node, scope):
        return None
    assert isinstance(owners[0], ast.Attribute)
    return _only_assignment(owners[0].attr, scope, Kind.NDARRAY)


def made_for_item(node: ast.expr, scope: Scope) -> ast.stmt | None:
    """Where `__init__` makes the tensor of which an item is read as an integer, if nothing else sets it; else None."""
    if not isinstance(node, ast.Subscript) or not _is_own(node.value, scope) or integer_place(node, scope) is None:
        return None
    function, index = scope.function, scope.value(node.slice)
    if function.cls is None or function.parent is not None or function.node.name == "__init__":
        return None
    position = index.is_(Kind.STATIC, Kind.SIZE) and index.dtype == "int"
    tensor = scope.value(node.value)
    if not position or isinstance(node.slice, ast.Slice | ast.Tuple) or tensor.dtype not in ("int", None):
        return None
    assert isinstance(node.value, ast.Attribute)
    return _only_assignment(node.value.attr, scope) if tensor.rank in (None, 1) else None


def _kept(code: str, scope: Scope) -> str | None:
    """The attribute in which `__init__` keeps what this code gives already, put there by a fix like this one."""
    cls = scope.function.cls
    init = cls.methods.get("__init__") if cls is not None else None
    for statement in init.node.body if init is not None else ():
        if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == code:
            target = statement.targets[0]
            own = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
            if own and isinstance(target, ast.Attribute) and target.attr.startswith("_"):
                return target.attr
    return None


def _has_better(node: ast.Call, source: ast.expr, cast: str, scope: Scope) -> bool:
    whole = isinstance(node.func, ast.Attribute) and node.func.attr == "tolist"
    return not whole and not isinstance(number_fix(node, source, cast, scope), str)


def _read_tensor(node: ast.Call, scope: Scope) -> ast.expr | None:
    """The tensor that a call reads: one number, or all of them where the list is only gone through."""
    source = read_of(node, scope)
    if source is not None:
        return source
    if scope.callee(node) != "Tensor.tolist" or node.args or not isinstance(node.func, ast.Attribute):
        return None
    return node.func.value if _only_gone_through(node, scope) else None


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist"


def _may_change(node: ast.expr, scope: Scope) -> bool:
    """Whether the items that are taken of a list may be lists themselves, and changed: they are kept too."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript):
        return not _is_number(parent, scope)
    targets = [parent.target] if isinstance(parent, ast.For | ast.comprehension) else []
    targets += parent.targets if isinstance(parent, ast.Assign) else []
    names = names_in(*targets)
    return not all(_is_number(load, scope) for name in names for load in scope.names(name))


def _is_number(item: ast.expr, scope: Scope) -> bool:
    """Whether an item is only computed with, or given to torch or to Python's functions of numbers."""
    parent = scope.parents.get(item)
    if isinstance(parent, ast.Call) and item in parent.args:
        name = scope.callee(parent) or ""
        return name in _OF_NUMBERS or name.startswith(("torch.", "Tensor."))
    return isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare)


def _only_gone_through(node: ast.Call, scope: Scope) -> bool:
    """Whether of a list only the items are taken, so that it may be the same list in each call."""
    parent, source = scope.parents.get(node), node.func.value if isinstance(node.func, ast.Attribute) else node
    if (scope.value(source).rank or 1) > 1 and _may_change(node, scope):
        return False
    passes = isinstance(parent, ast.For | ast.comprehension) and parent.iter is node
    picks = isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load)
    return passes or picks or (isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple))


def _is_own(node: ast.AST, scope: Scope, *kinds: Kind) -> bool:
    """Whether a node is an attribute of `self` that is read and may be a tensor, or one of other kinds."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return False
    value = scope.value(node)
    return any(value.may_be(kind) for kind in kinds or (Kind.TENSOR,)) and isinstance(node.ctx, ast.Load)


def _only_assignment(name: str, scope: Scope, kind: Kind = Kind.TENSOR) -> ast.stmt | None:
    """The statement of `__init__` that gives the attribute a tensor, or array, where no code gives it another."""
    cls = scope.function.cls
    init = cls.methods.get("__init__") if cls is not None else None
    if init is None or not init.parameters or init.parameters[0].arg != "self" or _names(init.cls, name):
        return None
    made = [s for s in init.node.body if _makes(s, name)]
    if len(made) != 1:
        return None
    value = made[0].value if isinstance(made[0], ast.Assign | ast.AnnAssign) else None
    source = value if value is not None else made[0].value.args[1]  # type: ignore[attr-defined]
    facts = scope.legality.inference.facts(init)
    known = facts.value(source)
    if not known.is_(kind) or not known.certain or known.leaves or _is_trained_or_loaded(source, facts):
        return None
    project = scope.legality.inference.project
    for module in project.modules.texts.mentioning(name):
        for function in project.modules[module].all_functions:
            if _changes(function, name, made[0], kind, others=not _concerns(function, scope)):
                return None
    return made[0]


def _names(cls: Class | None, attribute: str) -> bool:
    """Whether a class gives its objects no place for another attribute, or has a value of this name itself."""
    if cls is None:
        return True
    given = {name for statement in cls.node.body for name in _targets(statement)}
    slots = any("slots" in ast.unparse(decorator) for decorator in cls.node.decorator_list)
    return slots or "__slots__" in given or attribute in given


def _targets(statement: ast.stmt) -> set[str]:
    named: list[ast.expr] = list(statement.targets) if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        named = [statement.target]
    return names_in(*named)


def _is_trained_or_loaded(source: ast.expr, facts: FunctionFacts) -> bool:
    """Whether an expression makes a parameter, a buffer of the state dict, or a tensor that asks for a gradient."""
    for call in (n for n in ast.walk(source) if isinstance(n, ast.Call)):
        fixed = {k.arg for k in call.keywords if isinstance(k.value, ast.Constant) and k.value.value is False}
        called = (facts.refs.get(call) or ast.unparse(call.func)).rpartition(".")[2]
        asks = called == "requires_grad_" or any(k.arg == "requires_grad" for k in call.keywords)
        if called.endswith("Parameter") or (asks and "requires_grad" not in fixed):
            return True
        if called.endswith("Buffer") and "persistent" not in fixed:
            return True
    return False


def _concerns(function: Function, scope: Scope) -> bool:
    """Whether the `self` of a function may be the object that the number is read from.

    A subclass with its own method does not come here with what its own `__init__` sets.
    """
    cls, other = scope.function.cls, function.cls
    if cls is None or other is None or other is cls:
        return other is not None
    project = scope.legality.inference.project
    overrides = scope.function.node.name in other.methods and function.node.name == "__init__"
    return other in project.ancestors(cls) or (cls in project.ancestors(other) and not overrides)


def _makes(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return len(targets) == 1 and ast.unparse(targets[0]) == f"self.{name}"
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "self.register_buffer" or len(call.args) < 2:
        return False
    first, keywords = call.args[0], {k.arg: k.value for k in call.keywords}
    persistent = call.args[2] if len(call.args) > 2 else keywords.get("persistent")
    return (
        isinstance(first, ast.Constant)
        and first.value == name
        and isinstance(persistent, ast.Constant)
        and persistent.value is False
    )


def _changes(function: Function, name: str, made: ast.stmt, kind: Kind, *, others: bool) -> bool:
    """Whether a function gives an attribute of this name another value, or writes into it.

    With `others` only those of objects other than its `self` count.
    """
    own = set(ast.walk(made))
    written: list[ast.expr] = [n for n in function.of(ast.Attribute) if not isinstance(n.ctx, ast.Load)]
    written += [n.value for n in function.of(ast.Subscript) if not isinstance(n.ctx, ast.Load)]
    written += [n.target for n in function.of(ast.AugAssign)]
    for call in function.of(ast.Call):
        called = last_name(call.func)
        if (_WRITES if kind is Kind.TENSOR else _ARRAY_WRITES).search(called):
            written += [*([call.func.value] if isinstance(call.func, ast.Attribute) else []), *call.args[:1]]
        written += [k.value for k in call.keywords if k.arg == "out"]
        asks = isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr")
        if not asks and not others and call not in own:
            written += [ast.Attribute(a, name) for a in call.args if isinstance(a, ast.Constant) and a.value == name]
    return any(
        isinstance(n, ast.Attribute)
        and n.attr == name
        and n not in own
        and not (others and isinstance(n.value, ast.Name) and n.value.id == "self")
        for node in written
        for n in ast.walk(node)
    )


def _new_name(code: ast.expr, scope: Scope) -> str:
    """`_ratio_min` for `float(self.ratio.min())`, `_ratio_value` for `self.ratio.item()`."""
    chain = [n.attr for n in ast.walk(code) if isinstance(n, ast.Attribute)]
    owner = next(n for n in ast.walk(code) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self").attr
    words = [w for w in reversed(chain) if w not in (owner, "item", "tolist", "cpu", "detach")]
    if any(isinstance(n, ast.Compare | ast.BoolOp) for n in ast.walk(code)):
        words = ["test"]
    elif any(isinstance(n, ast.Subscript) for n in ast.walk(code)):
        words += [str(n.value) for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, int)]
    default = "values" if "tolist" in chain else "value"
    return _free("_".join(["", owner.lstrip("_"), *(words or [default])]), scope)


def _free(base: str, scope: Scope) -> str:
    """A name for an attribute that the file does not have."""
    text, name, count = scope.function.module.file.text, base, 2
    while re.search(rf"\b{name}\b", text):
        name, count = f"{base}_{count}", count + 1
    return name
