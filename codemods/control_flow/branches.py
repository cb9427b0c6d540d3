"""What the branch of an `if` does, read as values for its targets."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from compilefix.analysis.in_place import becomes_new_tensor, memory_shared
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import UNKNOWN, Kind, Value, join_all
from compilefix.codemods.constant_tests import always_holds
from compilefix.codemods.control_flow.appended import appended
from compilefix.codemods.control_flow.item_targets import is_item, item_name, item_value, moves, slot_name
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template, ends_of
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet

_OUT_OF_PLACE = frozenset(
    {"add_", "sub_", "mul_", "div_", "clamp_", "neg_", "relu_", "abs_", "masked_fill_", "nan_to_num_", "tanh_", "exp_"}
)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_PLAIN = frozenset({"print", "len", "range", "int", "float", "bool", "min", "max", "isinstance", "zip", "enumerate"})
_FITS_ANY_DTYPE = frozenset({"masked_fill_", "nan_to_num_", "neg_", "relu_", "abs_"})


@dataclass
class Branch:
    """What a block assigns: by name, in order; an attribute by `self.name`.

    together: the names that one tuple assignment binds at once. unpacked: lines that unpack the results of calls, or
    check what is fixed, before anything is selected. own: names that such a line binds, and nobody reads after the
    block. items: the elements among the targets. appended: the calls that append an item, by name. taken: the lines
    of other blocks.
    """

    assigns: dict[str, Given] = field(default_factory=dict)
    together: tuple[str, ...] = ()
    unpacked: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    items: dict[str, ast.Subscript] = field(default_factory=dict)
    appended: dict[str, ast.Call] = field(default_factory=dict)
    taken: Sequence[str] = ()


def read_branch(
    body: Sequence[ast.stmt], around: ast.stmt, scope: Scope, template: Template, taken: Sequence[str] = ()
) -> Branch | None:
    """The assignments of a block; None, with the obstacle noted, where it does anything else.

    taken: the lines that other blocks of the same chain unpack; their names stay apart.
    """
    branch = Branch(taken=taken)
    for statement in body:
        if isinstance(statement, ast.Pass) or (isinstance(statement, ast.AnnAssign) and statement.value is None):
            continue
        reason = _read(statement, branch, around, scope, template)
        if reason is not None:
            template.refuse([Obstacle(reason)])
            return None
    return branch


def _read(statement: ast.stmt, branch: Branch, around: ast.stmt, scope: Scope, template: Template) -> str | None:
    """Add what a statement assigns; the reason where it is no assignment to local names."""
    if isinstance(statement, ast.Return):
        return "a branch returns"
    if isinstance(statement, ast.Raise):
        return "a branch raises"
    if isinstance(statement, ast.Break | ast.Continue):
        return (
            "a branch leaves the loop, or this turn of it: let all turns run and select what counts, or keep the loop "
            "outside of the compiled code"
        )
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return _bind(target.id, Given(statement.value), branch)
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            return _bind_tuple(target, statement.value, branch)
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Call):
            return _bind_results(target, statement.value, branch, around, scope, template)
        if isinstance(target, ast.Attribute) and (attribute := _own_attribute(target, scope)) is not None:
            return _bind_attribute(target, attribute, statement.value, branch, around, scope, template)
        item = (item_name(target, scope) or slot_name(target, scope)) if isinstance(target, ast.Subscript) else None
        if isinstance(target, ast.Subscript) and item is not None:
            branch.items[item] = target
            taken = moves(target, [name for name in branch.assigns if not is_item(name)])
            reason = f"`{item}` may be another element behind what stands before it in its branch"
            return reason if taken else _bind(item, Given(statement.value), branch)
        return f"`{snippet(statement)}` assigns to more than a local name"
    registered = _registered(statement, scope)
    if registered is not None:
        return _bind_attribute(registered[0], registered[0].attr, registered[1], branch, around, scope, template)
    if isinstance(statement, ast.If) and isinstance(around, ast.If) and around.orelse:
        return _bind_fixed(statement, branch, around, scope, template)
    if isinstance(statement, ast.AnnAssign) and statement.value is not None and isinstance(statement.target, ast.Name):
        return _bind(statement.target.id, Given(statement.value), branch)
    if isinstance(statement, ast.Assert) and not branch.assigns and not is_tensor_test(statement.test, scope):
        if not _asks_presence(statement.test) and not always_holds(statement.test, scope):
            return f"`{snippet(statement)}` need not hold where the branch is not taken"
        parts = [statement.test, *([] if statement.msg is None else [statement.msg])]
        template.refuse(scope.legality.both_evaluated(parts, scope.facts))
        template.refuse([Obstacle(f"`{snippet(statement)}` would fail on the other side too", "branches-total")])
        branch.unpacked.append(f"assert {', '.join(template.use(part) for part in parts)}")
        return None
    found = appended(statement, scope)
    if found is not None and _root(found[1]) not in branch.assigns:
        name, call = found
        if name in branch.assigns:
            return f"a branch appends several items: `{snippet(statement)}`"
        branch.appended[name] = call
        return _bind(name, Given(call.args[0]), branch)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
        return _bind_changed(statement, statement.target, branch, scope, template)
    built = built_anew(statement, scope)
    if built is None:
        if isinstance(statement, ast.AugAssign):
            return f"`{snippet(statement)}` writes in place"
        return f"a branch does more than assign: `{snippet(statement)}`"
    name, given, value, fits = built
    if not fits and name in branch.assigns:
        return f"`{snippet(statement)}` writes in place"
    if value.may_be(Kind.TENSOR):
        given_here = name in branch.assigns
        template.refuse(
            memory_shared(name, value, statement, statement, scope.facts)
            if given_here
            else becomes_new_tensor(name, value, statement, around, scope.facts)
        )
    if not fits:
        reason = f"the new value of `{name}` is not proved to have its shape and dtype"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
    return _bind(name, given, branch)


def _asks_presence(test: ast.expr) -> bool:
    """Whether an assert asks only whether something is there, or of which type: the branch would fail without it."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(_asks_presence(value) for value in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        return isinstance(test.comparators[0], ast.Constant)
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in ("isinstance", "hasattr")


def _root(node: ast.expr) -> str | None:
    """The name that an expression begins with."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _bind(name: str, given: Given, branch: Branch) -> str | None:
    before = branch.assigns.get(name)
    if before is None:
        branch.assigns[name] = given
        return None
    others = [step for other, g in branch.assigns.items() if other != name for step in g.steps]
    uses = _reads(name, [given.node])
    # Of the two sides of a conditional expression one is computed.
    reads = [len(_reads(name, [end])) for end in ends_of(given.node)]
    once = len(uses) == sum(reads) and max(reads) == 1 and not given.inlined
    # What is computed later than it stands could see another element.
    if not once or _reads(name, others) or name in branch.together or branch.items or branch.appended:
        return f"`{name}` is assigned twice in a branch"
    later = list(branch.assigns)[list(branch.assigns).index(name) + 1 :]
    if any(_reads(other, [given.node]) for other in later):
        # It stands behind what it reads, and so does what the name was before.
        if any(_reads(other, before.steps) for other in later):
            return f"`{name}` is assigned twice in a branch, around a name that both values read"
        del branch.assigns[name]
    branch.assigns[name] = replace(given, inlined=tuple((use, before) for use in uses))
    return None


def _bind_tuple(target: ast.Tuple, value: ast.Tuple, branch: Branch) -> str | None:
    names = [t.id for t in target.elts if isinstance(t, ast.Name)]
    plain = len(names) == len(target.elts) == len(value.elts) == len(set(names))
    if not plain or any(isinstance(e, ast.Starred) for e in value.elts):
        return f"`{snippet(target)} = {snippet(value)}` unpacks"
    at_once = any(_reads(name, value.elts[index + 1 :]) for index, name in enumerate(names))
    if at_once and branch.assigns:
        return f"`{snippet(target)} = {snippet(value)}` stands behind another assignment and exchanges names"
    for name, element in zip(names, value.elts, strict=True):
        reason = _bind(name, Given(element), branch)
        if reason is not None:
            return reason
    if at_once:
        branch.together = tuple(names)
    return None


def _bind_results(
    target: ast.Tuple, call: ast.Call, branch: Branch, around: ast.stmt, scope: Scope, template: Template
) -> str | None:
    """`a, b = f(x)`: the results get names of their own, from which the selection takes them."""
    names = [t.id for t in target.elts if isinstance(t, ast.Name)]
    if len(names) != len(target.elts) or branch.appended or any(_reads(name, [call]) for name in branch.assigns):
        return f"`{snippet(target)} = {snippet(call)}` unpacks"
    elements = scope.value(call).elements
    parts = elements if elements is not None and len(elements) == len(names) else [UNKNOWN] * len(names)
    targets: list[str] = []
    for name, value in zip(names, parts, strict=True):
        if not live_after(name, around, scope):
            branch.own.append(name)
            targets.append(name)
            continue
        own = free_name(f"new_{name}", scope, [*branch.taken, *branch.unpacked, *targets])
        fresh = ast.copy_location(ast.Name(own, ast.Load()), call)
        scope.facts.values[fresh] = value
        targets.append(fresh.id)
        reason = _bind(name, Given(fresh, built=True), branch)
        if reason is not None:
            return reason
    template.refuse(scope.legality.both_evaluated([call], scope.facts))
    template.refuse(scope.legality.derivatives.finite([call], scope.facts))
    template.refuse(scope.legality.memory.saved([call], around, scope.facts))
    branch.unpacked.append(f"{', '.join(targets)} = {template.use(call)}")
    return None


def _bind_fixed(statement: ast.If, branch: Branch, around: ast.stmt, scope: Scope, template: Template) -> str | None:
    """A fixed `if` in a branch that gives names values: each gets a conditional expression."""
    no = f"a branch does more than assign: `if {snippet(statement.test)}:`"
    if is_tensor_test(statement.test, scope):
        return no
    ways = [read_branch(body, around, scope, template) for body in (statement.body, statement.orelse)]
    if any(way is None or way.together or way.unpacked or way.items for way in ways):
        return template.broken or no
    names = list(dict.fromkeys(name for way in ways if way is not None for name in way.assigns))
    if any("." in name for name in names) or _reads_any([*names, *branch.assigns], statement.test):
        return no
    template.refuse(scope.legality.computed_again(statement.test, scope.facts))
    before = scope.facts.env_before.get(statement, {})
    for name in names:
        sides: list[Given] = []
        for way in ways:
            given = way.assigns.get(name) if way is not None else None
            if given is None:
                value = before.get(name)
                if value is None or not value.certain:
                    return f"`{name}` gets a value only on one side of `if {snippet(statement.test)}:` in the branch"
                kept = ast.Name(name, ast.Load())
                scope.facts.values[kept] = value
                given = Given(kept, built=True)
            sides.append(given)
        node = ast.IfExp(statement.test, sides[0].node, sides[1].node)
        values = tuple(scope.value(side.node) for side in sides)
        scope.facts.values[node] = join_all(values)
        reason = _bind(name, Given(node, (*sides[0].inlined, *sides[1].inlined), built=True), branch)
        if reason is not None:
            return reason
    return None


def _reads_any(names: Sequence[str], node: ast.expr) -> bool:
    return any(_reads(name, [node]) for name in names)


def _bind_changed(
    statement: ast.AugAssign, target: ast.Subscript, branch: Branch, scope: Scope, template: Template
) -> str | None:
    """`v[:, -1] *= -1` gives elements new values, made of those that they have."""
    item = item_name(target, scope)
    if item is None or not isinstance(statement.op, _ARITHMETIC):
        return f"`{snippet(statement)}` writes in place"
    if moves(target, [name for name in branch.assigns if not is_item(name)]):
        return f"`{item}` may be another element behind what stands before it in its branch"
    memory = scope.value(target.value)
    load = item_value(target, scope)
    known = scope.value(load)
    divides = isinstance(statement.op, ast.Div)
    if not keeps_type(replace(memory, rank=known.rank), [statement.value], scope, divides=divides):
        reason = f"the new value of `{snippet(target)}` is not proved to have its shape and dtype"
        template.refuse([Obstacle(reason, "same-shape-dtype" if memory.dtype in ("float", None) else None)])
    node = ast.copy_location(ast.BinOp(load, statement.op, statement.value), statement)
    scope.facts.values[node] = known
    branch.items[item] = target
    return _bind(item, Given(node, built=True), branch)


def _registered(statement: ast.stmt, scope: Scope) -> tuple[ast.Attribute, ast.expr] | None:
    """`self.register_buffer("x", value)` as the attribute that gets the value, where `__init__` made it a buffer alike.

    A buffer that is assigned stays one.
    """
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not (registration := _registration(call)):
        return None
    function, (name, value, options) = call.func, registration
    assert isinstance(function, ast.Attribute)
    inference, cls = scope.legality.inference, scope.function.cls
    above = [base for base in (inference.project.ancestors(cls) if cls is not None else ()) if isinstance(base, Class)]
    first = next((base.methods["__init__"] for base in above if "__init__" in base.methods), None)
    if not _is_self(function.value, scope) or first is None or any("register_buffer" in b.methods for b in above):
        return None
    made = [found for c in first.of(ast.Call) if (found := _registration(c)) and found[0] == name]
    if len(made) != 1 or made[0][2] != options:
        return None
    target = ast.copy_location(ast.Attribute(function.value, name, ast.Store()), call)
    return target, value


def _registration(call: ast.Call) -> tuple[str, ast.expr, str] | None:
    """Name and value that `register_buffer` is given, and the text of what else it is told."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "register_buffer" or len(call.args) < 2:
        return None
    name = call.args[0]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    given = [*map(ast.unparse, call.args[2:]), *(ast.unparse(k.value) for k in call.keywords)]
    return name.value, call.args[1], ", ".join(given)


def _own_attribute(target: ast.Attribute, scope: Scope) -> str | None:
    """The attribute that `self.x = ...` and `self.x.data = ...` give a value."""
    if _is_self(target.value, scope):
        return target.attr
    owner = target.value
    if target.attr == "data" and isinstance(owner, ast.Attribute) and _is_self(owner.value, scope):
        return owner.attr
    return None


def _is_self(node: ast.expr, scope: Scope) -> bool:
    function = scope.function
    own = function.cls is not None and not function.is_static and function.parameters and function.parent is None
    return bool(own) and isinstance(node, ast.Name) and node.id == function.parameters[0].arg


def _starts_as_tensor(name: str, scope: Scope) -> bool:
    """Whether `__init__` gives an attribute a tensor: a Python counter must not become one."""
    inference, cls = scope.legality.inference, scope.function.cls
    for base in inference.project.ancestors(cls) if cls is not None else ():
        init = base.methods.get("__init__") if isinstance(base, Class) else None
        value = inference.facts(init).self_assigned.get(name) if init is not None else None
        if value is not None:
            return value.is_tensor
    return False


def _was_given_tensor(name: str, around: ast.stmt, scope: Scope) -> bool:
    """Whether the function itself gives an attribute a tensor before a statement, and hands its object to nobody.

    Nor does code of somebody else run in between: a part of the model may know its owner, and a property may set it.
    What is computed is no parameter, which the module would take for one of its own.
    """
    given = scope.facts.env_before.get(around, {}).get(name)
    if given is None or not given.is_tensor or not given.certain:
        return False
    if any(token.startswith(("param:", "self.", "global.", "leaked")) for token in given.storage):
        return False
    own = name.partition(".")[0]
    uses = [n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == own]
    if not all(isinstance(scope.parents.get(use), ast.Attribute) for use in uses):
        return False
    between = _since_given(name, around, scope)
    return between is not None and all(_leaves_alone(n, scope) for s in between for n in ast.walk(s))


def _since_given(name: str, around: ast.stmt, scope: Scope) -> list[ast.stmt] | None:
    """What runs after the last statement that surely gives an attribute something, up to another; with whole loops."""
    between: list[ast.stmt] = []
    for parent in (around, *(a for a in scope.ancestors(around) if isinstance(a, ast.stmt))):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return None
        between += [parent] if isinstance(parent, ast.For | ast.While | ast.AsyncFor) else []
        block = scope.block(parent)
        for statement in reversed(block[: block.index(parent)]):
            if isinstance(statement, ast.Assign) and any(ast.unparse(t) == name for t in statement.targets):
                return between
            between.append(statement)
    return None


def _leaves_alone(node: ast.AST, scope: Scope) -> bool:
    """Whether a node runs no code but that of torch and of Python itself, and takes nothing away."""
    if isinstance(node, ast.Delete | ast.With | ast.AsyncWith):
        return False
    if isinstance(node, ast.Attribute):
        cls = scope.function.cls
        method = scope.legality.inference.project.method(cls, node.attr) if cls is not None else None
        return method is None or not method.is_property
    if not isinstance(node, ast.Call):
        return True
    callee = scope.callee(node) or ""
    layer = callee.startswith("torch.nn.") and not callee.startswith("torch.nn.functional.")
    plain = callee.startswith(("torch.", "Tensor.")) or callee in _PLAIN
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    own = scope.facts.calls.get(node) is not None or any(scope.value(a).is_(Kind.CALLABLE) for a in given)
    return plain and not layer and not own


def _runs_code(name: str, scope: Scope) -> bool:
    """Whether to assign an attribute runs the setter of a property, or a `__setattr__`, which may count or tell."""
    cls = scope.function.cls
    ancestors = scope.legality.inference.project.ancestors(cls) if cls is not None else ()
    return any(
        isinstance(base, Class) and not base.methods.keys().isdisjoint((name, "__setattr__")) for base in ancestors
    )


def _bind_attribute(
    target: ast.Attribute,
    attribute: str,
    value: ast.expr,
    branch: Branch,
    around: ast.stmt,
    scope: Scope,
    template: Template,
) -> str | None:
    """`self.x = value` or `self.x.data = value`, where `self.x` is a tensor before."""
    name = ast.unparse(target)
    starts = _starts_as_tensor(attribute, scope) or _was_given_tensor(name, around, scope)
    if not scope.value(value).may_be(Kind.TENSOR) or not starts:
        return f"`{name}` is not proved to be a tensor"
    if target.attr == attribute and _runs_code(attribute, scope):
        return f"`{name} = ...` runs code of the project"
    template.refuse(
        [Obstacle(f"`{name}` is a new tensor after every run, and who holds the old one keeps that", "no-aliasing")]
    )
    return _bind(name, Given(value), branch)


def _reads(name: str, nodes: Sequence[ast.expr]) -> list[ast.Name]:
    found = [n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    return [n for n in found if isinstance(n.ctx, ast.Load)]


_CHANGEABLE = frozenset({Kind.NDARRAY, Kind.CONTAINER, Kind.OBJECT})


def built_anew(statement: ast.stmt, scope: Scope) -> tuple[str, Given, Value, bool] | None:
    """What `h += 1` and `h.mul_(2)` make of `h`, as an expression that makes a new tensor, and what `h` is before.

    The last item says whether the new tensor is proved to have the dtype and shape of the old one.
    """
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        value = scope.value(statement.target)
        name = statement.target.id
        load = ast.copy_location(ast.Name(name, ast.Load()), statement.target)
        scope.facts.values[load] = value
        node: ast.expr = ast.BinOp(load, statement.op, statement.value)
        operands = [statement.value]
        divides = isinstance(statement.op, ast.Div)
        if not isinstance(statement.op, (*_ARITHMETIC, *_BITWISE)):
            return None
    elif (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and isinstance(statement.value.func.value, ast.Name)
        and statement.value.func.attr in _OUT_OF_PLACE
    ):
        call, method = statement.value, statement.value.func
        assert isinstance(method.value, ast.Name)
        value, name = scope.value(method.value), method.value.id
        function = ast.Attribute(method.value, method.attr.removesuffix("_"), ast.Load())
        node = ast.Call(function, call.args, call.keywords)
        operands = [*call.args, *(k.value for k in call.keywords)]
        divides = method.attr in ("div_", "tanh_", "exp_")
        scope.facts.refs[node] = f"Tensor.{function.attr}"
        if method.attr in _FITS_ANY_DTYPE:
            operands = [o for o in operands if scope.value(o).may_be(Kind.TENSOR)]
            if method.attr == "masked_fill_":
                operands = []
    else:
        return None
    if value.kinds & _CHANGEABLE:
        return None  # an array, a list or an object of a class may write in place, too
    fits = not value.may_be(Kind.TENSOR) or keeps_type(value, operands, scope, divides=divides)
    bitwise = isinstance(statement, ast.AugAssign) and isinstance(statement.op, _BITWISE)
    all_bool = bitwise and _are_bool([value, *map(scope.value, operands)])
    likely = all_bool or _may_fit(value, operands, scope)
    if not fits and not (value.is_tensor and value.certain and likely):
        return None
    leaves = value.leaves.union(*(scope.value(o).leaves for o in operands))
    result = replace(value, leaves=leaves, origin=False, storage=frozenset()) if value.is_tensor else value
    ast.copy_location(node, statement)
    scope.facts.values[node] = result
    return name, Given(node, built=True), value, fits


def _are_bool(values: Sequence[Value]) -> bool:
    """Whether all are proved to be boolean tensors: there is one such dtype, and `&` keeps it."""
    return all(value.is_tensor and value.certain and value.dtype == "bool" for value in values)


def _may_fit(value: Value, operands: Sequence[ast.expr], scope: Scope) -> bool:
    """Whether no operand is known to have another class of dtypes: in place the result is cast, or refused."""
    found = [scope.value(operand) for operand in operands]
    plain = all(v.is_unknown or v.is_(Kind.TENSOR, Kind.STATIC, Kind.SIZE, Kind.NUMBER) for v in found)
    tensors = [v.dtype for v in found if v.may_be(Kind.TENSOR) and v.dtype is not None]
    known = value.dtype is not None
    return plain and value.dtype != "bool" and (not known or all(dtype == value.dtype for dtype in tensors))


def keeps_type(value: Value, operands: Sequence[ast.expr], scope: Scope, *, divides: bool) -> bool:
    """Whether an operation with these operands gives the dtype and shape of the tensor, as its in-place form does."""
    if not value.is_tensor or not value.certain or (divides and value.dtype != "float"):
        return False
    for operand in map(scope.value, operands):
        if operand.is_(Kind.STATIC, Kind.SIZE):
            ranks = {"bool": 0, "int": 1, "float": 2}
            if value.dtype not in ranks or operand.dtype not in ranks or ranks[operand.dtype] > ranks[value.dtype]:
                return False
            if value.dtype == "bool":
                return False
        elif not _fits(operand, value):
            return False
    return True


def _fits(operand: Value, value: Value) -> bool:
    """Whether a tensor operand has the dtype of the value, and its shape or no dimensions."""
    if not (operand.is_tensor and operand.certain) or operand.dtype_id is None or operand.dtype_id != value.dtype_id:
        return False
    return operand.rank == 0 or (operand.shape_id is not None and operand.shape_id == value.shape_id)
