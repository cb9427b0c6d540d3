"""Code that hardly ever runs: what the first call sets up, what stands before an error, what is deprecated or exported.

A graph breaks there too, where it gets there: once, or in no call that matters. So it is told behind the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from compilefix.analysis.host_work import called_always, names_progress, shows_progress, stops_by_the_clock
from compilefix.analysis.regions import is_given_to_compile
from compilefix.codemods.made_once import makes_once, missing, notes_once, refills
from compilefix.codemods.mistakes import looks_for_mistakes
from compilefix.codemods.shown_only import only_says, only_shows
from compilefix.codemods.unknown_settings import gives_nothing, reads_unset, says_unknown
from compilefix.codemods.unpassed import NO_TENSORS, asks_for_unpassed, is_given
from compilefix.source.definitions import Function
from compilefix.source.syntax import conjuncts, last_name
from compilefix.source.tree import parents, walk

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_EXPORTS = re.compile(
    r"(^|_)(onnx|exporting|exported|torchscript|tensorrt|trt|coreml|openvino)(_|$)|(^|_)export(_mode|_model)?$", re.I
)
"""How flags are called that are set where a model is brought to another framework."""
_MAKES = re.compile(r"init|set_?up|build|prepare|register|make|create|load|compile|compute|cache|reset")
"""How functions are called that the first call may run to set something up."""
_BRINGS = re.compile(r"(^|_)(down)?load(?!_?(balanc|factor|loss))")
"""How functions are called that bring something from a file or another machine, if it is not there yet."""
_SAMPLES = re.compile(r"(^|_)(?<!up_)(?<!down_)(?<!grid_)(sample|sampling|generate)(_|$)")
"""How functions are called that run a whole model in each turn, for long where they show how far they have come."""
_NO_MODELS = ("torch.", "Tensor.", "numpy.", "random.")
"""What begins the names of functions that sample and are no models: `torch.nn.functional.grid_sample`."""
_SEARCHES = re.compile(r"([Bb]eam|[Gg]reedy)_?[Ss]earch")
_BEAMS = re.compile(r"(^|[._])beams?([._]|$)")
"""How functions and classes are called that decode step by step with a model, which is what users compile."""
_OF_TEXTS = ("eos", "vocab", "token", "hypothes", "logits")
"""Words of which one stands in a file that looks for a text with beams."""
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_ENDS = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})
_LOADS = frozenset(
    {"torch.load", "torch.hub.load_state_dict_from_url", "safetensors.torch.load_file"}
    | {"torch.hub.download_url_to_file", "urllib.request.urlopen", "urllib.request.urlretrieve"}
    | {"torch.distributed.init_process_group", "torch.distributed.new_group"}
)
_SENDS = frozenset(
    f"torch.distributed.{name}"
    for name in ("batch_isend_irecv", "isend", "irecv", "P2POp", "send_object_list", "recv_object_list")
)
_BETWEEN_DEVICES = (
    *("torch.cuda.comm.", "torch.nn.parallel.comm.", "torch.cuda.nccl.", "torch.nn.parallel.scatter"),
    *("torch.nn.parallel.replicate", "torch.nn.parallel.parallel_apply", "torch.nn.parallel.gather"),
)
"""What begins the names of calls by which one process works on several devices, as nobody compiles."""

_NETWORKS = frozenset({"hivemind", "grpc", "rpyc", "zmq", "websockets"})
"""Packages by which a module asks other machines for what it computes: it stands for what is compiled there."""


_SCORES = ("skimage.metrics.", "skimage.measure.compare_")
"""What begins the names of calls that measure pictures of results, which are arrays then."""
_BROKEN = frozenset({"isnan", "isinf", "isfinite"})


def hardly_runs(node: ast.AST, scope: Scope) -> bool:
    """Whether what stands at a node runs once, before an error, for what is deprecated, or nowhere in compiled code."""
    if stands_round_a_model(node, scope):
        return True
    if _loads(scope) or scope.hands_out_arrays:
        return True
    if _stands_aside(node, scope) or _holds_what_stands_aside(node, scope) or scope.is_set_up:
        return True
    return reads_unset(scope.statement(node), scope)


def stands_round_a_model(node: ast.AST, scope: Scope) -> bool:
    """Whether a function runs a model step by step or sends to others, as users leave in Python.

    What somebody is seen to compile is no work round a model, whatever its name says.
    """
    return not is_given_to_compile(scope.compiled.root) and (_works_round_a_model(scope) or _samples(node, scope))


def _loads(scope: Scope) -> bool:
    """Whether a function is there to load or download something, by its name, or makes something of what it loads.

    What it loads in a branch alone may be kept, and the rest of it runs in each call.
    """
    function = scope.function
    if not _MAKES.search(function.node.name) or _LOADS.isdisjoint(scope.called):
        return False
    return _BRINGS.search(function.node.name) is not None or not _LOADS.isdisjoint(called_always(function))


def _works_round_a_model(scope: Scope) -> bool:
    """Whether a function sends to others, or runs a model step by step, for so long as it takes or may."""
    function = scope.function
    if not _SENDS.isdisjoint(scope.called) or any(name.startswith(_BETWEEN_DEVICES) for name in scope.called):
        return True
    if any(name.startswith(_SCORES) for name in scope.called) or _asks_other_machines(function):
        return True
    if _SAMPLES.search(function.node.name) and shows_progress(function):
        return True
    return stops_by_the_clock(function) or _searches(function)


def _asks_other_machines(function: Function) -> bool:
    """Whether a function, or another method of its class, uses what the file imports to ask other machines.

    A file may hold a model and what serves it.
    """
    module = function.module
    if _NETWORKS.isdisjoint(module.packages):
        return False
    names = {name for name, given in module.imports.items() if given.partition(".")[0] in _NETWORKS}
    node = function.node if function.cls is None else function.cls.node
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _samples(node: ast.AST, scope: Scope) -> bool:
    """Whether a node stands in a loop that shows how far it has come, and samples in each turn with a whole model."""
    return any(
        isinstance(around, ast.For)
        and any(names_progress(scope.callee(part) or "") for part in walk(around.iter) if isinstance(part, ast.Call))
        and any(
            isinstance(part, ast.Call)
            and _SAMPLES.search(last_name(part.func)) is not None
            and not (scope.callee(part) or "").startswith(_NO_MODELS)
            for statement in around.body
            for part in walk(statement)
        )
        for around in (node, *scope.ancestors(node))
    )


def _searches(function: Function) -> bool:
    """Whether a function looks for a text with a model. A beam by itself may be one of light, of sound or of steel."""
    if _SEARCHES.search(function.qualname) is not None:
        return True
    return _BEAMS.search(function.qualname) is not None and any(map(function.module.mentions, _OF_TEXTS))


def _stands_aside(node: ast.AST, scope: Scope) -> bool:
    child = node
    for around in scope.ancestors(node):
        if isinstance(child, ast.stmt) and _ends_in_an_error(child, scope):
            return True
        if isinstance(around, ast.ExceptHandler):
            return True
        if isinstance(around, ast.IfExp) and child is around.body and asks_for_unpassed(around.test, scope):
            return True
        if isinstance(around, ast.Assert) and child is around.msg:
            return True
        if isinstance(around, ast.If):
            beside = around.body if child in around.body else around.orelse if child in around.orelse else None
            if beside is not None and any(seldom(around, beside, scope) for seldom in _SELDOM):
                return True
        child = around
    return _stands_behind_a_way_out(node, scope)


def _stands_behind_a_way_out(node: ast.AST, scope: Scope) -> bool:
    """Whether what is made here was looked for before: `if name in _KEPT: return _KEPT[name]`."""
    body, own = scope.function.node.body, scope.statement(node)
    for place, statement in enumerate(body):
        if own is statement or statement in scope.ancestors(own):
            return False
        if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], ast.Return):
            opposite = ast.UnaryOp(ast.Not(), statement.test)
            if makes_once(opposite, body[place + 1 :], scope.function, _own_calls(scope)):
                return True
    return False


def _ends_in_an_error(statement: ast.stmt, scope: Scope) -> bool:
    """Whether the block that a statement stands in raises behind it, whatever comes."""
    block = scope.block(statement)
    rest = block[block.index(statement) :]
    # Asked for each finding: few blocks end so, and the statements in them are looked through only there.
    end = next((place for place, later in enumerate(rest) if place and _ends(later, scope)), None)
    if end is None or any(isinstance(around, ast.Try) and around.handlers for around in scope.ancestors(statement)):
        return False  # what is caught decides where it goes on
    return not any(isinstance(part, _LEAVES) for later in rest[:end] for part in walk(later))


def _ends(statement: ast.stmt, scope: Scope) -> bool:
    """Whether nothing runs behind a statement: an error, or the end of the program."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(statement, ast.Raise) or (isinstance(called, ast.Call) and scope.callee(called) in _ENDS)


def _holds_what_stands_aside(node: ast.AST, scope: Scope) -> bool:
    """Whether a condition is a name that holds a tensor only where such code ran: `first = False` elsewhere."""
    test = node.test if isinstance(node, ast.If) else node
    stores = scope.names(test.id, stores=True) if isinstance(test, ast.Name) else []
    if not stores or not isinstance(test, ast.Name):
        return False
    if is_given(test.id, scope, *NO_TENSORS):
        return all(_stands_aside(store, scope) for store in stores)
    tensors = [store for store in stores if not _is_plain(store, scope)]
    return 0 < len(tensors) < len(stores) and all(_stands_aside(store, scope) for store in tensors)


def _is_plain(store: ast.Name, scope: Scope) -> bool:
    """Whether a name is given something that is written there."""
    around = scope.parents.get(store)
    return isinstance(around, ast.Assign) and around.targets == [store] and isinstance(around.value, ast.Constant)


def _exports(branch: ast.If, block: list[ast.stmt], _: Scope) -> bool:
    """Whether a block runs where a flag says that the model is exported: `if self.export:`."""
    test, taken = branch.test, block is branch.body
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, taken = test.operand, not taken
    return taken and any(_EXPORTS.search(last_name(part)) for part in conjuncts(test))


def _debugs(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block runs where somebody looks for a mistake: `if self.debug:`, `if debug_scale is not None:`."""
    return looks_for_mistakes(branch, block, scope.function)


def _sets_up(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block runs where something of the object is missing, and makes it: `if self.table is None: ...`."""
    if refills(branch, block, scope.function):
        return True
    test = _asked_above(branch, scope)
    if block is not branch.body or not makes_once(test, block, scope.function, _own_calls(scope)):
        return False
    texts = {ast.unparse(kept) for kept in missing(test)}
    flags = {ast.unparse(part) for part in conjuncts(test)} - texts
    inside = {part for statement in block for part in walk(statement)}
    # `self.state = None` in what calls it, or what it calls elsewhere: it is made anew in each call.
    others = {*scope.compiled.callers, *(callee for node, callee in _own_calls(scope) if node not in inside)}
    others = {other for other in others if other.cls is scope.function.cls} - {scope.function}
    assigns = [assign for other in others for assign in other.of(ast.Assign)]
    return not any(_empties(assign, texts) or _switches_on(assign, flags) for assign in assigns)


def _asked_above(branch: ast.If, scope: Scope) -> ast.expr:
    """What a branch asks for, by a name that the statement above gives: `make = self.table is None`, `if make:`."""
    block = scope.block(branch)
    place = block.index(branch)
    above = block[place - 1] if place else None
    if isinstance(branch.test, ast.Name) and isinstance(above, ast.Assign) and len(above.targets) == 1:
        target = above.targets[0]
        if isinstance(target, ast.Name) and target.id == branch.test.id:
            return above.value
    return branch.test


def _empties(assign: ast.Assign, texts: Collection[str]) -> bool:
    """Whether one of several things, by their texts, is given None or the like."""
    given = assign.value
    nothing = ast.unparse(given) in ("[]", "{}") or (isinstance(given, ast.Constant) and not given.value)
    return nothing and any(ast.unparse(target) in texts for target in assign.targets)


def _switches_on(assign: ast.Assign, flags: Collection[str]) -> bool:
    """Whether one of several flags, by their texts, may be switched on: `self.first = True`."""
    given = assign.value
    off = isinstance(given, ast.Constant) and not given.value
    return not off and any(ast.unparse(target) in flags for target in assign.targets)


def _own_calls(scope: Scope) -> Iterator[tuple[ast.AST, Function]]:
    return iter(scope.facts.calls.items())


def _is_for_other_callers(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block runs for a tensor that nobody in the project passes: `if isinstance(repeats, torch.Tensor)`.

    Or for a flag that nobody sets: `def adjusted(x, verbose=False)`. Each call that is seen gives a number, None or
    False that is written there, or leaves the default, which is one too.
    """
    tests = branch.test.values if isinstance(branch.test, ast.BoolOp) else [branch.test]
    if block is not branch.body or (len(tests) > 1 and isinstance(branch.test.op, ast.Or)):  # type: ignore[attr-defined]
        return False
    return any(asks_for_unpassed(test, scope) for test in tests)


def _complains(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block only says something and gives None, or 0, where other ways out of the function give a result.

    What a model does in training or in evaluation alone is no complaint.
    """
    *said, last = block
    if block is not branch.body or any(
        isinstance(p, ast.expr) and last_name(p) == "training" for p in walk(branch.test)
    ):
        return False
    if not said or not isinstance(last, ast.Return) or not gives_nothing(last):
        return False
    if not all(isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) for part in said):
        return False
    says = (scope.callee(part.value) or "" for part in said if isinstance(part, ast.Expr))
    if not all(name == "print" or name.startswith(("warnings.warn", "logging.")) for name in says):
        return False
    others = [node for node in scope.of(ast.Return) if node is not last]
    return bool(others) and not any(map(gives_nothing, others))


def _says_unknown(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    return block is branch.orelse and says_unknown(branch, scope)


def _shows(_: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    return only_shows(block, scope.function, scope.facts.calls)


def _says_that_numbers_are_broken(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block runs where something is NaN or infinite, and only says so: the model goes on as it would."""
    asked = {last_name(part.func) for part in walk(branch.test) if isinstance(part, ast.Call)}
    return block is branch.body and not asked.isdisjoint(_BROKEN) and only_says(block, scope.function, scope.facts.refs)


_SELDOM = (
    _shows,
    _says_that_numbers_are_broken,
    _complains,
    _exports,
    _debugs,
    _sets_up,
    _is_for_other_callers,
    _says_unknown,
)


def is_set_up_by_callers(scope: Scope) -> bool:
    """Whether what calls the function does so where something is missing, each time."""
    function = scope.function
    for caller in reversed(scope.compiled.callers):
        facts = scope.legality.inference.facts(caller)
        calls = [node for node, callee in facts.calls.items() if callee is function]
        around = parents((caller.node, *caller.nodes)) if calls else {}
        names = (function.node.name, caller.node.name)
        own, named = tuple(facts.calls.items()), any(_MAKES.search(name) is not None for name in names)
        if calls and all(
            _stands_in_set_up(call, around, caller, own, named) or _stands_apart(call, around, caller, scope)
            for call in calls
        ):
            return True
        function = caller
    return False


def _stands_in_set_up(
    node: ast.AST,
    around: Mapping[ast.AST, ast.AST],
    caller: Function,
    calls: tuple[tuple[ast.AST, Function], ...],
    named: bool,
) -> bool:
    """Whether a call stands where something is missing, and makes it: what is called is `named` so, or a flag is."""
    while node in around:
        child, node = node, around[node]
        if isinstance(node, ast.If) and child is not node.test:
            block = node.body if child in node.body else node.orelse
            if refills(node, block, caller):
                return True
        if isinstance(node, ast.If) and child in node.body and makes_once(node.test, node.body, caller, calls):
            return named or notes_once(node, caller)
    return False


def _stands_apart(node: ast.AST, around: Mapping[ast.AST, ast.AST], caller: Function, scope: Scope) -> bool:
    """Whether a call stands in a branch that is there to show something, or to look for a mistake."""
    calls = scope.legality.inference.facts(caller).calls
    while node in around:
        child, node = node, around[node]
        if isinstance(node, ast.If) and child is not node.test:
            block = node.body if child in node.body else node.orelse
            if only_shows(block, caller, calls) or looks_for_mistakes(node, block, caller):
                return True
    return False
