"""A flag in a buffer that the object's own code only sets: what was seen set once is asked of Python from then on.

self.register_buffer("ready", torch.tensor(not by_data))     # and self.ready_seen = not by_data
if self.ready:                                               if not self.ready_seen:
    return                                                       if self.ready:
                                                                     self.ready_seen = True
                                                             if self.ready_seen:
                                                                 return
if self.training and self.ready.item() == 0:                 if self.training and not self.ready_seen: ...
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name
from compilefix.source.tree import parents

_MAKES = ("tensor", "Tensor", "BoolTensor", "ByteTensor", "as_tensor")
_SETS = frozenset({"copy_", "fill_"})
ONLY_UNTIL_SET = "it is asked only until it is set: the graph breaks in the first calls"
"""Why an `if` that waits for a flag has no fix."""

_PLAIN = (ast.Name, ast.Constant, ast.UnaryOp, ast.BoolOp, ast.boolop, ast.unaryop, ast.expr_context)
_IDENTITY = (ast.Compare, ast.Is, ast.IsNot)


@dataclass(frozen=True)
class Flag:
    """A buffer that is a flag, the statement that makes it, and what it is made of, where Python knows that."""

    name: str
    made: ast.Expr
    at_first: ast.expr | None


@dataclass(frozen=True)
class Question:
    """Where a condition asks for a flag: `asked` is the flag, and `part` what reads its truth.

    compared: whether `part` is `flag == 0`, true where the flag is not set. beside: the fixed conditions joined to it.
    """

    asked: ast.Attribute
    part: ast.expr
    compared: bool
    beside: tuple[ast.expr, ...]


def _question(test: ast.expr, scope: Scope) -> Question | None:
    """The flag in `self.flag`, `not self.flag`, `self.flag.item() == 0` and `self.training and not self.flag`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        found = [(part, _question(part, scope)) for part in test.values if not _is_fixed(part, scope)]
        beside = tuple(part for part in test.values if _is_fixed(part, scope))
        inner = found[0][1] if len(found) == 1 else None
        return None if inner is None else replace(inner, beside=beside)
    part = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    compared = part is test and isinstance(part, ast.Compare) and _is_compared_to_zero(part)
    read = part.left if compared and isinstance(part, ast.Compare) else part
    if (
        isinstance(read, ast.Call)
        and isinstance(read.func, ast.Attribute)
        and read.func.attr == "item"
        and not read.args
    ):
        read = read.func.value
    if not isinstance(read, ast.Attribute) or not _is_own(read, scope):
        return None
    return Question(read, part, compared, ())


def _is_compared_to_zero(node: ast.Compare) -> bool:
    """Whether it is `flag == 0`, and no chain of comparisons that ends so."""
    other = node.comparators[0]
    alone = len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
    return alone and isinstance(other, ast.Constant) and type(other.value) is int and other.value == 0


def _is_fixed(node: ast.expr, scope: Scope) -> bool:
    """Whether a condition is one of Python that may be asked twice: `self.training`, `not self.frozen`."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    return isinstance(node, ast.Name | ast.Attribute) and scope.value(node).is_(Kind.STATIC)


def seen_set(node: ast.If, scope: Scope) -> Fix | None:
    """The fix for an `if` on a flag that is only ever set, if it is one."""
    cls = scope.function.cls
    question = _question(node.test, scope)
    if cls is None or question is None or node in _chained(scope) or waits_for_flag(node, scope):
        return None
    asked = question.asked
    flag = _flag(asked.attr, cls)
    if flag is None or not _only_set(flag, cls):
        return None
    owner, seen = snippet(asked.value), f"{flag.name}_seen"
    if seen in cls.methods or scope.legality.stores_attribute(seen):
        return None
    template = Template()
    test = template.use(asked)
    conditions = [*(template.use(part) for part in question.beside), f"not {owner}.{seen}"]
    wait = f"if {' and '.join(conditions)}:\n    if {test}:\n        {owner}.{seen} = True"
    code = f"not {owner}.{seen}" if question.compared else f"{owner}.{seen}"
    edits = [scope.before(node, wait, **template.parts), scope.edit(question.part, code)]
    made = Template()
    first = "False" if flag.at_first is None else _truth(flag.at_first, made)
    edits.append(scope.before(flag.made, f"{_object(flag.made)}.{seen} = {first}", **made.parts))
    why = f"`{snippet(asked)}` is a buffer that a loaded state may clear"
    return Fix(tuple(edits), (), ("set-once",), (why,))


def waits_for_flag(node: ast.If, scope: Scope) -> bool:
    """Whether an `if` does nothing but set a flag of Python that is not set yet: it is asked in the first calls."""
    if len(node.body) != 1 or node.orelse or not isinstance(node.body[0], ast.Assign):
        return False
    target, value = node.body[0].targets[0], node.body[0].value
    around = scope.parents.get(node)
    if not isinstance(target, ast.Attribute) or not (isinstance(value, ast.Constant) and value.value is True):
        return False
    test = around.test if isinstance(around, ast.If) and node in around.body else None
    unset = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return unset and isinstance(test, ast.UnaryOp) and ast.unparse(test.operand) == ast.unparse(target)


def _chained(scope: Scope) -> set[ast.stmt]:
    """The `if` statements that are an `elif`, or what stands alone in an `else`: nothing can stand before them."""
    return {node.orelse[0] for node in scope.of(ast.If) if len(node.orelse) == 1}


def _is_own(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is an attribute of the object whose method this is."""
    arguments = scope.function.node.args.posonlyargs + scope.function.node.args.args
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return own and bool(arguments) and node.value.id == arguments[0].arg  # type: ignore[attr-defined]


def _flag(name: str, cls: Class) -> Flag | None:
    """The buffer of this name, where `__init__` makes it, always and once."""
    init = cls.methods.get("__init__")
    if init is None:
        return None
    found = [call for call in ast.walk(cls.node) if isinstance(call, ast.Call) and _registers(call, name)]
    if len(found) != 1 or len(found[0].args) < 2 or _made_again(name, cls):
        return None
    made = next((s for s in init.node.body if isinstance(s, ast.Expr) and s.value is found[0]), None)
    return None if made is None else Flag(name, made, _known(found[0].args[1]))


def _made_again(name: str, cls: Class) -> bool:
    """Whether a class of the file that inherits this one, or may do so, makes a buffer of this name too."""
    return any(
        other is not cls.node
        and other.bases
        and not all(ast.unparse(base) in ("nn.Module", "torch.nn.Module", "Module") for base in other.bases)
        and any(isinstance(call, ast.Call) and _registers(call, name) for call in ast.walk(other))
        for other in ast.walk(cls.module.tree)
        if isinstance(other, ast.ClassDef)
    )


def _registers(call: ast.Call, name: str) -> bool:
    named = call.args[0] if call.args else None
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "register_buffer"
        and isinstance(named, ast.Constant)
        and named.value == name
    )


def _object(made: ast.Expr) -> str:
    assert isinstance(made.value, ast.Call)
    assert isinstance(made.value.func, ast.Attribute)
    return ast.unparse(made.value.func.value)


def _known(value: ast.expr) -> ast.expr | None:
    """What Python knows of the only element of a new tensor: `not by_data` of `torch.tensor([not by_data])`."""
    if not isinstance(value, ast.Call) or len(value.args) != 1 or last_name(value.func) not in _MAKES:
        return None
    inner = value.args[0]
    if isinstance(inner, ast.List | ast.Tuple) and len(inner.elts) == 1:
        inner = inner.elts[0]
    elif last_name(value.func) not in ("tensor", "as_tensor"):
        return None  # `torch.Tensor(3)` has three elements
    cut = any(k.arg == "dtype" for k in value.keywords) and not isinstance(inner, ast.Constant)
    # A dtype may make another truth of it, as `uint8` does of 0.5.
    return inner if not cut and all(isinstance(n, (*_PLAIN, *_IDENTITY)) for n in ast.walk(inner)) else None


def _truth(node: ast.expr, template: Template) -> str:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(bool(node.value))
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    constant = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    is_truth = negated or constant or isinstance(node, ast.Compare)
    return template.use(node) if is_truth else f"bool({template.use(node)})"


def _only_set(flag: Flag, cls: Class) -> bool:
    """Whether all that the file does with the flag, besides asking for its truth, is to set it, somewhere."""
    around = parents(ast.walk(cls.module.tree))
    uses = [n for n in ast.walk(cls.module.tree) if isinstance(n, ast.Attribute) and n.attr == flag.name]
    kinds = {_use(use, around) for use in uses}
    return "set" in kinds and kinds <= {"set", "asked"}


def _use(node: ast.Attribute, around: dict[ast.AST, ast.AST]) -> str:
    """What is done with a flag at one place: it is asked for its truth, set, or something else."""
    parent = around.get(node)
    if isinstance(node.ctx, ast.Store):
        return "set" if isinstance(parent, ast.Assign) and _is_true(parent.value) else "other"
    if isinstance(parent, ast.Attribute) and parent.attr == "data":
        if isinstance(parent.ctx, ast.Store):
            assigned = around.get(parent)
            return "set" if isinstance(assigned, ast.Assign) and _is_true(assigned.value) else "other"
        parent = around.get(parent)
    if isinstance(parent, ast.Attribute) and parent.attr == "item":
        call = around.get(parent)
        return "asked" if isinstance(call, ast.Call) and call.func is parent and not call.args else "other"
    if isinstance(parent, ast.Attribute):
        call = around.get(parent)
        sets = parent.attr in _SETS and isinstance(call, ast.Call) and call.func is parent and len(call.args) == 1
        return "set" if sets and isinstance(call, ast.Call) and _is_true(call.args[0]) else "other"
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return "asked"
    if isinstance(parent, ast.Compare) and all(isinstance(c, ast.Constant) for c in parent.comparators):
        return "asked"
    asking: ast.AST = node
    while isinstance(parent, ast.BoolOp):
        asking, parent = parent, around.get(parent)
    return "asked" if isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is asking else "other"


def _is_true(node: ast.expr) -> bool:
    """Whether an expression is true: a number, or a tensor with one true number in it."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool | int | float) and bool(node.value)
    known = _known(node)
    return known is not None and isinstance(known, ast.Constant) and _is_true(known)
