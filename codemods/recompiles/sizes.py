"""Numbers that are sizes of tensors."""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope


def definition_of(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression that a local name stands for, where it is given once; anything else stands for itself."""
    given = scope.only_value(node.id) if isinstance(node, ast.Name) else None
    return node if given is None else given


def is_size(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether a number is computed from the size of a dimension; a rank is none."""
    if depth > 8 or not scope.value(node).is_(Kind.SIZE):
        return False
    if isinstance(node, ast.Subscript):
        return scope.value(node.value).ref == "torch.Size"
    if isinstance(node, ast.Call):
        name = scope.callee(node) or ""
        return name in ("Tensor.size", "Tensor.numel") or (
            name == "len" and bool(node.args) and scope.value(node.args[0]).is_tensor
        )
    if isinstance(node, ast.BinOp):
        return is_size(node.left, scope, depth + 1) or is_size(node.right, scope, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return is_size(node.operand, scope, depth + 1)
    if isinstance(node, ast.Name):
        stores = scope.names(node.id, stores=True)
        parent = scope.parents.get(stores[0]) if len(stores) == 1 else None
        if isinstance(parent, ast.Tuple | ast.List):
            assign = scope.parents.get(parent)
            return isinstance(assign, ast.Assign) and scope.value(assign.value).ref == "torch.Size"
        definition = definition_of(node, scope)
        return definition is not node and is_size(definition, scope, depth + 1)
    return False


def is_likely_compiled(scope: Scope) -> bool:
    """Whether a `forward`, a compile call or a configured root leads to the function.

    Other functions of a library may be compiled, and as a rule are not.
    """
    return scope.compiled.root.endswith((".forward", "(configured root)")) or scope.compiled.from_compile_call
