"""What users of a library compile: `forward` of modules, derivatives of autograd functions, functions on tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from compilefix.analysis.docstrings import takes_pictures
from compilefix.analysis.host_acts import draws_from_data, fits_to_its_input
from compilefix.analysis.host_code import (
    feeds_or_tests,
    is_for_another_framework,
    is_test_file,
    makes_pictures,
    stands_with_the_data,
    trains,
)
from compilefix.analysis.infer import Inference
from compilefix.analysis.module_calls import makes_module
from compilefix.analysis.tensor_functions import is_for_arrays, is_tensor_function
from compilefix.analysis.tensor_work import works_on_tensors
from compilefix.analysis.used_by import is_called_by_no_one, serves_others
from compilefix.source.definitions import Class, Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project

_SEARCHES = re.compile(r"(Beam|Greedy)Search")
"""How classes are called that decode texts step by step with the models that they hold, which users compile."""

_MAKES_RESULTS = re.compile(r"^Post_?[Pp]rocess")
"""How classes are called that make results of what a model gave, where they hold nothing that is trained."""

_PROCESSES_DATA = re.compile(r"Data_?(Pre|Post)?[Pp]rocess(or|ing)$")
"""How classes are called that bring a batch to a model, and its results back: they hold the model that is compiled."""

_EVALUATION = frozenset({"evaluation", "evaluations", "evaluator", "evaluators"})
"""Folders of a package with what measures how good a model is."""

_OF_MODELS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers", "state_dict", "named_modules"})


def is_library_root(function: Function, inference: Inference) -> bool:
    """Whether the users of a library may compile the function itself, whatever its callers say of it."""
    project = inference.project
    if function.cls is not None and function.parent is None and function.node.name in _roots_of(function.cls, project):
        return function.cls.methods.get(function.node.name) is function
    return is_tensor_function(function, inference) and works_on_tensors(function, inference, inference.without_hints)


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
        or not (is_for_arrays(method, project) or fits_to_its_input(method) or draws_from_data(method))
    )


def _is_spread(cls: Class, project: Project) -> bool:
    """Whether a class hands a module's inputs out to devices: what users compile is the module that it holds."""
    bases = (base for base in project.ancestors(cls) if isinstance(base, str))
    return any(base.startswith("torch.nn.") and base.endswith("DataParallel") for base in bases)


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
                    apart = makes_pictures(method) or takes_pictures(method) or is_for_another_framework(cls, project)
                    apart = apart or _is_for_data(cls, project) or _goes_over_a_model(method)
                    apart = apart or _is_for_evaluation(cls, project)
                    apart = apart or (name == "forward" and is_called_by_no_one(cls, project))
                    apart = apart or any(
                        named.search(cls.node.name) is not None for named in (_SEARCHES, _PROCESSES_DATA)
                    )
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


def _is_for_evaluation(cls: Class, project: Project) -> bool:
    """Whether a module stands in a folder that is called evaluation, and is used there alone: it scores results."""
    return _stands_with_evaluation(cls.module) and serves_others(
        cls, project, lambda user: not _stands_with_evaluation(user.module)
    )


def _stands_with_evaluation(module: Module) -> bool:
    return not _EVALUATION.isdisjoint(module.file.packages)
