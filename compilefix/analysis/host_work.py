"""Functions on tensors that do other work beside that: they print, look at the clock, or leave with arrays.

A function to which no `forward` leads counts as compiled because of what it does with tensors. What it does beside that
says that it is called from outside a graph: nobody compiles code that only prints, and few compile what shows how far
it has come, draws its random numbers with Python or NumPy, or goes on with NumPy or SciPy. Of the latter the breaks
are told last, and what they call does not count as compiled for that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from compilefix.analysis.host_acts import own_leaves
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project
from compilefix.source.tree import children, unpacked

_DRAWS = ("random.", "numpy.random.")
_PROGRESS = ("tqdm.", "rich.progress.")
_BESIDE = (*_DRAWS, *_PROGRESS, "scipy.")
"""What begins the names of calls that draw on the host, show how far a loop has come, or compute with arrays."""
_CLOCKS = frozenset(
    {"time.time", "time.perf_counter", "time.monotonic", "time.process_time", "timeit.default_timer"}
    | {"datetime.datetime.now", "time.sleep", "time.time_ns", "time.perf_counter_ns"}
)
_EXCHANGES = frozenset(
    f"torch.distributed.{name}"
    for name in ("all_gather", "all_gather_object", "all_reduce", "reduce", "gather", "broadcast", "barrier", "scatter")
)
_NUMBERS_BY_NAME = re.compile(r"\b[Dd]ict\[str, (float|int)\]")
"""What a function is annotated to return that measures: texts and Python's own numbers."""
_TO_ARRAYS = re.compile(r"(to|as|2)_?(numpy|np|ndarray)$|(tensor|torch)_?(to|2)_?(numpy|np|array|img|image)$")
"""How functions are called that make arrays of tensors."""


def does_host_work(function: Function) -> bool:
    """Whether the function does what no graph does: so does what calls it."""
    called = function.called_names
    if any(name.startswith(_BESIDE) or name in _CLOCKS for name in called) and any(
        _is_beside(name, function) for name in called_always(function)
    ):
        return True
    arrays = [node for node in function.of(ast.Call) if makes_array(node)]
    if not arrays:
        return False
    if any(name.startswith("numpy.") for name in called):
        return True
    # An array by which a tensor is indexed is one only in passing; what makes tensors, too, gives arrays when asked.
    given = [node.value for node in function.of(ast.Return) if node.value is not None]
    returned = {part for value in given for part in unpacked(value)}
    return not returned.isdisjoint(arrays) and not any(_makes_tensor(value, function) for value in given)


def shows_progress(function: Function) -> bool:
    """Whether the function shows how far a loop has come, over data as a rule: it calls just what is compiled."""
    return any(map(names_progress, function.called_names))


def names_progress(name: str) -> bool:
    """Whether a call of a name shows how far a loop has come."""
    return name.startswith(_PROGRESS)


def stops_by_the_clock(function: Function) -> bool:
    """Whether the function goes on, or leaves, by the time that has gone by: it works on results for so long as it may.

    What only shows something once in a minute goes on all the same.
    """
    if function.called_names.isdisjoint(_CLOCKS):
        return False
    tests = [node.test for node in function.of(ast.While)]
    tests += [node.test for node in function.of(ast.If) if isinstance(node.body[-1], ast.Break | ast.Return)]
    calls = [part for test in tests for part in ast.walk(test) if isinstance(part, ast.Call)]
    return any(function.module.qualified(call.func) in _CLOCKS for call in calls)


def _is_beside(name: str, function: Function) -> bool:
    if name.startswith(_DRAWS) and "loss" in function.qualname.lower():
        return False  # a loss that draws what it compares is compiled with the model all the same
    return name.startswith(_BESIDE) or name in _CLOCKS


def called_always(function: Function) -> Iterator[str]:
    """The names of what the function calls, whatever it is given: what it does for a flag is not what it is for."""
    pending: list[ast.AST] = list(function.node.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If | ast.IfExp):
            pending.append(node.test)
            continue
        if isinstance(node, ast.Call) and (name := function.module.qualified(node.func)) is not None:
            yield name
        pending.extend(children(node))


def asked_for(function: Function) -> Iterator[ast.AST]:
    """What the function does for a flag that is off by default: `if visualize: ...`. It is there for other things."""
    arguments = function.node.args
    places = [*arguments.posonlyargs, *arguments.args]
    given = [*zip(reversed(places), reversed(arguments.defaults), strict=False)]
    given += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    flags = {a.arg for a, d in given if isinstance(d, ast.Constant) and d.value in (False, None)}
    for node in function.of(ast.If):
        if isinstance(node.test, ast.Name) and node.test.id in flags:
            for statement in node.body:
                yield from ast.walk(statement)


def _makes_tensor(node: ast.expr, function: Function) -> bool:
    """Whether an expression is a call of a function of torch: `torch.from_numpy(data)`."""
    name = function.module.qualified(node.func) if isinstance(node, ast.Call) else None
    return name is not None and name.startswith("torch.")


def prints(function: Function) -> bool:
    """Whether the function is there to print: it does so whatever it is given, and gives nothing back.

    What it prints for a flag alone is not what it is for, nor is what it prints on its way to a result.
    """
    gives = any(node.value is not None for node in function.of(ast.Return))
    return not gives and any(map(_prints, _always(function.node.body)))


def is_for_a_loop(function: Function) -> bool:
    """Whether a loop over the data calls the function: it measures, or always exchanges tensors with other processes.

    Exchanging is no work on the host. What calls such a function may still be compiled, as losses that sum over all
    processes are.
    """
    returns = function.node.returns
    if returns is not None and _NUMBERS_BY_NAME.search(ast.unparse(returns)) is not None:
        return True
    if function.called_names.isdisjoint(_EXCHANGES):
        return False
    return not _EXCHANGES.isdisjoint(called_always(function))  # where there are other processes is another question


def handles_gradients(function: Function, project: Project) -> bool:
    """Whether the function reads or writes what `backward` left: `p.grad`. Of an optimizer the step is compiled."""
    if function.cls is not None and is_optimizer(function.cls, project):
        return False
    found = [node for node in function.of(ast.Attribute) if node.attr == "grad" and _is_of_parameter(node, function)]
    return bool(found) and not {ast.unparse(node.value) for node in found} <= own_leaves(function)


def is_optimizer(cls: Class, project: Project) -> bool:
    """Whether a class is an optimizer of torch, which keeps the parameters and what it knows of them."""
    return any(isinstance(base, str) and base.rpartition(".")[2] == "Optimizer" for base in project.ancestors(cls))


def _is_of_parameter(node: ast.Attribute, function: Function) -> bool:
    """Whether an attribute is one of what a name stands for, and none of an imported module or the object itself."""
    if not isinstance(node.value, ast.Name) or node.value.id == "self":
        return False
    return function.module.imported(node.value.id) is None


def _always(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that no condition holds back."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.For | ast.While | ast.With | ast.Try):
            yield from _always(statement.body)


def _prints(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def makes_array(node: ast.Call) -> bool:
    """Whether a call makes an array of a tensor for other code: `x.detach().cpu().numpy()`, `to_numpy(x)`."""
    func = node.func
    if isinstance(func, ast.Name):
        return _TO_ARRAYS.search(func.id) is not None
    if not isinstance(func, ast.Attribute):
        return False
    if func.attr != "numpy":
        return _TO_ARRAYS.search(func.attr) is not None and func.attr != "to_numpy"
    made = func.value
    while isinstance(made, ast.Call | ast.Attribute):
        if isinstance(made, ast.Attribute) and made.attr in ("cpu", "detach"):
            return True
        made = made.func if isinstance(made, ast.Call) else made.value
    return False
