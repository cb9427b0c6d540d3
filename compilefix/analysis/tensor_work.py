"""Whether the code of a function works on tensors: those that it is given, or that its object holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.annotations import is_tensor_type
from compilefix.analysis.array_namespaces import array_namespaces
from compilefix.analysis.evidence import OF_LISTS, taken
from compilefix.analysis.host_work import is_optimizer
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

SETS_UP = (
    *("init", "reset", "load", "save", "set_", "register", "build", "make_", "export", "resize", "tie_", "to_"),
    *("populate", "eq__"),
)

_MAKES_TENSOR = frozenset(
    {"randn", "rand", "randint", "normal", "zeros", "ones", "full", "empty", "arange", "linspace"}
)

_SHARED = frozenset(
    {"sum", "mean", "max", "min", "any", "all", "std", "var", "prod", "argmax", "argmin", "cumsum", "dot", "clip", "T"}
    | {"reshape", "flatten", "squeeze", "transpose", "ravel", "nonzero", "item", "tolist", "shape", "ndim", "dtype"}
)
"""What arrays have as tensors do."""

_BUILTINS = ("len", "range", "min", "max", "int", "float", "isinstance", "enumerate", "zip", "sorted", "list", "tuple")

_DECIDING: tuple[type[ast.AST], ...] = (ast.If, ast.While, ast.IfExp, ast.Assert)


def works_on_tensors(function: Function, inference: Inference, look: Callable[[Function], FunctionFacts]) -> bool:
    """Whether the function computes on tensors: it gets one, or has one in an attribute of an object of its class."""
    start = 0 if function.cls is None or function.is_static else 1
    names = {a.arg for a in function.parameters[start:] if _may_be_tensor(a, function, inference)}
    parts = set(taken(function))
    held = _holding(function.parameters[start:], function, inference)
    if names or parts or held:
        facts = look(function)
        tensors: list[ast.expr] = [
            n for n in function.of(ast.Name) if n.id in names | parts and _holds_tensor(facts.value(n))
        ]
        tensors += [
            node
            for node in (function.of(ast.Attribute) if held else ())
            if isinstance(node.value, ast.Name) and node.value.id in held and _holds_tensor(facts.value(node))
        ]
        alone = len(inference.project.modules) == 1  # a file by itself may hold just what somebody compiles
        if tensors and not set(live_nodes(facts)).isdisjoint(tensors) and (alone or not _is_array_code(tensors, facts)):
            return True
    if _on_state(function, inference, look) or (names and array_namespaces(function)):
        return True
    if names and _hands_on_tensors(function, names, look(function), inference):
        return True
    return _gives_parts(function, {p.arg for p in function.parameters[start:]}, in_part=True) or _gives_own(
        function, inference
    )


def _gives_own(function: Function, inference: Inference) -> bool:
    """Whether torch gets what an object that is no module keeps, for tensors: `torch.cat(self._predictions)`.

    So a metric computes of what it has collected.
    """
    cls = function.cls
    if cls is None or function.parent is not None or function.is_static or not function.parameters:
        return False
    if function.node.name.lstrip("_").startswith(SETS_UP) or inference.project.is_module_class(cls):
        return False
    own = {function.parameters[0].arg}
    listed = (n for n in function.of(ast.Call) if n.args and function.module.qualified(n.func) in OF_LISTS)
    return any(_has_part(node.args[0], own) for node in listed) or _gives_parts(function, own)


def _hands_on_tensors(function: Function, names: set[str], facts: FunctionFacts, inference: Inference) -> bool:
    """Whether a function of the project gets a parameter for a tensor, by its own code, and gives a tensor.

    So it is with helpers that compute distances in parts. What nothing else says of the parameter is not taken for
    known in the function itself.
    """
    for node, callee in facts.calls.items():
        if not isinstance(node, ast.Call) or callee.cls is not None or callee is function:
            continue
        result = facts.value(node)
        if not (result.is_tensor and result.certain):
            continue
        for place, argument in enumerate(node.args[: len(callee.parameters)]):
            given = isinstance(argument, ast.Name) and argument.id in names and facts.value(argument).is_unknown
            if given and inference.takes_tensor(callee, callee.parameters[place]):
                return True
    return False


def _gives_parts(function: Function, given: set[str], in_part: bool = False) -> bool:
    """Whether torch gets what an argument holds, for a tensor: `torch.nonzero(found.indices > 0)`.

    in_part: an item of that says so, too, and so does a list in which it is.
    """
    for node in function.of(ast.Call):
        if not node.args:
            continue
        first = node.args[0]
        called = function.module.qualified(node.func)
        if in_part and called in OF_LISTS and isinstance(first, ast.Tuple | ast.List):
            if any(_has_part(item, given, in_part) for item in first.elts):
                return True
            continue
        if not _has_part(first, given, in_part):
            continue
        api = torch_api.function(called) if called is not None and called not in torch_api.NO_TENSOR_FIRST else None
        if api is not None and api.dtype not in ("arg", "unknown") and api.returns == "Tensor":
            return True
    return False


def _has_part(node: ast.expr, given: set[str], in_part: bool = False) -> bool:
    """Whether an attribute of an argument, or an item of one, is what an expression compares or computes with."""
    while isinstance(node, ast.Compare | ast.BinOp | ast.UnaryOp) or (in_part and isinstance(node, ast.Subscript)):
        if isinstance(node, ast.Compare | ast.BinOp):
            node = node.left
        else:
            node = node.operand if isinstance(node, ast.UnaryOp) else node.value
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in given


def _is_array_code(tensors: Sequence[ast.expr], facts: FunctionFacts) -> bool:
    """Whether what looks like tensors are more likely arrays: only NumPy is called with them, and nothing of torch."""
    if any(facts.value(node).certain for node in tensors) or "numpy" not in facts.function.module.packages:
        return False
    called = facts.refs.items()
    of_numpy = [node for node, name in called if name.startswith("numpy.") and isinstance(node, ast.Call)]
    if not of_numpy or any(name.startswith("torch.") for _, name in called):
        return False
    if any(name.startswith("Tensor.") for _, name in called):
        # `x.sum()` is a method of both: beside it stands what NumPy is given of them.
        arrays = any(_holds_tensor(facts.value(given)) for node in of_numpy for given in node.args)
        if not arrays or any(name.startswith("Tensor.") and name[7:] not in _SHARED for _, name in called):
            return False
    others = (
        n
        for n in facts.function.of(ast.Call)
        if not facts.refs.get(n, "").startswith(("numpy.", *_BUILTINS)) and not _is_beside(facts.calls.get(n), facts)
    )
    return not {part for call in others for part in (*call.args, *(k.value for k in call.keywords))} & set(tensors)


def _is_beside(callee: Function | None, facts: FunctionFacts) -> bool:
    """Whether a call is one of a function of the same file, which may work on arrays as well."""
    return callee is not None and callee.cls is None and callee.module is facts.function.module


def _holds_tensor(value: Value) -> bool:
    """Whether a value, or an item of it, is seen to be a tensor."""
    items = value.element
    return (Kind.TENSOR in value.kinds and not value.is_unknown) or (
        items is not None and Kind.TENSOR in items.kinds and not items.is_unknown
    )


def _on_state(function: Function, inference: Inference, look: Callable[[Function], FunctionFacts]) -> bool:
    """Whether a method computes on tensors that its object keeps, such as `compute` of a metric.

    Of a module users compile `forward` and what it calls; a method that stands beside it counts where it decides
    something by a tensor, or selects by one (`x[self.ages > 3]`), or computes with a tensor that it makes, and is not
    one that sets the module up. A method of another class counts too where it does so by what is proved to be a tensor.
    """
    if function.cls is None or function.is_static or not function.parameters:
        return False
    # Large packages have thousands of methods that read attributes, and to look at each would be most of a check.
    if not function.cls.names_torch:
        return False
    if function.node.name == "step" and is_optimizer(function.cls, inference.project):
        return True  # `torch.compile(optimizer.step)` is how an optimizer is compiled
    tests = [node.test for kind in _DECIDING for node in function.of(kind)]  # type: ignore[attr-defined]
    tests += [node.slice for node in function.of(ast.Subscript) if isinstance(node.slice, ast.Compare)]
    of_module = inference.project.is_module_class(function.cls)
    instance = function.parameters[0].arg
    if of_module and function.node.name.lstrip("_").startswith(SETS_UP):
        return False
    if of_module and _samples(function, instance):
        return True
    if of_module and not tests:
        return False
    reads = [
        node
        for node in function.of(ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == instance and isinstance(node.ctx, ast.Load)
    ]
    if not reads:
        return False
    facts = look(function)
    if of_module:
        nodes: Sequence[ast.expr] = tests
    else:
        nodes = [*reads, *tests] if _is_kind_of_tensor(function.cls, inference.project) else reads
    found = map(facts.value, nodes)
    if of_module or _is_metric(function.cls, inference.project):
        shown = any(map(_holds_tensor, found))
    else:
        shown = any(Kind.TENSOR in value.kinds and not value.is_unknown for value in found)
    if shown:
        return True
    if of_module:
        return False
    if any(_asks_for_gradients(node, facts) for node in function.of(ast.Call)):
        return True
    # What sets an object up is run once, whatever it decides by the tensors that it draws, and a picture is shown.
    name = function.node.name.lstrip("_")
    beside = name.startswith(SETS_UP) or "render" in name
    return not beside and any(v.is_tensor and v.certain for v in map(facts.value, tests))


def _asks_for_gradients(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call asks autograd for gradients: nothing but tensors has any."""
    return facts.refs.get(node) == "torch.autograd.grad"


def _samples(function: Function, instance: str) -> bool:
    """Whether a method of a module makes a tensor and computes with the module from there: `sample`, `generate`.

    One that draws with NumPy counts as well.
    """
    uses = made = False
    for node in function.of(ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute):
            uses = uses or (isinstance(func.value, ast.Name) and func.value.id == instance)
            starts = func.attr in _MAKES_TENSOR and isinstance(func.value, ast.Name)
            made = made or (starts and (function.module.qualified(func) or "").startswith("torch."))
            made = made or (function.module.qualified(func) or "").startswith("numpy.random.")
        else:
            uses = uses or (isinstance(func, ast.Name) and func.id == instance)
    return uses and made


def _is_metric(cls: Class, project: Project) -> bool:
    """Whether a class is a metric of another package: what `update` collects in lists, `compute` computes with."""
    return any(isinstance(a, str) and a.rpartition(".")[2] == "Metric" for a in project.ancestors(cls))


def _is_kind_of_tensor(cls: Class, project: Project) -> bool:
    """Whether the objects of a class are tensors: all that its methods do is done on one."""
    return any(isinstance(a, str) and is_tensor_type(a) for a in project.ancestors(cls))


def _holding(parameters: Sequence[ast.arg], function: Function, inference: Inference) -> frozenset[str]:
    """The parameters that are objects of a class of the project which is no module, as the result of a search is."""
    project = inference.project
    found: set[str] = set()
    for parameter in parameters:
        declared = inference.annotated(parameter.annotation, function.module)
        if not declared.is_(Kind.OBJECT) or declared.ref is None:
            continue
        cls = project.resolve(declared.ref)
        if isinstance(cls, Class) and cls.names_torch and not project.is_module_class(cls):
            found.add(parameter.arg)
    return frozenset(found)


def _may_be_tensor(parameter: ast.arg, function: Function, inference: Inference) -> bool:
    declared = inference.annotated(parameter.annotation, function.module)
    return declared.may_be(Kind.TENSOR) or (declared.element is not None and declared.element.may_be(Kind.TENSOR))
