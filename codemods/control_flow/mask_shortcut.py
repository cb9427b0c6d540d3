"""A mask that hides nothing in the place of None: `if mask.all(): mask = None` asks a tensor only to save work.

if mask is not None and torch.all(mask == 1):        (goes away)
    mask = None

if mask is not None and 0.0 in mask:                 return mask
    return mask
return None

if mask is None or mask.all():                       if mask is None:
    bias = None                                          bias = None
else:                                                else:
    bias = (1 - mask) * lowest                           bias = (1 - mask) * lowest

padding_mask = None                                  padding_mask = None
if tokens.eq(pad).any():                             padding_mask = tokens.eq(pad)
    padding_mask = tokens.eq(pad)

bias = None                                          bias = None
if mask is not None and not mask.all():              if mask is not None:
    bias = torch.where(mask, 0.0, lowest)                bias = torch.where(mask, 0.0, lowest)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TypeGuard

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.analysis.writes import last_line
from compilefix.codemods.control_flow.masks import Mask, selects_by
from compilefix.codemods.finding import Edit
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.snippets import snippet
from compilefix.source.syntax import conjuncts, is_literal

_NONZERO = ((1, ast.Eq), (0, ast.NotEq), (0, ast.Gt))
_ZERO = ((0, ast.Eq), (1, ast.NotEq), (1, ast.Lt))


def mask_shortcut(node: ast.If, scope: Scope, template: Template) -> tuple[Edit, ...] | None:
    """The edits without the question; None where an `if` is no such shortcut."""
    if not is_tensor_test(node.test, scope):
        return None
    if (always := _made_of_what_hides(node, scope, template)) is not None:
        return always
    if len(node.body) != 1:
        return None
    body, block = node.body[0], scope.block(node)
    if isinstance(body, ast.Assign) and not node.orelse and (kept := _made_where_needed(node.test, body, scope)):
        template.refuse([_handed_on(kept)])
        return (scope.edit(node, "{made}", made=body),)
    rest = block[block.index(node) + 1 :]
    fixed, asked = _apart(node.test, scope)
    mask = _shown_all(asked, scope)
    if mask is not None and node.orelse:
        made = node.orelse[0]
        if len(node.orelse) > 1 or not _makes_mask(body, made, mask) or _decides_more(body, scope):
            return None
        template.refuse([_handed_on(mask)])
        return (_only_fixed(node, fixed, scope) if fixed else scope.edit(node, "{made}", made=made),)
    if mask is not None:
        if isinstance(body, ast.Assign) and [ast.dump(_load(t)) for t in body.targets] == [ast.dump(mask)]:
            gone = _is_none(body.value)
        elif _returns_less(body, rest, mask, node):
            template.refuse([Obstacle(f"`{snippet(body)}` hands on what is a new tensor then", "no-aliasing")])
            gone = True
        else:
            gone = len(rest) == 1 and _makes_mask(body, rest[0], mask)
        if not gone:
            return None
        template.refuse([_handed_on(mask)])
        return (_only_fixed(node, fixed, scope) if fixed else scope.edit(node, "pass" if len(block) == 1 else ""),)
    mask = _hides(node.test, scope)
    if mask is None or not isinstance(body, ast.Return) or body.value is None or ast.dump(body.value) != ast.dump(mask):
        return None
    other = node.orelse if node.orelse else rest
    if len(other) > 1 or (other and not (isinstance(other[0], ast.Return) and _is_none(other[0].value))):
        return None
    if not other and scope.parents.get(node) is not scope.function.node:
        return None
    template.refuse([_handed_on(mask)])
    edit = scope.edit(node, "{kept}", kept=body)
    return (edit, *(scope.edit(s, "") for s in rest)) if not node.orelse else (edit,)


def _apart(test: ast.expr, scope: Scope) -> tuple[list[ast.expr], ast.expr]:
    """`mask is None or mask.all()` as what is fixed when Dynamo traces, and the rest."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        *first, last = test.values
        if not any(is_tensor_test(part, scope) for part in first):
            return first, last
    return [], test


def _only_fixed(node: ast.If, fixed: Sequence[ast.expr], scope: Scope, *, joined: str = " or ") -> Edit:
    """The condition without what it asks the mask."""
    parts = {f"part_{index}": part for index, part in enumerate(fixed)}
    code = joined.join(
        f"({{{name}}})" if isinstance(p, ast.BoolOp | ast.IfExp) else f"{{{name}}}" for name, p in parts.items()
    )
    return scope.edit(node.test, code, **parts)


def _made_of_what_hides(node: ast.If, scope: Scope, template: Template) -> tuple[Edit, ...] | None:
    """The edits by which a mask is made of another one also where that hides nothing, and it would stay None."""
    first, *more = node.body
    name = first.targets[0] if isinstance(first, ast.Assign) else None
    before = scope.facts.env_before.get(first, {}).get(name.id) if isinstance(name, ast.Name) else None
    if node.orelse or not isinstance(first, ast.Assign) or len(first.targets) != 1 or not isinstance(name, ast.Name):
        return None
    if before is None or not before.is_(Kind.NONE) or not scope.value(first.value).is_tensor:
        return None
    *fixed, asked = node.test.values if _is_and(node.test) else [node.test]
    if any(is_tensor_test(part, scope) for part in fixed) or not is_tensor_test(asked, scope):
        return None
    mask = _whole(asked, scope, full=False)
    filled = [_filled(statement, name) for statement in more]
    computed = [first.value, *(part for given in filled for part in given)]
    if mask is not None:
        made = any(ast.dump(n) == ast.dump(mask) for part in computed for n in ast.walk(part))
        made = made and all(filled) and _NAMED.search(name.id.lower()) is not None
        made = made and (not more or _callee(first.value, scope).rpartition(".")[2] in _MAKERS)
    else:
        mask = _inverted(first.value, scope)
        flagged = _reduced(asked, "any", scope)
        made = not more and mask is not None and flagged is not None and ast.dump(flagged) == ast.dump(mask)
        made = made and _SHOWS.search(name.id.lower()) is not None
    if mask is None or not made or _decides_more(first, scope):
        return None
    template.refuse(scope.legality.both_evaluated(computed, scope.facts))
    template.refuse([_handed_on(name)])
    if fixed:
        return (_only_fixed(node, fixed, scope, joined=" and "),)
    parts = {f"made_{index}": statement for index, statement in enumerate(node.body)}
    return (scope.edit(node, "\n".join(f"{{{part}}}" for part in parts), **parts),)


def _callee(node: ast.expr, scope: Scope) -> str:
    return (scope.callee(node) or "") if isinstance(node, ast.Call) else ""


def _is_and(test: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _filled(statement: ast.stmt, name: ast.Name) -> list[ast.expr]:
    """What a call like `name.masked_fill_(mask, value)` is given; nothing for any other statement."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return []
    owner = call.func.value
    own = isinstance(owner, ast.Name) and owner.id == name.id and call.func.attr == "masked_fill_"
    return [*call.args, *(k.value for k in call.keywords)] if own else []


def _inverted(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What is turned round in `~x` or `torch.logical_not(x)`, a boolean tensor where its dtype is known."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        found: ast.expr | None = node.operand
    elif isinstance(node, ast.Call) and scope.callee(node) == "torch.logical_not" and len(node.args) == 1:
        found = node.args[0] if not node.keywords else None
    else:
        return None
    return found if found is not None and scope.value(found).dtype in ("bool", None) else None


def mask_or_none(node: ast.IfExp, scope: Scope, template: Template) -> Edit | None:
    """The mask alone for `mask if mask is not None and 0 in mask else None`."""
    mask, kept = _hides(node.test, scope), node.body
    if mask is None:
        mask, kept = _shown_all(node.test, scope), node.orelse
    other = node.orelse if kept is node.body else node.body
    guarded = kept is node.body or not isinstance(node.test, ast.BoolOp)
    if mask is None or not guarded or not _is_none(other) or _decides_more(scope.statement(node), scope):
        return None
    template.refuse([_handed_on(mask)])
    if ast.dump(kept) == ast.dump(mask):
        return _instead(node, kept, scope)
    if kept is not node.body or ast.dump(_root(kept)) != ast.dump(mask) or not scope.value(kept).is_tensor:
        return None
    template.refuse(scope.legality.both_evaluated([kept], scope.facts))
    if _is_and(node.test):
        return scope.edit(node, "{kept} if {given} else None", kept=kept, given=node.test.values[0])
    return _instead(node, kept, scope)


def _instead(node: ast.IfExp, kept: ast.expr, scope: Scope) -> Edit:
    """One side in the place of a conditional expression; nothing where a name would get what it holds."""
    statement = scope.parents[node]
    if isinstance(kept, ast.Name) and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id == kept.id:
            return scope.edit(statement, "pass" if len(scope.block(statement)) == 1 else "")
    return scope.edit(node, "{kept}", kept=kept)


def _made_where_needed(test: ast.expr, body: ast.Assign, scope: Scope) -> ast.Name | None:
    """The name that is None until it gets the mask of what is padded, and gets it only where something is."""
    name = body.targets[0]
    before = scope.facts.env_before.get(body, {}).get(name.id) if isinstance(name, ast.Name) else None
    if len(body.targets) != 1 or not isinstance(name, ast.Name) or before is None or not before.is_(Kind.NONE):
        return None
    asked = [_reduced(part, "any", scope) for part in _alternatives(test)]
    same = any(mask is not None and ast.dump(mask) == ast.dump(body.value) for mask in asked)
    if not same or not _is_padding(name) or scope.value(body.value).dtype != "bool":
        return None
    # It was computed twice: what draws or writes then is done once now.
    acts = (o for o in scope.legality.both_evaluated([body.value], scope.facts) if o.assumption != "branches-total")
    return name if next(acts, None) is None else None


def _handed_on(mask: ast.expr) -> Obstacle:
    return Obstacle(f"`{ast.unparse(mask)}` is handed on, instead of None, where it hides nothing", "mask-for-none")


def _shown_all(test: ast.expr, scope: Scope) -> ast.expr | None:
    """The mask that is proved to hide nothing where a condition is true; fixed conditions may stand beside it."""
    parts = conjuncts(test)
    tensors = [part for part in parts if is_tensor_test(part, scope)]
    return _whole(tensors[0], scope, full=True) if len(tensors) == 1 else None


def _hides(test: ast.expr, scope: Scope) -> ast.expr | None:
    """The mask that hides nothing, or is None, where a condition is false."""
    named, test = test, _definition(test, scope)
    for part in _alternatives(test):
        mask = _whole(part, scope, full=False)
        if mask is not None and (part is not test or test is not named):
            # Where `fixed or padding.any()` is false, so is each of its parts.
            return mask if test is named or not _given_again(mask, test, scope) else None
    parts = conjuncts(test)
    mask = _whole(parts[-1], scope, full=False)
    if mask is None or len(parts) > 2 or (test is not named and _given_again(mask, test, scope)):
        return None
    return mask if len(parts) == 1 or _is_given(parts[0], mask) else None


def _definition(test: ast.expr, scope: Scope) -> ast.expr:
    """What a name stands for that is given a value once."""
    if not isinstance(test, ast.Name):
        return test
    given = scope.only_value(test.id)
    return test if given is None else given


def _given_again(mask: ast.expr, test: ast.expr, scope: Scope) -> bool:
    """Whether a mask is another one, or holds something else, behind the line that asked for it."""
    for writer in scope.legality.memory.writers(scope.value(mask).storage, (), scope.facts):
        if last_line(writer, scope.facts) >= test.lineno:
            return True
    names = (n for n in ast.walk(mask) if isinstance(n, ast.Name))
    stores = (store for name in names for store in scope.names(name.id, stores=True))
    text = ast.unparse(mask)
    others = (n for n in scope.of(ast.Attribute) if isinstance(n.ctx, ast.Store) and ast.unparse(n) == text)
    return any(store.lineno > test.lineno for store in (*stores, *others))


def _alternatives(test: ast.expr) -> list[ast.expr]:
    """The parts of `a or b` and `a | b`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [part for value in test.values for part in _alternatives(value)]
    if isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitOr):
        return [*_alternatives(test.left), *_alternatives(test.right)]
    return [test]


def _is_given(test: ast.expr, mask: ast.expr) -> bool:
    """`mask is not None`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.IsNot)
        and _is_none(test.comparators[0])
        and ast.dump(test.left) == ast.dump(mask)
    )


def _whole(test: ast.expr, scope: Scope, *, full: bool) -> ast.expr | None:
    """The mask of which a condition says that all is shown, or with `full=False` that something is hidden."""
    source = read_of(test, scope)
    if source is not None:
        return _whole(source, scope, full=full)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _whole(test.operand, scope, full=not full)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In | ast.NotIn):
        held = isinstance(test.left, ast.Constant) and test.left.value in (0, False)
        mask = test.comparators[0]
        plain = isinstance(mask, ast.Name | ast.Attribute) and not _is_padding(mask)
        return mask if held and plain and isinstance(test.ops[0], ast.NotIn) == full else None
    inner = _reduced(test, "all" if full else "any", scope)
    return None if inner is None else _element(inner, shown=full)


def _element(node: ast.expr, *, shown: bool) -> ast.expr | None:
    """The mask whose elements show, or hide, where an expression is true."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _element(node.operand, shown=not shown)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "bool":
        return _element(node.func.value, shown=shown)
    nonzero = True
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.comparators[0], ast.Constant):
        says = (node.comparators[0].value, type(node.ops[0]))
        if says not in (*_NONZERO, *_ZERO):
            return None
        nonzero, node = says in _NONZERO, node.left
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    return node if (nonzero != _is_padding(node)) == shown else None


def _is_padding(mask: ast.expr) -> bool:
    """Whether a mask says by its name that it is true where something is hidden."""
    name = ast.unparse(mask).rpartition(".")[2].lower()
    return "pad" in name and not any(word in name for word in ("non", "not", "unpad"))


def _reduced(node: ast.expr, method: str, scope: Scope) -> ast.expr | None:
    """The tensor in `mask.all()` or `torch.all(mask)`, without a dimension."""
    if not isinstance(node, ast.Call) or scope.callee(node) not in (f"torch.{method}", f"Tensor.{method}"):
        return None
    if node.keywords:
        return None
    if scope.callee(node) == f"torch.{method}":
        return node.args[0] if len(node.args) == 1 else None
    return node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None


def _makes_mask(body: ast.stmt, made: ast.stmt, mask: ast.expr) -> bool:
    """Whether one side returns None, or gives it to what is called a mask, and the other what it makes of the mask."""
    if isinstance(body, ast.Assign) and isinstance(made, ast.Assign):
        targets = [ast.dump(t) for t in body.targets]
        same = len(targets) == 1 and targets == [ast.dump(t) for t in made.targets]
        if not same or not _NAMED.search(ast.unparse(body.targets[0]).rpartition(".")[2].lower()):
            return False
    elif not isinstance(body, ast.Return) or not isinstance(made, ast.Return):
        return False
    if not _is_none(body.value):
        return False
    calls = [n for n in ast.walk(made) if isinstance(n, ast.Call)]
    given = [a for call in calls for a in (*call.args, *(k.value for k in call.keywords))]
    given += [_root(call) for call in calls]
    if isinstance(made, ast.Assign):
        given += [_root(side) for n in ast.walk(made) if isinstance(n, ast.BinOp) for side in (n.left, n.right)]
    computed = isinstance(made.value, ast.Call | ast.BinOp if isinstance(made, ast.Assign) else ast.Call)
    return computed and any(ast.dump(a) == ast.dump(mask) for a in given)


_NAMED = re.compile(r"mask|bias")
_MAKERS = frozenset({f"{kind}{like}" for kind in ("zeros", "ones", "full") for like in ("", "_like")} | {"new_zeros"})
_SHOWS = re.compile(r"valid|visible|attention_mask|attn_mask")


def _decides_more(body: ast.stmt, scope: Scope) -> bool:
    """Whether it is asked whether a mask is None for more than to apply it: `causal = mask is None`."""
    targets = {ast.unparse(target) for target in body.targets} if isinstance(body, ast.Assign) else set[str]()
    for node in scope.of(ast.Compare):
        if ast.unparse(node.left) in targets and node.lineno > body.lineno and _is_none(node.comparators[0]):
            asking = scope.parents.get(node)
            applies = isinstance(asking, ast.If) and not asking.orelse and isinstance(node.ops[0], ast.IsNot)
            applies = applies or (isinstance(asking, ast.IfExp) and (_is_none(asking.body) or _is_none(asking.orelse)))
            if not applies:
                return True
    return False


def _root(node: ast.expr) -> ast.expr:
    """What the methods in `mask[:, None].expand(2, 3)` are called on at first."""
    while isinstance(node, ast.Call | ast.Subscript) or (isinstance(node, ast.Attribute) and _calls(node.value)):
        node = node.func if isinstance(node, ast.Call) else node.value
        node = node.value if isinstance(node, ast.Attribute) else node
    return node


def _calls(node: ast.expr) -> bool:
    return isinstance(node, ast.Call | ast.Subscript)


def _returns_less(early: ast.stmt, rest: Sequence[ast.stmt], mask: ast.expr, node: ast.If) -> bool:
    """Whether a `return x, None` gives what the way on returns as `x, mask` where the mask hides nothing."""
    if not isinstance(early, ast.Return):
        return False
    last = rest[-1] if rest else None
    if not isinstance(last, ast.Return) or not isinstance(early.value, ast.Tuple) or not isinstance(mask, ast.Name):
        return False
    if not isinstance(last.value, ast.Tuple) or len(last.value.elts) != len(early.value.elts):
        return False
    full = Mask(ast.dump(mask), frozenset({mask.id}), False, True)
    kept: set[str] = set()
    for first, second in zip(early.value.elts, last.value.elts, strict=True):
        if _is_none(first) and ast.dump(second) == ast.dump(mask):
            continue
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name) or first.id != second.id:
            return False
        kept.add(first.id)
    for statement in rest[:-1]:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or target.id not in kept:
            return False
        if not selects_by(statement.value, target.id, [full], statement, node):
            return False
    return True


def _load(target: ast.expr) -> ast.expr:
    """A target as an expression that reads it."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    return ast.Attribute(target.value, target.attr, ast.Load()) if isinstance(target, ast.Attribute) else target


def _is_none(node: ast.expr | None) -> bool:
    return node is None or is_literal(node, None)
