"""CF702: a parameter, or a tensor that requires a gradient, made in compiled code.

## What it does
Finds `nn.Parameter(...)`, `t.requires_grad_()`, `t.requires_grad = True` (or `False`) and `torch.ones(3,
requires_grad=True)`, also with `requires_grad=self.training`, in compiled code, and layers with parameters that are
made for one call (`nn.Conv2d(3, 3, 3)(x)`), which have no fix. Where a parameter, or a tensor asked for its gradient,
is only computed with, the request is left out, and so is one that a new tensor fulfils anyhow.

## Why is this bad
A graph cannot make a tensor that requires a gradient: it breaks there (GB0264, GB0125, GB8985, GB0206, GB0225). A
parameter that is made in `forward` is a new one in each call, which no optimiser knows.

## Example
```python
scale = nn.Parameter(torch.ones(3))
return x * scale
```

## Use instead
```python
scale = torch.ones(3).detach()
return x * scale
```
A parameter that is to be trained is made in `__init__`; a layer is frozen before it is compiled.

## Fix safety
Safe for `nn.Parameter(t, requires_grad=False)` that is only computed with, and for `t.requires_grad = False` where `t`
is a new or detached tensor that requires none: nothing becomes of it. Safe, too, for any other tensor, of which
`t.requires_grad_(False)` asks the same: that stays in the graph where it requires none, as a target or a buffer. What
is computed of what may require a gradient needs `no-gradient`: torch refuses the flag there, compiled with an error of
Dynamo. Where it is not proved to be a tensor, a use as one shows it, or that operators made it (`mask = scores > 0`),
since no module is made so (`is-tensor`). Else under `no-gradient`: nobody reads the tensor's `.grad`, and the
result need not require a gradient because of it.

Declined where the function, or what it calls, asks for gradients (`torch.autograd.grad`, `.backward()`, `.grad`): use
`torch.func.grad`. Declined for a tensor or module that comes from outside: the caller may rely on the change, and makes
it before the compiled call. Declined where the parameter is stored, returned, or given to unknown code; a tensor that
is made with `requires_grad=True` may be returned too where the function computes with it. A tensor of the function's
own that a statement of its own asks (`h.requires_grad = True`) may be given to layers and functions, and returned too,
and so may a buffer that was given a local name (`loss = self.zero`, to which losses are added). A new tensor that is
returned as it is (`return torch.zeros_like(x).requires_grad_()`) is one too, where all calls of the function give it to
a name with which the caller only computes.

Not reported: `requires_grad_` in the `backward` of an autograd.Function, which stays in the graph.

Graph breaks: GB0264, GB0125, GB8985, GB0206, GB0225. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.unsupported.gradient_requests import (
    is_part_of_buffer,
    kept_by,
    made_here,
    of_buffer,
    returned_to_compute,
    without_guard,
)
from compilefix.source.snippets import snippet

_PARAMETER = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_LAYERS = frozenset(
    {"Linear", "Bilinear", "Embedding", "EmbeddingBag", "PReLU", "MultiheadAttention", "RNN", "LSTM", "GRU"}
    | {f"{kind}{n}d" for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)}
)
_NORMS = frozenset({"LayerNorm", "GroupNorm", "RMSNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"})
"""Layers of torch.nn that have parameters; those that normalize, if they are not told to have none."""
_HANDED_OUT = "the tensor is made for the caller, who may ask for its gradient"
_REQUESTS = frozenset({"torch.autograd.grad", "torch.autograd.backward"})
_ASKS = frozenset({"backward", "grad", "retain_grad", "register_hook"})
_OF_TENSORS = frozenset(
    {"view", "reshape", "unsqueeze", "permute", "transpose", "expand", "size", "detach", "masked_fill"}
)
_FROM_ELSEWHERE = "is not made here, and others may know it: ask for its gradient outside the compiled code"
_PERHAPS_FROM_OUTSIDE = "may be a part of what is not made here: ask for its gradient outside the compiled code"
_FROM_OUTSIDE = "comes from the caller, who may rely on the change: make it before the compiled call"
_LEAVES = "leaves the function, or is given to unknown code"


class ParameterInForward(Rule):
    """Tensor that requires a gradient, made in compiled code."""

    code = "CF702"
    name = "parameter-in-forward"
    summary = "a tensor is made to require a gradient in compiled code"
    gb = ("GB0264", "GB0125", "GB8985", "GB0206", "GB0225")
    hints = ("Parameter", "requires_grad", "nn")
    assumptions = ("no-gradient", "is-tensor")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls and assignments that make a tensor require a gradient."""
        for node in scope.of(ast.Call):
            data = _data(node) if scope.callee(node) in _PARAMETER else None
            if data is not None:
                yield self._judge_parameter(node, data, scope)
            elif _makes_layer(node, scope):
                message = f"`{snippet(node)}` makes a layer with parameters in compiled code, and the graph breaks"
                reason = "make it once, in `__init__`: one that is made in each call is not trained"
                yield self.declined(scope, node, message, reason, gb=("GB0264",))
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
                finding = self._judge_request(node, node.func.value, scope)
                if finding is not None:
                    yield finding
            elif _makes_leaf(node, scope):
                yield self._judge_leaf(node, scope)
        for assignment in scope.of(ast.Assign):
            target = assignment.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                yield self._judge_flag(assignment, target.value, scope)

    def _judge_parameter(self, node: ast.Call, data: ast.expr, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` makes a parameter in compiled code, and the graph breaks"
        reason = _asks(scope) or _other_use(node, scope) or _asked_by_called(scope)
        value = scope.value(data)
        if reason is None and not (value.is_tensor and value.certain):
            reason = f"`{snippet(data)}` is not proved to be a tensor: of None an empty parameter is made"
        if reason is not None:
            if reason.endswith(_LEAVES):
                reason = f"{reason}: make it once, in `__init__`"
            return self.declined(scope, node, message, reason, gb=("GB0264",))
        template = Template()
        code = f"{template.use(data, operand=True)}.detach()"
        edit = scope.edit(node, code, **template.parts)
        if _wants(node.args[1:2], node) is False:
            return self.fixed(scope, node, message, Fix((edit,)), gb=("GB0264",))
        why = "the parameter requires a gradient, which is lost when the call has returned"
        return self.fixed(scope, node, message, Fix((edit,), (), ("no-gradient",), (why,)), gb=("GB0264",))

    def _judge_leaf(self, node: ast.Call, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` makes a tensor that requires a gradient, and the graph breaks"
        reason = _asks(scope) or _kept(node, scope) or _asked_by_called(scope)
        if reason is not None:
            return self.declined(scope, node, message, f"{reason}; else leave out `requires_grad=True`", gb=("GB0225",))
        template = Template()
        given = [f"*{template.use(a.value)}" if isinstance(a, ast.Starred) else template.use(a) for a in node.args]
        for keyword in node.keywords:
            if keyword.arg != "requires_grad":
                given.append((f"{keyword.arg}=" if keyword.arg else "**") + template.use(keyword.value))
        code = f"{template.use(node.func, operand=True)}({', '.join(given)})"
        why = "the tensor requires a gradient, and what is computed of it alone does"
        fix = Fix((scope.edit(node, code, **template.parts),), (), ("no-gradient",), (why,))
        return self.fixed(scope, node, message, fix, gb=("GB0225",))

    def _judge_flag(self, node: ast.Assign, owner: ast.expr, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` breaks the graph"
        if _says_what_holds(node, owner, scope):
            return self.fixed(scope, node, message, Fix((scope.edit(without_guard(node, scope), ""),)), gb=("GB0206",))
        if _is_constant(node, False) and _stays_off(owner, scope) and (seen := _is_tensor(owner, scope)):
            # The same for tensors, and Dynamo takes it where it changes nothing.
            template = Template()
            template.refuse([obstacle for obstacle in seen if obstacle is not None])
            value = scope.value(owner)
            if value.is_tensor and value.certain and value.leaves and not _outside(value):
                why = f"where `{snippet(owner)}` requires a gradient the error is one of Dynamo"
                template.refuse([Obstacle(why, "no-gradient")])
            edit = scope.edit(node, f"{template.use(owner)}.requires_grad_(False)", **template.parts)
            fix = Fix((edit,), (), template.assumptions, template.reasons)
            return self.fixed(scope, node, f"{message}, also where it changes nothing", fix, gb=("GB0206",))
        on = _is_constant(node, True)
        reason = _asks(scope) if on else "set it before the code is compiled"
        if reason is None and not (isinstance(owner, ast.Name) and made_here(owner, scope)):
            reason = _from_outside(owner, scope)
        reason = reason or kept_by(owner, scope) or _asked_by_called(scope)
        if reason is not None:
            return self.declined(scope, node, message, reason, gb=("GB0206",))
        fix = Fix((scope.edit(without_guard(node, scope), ""),), (), ("no-gradient",), (_lost(owner),))
        return self.fixed(scope, node, message, fix, gb=("GB0206",))

    def _judge_request(self, node: ast.Call, owner: ast.expr, scope: Scope) -> Finding | None:
        value = scope.value(owner)
        inside = value.is_tensor and not _outside(value)
        if _wants(node.args[:1], node) is False and (inside or (_stays_off(owner, scope) and _is_tensor(owner, scope))):
            return None  # it breaks no graph where it changes nothing
        if _wants(node.args[:1], node) is False and is_part_of_buffer(owner, scope):
            return None  # a buffer requires none
        if _is_derivative(owner, scope) or (inside and _is_of_own_layer(value, scope)):
            return None  # it requires a gradient already, and Dynamo does not mind
        if _is_backward(scope):
            return None
        ids = ("GB8985",) if inside else ("GB0125",)
        message = f"`requires_grad_` of `{snippet(owner)}` breaks the graph"
        statement = scope.parents.get(node)
        reason = _asks(scope, node)
        buffer = isinstance(statement, ast.Expr) and not inside and of_buffer(owner, scope)
        if reason is None and not inside and not buffer:
            reason = _from_outside(owner, scope)
        if reason is None and _wants(node.args[:1], node) is None:
            reason = "whether a gradient is asked for is decided at run time"
        if reason is None:
            reason = (
                _other_use(node, scope) if not isinstance(statement, ast.Expr) else kept_by(owner, scope, behind=buffer)
            )
        reason = reason or _asked_by_called(scope)
        if reason is not None:
            if reason.endswith(_LEAVES):
                reason = f"{reason}: ask for its gradient outside the compiled code"
            return self.declined(scope, node, message, reason, gb=ids)
        template = Template()
        edit = (
            scope.edit(without_guard(statement, scope), "")
            if isinstance(statement, ast.Expr)
            else scope.edit(node, template.use(owner, operand=False), **template.parts)
        )
        return self.fixed(scope, node, message, Fix((edit,), (), ("no-gradient",), (_lost(owner),)), gb=ids)


def _from_outside(owner: ast.expr, scope: Scope) -> str:
    given = isinstance(owner, ast.Name) and owner.id in {p.arg for p in scope.function.parameters}
    unseen = scope.value(owner).is_unknown and not given
    local = not given and isinstance(owner, ast.Name) and bool(scope.names(owner.id, stores=True))
    where = _PERHAPS_FROM_OUTSIDE if local else _FROM_ELSEWHERE if unseen else _FROM_OUTSIDE
    return f"`{snippet(owner)}` {where}"


def _is_backward(scope: Scope) -> bool:
    """Whether the function is the backward of an autograd.Function, out of which no tensor that was asked leads."""
    function = scope.function
    return (
        function.node.name == "backward"
        and function.cls is not None
        and scope.legality.inference.project.is_autograd_function(function.cls)
    )


def _makes_layer(node: ast.Call, scope: Scope) -> bool:
    """Whether a layer with parameters is made for this call: one that is kept may be made just once."""
    name = scope.callee(node) or ""
    if not name.startswith("torch.nn.") or scope.function.module.qualified(node.func) != name:
        return False  # the call of a layer has its name, too
    made = name.removeprefix("torch.nn.")
    if made in _NORMS:
        told = (k for k in node.keywords if k.arg in ("affine", "elementwise_affine", None))
        if len(node.args) > 2 or any(not (isinstance(k.value, ast.Constant) and k.value.value) for k in told):
            return False
    elif made not in _LAYERS:
        return False
    return _is_called(node, scope)


def _is_called(node: ast.Call, scope: Scope) -> bool:
    """Whether the function calls the layer that it makes, also through a name or as what was moved to a device."""
    made: ast.AST = node
    method = scope.parents.get(node)
    while isinstance(method, ast.Attribute) and isinstance(moved := scope.parents.get(method), ast.Call):
        made, method = moved, scope.parents.get(moved)
    user = scope.parents.get(made)
    if isinstance(user, ast.Assign) and isinstance(user.targets[0], ast.Name):
        name = user.targets[0].id
        return any(isinstance(call.func, ast.Name) and call.func.id == name for call in scope.of(ast.Call))
    return isinstance(user, ast.Call) and user.func is made


def _data(node: ast.Call) -> ast.expr | None:
    """What a parameter is made of; None where none is given, or it cannot be told."""
    if node.args:
        return node.args[0]
    return next((keyword.value for keyword in node.keywords if keyword.arg == "data"), None)


def _says_what_holds(node: ast.Assign, owner: ast.expr, scope: Scope) -> bool:
    """Whether a tensor that the function has made, and that requires no gradient, is told to require none."""
    if not _is_constant(node, False):
        return False
    made = _made_just_before(owner, node, scope)
    value = scope.value(owner)
    if any(keyword.arg is None for call in scope.of(ast.Call) for keyword in call.keywords):
        return False  # `torch.zeros(3, **options)` may ask for a gradient
    if made is None or not value.is_tensor or not value.certain or value.leaves:
        return False
    detached = isinstance(made, ast.Call) and scope.callee(made) == "Tensor.detach"
    return detached or not _outside(value)


def _is_constant(node: ast.Assign, value: bool) -> bool:
    return isinstance(node.value, ast.Constant) and node.value.value is value and len(node.targets) == 1


def _stays_off(owner: ast.expr, scope: Scope) -> bool:
    """Whether a flag is likely to be off already: of no parameter, and of nothing that is asked for a gradient here."""
    if _is_parameter(owner, scope):
        return False
    text = ast.unparse(owner)
    for node in scope.of(ast.Attribute):
        reads = node.attr == "requires_grad" and isinstance(node.ctx, ast.Load)
        if node.attr in ("requires_grad", "requires_grad_", "grad") and not reads and ast.unparse(node.value) == text:
            parent = scope.parents.get(node)
            off = isinstance(parent, ast.Call) and parent.func is node and _wants(parent.args[:1], parent) is False
            if not off and not (isinstance(parent, ast.Assign) and _is_constant(parent, False)):
                return False
    targets = (target for loop in scope.of(ast.For) for target in ast.walk(loop.target))
    return not any(isinstance(target, ast.Name) and target.id == text for target in targets)


def _is_parameter(owner: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is a parameter, as far as its annotation or its class tells: the flag of one changes."""
    if isinstance(owner, ast.Name):
        given = [p.annotation for p in scope.function.parameters if p.arg == owner.id and p.annotation is not None]
        return any("Parameter" in ast.unparse(annotation) for annotation in given)
    cls = scope.function.cls
    if cls is None or not isinstance(owner, ast.Attribute):
        return True
    stores = [
        statement.value
        for method in cls.methods.values()
        for statement in method.of(ast.Assign)
        if any(ast.unparse(target) == ast.unparse(owner) for target in statement.targets)
    ]
    made = (cls.module.qualified(value.func) for value in stores if isinstance(value, ast.Call))
    return ast.unparse(owner.value) != "self" or any(name in _PARAMETER for name in made)


def _is_tensor(owner: ast.expr, scope: Scope) -> list[Obstacle | None]:
    """What is not proved of an owner that is a tensor; nothing where it need not be one, as modules have the flag too.

    Tensors alone have methods like `view`, or are given to losses.
    """
    value = scope.value(owner)
    name = owner.id if isinstance(owner, ast.Name) else None
    # An argument of which nothing is told counts as a tensor for the flag alone, which a module has too.
    asked = any(p.arg == name and p.annotation is None for p in scope.function.parameters)
    if value.is_tensor and value.certain and not asked:
        return [None]
    if not isinstance(owner, ast.Name) or not (value.is_tensor or value.is_unknown):
        return []
    for use in scope.names(owner.id):
        parent = scope.parents.get(use)
        method = isinstance(parent, ast.Attribute) and parent.attr in _OF_TENSORS
        given = (scope.callee(parent) or "") if isinstance(parent, ast.Call) and use in parent.args else ""
        if method or given.startswith("torch.nn."):
            return [Obstacle(f"`{owner.id}` is not proved to be a tensor: a module has the flag too", "is-tensor")]
    if _is_computed(owner, scope):
        reason = f"`{owner.id}` is not proved to be a tensor: another object may have the flag too"
        return [Obstacle(reason, "is-tensor")]
    return []


def _is_computed(owner: ast.Name, scope: Scope) -> bool:
    """Whether operators give a name its value (`mask = scores > 0`): they give no module, and no number has flags."""
    made = _made_just_before(owner, scope.statement(owner), scope)
    if isinstance(made, ast.Compare):
        return len(made.ops) == 1 and not isinstance(made.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
    return isinstance(made, ast.BinOp) or (isinstance(made, ast.UnaryOp) and not isinstance(made.op, ast.Not))


def _made_just_before(owner: ast.expr, at: ast.stmt, scope: Scope) -> ast.expr | None:
    """What a name is given before a statement, on every way to it and with no other use in between."""
    if not isinstance(owner, ast.Name):
        return None
    before = [n for n in (*scope.names(owner.id, stores=True), *scope.names(owner.id)) if n.lineno < at.lineno]
    last = max(before, key=lambda name: (name.lineno, name.col_offset), default=None)
    given = None if last is None else scope.parents.get(last)
    if not isinstance(given, ast.Assign) or given.targets != [last]:
        return None
    block = scope.block(given)
    return given.value if at in block or any(around in block for around in scope.ancestors(at)) else None


def _is_derivative(owner: ast.expr, scope: Scope) -> bool:
    """Whether a name stands for what `torch.autograd.grad(..., create_graph=True)` gives, and for nothing else."""
    if not isinstance(owner, ast.Name):
        return False
    stores = scope.names(owner.id, stores=True)
    return bool(stores) and all(_stores_derivative(store, scope) for store in stores)


def _is_of_own_layer(value: Value, scope: Scope) -> bool:
    """Whether a tensor gets a gradient through a layer of the object, whose parameters require one as a rule."""
    layers = {ast.unparse(call.func) for call in scope.of(ast.Call) if ast.unparse(call.func).startswith("self.")}
    return not layers.isdisjoint(value.leaves)


def _stores_derivative(store: ast.AST, scope: Scope) -> bool:
    statement = next((a for a in scope.ancestors(store) if isinstance(a, ast.Assign | ast.For)), None)
    if statement is None:
        return False
    given = statement.iter if isinstance(statement, ast.For) else statement.value
    return any(
        isinstance(part, ast.Call)
        and scope.callee(part) == "torch.autograd.grad"
        and any(k.arg == "create_graph" and ast.unparse(k.value) == "True" for k in part.keywords)
        for part in ast.walk(given)
    )


def _lost(owner: ast.expr) -> str:
    return (
        f"`{snippet(owner)}` is asked to require a gradient, which is lost when the call has returned; reentrant "
        "checkpointing trains nothing where no input requires one"
    )


def _makes_leaf(node: ast.Call, scope: Scope) -> bool:
    """Whether a function of torch that makes a tensor is asked, or may be asked, for one that requires a gradient."""
    asked = any(k.arg == "requires_grad" and _may_hold(k.value, scope) for k in node.keywords)
    name = scope.callee(node) or ""
    return asked and (name == "Tensor.new_tensor" or (name.startswith("torch.") and name.count(".") == 1))


def _may_hold(flag: ast.expr, scope: Scope) -> bool:
    """Whether a flag is True in some calls: an argument is False as a rule, and what `self` keeps is there for it."""
    if isinstance(flag, ast.Constant):
        return flag.value is True
    own = isinstance(flag, ast.Attribute) and isinstance(flag.value, ast.Name) and flag.value.id == "self"
    known = scope.value(flag).const
    return own and (known is None or bool(known.value))


def _kept(node: ast.Call, scope: Scope) -> str | None:
    """A use of a new tensor besides computing with it and handing it to the caller."""
    parent = scope.parents.get(node)
    if _computes(node, scope):
        return None
    if isinstance(parent, ast.Return):
        return _HANDED_OUT
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return "the tensor is kept, or given to unknown code"
    name = parent.targets[0].id
    computed = False
    again = any(isinstance(around, ast.For | ast.While) for around in scope.ancestors(node))
    for use in scope.function.of(ast.Name):
        if use.id != name or use not in scope.parents or (use.lineno <= node.lineno and not again):
            continue
        around = scope.parents[use]
        if isinstance(around, ast.AugAssign):
            return f"`{name}` is written in place"
        if isinstance(around, ast.Tuple):
            around = scope.parents.get(around, around)
        if isinstance(use.ctx, ast.Load) and not (isinstance(around, ast.Return) or _computes(use, scope)):
            return f"`{name}` is kept, or given to unknown code"
        computed = computed or _computes(use, scope)
    return None if computed else _HANDED_OUT


def _wants(positional: list[ast.expr], node: ast.Call) -> bool | None:
    """The gradient that a call asks for: True by default, None where that is not known."""
    given = [*positional, *(k.value for k in node.keywords if k.arg == "requires_grad")]
    if not given:
        return True
    return bool(given[0].value) if isinstance(given[0], ast.Constant) else None


def _asks(scope: Scope, request: ast.expr | None = None) -> str | None:
    """Where the function asks for gradients itself; what it asks before a request has nothing to do with that."""
    again = request is None or any(isinstance(around, ast.For | ast.While) for around in scope.ancestors(request))
    for node in scope.of(ast.Attribute):
        if not again and request is not None and node.lineno < request.lineno:
            continue
        if node.attr in _ASKS and not isinstance(node.ctx, ast.Store):
            return f"`{snippet(node)}` asks for a gradient in the same function: use `torch.func.grad`"
    return None


def _asked_by_called(scope: Scope) -> str | None:
    """Where a function that is called, or this one by a name of its own, asks for the gradient of what it is given."""
    for function in sorted(scope.legality.reached(scope.function), key=lambda f: f.full_name):
        asked = next((n for n in function.of(ast.Call) if function.module.qualified(n.func) in _REQUESTS), None)
        if asked is not None:
            return f"`{snippet(asked)}` in `{function.qualname}` may ask for a gradient of what is computed of it"
    return None


def _outside(value: Value) -> bool:
    return not value.storage or any(t.startswith(("param:", "self.", "global.")) for t in value.storage)


def _other_use(node: ast.Call, scope: Scope) -> str | None:
    """A use of the parameter besides computing with it."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Return) and _is_request(node) and returned_to_compute(scope):
        return None
    if not isinstance(parent, ast.Assign):
        return None if _computes(node, scope) else f"the tensor {_LEAVES}"
    target = parent.targets[0]
    if len(parent.targets) != 1 or not isinstance(target, ast.Name):
        return "the tensor is stored: make it in `__init__`"
    return _left_by(target, scope)


def _is_request(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"


def _left_by(name: ast.expr, scope: Scope) -> str | None:
    """A use of a local name besides computing with it."""
    if not isinstance(name, ast.Name):
        return f"`{snippet(name)}` is no local name"
    for use in scope.function.of(ast.Name):
        if use.id != name.id or not isinstance(use.ctx, ast.Load):
            continue
        if use not in scope.parents or not _computes(use, scope):
            return f"`{name.id}` {_LEAVES}"
    return None


def _computes(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp):
        # `"%s" % p` shows that it is a parameter.
        return not isinstance(parent.op, ast.Mod) or parent.left is node or scope.value(parent.left).is_tensor
    if isinstance(parent, ast.UnaryOp):
        return not isinstance(parent.op, ast.UAdd) or _computes(parent, scope)
    if isinstance(parent, ast.Attribute):
        call = scope.parents.get(parent)
        return isinstance(call, ast.Call) and call.func is parent and _gives_new_tensor(call, scope)
    if isinstance(parent, ast.Call) and node in parent.args:
        name = scope.callee(parent) or ""
        known = name.startswith(("torch.nn.functional.", "Tensor.")) or (
            name.startswith("torch.") and scope.value(parent).is_tensor
        )
        return known and (not _may_hand_back(parent, name) or _computes(parent, scope))
    return False


def _gives_new_tensor(call: ast.Call, scope: Scope) -> bool:
    """Whether a method of a tensor only computes another one, as `zeros.scatter(1, index, source)` does."""
    name = scope.callee(call) or ""
    api = torch_api.method(name.removeprefix("Tensor.")) if name.startswith("Tensor.") else None
    if api is None or api.returns != "Tensor" or any(k.arg == "out" for k in call.keywords):
        return False
    return not (api.mutates or api.view or api.maybe_view or api.host or api.attribute)


def _may_hand_back(call: ast.Call, name: str) -> bool:
    """Whether what a function of torch gives may be the very tensor it is given, as dropout does in evaluation."""
    api = torch_api.function(name)
    return (api is not None and api.maybe_view) or any(k.arg in ("inplace", "out") for k in call.keywords)
