"""Parameters that are floating tensors wherever a function ends normally, since what takes only these takes them."""

from __future__ import annotations

import ast

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.unconditional import unconditional
from compilefix.analysis.values import Value


def float_parameters(facts: FunctionFacts) -> frozenset[str]:
    """Parameters of unknown dtype that are passed, on every run that ends normally, to what takes only floats.

    Between the start and that call the name may only have been given values that follow the parameter's own dtype, so
    that a tensor that is not floating would fail there.
    """
    function = facts.function
    parameters = {parameter.arg for parameter in function.parameters}
    calls = [
        (node, node.args[0].id)
        for node, _ in facts.float_only
        if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in parameters
    ]
    if not calls:
        return frozenset()
    found: set[str] = set()
    lines = [node.lineno for node, _ in calls]
    holding = [s for s in function.node.body if any(s.lineno <= line <= (s.end_lineno or line) for line in lines)]
    always = {n: statement.lineno for statement in holding for n in unconditional(statement)}
    ends = [n.lineno for n in function.of(ast.Return)] + [n.lineno for n in function.of(ast.Yield)]
    for node, name in calls:
        if node not in always or any(line < node.lineno for line in ends):
            continue
        stores = [
            n
            for n in function.of(ast.Name)
            if n.id == name and isinstance(n.ctx, ast.Store) and n.lineno < always[node]
        ]
        if all(_follows(facts.value(s), name) for s in stores):
            found.add(name)
    return frozenset(found)


def _follows(value: Value, name: str) -> bool:
    return (
        value.is_tensor
        and value.dtype is None
        and bool(value.leaves)
        and not any(leaf.startswith("?") for leaf in value.leaves)
        and name in value.leaves
    )
