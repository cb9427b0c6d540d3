"""CF405: a library of the host that is asked for what does not depend on tensors.

## What it does
Finds calls of PyWavelets, SciPy, librosa, scikit-image and SymPy in compiled code that are given numbers, texts and
sizes, and no tensor: filters, windows and lengths (`pywt.dwt_coeff_len(x.shape[-1], 4, mode=mode)`,
`scipy.signal.get_window("hann", n)`, `librosa.filters.mel(sr=sr, n_fft=n_fft)`). The same for functions of the project
that compute with NumPy alone, by functions that torch has no counterpart of, and are given sizes. And the length of an
object that such a library makes, also where a function of the project hands it on (`len(as_wavelet(name))`).

## Why is this bad
Dynamo cannot trace what is written in C, or looks up objects of C: the graph breaks there (GB0007, GB0156), in each
call, for an answer that is always the same.

## Example
```python
def forward(self, x):
    length = pywt.dwt_coeff_len(x.shape[-1], self.taps, mode=self.mode)
    return x[..., :length]
```

## Use instead
```python
@torch.compiler.assume_constant_result
def constant_dwt_coeff_len(*args, **kwargs):
    return pywt.dwt_coeff_len(*args, **kwargs)

def forward(self, x):
    length = constant_dwt_coeff_len(operator.index(x.shape[-1]), self.taps, mode=self.mode)
    return x[..., :length]
```

## Fix safety
Outside of graphs the same function is called with the same arguments. While Dynamo traces it is called once, and the
result is a constant of the graph, which counts for these arguments: `operator.index` makes a size a number that the
graph is bound to, so that each new size is compiled anew. The function must give the same result each time, no
argument may be a tensor where that is not proved, and nobody may write into the result (`constant-result`). Where the
length of an object is asked, that object may be an argument: PyTorch 2.13 takes it, 2.11 raises while it traces.
Declined where an argument is an array or computed from a tensor, or is not known and given to what computes with arrays
(`scipy.spatial`), and where what it gives is written into or kept.

Graph breaks: GB0007, GB0156, GB6012. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.numpy_calls.array_values import UNSUPPORTED, numpy_operand
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.unsupported.asked_once import bound_by, first_imports
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet

_LIBRARIES = frozenset({"pywt", "scipy", "librosa", "skimage", "sympy"})
_OF_ARRAYS = tuple(f"scipy.{name}." for name in ("cluster", "interpolate", "linalg", "ndimage", "sparse", "spatial"))
"""What computes with points, images and matrices: an argument of unknown kind is hardly a number there."""
_ARRAYS = ("numpy.", "math.", "ndarray.")
_PURE = frozenset(
    {"len", "range", "int", "float", "abs", "min", "max", "sum", "round", "tuple", "list", "zip", "sorted"}
)
_WRITTEN = ast.Store | ast.Del
_NO_OBJECT = frozenset({Kind.TENSOR, Kind.NDARRAY, Kind.NUMBER})
_DEPTH = 3  # how many functions of the project may hand the object on


class LibraryConstant(Rule):
    """Constant that a library of the host computes."""

    code = "CF405"
    name = "library-constant"
    summary = "SciPy, PyWavelets or librosa asked for what does not depend on tensors"
    gb = ("GB0007", "GB0156", "GB6012")
    assumptions = ("constant-result",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls into such a library with numbers, texts and sizes."""
        if scope.function.node.name == "__init__":
            return
        libraries = _LIBRARIES - {scope.function.module.name.partition(".")[0]}  # its own functions are looked at
        of_library = not libraries.isdisjoint(scope.function.module.packages)
        raised = {part for node in scope.of(ast.Raise) for part in ast.walk(node)}
        for node in scope.of(ast.Call):
            if node in raised:
                continue  # the exception, or its text
            made = _measured(node, scope) if of_library else None
            given = [*(made or node).args, *(keyword.value for keyword in (made or node).keywords)]
            callee = scope.facts.calls.get(node)
            if not given or (callee is None and not of_library):
                continue
            if made is not None:
                yield self._judge(node, given, scope, made)
            elif callee is not None:
                if all(_is_number(one, scope) for one in given) and _of_numpy(node, callee, scope):
                    yield self._judge(node, given, scope)
            elif (scope.callee(node) or "").partition(".")[0] in libraries and not any(
                numpy_operand(one, scope) or Kind.TENSOR in scope.value(one).kinds for one in given
            ):  # else CF404
                yield self._judge(node, given, scope)

    def _judge(self, node: ast.Call, given: list[ast.expr], scope: Scope, made: ast.Call | None = None) -> Finding:
        """`made` is the call that makes the object whose length is asked."""
        message = f"Dynamo does not trace `{snippet(node)}`: the graph breaks"
        if _computed(given, scope, measured=made is not None) is None:
            message += " for an answer that no tensor decides"
        imports = first_imports(scope)
        call, gb = made or node, ("GB6012",) if made is not None else ("GB0007", "GB0156")
        reason = _obstacle(node, call.func, given, scope)
        if reason is None and scope.local_name("torch") not in bound_by(imports):
            reason = "torch is not among the imports that the module begins with"
        if reason is not None:
            return self.declined(scope, node, message, reason, gb=gb)
        answer = f"{ast.unparse(call.func)}(*args, **kwargs)"
        answer = answer if made is None else f"len({answer})"
        name = _helper(node, answer, scope)
        template = Template()
        called = [_fixed(one, scope, template) for one in call.args]
        called += [f"{keyword.arg}={_fixed(keyword.value, scope, template)}" for keyword in call.keywords]
        edits = [scope.edit(node, f"{name}({', '.join(called)})", **template.parts)]
        if name not in scope.function.module.functions:
            lines = f"@{scope.local_name('torch')}.compiler.assume_constant_result\ndef {name}(*args, **kwargs):\n"
            lines += f"    return {answer}"
            edits.append(scope.edit(imports[-1], f"{{kept}}\n\n\n{lines}", kept=imports[-1]))
        needed = ("operator",) if "operator.index(" in edits[0].template and not scope.local_name("operator") else ()
        why = f"`{ast.unparse(node.func)}` is called once while Dynamo traces, and its answer is kept"
        return self.fixed(scope, node, message, Fix(tuple(edits), needed, ("constant-result",), (why,)), gb=gb)


def _measured(node: ast.Call, scope: Scope) -> ast.Call | None:
    """The call that makes the object whose length is asked, where a library of the host makes it."""
    if scope.callee(node) != "len" or len(node.args) != 1 or not isinstance(node.args[0], ast.Call):
        return None
    return node.args[0] if _from_library(node.args[0], scope.facts, scope) else None


def _from_library(node: ast.expr | None, facts: FunctionFacts, scope: Scope, depth: int = 0) -> bool:
    """Whether on some way an expression is what a library of the host gives."""
    if isinstance(node, ast.IfExp):
        return any(_from_library(side, facts, scope, depth) for side in (node.body, node.orelse))
    if not isinstance(node, ast.Call) or depth > _DEPTH:
        return False
    callee = facts.calls.get(node)
    if callee is None:
        return (facts.callee(node) or "").partition(".")[0] in _LIBRARIES
    there = scope.legality.inference.facts(callee)
    return any(_from_library(one.value, there, scope, depth + 1) for one in callee.of(ast.Return))


def _obstacle(node: ast.Call, func: ast.expr, given: list[ast.expr], scope: Scope) -> str | None:
    """Why the result cannot be a constant of the graph."""
    root = func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in scope.function.bound | scope.function.imported:
        return f"`{snippet(func)}` is not what the module itself imports or defines, and may be another at each call"
    if any(isinstance(one, ast.Starred) for one in given) or any(keyword.arg is None for keyword in node.keywords):
        return "some arguments are not written out"
    odd = _computed(given, scope, measured=func is not node.func)
    if odd is None and (scope.callee(node) or "").startswith(_OF_ARRAYS):
        odd = next((one for one in given if scope.value(one).is_unknown), None)
    if odd is not None:
        return f"`{snippet(odd)}` is not known to be a number or a text: compute it outside the compiled code"
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and any(
        not isinstance(target, ast.Name | ast.Tuple) for target in parent.targets
    ):
        return "the result is kept: compute it where the object is made"
    names = [n.id for target in getattr(parent, "targets", ()) for n in ast.walk(target) if isinstance(n, ast.Name)]
    for use in (use for name in names for use in scope.names(name)):
        around = scope.parents.get(use)
        if isinstance(around, ast.Subscript | ast.Attribute) and isinstance(around.ctx, _WRITTEN):
            return f"`{use.id}` is written into"
    # Last: to import it helps only where the rest is as it should be.
    return "torch is not imported at the top of the module" if scope.local_name("torch") is None else None


def _computed(given: list[ast.expr], scope: Scope, *, measured: bool) -> ast.expr | None:
    """An argument that may be computed from tensors."""
    return next((one for one in given if not _is_plain(one, scope) and not (measured and _is_object(one, scope))), None)


def _is_number(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).is_(Kind.STATIC, Kind.SIZE)


def _of_numpy(node: ast.Call, function: Function, scope: Scope) -> bool:
    """Whether a function of the project computes with NumPy alone, in a way that Dynamo does not trace."""
    if not function.module.mentions("numpy"):
        return False
    does = scope.legality.effects.of(node, scope.facts)
    if does.random or does.mutates:
        return False
    inference = scope.legality.inference
    called = []
    for reached in map(inference.facts, scope.legality.reached(function)):
        calls = [call for call in reached.function.of(ast.Call) if call not in reached.calls]
        called += [reached.refs.get(call, "") for call in calls]
    if not all(name in _PURE or (name.startswith(_ARRAYS) and ".random" not in name) for name in called):
        return False
    return any(name.removeprefix("numpy.") in UNSUPPORTED for name in called if name.startswith("numpy."))


def _is_plain(node: ast.expr, scope: Scope) -> bool:
    """Whether an argument is a constant, a size, or an argument of the function itself, which may be either."""
    value = scope.value(node)
    if value.is_(Kind.STATIC, Kind.SIZE, Kind.NONE):
        return True
    parameter = isinstance(node, ast.Name) and scope.function.takes(node.id)
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return value.is_unknown and (parameter or own)


def _is_object(node: ast.expr, scope: Scope) -> bool:
    """Whether a parameter is a constant or an object, and no tuple or list, which may hold tensors.

    Dynamo takes it for that object, and looks whether it is the same one in the next call.
    """
    value = scope.value(node)
    if not isinstance(node, ast.Name) or Kind.OBJECT not in value.kinds or value.kinds & _NO_OBJECT:
        return False
    if Kind.CONTAINER not in value.kinds:
        return True
    inner: ast.AST = node
    for around in scope.ancestors(node):
        if isinstance(around, ast.If) and inner in around.orelse and _asks_for_tuple(around.test, node.id):
            return True
        inner = around
    return False


def _asks_for_tuple(test: ast.expr, name: str) -> bool:
    return ast.unparse(test) in {
        f"isinstance({name}, {kinds})" for kinds in ("tuple", "(tuple, list)", "(list, tuple)")
    }


def _fixed(node: ast.expr, scope: Scope, template: Template) -> str:
    """An argument, a size as a number that the graph is bound to."""
    code = template.use(node)
    return f"operator.index({code})" if scope.value(node).is_(Kind.SIZE) else code


def _helper(node: ast.Call, answer: str, scope: Scope) -> str:
    """The name of the function that Dynamo runs: one that is there, or a new one."""
    module = scope.function.module
    wanted = f"constant_{ast.unparse(node.func).rpartition('.')[2]}"
    there = module.functions.get(wanted)
    if there is not None and any(decorator.endswith("assume_constant_result") for decorator in there.decorators):
        body = there.node.body
        if len(body) == 1 and ast.unparse(body[0]) == f"return {answer}":
            return wanted
    name, count = wanted, 2
    while name in module.functions or name in module.classes or name in module.assigns:
        name, count = f"{wanted}_{count}", count + 1
    return free_name(name, scope)
