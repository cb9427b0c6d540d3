"""A gradient that a function asks of what it has just computed: as `torch.func.vjp` of that computation.

x = x.clone().requires_grad_()            x = x.clone()
y = self.f(x)                             y, backward = torch.func.vjp(lambda x: self.f(x), x)
g = torch.autograd.grad(y, x, v)[0]       with torch.no_grad():
                                              gradient = backward(v)
                                          g = gradient[0]
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal, unpacks
from compilefix.source.tree import names_in, stored_in

_PARAMETERS = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused")
_OTHER_KINDS = ("allow_unused", "is_grads_batched", "materialize_grads")
_ANOTHER_OBJECT = frozenset({"clone", "detach"})
_ASKS = frozenset({"backward", "grad", "retain_grad", "register_hook"})
_TELLS = frozenset({"requires_grad", "is_leaf", "grad_fn"})
_ENDS = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.Break, ast.Continue)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Try, ast.NamedExpr)
_STEPS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.With)
_CHOOSES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Compare)
_OF_THE_FUNCTION = frozenset({"super", "__class__", "locals", "vars", "dir", "eval", "exec"})
"""What means something else in a function inside of another."""


@dataclass(frozen=True)
class Asked:
    """What `torch.autograd.grad` is asked: the gradient of one name with respect to another.

    of_one_number: nothing weighs the elements of the result, so that there is one.
    """

    output: ast.Name
    tensor: ast.Name
    weight: ast.expr | None
    kept: ast.expr | None
    of_one_number: bool

    @property
    def names(self) -> tuple[str, str]:
        """The names of the result and of the tensor."""
        return self.output.id, self.tensor.id


def local_gradient(call: ast.Call, scope: Scope) -> Fix | str:
    """The fix for a call of `torch.autograd.grad`, or why there is none."""
    asked = _asked(call, scope)
    if isinstance(asked, str):
        return asked
    request = _request(asked.tensor, call, scope)
    if isinstance(request, str):
        return request
    statement, removal = request
    steps = _steps(asked, statement, scope.statement(call), scope)
    if isinstance(steps, str):
        return steps
    beside = _read_later(steps, asked, scope)
    reason = (
        _asked_twice(call, asked, scope)
        or _not_movable(steps, asked, statement, scope)
        or next(
            (f"`{n.id}` is used later, and not proved to be a tensor" for n in beside if not _is_tensor(n, scope)), None
        )
        or _order(call, scope)
    )
    if reason is not None:
        return reason
    others = list(dict.fromkeys(n.id for n in beside))
    taken: list[str] = []
    for wanted in ("backward", "gradient", "compute"):
        taken.append(free_name(wanted, scope, taken))
    edits = (removal, *_moved(steps, asked, others, taken, scope), *_taken(call, asked, taken, scope))
    why = [
        f"`{asked.tensor.id}` no longer requires a gradient, nor does `{asked.output.id}` because of it",
        f"`{snippet(steps[-1])}` runs under `torch.func.vjp`",
    ]
    if asked.of_one_number and scope.value(asked.output).rank != 0:
        why.append(f"`{asked.output.id}` is not proved to be one number: of several, no error is raised as before")
    return Fix(edits, ("torch",), ("no-gradient", "gradient-function"), tuple(why))


def _asked(call: ast.Call, scope: Scope) -> Asked | str:
    if unpacks(call):
        return "what it is given is not written out"
    given: dict[str, ast.expr] = dict(zip(_PARAMETERS, call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg}
    if len(call.args) > len(_PARAMETERS) or any(_is_set(given.get(name)) for name in _OTHER_KINDS):
        return "the gradient may be None, or is one of several"
    if "outputs" not in given or "inputs" not in given:
        return "what it is given is not written out"
    tensor, output = _only(given["inputs"]), _only(given["outputs"])
    summed = _summed(output, scope)
    if not isinstance(tensor, ast.Name) or not isinstance(summed or output, ast.Name):
        return "the result and what it is differentiated by are not two names, as in `grad(y, x)`"
    weight = given.get("grad_outputs")
    weight = None if weight is None or is_literal(weight, None) else _only(weight)
    named = summed or output
    assert isinstance(named, ast.Name)
    if weight is not None and (summed is not None or not _is_tensor(weight, scope)):
        shaped = f" of the shape of `{named.id}`" if snippet(weight) != named.id else ""
        return f"`{snippet(weight)}` is not proved to be a tensor{shaped}"
    return Asked(named, tensor, weight, given.get("create_graph"), weight is None and summed is None)


def _only(node: ast.expr) -> ast.expr:
    """The one element of a list or tuple, or the expression itself."""
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred):
        return node.elts[0]
    return node


def _summed(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What is added up, for a sum of all elements: its gradient is that of the elements themselves."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if scope.callee(node) == "torch.sum" and len(node.args) == 1:
        return node.args[0]
    is_sum = isinstance(node.func, ast.Attribute) and node.func.attr == "sum" and not node.args
    return node.func.value if is_sum and isinstance(node.func, ast.Attribute) else None


def _request(tensor: ast.Name, call: ast.Call, scope: Scope) -> tuple[ast.stmt, Edit] | str:
    """The statement that makes the tensor require a gradient, and the edit that leaves the request out."""
    stores = _stores(tensor.id, scope.statement(call), scope)
    if not stores:
        return f"`{tensor.id}` comes from outside: whether it requires a gradient is decided there"
    made = scope.parents.get(stores[-1])
    if not isinstance(made, ast.Assign) or len(made.targets) != 1 or made.targets[0] is not stores[-1]:
        return f"`{tensor.id}` is not made by a statement of its own"
    value = made.value
    if _is_request(value) and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner = value.func.value
        if not _is_another(owner, scope):
            return f"`{snippet(owner)}` may be known elsewhere: clone or detach it"
        template = Template()
        return made, scope.edit(value, template.use(owner), **template.parts)
    block = scope.block(made)
    place = block.index(made) + 1
    after = block[place] if place < len(block) else None
    if after is None or not _is_flag(after, tensor.id):
        return f"`{tensor.id}` is asked for no gradient where it is made"
    if not _is_another(value, scope):
        return f"`{snippet(value)}` may be known elsewhere: clone or detach it"
    return after, scope.edit(after, "")


def _stores(name: str, end: ast.stmt, scope: Scope) -> list[ast.Name]:
    """Where a name gets a value before a statement, in source order."""
    return [s for s in scope.names(name, stores=True) if s.lineno < end.lineno]


def _is_request(node: ast.expr) -> bool:
    """Whether `x.requires_grad_()` or `x.requires_grad_(True)` is called."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "requires_grad_":
        return False
    given = [*node.args, *(k.value for k in node.keywords)]
    return not given or (len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is True)


def _is_flag(statement: ast.stmt, name: str) -> bool:
    """Whether a statement does nothing but ask for the gradient of a name."""
    if isinstance(statement, ast.Expr) and _is_request(statement.value):
        asked = statement.value.func.value  # type: ignore[attr-defined]
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        on = isinstance(statement.value, ast.Constant) and statement.value.value is True
        if not on or not isinstance(target, ast.Attribute) or target.attr != "requires_grad":
            return False
        asked = target.value
    else:
        return False
    return isinstance(asked, ast.Name) and asked.id == name


def _is_another(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression gives a tensor object that nobody else knows."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ANOTHER_OBJECT:
        return True
    if isinstance(node, ast.BinOp):
        return True
    value = scope.value(node)
    inside = bool(value.storage) and not any(t.startswith(("param:", "self.", "global.")) for t in value.storage)
    return isinstance(node, ast.Call) and value.is_tensor and value.certain and inside


def _steps(asked: Asked, request: ast.stmt, end: ast.stmt, scope: Scope) -> Sequence[ast.stmt] | str:
    """The statements from behind the request to the one that gives the result its value."""
    block = scope.block(request)
    around = scope.parents.get(request)
    if end not in block and not (
        isinstance(around, ast.With) and _enables(around, scope) and end in scope.block(around)
    ):
        return f"`{snippet(request)}` stands in another block"
    output, _ = asked.names
    stores = _stores(output, end, scope)
    last = scope.statement(stores[-1]) if stores else None
    if last is None or last not in block or block.index(last) <= block.index(request):
        return f"`{output}` is not computed between the request and the call"
    if not isinstance(last, ast.Assign) or len(last.targets) != 1:
        return f"`{snippet(last)}` does more than give `{output}` a value"
    return block[block.index(request) + 1 : block.index(last) + 1]


def _enables(statement: ast.With, scope: Scope) -> bool:
    """Whether a `with` statement does nothing but switch gradients on."""
    if len(statement.items) != 1 or statement.items[0].optional_vars is not None:
        return False
    context = statement.items[0].context_expr
    if not isinstance(context, ast.Call):
        return False
    name = scope.callee(context) or ""
    on = len(context.args) == 1 and isinstance(context.args[0], ast.Constant) and context.args[0].value is True
    return name.endswith("enable_grad") or (name.endswith("set_grad_enabled") and on)


def _asked_twice(call: ast.Call, asked: Asked, scope: Scope) -> str | None:
    """Another place that asks for a gradient, or tells whether one of the names requires one."""
    inside = set(ast.walk(call.func))
    for node in ast.walk(scope.function.node):
        if not isinstance(node, ast.Attribute) or node in inside:
            continue
        if node.attr in _ASKS and not isinstance(node.ctx, ast.Store):
            return f"`{snippet(node)}` asks for another gradient in the same function"
        owner = node.value.id if isinstance(node.value, ast.Name) else None
        if node.attr in _TELLS and owner in asked.names and node.lineno > call.lineno:
            return f"`{snippet(node)}` tells whether it requires a gradient"
    return None


def _not_movable(steps: Sequence[ast.stmt], asked: Asked, request: ast.stmt, scope: Scope) -> str | None:
    """Why the statements cannot stand in a function of their own."""
    nodes = [node for step in steps for node in ast.walk(step)]
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if asked.tensor.id in stored:
        return f"`{asked.tensor.id}` gets another value on the way"
    if any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(scope.function.node)):
        return "the function binds names of others"
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in _OF_THE_FUNCTION:
            return f"`{node.id}` means something else in a function of its own"
        if isinstance(node, (*_ENDS, *_SCOPES)) or (isinstance(node, ast.stmt) and not isinstance(node, _STEPS)):
            return f"`{snippet(node)}` cannot stand in a function of its own"
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return f"`{snippet(node)}` is written on the way"
        if isinstance(node, ast.Call) and (writes := _writes_outside(node, stored, scope)) is not None:
            return writes
        if isinstance(node, ast.Attribute) and node.attr in _TELLS:
            return f"`{snippet(node)}` tells whether it requires a gradient"
    return _bound_before(steps, stored, request, scope)


def _writes_outside(node: ast.Call, stored: set[str], scope: Scope) -> str | None:
    """Why a call may write into something that the statements did not make, or show what it is given."""
    func = node.func
    if not isinstance(func, ast.Attribute) or not func.attr.endswith("_") or func.attr.endswith("__"):
        does = scope.legality.effects.of(node, scope.facts)
        shows = f"{does.host} on the way, and would show what `torch.func.vjp` makes of it" if does.host else None
        return does.mutates or shows
    owner = func.value
    while isinstance(owner, ast.Attribute | ast.Subscript | ast.Call):
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    own = isinstance(owner, ast.Name) and owner.id in stored
    return None if own else f"`{snippet(node)}` writes in place"


def _bound_before(steps: Sequence[ast.stmt], stored: set[str], request: ast.stmt, scope: Scope) -> str | None:
    """A name that the statements bind, and that may have a value before."""
    given = {p.arg for p in scope.function.parameters}
    moved = {node for step in steps for node in ast.walk(step)}
    for name in sorted(stored):
        places = [
            n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == name and n not in moved
        ]
        if name in given or any(isinstance(n.ctx, ast.Store) and n.lineno <= request.lineno for n in places):
            return f"`{name}` may have a value before"
    bound: set[str] = set()
    for step in steps:
        own = stored_in(step)
        first = _bound_first(step)
        for node in ast.walk(step):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in stored - bound - first:
                return f"`{node.id}` may have a value before"
        bound |= own
    return None


def _bound_first(step: ast.stmt) -> set[str]:
    """The names that a loop, a `with` statement or a comprehension binds before its body reads them."""
    targets: list[ast.AST] = [n.target for n in ast.walk(step) if isinstance(n, ast.For | ast.comprehension)]
    targets += [n.optional_vars for n in ast.walk(step) if isinstance(n, ast.withitem) and n.optional_vars is not None]
    return names_in(*targets)


def _read_later(steps: Sequence[ast.stmt], asked: Asked, scope: Scope) -> list[ast.Name]:
    """Reads of what the statements bind besides the result, behind them."""
    moved = {node for step in steps for node in ast.walk(step)}
    stored = {n.id for n in moved if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - {asked.output.id}
    return [
        n
        for n in ast.walk(scope.function.node)
        if isinstance(n, ast.Name) and n.id in stored and n not in moved and isinstance(n.ctx, ast.Load)
    ]


def _order(call: ast.Call, scope: Scope) -> str | None:
    """What may run before the call in its statement: the call comes first in the rewritten code."""
    statement = scope.statement(call)
    if not isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AnnAssign):
        return f"`{snippet(statement)}` holds the call"
    around = set(scope.ancestors(call))
    if any(isinstance(node, _CHOOSES) for node in around):
        return "the call runs under a condition"
    inside = set(ast.walk(call))
    for node in ast.walk(statement):
        if isinstance(node, ast.Call | ast.NamedExpr | ast.Await) and node not in inside and node not in around:
            return f"`{snippet(node)}` may run before the call"
    return None


def _moved(
    steps: Sequence[ast.stmt], asked: Asked, others: Sequence[str], taken: Sequence[str], scope: Scope
) -> Iterator[Edit]:
    """The statements in a function, which `torch.func.vjp` calls."""
    backward, _, compute = taken
    output, tensor = asked.names
    template = Template()
    last = steps[-1]
    assert isinstance(last, ast.Assign)
    if len(steps) == 1 and isinstance(last.targets[0], ast.Name):
        code = f"{output}, {backward} = torch.func.vjp(lambda {tensor}: {template.use(last.value)}, {tensor})"
        yield scope.edit(last, code, **template.parts)
        return
    lines = [f"def {compute}({tensor}):"]
    lines += [f"    {template.use(step)}" for step in steps]
    beside = ", ".join(others) + ("," if len(others) == 1 else "")
    lines += [f"    return {output}, ({beside})" if others else f"    return {output}"]
    more, option = (f", ({beside})", ", has_aux=True") if others else ("", "")
    lines += [f"{output}, {backward}{more} = torch.func.vjp({compute}, {tensor}{option})"]
    yield scope.edit(steps[0], "\n".join(lines), **template.parts)
    for step in steps[1:]:
        yield scope.edit(step, "")


def _taken(call: ast.Call, asked: Asked, taken: Sequence[str], scope: Scope) -> Iterable[Edit]:
    """The gradient, in a statement of its own: with a graph of its own only where it was asked for one."""
    backward, gradient, _ = taken
    template = Template()
    weight = template.use(asked.weight) if asked.weight is not None else f"torch.ones_like({asked.output.id})"
    kept = asked.kept
    if kept is None or is_literal(kept, None) or is_literal(kept, False):
        context = "torch.no_grad()"
    elif isinstance(kept, ast.Constant):
        context = "torch.enable_grad()"
    else:
        context = f"torch.set_grad_enabled({template.use(kept)})"
    code = f"with {context}:\n    {gradient} = {backward}({weight})"
    yield scope.before(scope.statement(call), code, **template.parts)
    yield scope.edit(call, gradient)


def _is_tensor(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.is_tensor and value.certain


def _is_set(node: ast.expr | None) -> bool:
    return node is not None and not (isinstance(node, ast.Constant) and not node.value)
