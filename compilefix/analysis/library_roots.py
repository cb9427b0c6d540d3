"""What users of a library compile: `forward` of modules, derivatives of autograd functions, functions on tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.annotations import is_tensor_type
from compilefix.analysis.array_namespaces import array_namespaces
from compilefix.analysis.evidence import OF_LISTS, taken
from compilefix.analysis.host_code import (
    draws_from_data,
    drives,
    feeds_or_tests,
    fits_to_its_input,
    handles_files,
    hands_out_data,
    is_for_another_framework,
    is_host_code,
    is_test_file,
    makes_pictures,
    opens_files,
    shows_or_keeps,
    stands_with_the_data,
    takes_arrays,
    trains,
    works_without_torch,
)
from compilefix.analysis.host_work import (
    asked_for,
    does_host_work,
    handles_gradients,
    is_for_a_loop,
    is_optimizer,
    prints,
    shows_progress,
)
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import leaves, live_nodes
from compilefix.analysis.module_calls import makes_module
from compilefix.analysis.used_by import serves_others, serves_the_host
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Class, Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project

NEVER_COMPILED = frozenset(
    {
        "__init__",
        "__new__",
        "__post_init__",
        "__repr__",
        "__str__",
        "__len__",
        "__getstate__",
        "__setstate__",
        "__del__",
        "__hash__",
        "extra_repr",
        "reset_parameters",
        "state_dict",
        "load_state_dict",
        "_load_from_state_dict",
        "from_pretrained",
        "setup_context",
        "plot",
        "main",
        "collate_fn",
        "configure_optimizers",
    }
)
"""Names of functions that set up, show or keep objects: no user compiles them."""


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


_SEARCHES = re.compile(r"(Beam|Greedy)Search")
"""How classes are called that decode texts step by step with the models that they hold, which users compile."""
_MAKES_RESULTS = re.compile(r"^Post_?[Pp]rocess")
"""How classes are called that make results of what a model gave, where they hold nothing that is trained."""
_OF_MODELS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers", "state_dict", "named_modules"})


_BUILTINS = ("len", "range", "min", "max", "int", "float", "isinstance", "enumerate", "zip", "sorted", "list", "tuple")


_DECIDING: tuple[type[ast.AST], ...] = (ast.If, ast.While, ast.IfExp, ast.Assert)


def is_library_root(function: Function, inference: Inference) -> bool:
    """Whether the users of a library may compile the function itself, whatever its callers say of it."""
    project = inference.project
    if function.cls is not None and function.parent is None and function.node.name in _roots_of(function.cls, project):
        return function.cls.methods.get(function.node.name) is function
    return is_tensor_function(function, inference) and _on_tensors(function, inference, inference.without_hints)


def may_hold_roots(file: SourceFile) -> bool:
    """Whether a file may hold what somebody compiles."""
    text = file.text
    return "torch" in text or "def forward" in text or "def backward" in text or "backend" in text


def _roots_of(cls: Class, project: Project) -> tuple[str, ...]:
    if project.is_autograd_function(cls):
        return ("forward", "backward")
    if not project.is_module_class(cls) or trains(cls, project) or _is_spread(cls, project):
        return ()
    return tuple(
        name
        for name in ("forward", "__call__")
        if (method := cls.methods.get(name)) is None
        or not (_is_for_arrays(method, project) or fits_to_its_input(method) or draws_from_data(method))
    )


def _is_spread(cls: Class, project: Project) -> bool:
    """Whether a class hands a module's inputs out to devices: what users compile is the module that it holds."""
    bases = (base for base in project.ancestors(cls) if isinstance(base, str))
    return any(base.startswith("torch.nn.") and base.endswith("DataParallel") for base in bases)


def _is_for_arrays(method: Function, project: Project) -> bool:
    """Whether a method that is called as modules are works on arrays."""
    return takes_arrays(method, project) or works_without_torch(method)


def library_roots(modules: Iterable[Module], project: Project) -> Iterator[tuple[Function, str]]:
    """The methods of the classes of some modules that are called as modules are."""
    alone = len(project.modules) == 1  # a file by itself may hold just what somebody compiles
    for module in modules:
        if not alone and is_test_file(module):
            continue
        for cls in module.classes.values():
            for name in _roots_of(cls, project):
                if name in cls.methods:
                    method = cls.methods[name]
                    apart = makes_pictures(method) or is_for_another_framework(cls, project)
                    apart = apart or _is_for_data(cls, project) or _goes_over_a_model(method)
                    apart = apart or _SEARCHES.search(cls.node.name) is not None
                    apart = apart or (_MAKES_RESULTS.search(cls.node.name) is not None and not _learns(cls))
                    yield method, f"{method.qualname} by itself" if apart else method.qualname


def _learns(cls: Class) -> bool:
    """Whether a class makes layers or parameters of torch's."""
    calls = (node for method in cls.methods.values() for node in method.of(ast.Call))
    return any(makes_module(cls.module.qualified(node.func) or "") for node in calls)


def _goes_over_a_model(method: Function) -> bool:
    """Whether all that a method is given is a model, whose parameters it goes over: averages of weights, penalties."""
    given = {p.arg for p in method.parameters[1:]}
    return bool(given) and given == {
        node.func.value.id
        for node in method.of(ast.Call)
        if isinstance(node.func, ast.Attribute)
        and node.func.attr in _OF_MODELS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in given
    }


def _is_for_data(cls: Class, project: Project) -> bool:
    """Whether a module that stands with data sets is used by these alone: a step of the preparation on the host."""
    if not stands_with_the_data(cls.module):
        return False
    return serves_others(cls, project, lambda user: user.cls is None or not feeds_or_tests(user.cls, project))


def tensor_functions(modules: Iterable[Module], inference: Inference) -> Iterator[tuple[Function, str]]:
    """The functions of some modules that compute on tensors, which users may compile by themselves."""
    for module in modules:
        for function in module.all_functions:
            try:
                if is_tensor_function(function, inference):
                    yield function, label_of(function)
            except RecursionError:
                inference.too_deep.append(function)


def label_of(function: Function) -> str:
    """How a function on tensors is called as a root: not as the `forward` or `__call__` of a module is."""
    alone = function.node.name in ("forward", "__call__", "backward")
    return f"{function.qualname} by itself" if alone else function.qualname


def is_tensor_function(function: Function, inference: Inference) -> bool:
    """Whether users may compile a function by itself: it computes on tensors, and is not code round the model."""
    makes_distribution = _makes_distribution(function, inference.project)
    return (
        _may_be_tensor_function(function, makes_distribution)
        # What drives a model is no root, but says which arguments of other functions are tensors: it is walked first.
        and _on_tensors(function, inference, inference.facts)
        and (
            makes_distribution
            or is_called_like_a_module(function, inference.project)
            or not _is_around_the_model(function, inference)
        )
    )


def _may_be_tensor_function(function: Function, makes_distribution: bool = False) -> bool:
    name = function.node.name
    return (
        (function.parent is None or _is_returned(function))
        and (function.module.mentions("torch") or bool(array_namespaces(function)))
        and (name not in NEVER_COMPILED or makes_distribution)
        and not name.startswith("test")
    )


def _is_around_the_model(function: Function, inference: Inference) -> bool:
    """Whether the function is code round the model, calls what trains one or runs it over a data set, or makes one.

    A file by itself may hold just what somebody compiles: there only what trains or opens files is left out.
    """
    if len(inference.project.modules) == 1:
        return drives(function) or opens_files(function)
    if _is_on_the_host(function, inference):
        return True
    facts = inference.facts(function)
    project = inference.project
    classes = {made.cls for made in facts.constructed.values()}
    called = _calls(facts)
    if any(_is_around_the_model(base, inference) for base in _overridden(function, called, project)):
        return True
    asked = {facts.calls[node] for node in asked_for(function) if node in facts.calls}
    if any(drives(callee) or (callee not in asked and shows_or_keeps(callee, project)) for callee in called):
        return True
    if any(does_host_work(callee) and callee.node.name != "forward" for callee in called):
        return True
    around = (callee for callee in called if is_host_code(callee, project))
    further = {callee for one in around for callee in _calls(inference.facts(one))} - called
    if any(shows_or_keeps(callee, project) for callee in further):
        return True
    if any(cls is not None and feeds_or_tests(cls, project) for cls in classes):
        return True
    if serves_the_host(
        function,
        project,
        is_host=lambda user: _never_runs(user) or _is_on_the_host(user, inference),
        live=lambda user: live_nodes(inference.facts(user)),
    ):
        return True
    users: list[Function] = []
    if not _serves_others(function, inference, {function}, users) or _is_declared_on_tensors(function, inference):
        return False
    own = function.cls is None and function.node.name.startswith("_")
    if not own and not all(_sets_up_or_feeds(user, function, project) for user in users):
        inference.for_others.add(function)
    return True


def _sets_up_or_feeds(function: Function, used: Function, project: Project) -> bool:
    """Whether what uses another function sets objects up, hands data out, or brings something to or from a file.

    What makes an object of a class is no use of its methods.
    """
    if used.cls is None and function.node.name in NEVER_COMPILED:
        return True
    if stands_with_the_data(function.module):
        return True
    if function.cls is not None and hands_out_data(function.cls, project):
        return True
    return handles_files(function, project) or shows_or_keeps(function, project)


def _is_declared_on_tensors(function: Function, inference: Inference) -> bool:
    """Whether a function that anybody may call says itself that it takes tensors and gives one.

    Who else uses it is then no question: `def masked_mean(x: Tensor, mask: Tensor) -> Tensor` stands in many a file
    beside a training loop.
    """
    if function.cls is not None or function.parent is not None or function.node.name.startswith("_"):
        return False
    if not _says_tensor(inference.annotated(function.node.returns, function.module)):
        return False
    return any(_says_tensor(inference.annotated(p.annotation, function.module)) for p in function.parameters)


def _says_tensor(declared: Value) -> bool:
    """Whether an annotation names a tensor, be it one of the items."""
    return Kind.TENSOR in declared.kinds or (declared.element is not None and _says_tensor(declared.element))


def works_on_tensors_and_the_host(function: Function, inference: Inference) -> bool:
    """Whether a function would count as compiled by what it does with tensors, but for its own work on the host.

    It draws with NumPy, shows how far it has come, goes on with arrays, or reads gradients. Or it does nothing of that,
    and code round the model alone uses it: metrics and graphs are computed so, and compiled by who finds them slow. Who
    compiles it all the same has its breaks, which nothing else would tell.
    """
    project = inference.project
    if function in inference.for_others:
        return _on_tensors(function, inference, inference.facts)
    if not (does_host_work(function) or handles_gradients(function, project)):
        return False
    if prints(function) or is_for_a_loop(function) or is_host_code(function, project):
        return False
    return _may_be_tensor_function(function) and _on_tensors(function, inference, inference.facts)


def is_part_on_tensors(function: Function, inference: Inference) -> bool:
    """Whether a function with an underscore computes on tensors, and neither prints nor is code round the model."""
    if function.cls is not None or not function.node.name.startswith("_"):
        return False
    if prints(function) or is_for_a_loop(function) or is_host_code(function, inference.project):
        return False
    return _may_be_tensor_function(function) and _on_tensors(function, inference, inference.facts)


def _never_runs(function: Function) -> bool:
    return function.node.name in NEVER_COMPILED or leaves(function)


def _may_run(function: Function, used: Function, inference: Inference, seen: set[Function | Class]) -> bool:
    """Whether what uses another function may be compiled, or is a loop over the data, which calls what is compiled.

    A function by itself may be where it is on tensors, and not for others again that are not. A method may be as part
    of what its object does. `seen` are those whose own users have been looked at, or are just now.
    """
    if _never_runs(function) or function in seen:
        return False
    if drives(function) or shows_progress(function):
        return True
    if _is_on_the_host(function, inference):
        return False
    by_itself = function.cls is None and function.parent is None and not _hands_through(function, used, inference)
    if by_itself and not _on_tensors(function, inference, inference.facts):
        return False
    seen.add(function)
    return not _serves_others(function, inference, seen)


def _hands_through(function: Function, to: Function, inference: Inference) -> bool:
    """Whether a function gives one on tensors what it is given itself, which are tensors then: `return twice(x)`."""
    given = {p.arg for p in function.parameters}
    calls = (node for node, callee in inference.facts(function).calls.items() if callee is to)
    return any(
        isinstance(a, ast.Name) and a.id in given for node in calls if isinstance(node, ast.Call) for a in node.args
    )


def _serves_others(
    function: Function, inference: Inference, seen: set[Function | Class], users: list[Function] | None = None
) -> bool:
    """Whether nothing that uses a function, or the objects of its class, may be compiled. `users` gets what does.

    What a module does is asked for by users of the project, but for what is there to set it up.
    """

    def may_run(user: Function) -> bool:
        if users is not None:
            users.append(user)
        return _may_run(user, function, inference, seen)

    project, cls = inference.project, function.cls
    if function.parent is not None:
        return False
    if cls is None:
        return serves_others(function, project, may_run)
    bases = [base for base in project.ancestors(cls) if isinstance(base, str)]
    if not project.is_module_class(cls) and not any(base.startswith("torch") or "Metric" in base for base in bases):
        if cls in seen:
            return True  # else the search had ended there
        seen.add(cls)
        return serves_others(cls, project, may_run)
    name = function.node.name
    asks = (other for other in cls.methods.values() if any(node.attr == name for node in other.of(ast.Attribute)))
    if not any(other.node.name in NEVER_COMPILED for other in asks):
        return False
    return serves_others(function, project, lambda user: user.node.name not in NEVER_COMPILED)


def _is_on_the_host(function: Function, inference: Inference) -> bool:
    """Whether the function by itself is code round the model, or does work on the host."""
    known = inference.on_the_host.get(function)
    if known is None:
        known = is_host_code(function, inference.project) or does_host_work(function) or prints(function)
        known = known or is_for_a_loop(function) or handles_gradients(function, inference.project)
        inference.on_the_host[function] = known
    return known


def is_beside_the_work(function: Function, project: Project) -> bool:
    """Whether code that is compiled would call the function for another thing than what it computes."""
    if does_host_work(function) or prints(function) or shows_or_keeps(function, project):
        return True
    if "collate" in function.node.name.split("_") and stands_with_the_data(function.module):
        return True  # models collate results too
    return function.cls is not None and feeds_or_tests(function.cls, project)


def _calls(facts: FunctionFacts) -> set[Function]:
    return {callee for callee in facts.calls.values() if callee.node.name != "__init__"}


def _overridden(function: Function, called: Iterable[Function], project: Project) -> Iterator[Function]:
    """The method of a base class that a method calls where it stands in its place: `super().generate(...)`."""
    bases = () if function.cls is None else project.ancestors(function.cls)
    for callee in called:
        if callee.node.name == function.node.name and callee.cls is not function.cls and callee.cls in bases:
            yield callee


def _is_returned(function: Function) -> bool:
    """Whether the function round a nested one gives it to its caller."""
    if function.parent is None:
        return False
    returns = function.parent.of(ast.Return)
    return any(isinstance(node.value, ast.Name) and node.value.id == function.node.name for node in returns)


def _makes_distribution(function: Function, project: Project) -> bool:
    """Whether a distribution is made: compiled code makes one of its tensors, and samples from it, in each call.

    One that is a module as well, as a prior is, is made once.
    """
    if function.cls is None or function.node.name != "__init__" or project.is_module_class(function.cls):
        return False
    return any(isinstance(a, str) and a.startswith("torch.distributions.") for a in project.ancestors(function.cls))


def is_called_like_a_module(function: Function, project: Project) -> bool:
    """Whether a method is the `forward` of a class, though that may be no module."""
    if function.cls is None or function.parent is not None or function.node.name != "forward":
        return False
    if is_test_file(function.module) and len(project.modules) > 1:
        return False
    return not (
        feeds_or_tests(function.cls, project) or trains(function.cls, project) or _is_for_arrays(function, project)
    )


def _on_tensors(function: Function, inference: Inference, look: Callable[[Function], FunctionFacts]) -> bool:
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
    """Whether a method of a module makes a tensor and computes with the module from there: `sample`, `generate`."""
    uses = made = False
    for node in function.of(ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute):
            uses = uses or (isinstance(func.value, ast.Name) and func.value.id == instance)
            starts = func.attr in _MAKES_TENSOR and isinstance(func.value, ast.Name)
            made = made or (starts and (function.module.qualified(func) or "").startswith("torch."))
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
