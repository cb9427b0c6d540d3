"""Functions on NumPy arrays alone, which Dynamo traces too: metrics and what selects among results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from compilefix.analysis.host_acts import drives
from compilefix.analysis.host_code import handles_files, is_test_file, shows_or_keeps, stands_with_the_data
from compilefix.analysis.host_work import does_host_work, prints
from compilefix.source.definitions import Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project

_ARRAYS = re.compile(r"\b(?:ndarray|NDArray|ArrayLike)\b")
_METRICS = re.compile(r"(?:^|[._])(?:metrics?|eval\w*|scor(?:es?|ing)|nms|post_?process(?:ing)?)(?=$|[._])")
"""Files of what is computed of results. Arrays are handled in many others, which nobody compiles: data are prepared."""

_OTHERS = ("torch.", "numpy.save", "numpy.load")
"""What a function on arrays alone does not call, and what brings arrays to or from a file."""


def may_hold_array_functions(file: SourceFile) -> bool:
    """Whether a file of a library may hold functions on arrays that somebody compiles."""
    return _METRICS.search(file.module) is not None and _ARRAYS.search(file.text) is not None


def array_functions(modules: Iterable[Module], project: Project) -> Iterator[Function]:
    """The functions of some modules that say themselves that they get arrays, and work with NumPy alone.

    A metric on arrays is compiled by who finds it slow, as one on tensors is. Without a declaration nothing is guessed.
    """
    for module in modules:
        if is_test_file(module) or stands_with_the_data(module):
            continue
        for function in module.all_functions:
            if _is_array_function(function, project):
                yield function


def _is_array_function(function: Function, project: Project) -> bool:
    if function.cls is not None or function.parent is not None or function.node.name.startswith("_"):
        return False
    declared = [ast.unparse(p.annotation) for p in function.parameters if p.annotation is not None]
    if not declared or not _ARRAYS.search(declared[0]) or any("Tensor" in text for text in declared):
        return False
    if "numpy" not in function.module.packages or any(name.startswith(_OTHERS) for name in function.called_names):
        return False
    if does_host_work(function) or prints(function) or drives(function):
        return False
    return not (handles_files(function, project) or shows_or_keeps(function, project))
