"""CF406: an einsum of opt_einsum or TensorLy on tensors.

## What it does
Finds `opt_einsum.contract(equation, a, b)` in compiled code, and `tensorly.einsum` in a project that switches on
`tensorly.plugins.use_opt_einsum` for it. `torch.einsum` takes their place.

## Why is this bad
opt_einsum asks which thread it runs in, and TensorLy makes a text of the sizes, as a key of its cache: the graph breaks
there (GB0007, GB0156), several times for one sum. `torch.einsum` is traced, and orders more than two operands by
opt_einsum too, where that is installed.

## Example
```python
from opt_einsum import contract

y = contract("bhl,hd->bdl", x, self.weight, optimize="optimal")
```

## Use instead
```python
y = torch.einsum("bhl,hd->bdl", x, self.weight)
```

## Fix safety
Under `torch-einsum`. The two were compared on PyTorch 2.13 with 30 equations, dtypes and sizes, empty ones among them:
same values up to rounding, shapes and dtypes. Strides differ (`ij,jk->ik`), and so do the errors of sizes that do not
fit (`ValueError`, and `RuntimeError`). What only chooses the order of the terms (`optimize`, `memory_limit`) is left
out. `functools.partial` that keeps nothing else becomes `torch.einsum` itself.

Declined where a backend other than PyTorch's is named, with `out=`, with other signs than letters for the dimensions,
where the equation is no text, where an operand is a NumPy array, and for TensorLy where the file does not set its
backend to PyTorch.

Graph breaks: GB0007, GB0156. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import walk

_ORDER = frozenset({"optimize", "memory_limit", "use_blas"})
"""Keywords that only choose in which order the terms are multiplied, or by which routine."""
_LETTERS = re.compile(r"[A-Za-z.,\s]*(->[A-Za-z.\s]*)?")
_SIMPLE = ast.Constant | ast.Name | ast.Attribute


class LibraryEinsum(Rule):
    """Einsum of a library."""

    code = "CF406"
    name = "library-einsum"
    summary = "an einsum of opt_einsum or TensorLy on tensors"
    gb = ("GB0007", "GB0156")
    hints = ("contract", "einsum")
    assumptions = ("torch-einsum",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of such an einsum."""
        packages = scope.function.module.packages
        if "opt_einsum" not in packages and "tensorly" not in packages:
            return
        for node in scope.of(ast.Call):
            name = scope.callee(node)
            if name == "opt_einsum.contract":
                library = "opt_einsum"
            elif name == "functools.partial" and _kept_contract(node, scope):
                yield self._judge_kept(node, scope)
                continue
            elif name == "tensorly.einsum" and _plugged_in(scope):
                library = "TensorLy"
            else:
                continue
            operands = [one.value if isinstance(one, ast.Starred) else one for one in node.args[1:]]
            if operands and not any(_may_be_tensor(one, scope) for one in operands):
                continue
            yield self._judge(node, library, scope)

    def _judge(self, node: ast.Call, library: str, scope: Scope) -> Finding:
        message = f"`{snippet(node)}` of {library} asks Python what it cannot trace: the graph breaks"
        reason = _equation(node, scope) or _operands(node, scope) or _options(node)
        if reason is None and library == "TensorLy" and not _backend_is_torch(scope):
            reason = "the file does not set TensorLy's backend to PyTorch"
        if reason is not None:
            return self.declined(scope, node, message, f"{reason}; else use `torch.einsum`")
        template = Template()
        given = [f"*{template.use(a.value)}" if isinstance(a, ast.Starred) else template.use(a) for a in node.args]
        edit = scope.edit(node, f"{torch_name(scope)}.einsum({', '.join(given)})", **template.parts)
        why = f"`{snippet(node.func)}` may be given what is no tensor, and what it returns has other strides"
        return self.fixed(scope, node, message, Fix((edit,), imports(scope), ("torch-einsum",), (why,)))

    def _judge_kept(self, node: ast.Call, scope: Scope) -> Finding:
        message = (
            f"`{snippet(node)}` of opt_einsum asks Python what it cannot trace when it is called: the graph breaks"
        )
        reason = _options(node)
        if reason is not None:
            return self.declined(scope, node, message, f"{reason}; else use `torch.einsum`")
        edit = scope.edit(node, f"{torch_name(scope)}.einsum")
        why = f"what `{snippet(node)}` is given may be no tensor, and what it returns has other strides"
        return self.fixed(scope, node, message, Fix((edit,), imports(scope), ("torch-einsum",), (why,)))


def _kept_contract(node: ast.Call, scope: Scope) -> bool:
    """Whether `functools.partial` keeps how the terms of opt_einsum are ordered, for operands that come later."""
    return len(node.args) == 1 and scope.function.module.qualified(node.args[0]) == "opt_einsum.contract"


def _plugged_in(scope: Scope) -> bool:
    """Whether something in the project has TensorLy use opt_einsum. Its own einsum is traced."""
    return any(True for _ in scope.legality.inference.project.modules.texts.mentioning("use_opt_einsum"))


def _backend_is_torch(scope: Scope) -> bool:
    """Whether the file sets the backend of TensorLy, and to nothing but PyTorch."""
    calls = (node for node in walk(scope.function.module.tree) if isinstance(node, ast.Call))
    chosen = [node.args for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "set_backend"]
    return bool(chosen) and all(
        len(args) == 1 and isinstance(args[0], ast.Constant) and args[0].value == "pytorch" for args in chosen
    )


def _may_be_tensor(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.is_unknown or not value.kinds.isdisjoint({Kind.TENSOR, Kind.UNKNOWN, Kind.CONTAINER})


def _equation(node: ast.Call, scope: Scope) -> str | None:
    """Why the equation is none that torch takes."""
    if node.args and isinstance(node.args[0], ast.Starred):
        return None  # `contract(*args, optimize="greedy")`
    if len(node.args) < 2:
        return "the equation is not written as the first argument"
    equation = scope.value(node.args[0])
    text = None if equation.const is None else equation.const.value
    if text is None:
        kinds = {Kind.STATIC, Kind.UNKNOWN}
        return None if equation.is_unknown or equation.kinds <= kinds else "the equation is no text"
    if not isinstance(text, str):
        return "the equation is no text"
    return None if _LETTERS.fullmatch(text) else "torch names dimensions by letters only"


def _operands(node: ast.Call, scope: Scope) -> str | None:
    for operand in node.args[1:]:
        value = scope.value(operand)
        if Kind.NDARRAY in value.kinds or value.is_(Kind.STATIC, Kind.NUMBER, Kind.SIZE):
            return f"`{snippet(operand)}` may be no tensor"
    return None


def _options(node: ast.Call) -> str | None:
    """A keyword that does more than choose the order of the terms, or whose value does something."""
    for keyword in node.keywords:
        constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg == "backend" and constant in ("torch", "auto"):
            continue
        if keyword.arg not in _ORDER or not isinstance(keyword.value, _SIMPLE):
            return f"`{keyword.arg or '**'}` may ask for more than the order of the terms"
    return None
