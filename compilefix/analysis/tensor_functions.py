"""The functions on tensors that users of a library may compile by themselves, and not code round the model."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.analysis.array_namespaces import array_namespaces
from compilefix.analysis.host_acts import drives, opens_files, works_without_torch
from compilefix.analysis.host_code import (
    feeds_or_tests,
    handles_files,
    hands_out_data,
    is_host_code,
    is_test_file,
    shows_or_keeps,
    stands_with_the_data,
    takes_arrays,
    trains,
)
from compilefix.analysis.host_work import (
    asked_for,
    does_host_work,
    handles_gradients,
    is_for_a_loop,
    prints,
    shows_progress,
)
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import leaves, live_nodes
from compilefix.analysis.tensor_work import works_on_tensors
from compilefix.analysis.used_by import serves_others, serves_the_host
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Class, Function
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
        and works_on_tensors(function, inference, inference.facts)
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
        return works_on_tensors(function, inference, inference.facts)
    if not (does_host_work(function) or handles_gradients(function, project)):
        return False
    if prints(function) or is_for_a_loop(function) or is_host_code(function, project):
        return False
    return _may_be_tensor_function(function) and works_on_tensors(function, inference, inference.facts)


def is_part_on_tensors(function: Function, inference: Inference) -> bool:
    """Whether a function with an underscore computes on tensors, and neither prints nor is code round the model."""
    if function.cls is not None or not function.node.name.startswith("_"):
        return False
    if prints(function) or is_for_a_loop(function) or is_host_code(function, inference.project):
        return False
    return _may_be_tensor_function(function) and works_on_tensors(function, inference, inference.facts)


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
    if by_itself and not works_on_tensors(function, inference, inference.facts):
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
        feeds_or_tests(function.cls, project) or trains(function.cls, project) or is_for_arrays(function, project)
    )


def is_for_arrays(method: Function, project: Project) -> bool:
    """Whether a method that is called as modules are works on arrays."""
    return takes_arrays(method, project) or works_without_torch(method)
