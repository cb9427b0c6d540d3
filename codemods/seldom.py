"""Code that hardly ever runs: what the first call sets up, what stands before an error, what is deprecated or exported.

A graph breaks there too, where it gets there: once, or in no call that matters. So it is told behind the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from compilefix.analysis.host_work import names_progress, shows_progress, stops_by_the_clock
from compilefix.analysis.regions import is_given_to_compile
from compilefix.analysis.values import Kind
from compilefix.codemods.shown_only import only_shows
from compilefix.codemods.unknown_settings import reads_unset, says_unknown
from compilefix.source.definitions import Function
from compilefix.source.syntax import asks_for_none, conjuncts, is_literal, last_name, unpacks
from compilefix.source.tree import parents, walk

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_EXPORTS = re.compile(
    r"(^|_)(onnx|exporting|exported|torchscript|tensorrt|trt|coreml|openvino)(_|$)|(^|_)export(_mode|_model)?$", re.I
)
"""How flags are called that are set where a model is brought to another framework."""
_DEBUGS = re.compile(r"(^|_)debug(ging|_mode)?(_|$)|^(show|plot|visuali[sz]e)_|^visuali[sz]e$", re.I)
"""How flags and arguments are called that are given where somebody looks for a mistake, or at a result."""
_MAKES = re.compile(r"init|set_?up|build|prepare|register|make|create|load|compile|compute|cache|reset")
"""How functions are called that the first call may run to set something up."""
_SAMPLES = re.compile(r"(^|_)(sample|sampling|generate)(_|$)")
"""How functions are called that run a whole model in each turn, for long where they show how far they have come."""
_SEARCHES = re.compile(r"([Bb]eam|[Gg]reedy)_?[Ss]earch")
_BEAMS = re.compile(r"(^|[._])beams?([._]|$)")
"""How functions and classes are called that decode step by step with a model, which is what users compile."""
_OF_TEXTS = ("eos", "vocab", "token", "hypothes", "logits")
"""Words of which one stands in a file that looks for a text with beams."""
_STORES = frozenset({"copy_", "fill_", "update", "setdefault", "append", "add", "__setitem__"})
_NO_TENSORS = (Kind.SIZE, Kind.NUMBER, Kind.STATIC, Kind.NONE, Kind.CONTAINER)
_SOMETHING = (Kind.SIZE, Kind.NUMBER, Kind.STATIC, Kind.CONTAINER, Kind.TENSOR)
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_ENDS = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})
_LOADS = frozenset(
    {"torch.load", "torch.hub.load_state_dict_from_url", "safetensors.torch.load_file"}
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
"""Packages by which a file asks other machines for what it computes: its modules stand for what is compiled there."""


def hardly_runs(node: ast.AST, scope: Scope) -> bool:
    """Whether what stands at a node runs once, before an error, for what is deprecated, or nowhere in compiled code."""
    # What somebody is seen to compile is no work round a model, whatever its name says.
    if not is_given_to_compile(scope.compiled.root) and (_works_round_a_model(scope) or _samples(node, scope)):
        return True
    if _MAKES.search(scope.function.node.name) and not _LOADS.isdisjoint(scope.called):
        return True
    if _stands_aside(node, scope) or _holds_what_stands_aside(node, scope) or scope.is_set_up:
        return True
    return reads_unset(scope.statement(node), scope)


def _works_round_a_model(scope: Scope) -> bool:
    """Whether a function sends to others, or runs a model step by step, for so long as it takes or may."""
    function = scope.function
    if not _SENDS.isdisjoint(scope.called) or any(name.startswith(_BETWEEN_DEVICES) for name in scope.called):
        return True
    if not _NETWORKS.isdisjoint(function.module.packages):
        return True
    if _SAMPLES.search(function.node.name) and shows_progress(function):
        return True
    return stops_by_the_clock(function) or _searches(function)


def _samples(node: ast.AST, scope: Scope) -> bool:
    """Whether a node stands in a loop that shows how far it has come, and samples in each turn with a whole model."""
    return any(
        isinstance(around, ast.For)
        and any(names_progress(scope.callee(part) or "") for part in walk(around.iter) if isinstance(part, ast.Call))
        and any(
            isinstance(part, ast.Call) and _SAMPLES.search(last_name(part.func)) is not None
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
        if isinstance(around, ast.IfExp) and child is around.body and _asks_for_unpassed(around.test, scope):
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
            if _makes_once(opposite, body[place + 1 :], scope.function, _own_calls(scope)):
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
    if _is_given(test.id, scope, *_NO_TENSORS):
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
    """Whether a block runs where somebody looks for a mistake: `if self.debug:`, `if debug_scale is not None:`.

    Not so where the flag is on until somebody says otherwise.
    """
    tests = branch.test.values if isinstance(branch.test, ast.BoolOp) else [branch.test]
    if len(tests) > 1 and (block is not branch.body or isinstance(branch.test.op, ast.Or)):  # type: ignore[attr-defined]
        return False
    taken = block is branch.body
    return any(
        asked is taken
        and _DEBUGS.search(_mode(part) or last_name(part)) is not None
        and not any(_is_on(part, value) for value in _first_values(part, scope.function))
        for part, asked in map(_flag_and_answer, tests)
    )


def _mode(test: ast.expr) -> str | None:
    """The mode that a test asks for by its name: `debug` of `self.mode == "debug"`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        mode = test.comparators[0]
        return mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None
    return None


def _is_on(test: ast.expr, value: ast.expr) -> bool:
    """Whether a flag that has a value lets a test be true; of a mode, that it asks for it."""
    mode = _mode(test)
    return isinstance(value, ast.Constant) and (value.value == mode if mode is not None else bool(value.value))


def _first_values(flag: ast.expr, function: Function) -> Iterator[ast.expr]:
    """What a flag is where nobody gives it another value: the default of a parameter, or what `__init__` stores."""
    if isinstance(flag, ast.Compare) and _mode(flag) is not None:
        flag = flag.left
    if isinstance(flag, ast.Name):
        default = _defaults(function).get(flag.id)
        given = [default] if flag.id in function.bound else function.module.all_given(flag.id)
        yield from (value for value in given if value is not None)
    elif isinstance(flag, ast.Attribute) and function.cls is not None:
        init = function.cls.methods.get("__init__")
        for assign in init.of(ast.Assign) if init is not None else ():
            if init is not None and any(ast.unparse(target) == ast.unparse(flag) for target in assign.targets):
                default = _defaults(init).get(assign.value.id) if isinstance(assign.value, ast.Name) else None
                yield default or assign.value


def _flag_and_answer(test: ast.expr) -> tuple[ast.expr, bool]:
    """What a test asks of, and whether it is true where that is given: `not x`, `x == False`, `x is not None`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        part, given = _flag_and_answer(test.operand)
        return part, not given
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        if _asks_for_something(test):
            return test.left, True
        if isinstance(test.ops[0], ast.Eq | ast.Is) and isinstance(test.comparators[0].value, bool):
            return test.left, test.comparators[0].value
    return test, True


def _asks_for_something(test: ast.expr) -> bool:
    """Whether a test is `x is not None`."""
    return asks_for_none(test) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)


def _sets_up(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block runs where something of the object is missing, and makes it: `if self.table is None: ...`."""
    if block is not branch.body or not _makes_once(branch.test, block, scope.function, _own_calls(scope)):
        return False
    texts = {ast.unparse(kept) for kept in _missing(branch.test)}
    inside = {part for statement in block for part in walk(statement)}
    # `self.state = None` in what calls it, or what it calls elsewhere: it is made anew in each call.
    others = {*scope.compiled.callers, *(callee for node, callee in _own_calls(scope) if node not in inside)}
    others = {other for other in others if other.cls is scope.function.cls} - {scope.function}
    return not any(_empties(assign, texts) for other in others for assign in other.of(ast.Assign))


def _empties(assign: ast.Assign, texts: Collection[str]) -> bool:
    """Whether one of several things, by their texts, is given None or the like."""
    given = assign.value
    nothing = ast.unparse(given) in ("[]", "{}") or (isinstance(given, ast.Constant) and not given.value)
    return nothing and any(ast.unparse(target) in texts for target in assign.targets)


def _own_calls(scope: Scope) -> Iterator[tuple[ast.AST, Function]]:
    return iter(scope.facts.calls.items())


def _makes_once(
    test: ast.expr, block: list[ast.stmt], function: Function, calls: Iterable[tuple[ast.AST, Function]]
) -> bool:
    missing = [kept for kept in _missing(test) if _is_kept(kept, function)]
    if not missing:
        return False
    inside = {part for statement in block for part in walk(statement)}
    texts = {ast.unparse(kept) for kept in missing}
    if any(_stored(node) & texts for node in function.nodes if node not in inside):
        return False  # another value in each call, or none again
    if any(_stored(node) & texts for node in inside):
        return True
    called = [callee for node, callee in calls if node in inside and callee.cls is not None]
    return any(_stored(node) & texts for callee in called for node in callee.nodes)


def _missing(test: ast.expr) -> Iterator[ast.expr]:
    """What a test takes for missing: `x is None`, `not x`, `x is False`, `k not in x`, `not hasattr(o, "x")`."""
    if isinstance(test, ast.BoolOp):
        found = [list(_missing(part)) for part in test.values]
        if isinstance(test.op, ast.And):
            yield from (kept for part in found for kept in part)
        elif found[0]:
            # `self.table is None or self.table.shape[0] < n`: the rest asks whether it is large enough.
            name = ast.unparse(found[0][0])
            if all(part or name in ast.unparse(value) for part, value in zip(found, test.values, strict=True)):
                yield found[0][0]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        asked = test.operand
        if isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name) and asked.func.id == "hasattr":
            owner, attribute = asked.args if len(asked.args) == 2 else (None, None)
            if isinstance(attribute, ast.Constant) and isinstance(owner, ast.Name):
                yield ast.Attribute(owner, str(attribute.value), ast.Load())
        elif isinstance(asked, ast.Attribute | ast.Name):
            yield asked
        elif isinstance(asked, ast.Compare) and len(asked.ops) == 1 and isinstance(asked.ops[0], ast.In):
            yield asked.comparators[0]
        elif isinstance(asked, ast.Compare) and _asks_for_something(asked):
            yield asked.left
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        operator, other = test.ops[0], test.comparators[0]
        nothing = isinstance(other, ast.Constant) and not other.value
        if nothing and isinstance(operator, ast.Is | ast.Eq):
            yield test.left
        elif isinstance(operator, ast.NotIn):
            yield other


def _is_kept(kept: ast.expr, function: Function) -> bool:
    """Whether something outlives the call: an attribute of the object, or a global of the file."""
    if isinstance(kept, ast.Name):
        shared = any(kept.id in node.names for node in function.of(ast.Global))
        return shared or (kept.id in function.module.assigns and kept.id not in function.bound)
    if not isinstance(kept, ast.Attribute) or function.cls is None:
        return False
    own = next((parameter.arg for parameter in function.parameters), None)
    while isinstance(kept, ast.Attribute):
        kept = kept.value
    return isinstance(kept, ast.Name) and kept.id in (own, function.cls.node.name)


def _stored(node: ast.AST) -> frozenset[str]:
    """The texts of what a node gives another value, or puts something into."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in _STORES:
                return frozenset({ast.unparse(_holder(node.func.value))})
            if node.func.attr == "register_buffer" and node.args:
                return _attribute_named(node.func.value, node.args[0])
        elif isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:
            return _attribute_named(node.args[0], node.args[1])
        return frozenset()
    if isinstance(node, ast.Attribute | ast.Name | ast.Subscript) and isinstance(node.ctx, ast.Store):
        return frozenset({ast.unparse(_holder(node))})
    return frozenset()


def _is_for_other_callers(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block runs for a tensor that nobody in the project passes: `if isinstance(repeats, torch.Tensor)`.

    Or for a flag that nobody sets: `def adjusted(x, verbose=False)`. Each call that is seen gives a number, None or
    False that is written there, or leaves the default, which is one too.
    """
    tests = branch.test.values if isinstance(branch.test, ast.BoolOp) else [branch.test]
    if block is not branch.body or (len(tests) > 1 and isinstance(branch.test.op, ast.Or)):  # type: ignore[attr-defined]
        return False
    return any(_asks_for_unpassed(test, scope) for test in tests)


def _asks_for_unpassed(test: ast.expr, scope: Scope) -> bool:
    if isinstance(test, ast.Call) and scope.callee(test) == "isinstance" and len(test.args) == 2:
        name, leaves_out = test.args[0], _is_number
        asked = ast.unparse(test.args[1]).endswith("Tensor")
    elif isinstance(test, ast.Call) and scope.callee(test) == "torch.is_tensor" and len(test.args) == 1:
        name, leaves_out, asked = test.args[0], _is_number, True
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        name, leaves_out = test.left, _is_nothing
        own = scope.function.cls is None or scope.function.node.name.startswith("_")
        if own and asks_for_none(test) and not _asks_for_something(test):
            return (
                isinstance(name, ast.Name) and not _is_stored_before(test, name.id, scope) and _is_given(name.id, scope)
            )
        asked = own and _asks_for_something(test)
    elif isinstance(test, ast.Name):
        name, leaves_out = test, _is_off
        asked = scope.function.cls is None and _is_off(_defaults(scope.function).get(test.id))
    else:
        return False
    if not isinstance(name, ast.Name) or not asked:
        return False
    text, around = ast.unparse(test), scope.statement(test)
    later = around.targets if isinstance(around, ast.Assign) else []
    stores = [store for store in scope.names(name.id, stores=True) if store not in later]
    if not all(_stands_behind(text, store, scope) for store in stores):
        return False
    facts, given = scope.legality.inference.facts, _given_by_callers(name.id, scope)
    sizes = leaves_out is _is_number
    return bool(given) and all(
        leaves_out(value) or (sizes and value is not None and facts(caller).value(value).is_(*_NO_TENSORS))
        for caller, value in given
    )


def _given_by_callers(name: str, scope: Scope) -> list[tuple[Function, ast.expr | None]]:
    """What the calls of the function that are seen give a parameter, each with the function that calls."""
    facts = scope.legality.inference.facts
    calls = [(caller, call) for caller, call in scope.calls_here if facts(caller).calls.get(call) is scope.function]
    return [(caller, _given(name, call, scope)) for caller, call in calls if isinstance(call, ast.Call)]


def _is_given(name: str, scope: Scope, *kinds: Kind) -> bool:
    """Whether each call that is seen gives a parameter something that is not None, and of one of some kinds."""
    if name not in _defaults(scope.function):
        return False
    facts, given = scope.legality.inference.facts, _given_by_callers(name, scope)
    some = tuple(kind for kind in kinds or _SOMETHING if kind is not Kind.NONE)
    return bool(given) and all(value is not None and facts(caller).value(value).is_(*some) for caller, value in given)


def _is_stored_before(test: ast.expr, name: str, scope: Scope) -> bool:
    """Whether a parameter is given another value where a test may read that."""
    return any(store.lineno < test.lineno for store in scope.names(name, stores=True)) or any(
        isinstance(around, ast.For | ast.While) for around in scope.ancestors(test)
    )


def _stands_behind(test: str, node: ast.AST, scope: Scope) -> bool:
    """Whether a node stands in a block that runs where a test, by its text, says yes."""
    child = node
    for around in scope.ancestors(node):
        if isinstance(around, ast.If) and child in around.body and ast.unparse(around.test) == test:
            return True
        child = around
    return False


def _given(name: str, call: ast.Call, scope: Scope) -> ast.expr | None:
    """What a call of the function gives a parameter, or its default; None where that is not seen."""
    if unpacks(call):
        return None
    own = scope.function.node.args
    bound = scope.function.cls is not None and scope.function.parent is None and not scope.function.is_static
    names = [parameter.arg for parameter in (*own.posonlyargs, *own.args)]
    given = _defaults(scope.function)
    given.update(zip(names[int(bound) :], call.args, strict=False))
    given.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    return given.get(name)


def _defaults(function: Function) -> dict[str, ast.expr | None]:
    """By parameter what it is where a call says nothing of it."""
    own = function.node.args
    names = [parameter.arg for parameter in (*own.posonlyargs, *own.args)]
    found: dict[str, ast.expr | None] = dict(zip(reversed(names), reversed(own.defaults), strict=False))
    found.update((p.arg, default) for p, default in zip(own.kwonlyargs, own.kw_defaults, strict=True))
    return found


def _is_number(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


def _is_nothing(value: ast.expr | None) -> bool:
    return is_literal(value, None)


def _is_off(value: ast.expr | None) -> bool:
    return is_literal(value, False)


def _attribute_named(owner: ast.expr, name: ast.expr) -> frozenset[str]:
    text = name.value if isinstance(name, ast.Constant) else None
    return frozenset({f"{ast.unparse(owner)}.{text}"} if isinstance(text, str) else ())


def _holder(node: ast.expr) -> ast.expr:
    """What holds the place that a value is put into: `self.tables` of `self.tables[key]`, `x` of `x.data`."""
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "data"):
        node = node.value
    return node


def _complains(_: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    """Whether a block only says something and gives None, where other ways out of the function give a result."""
    *said, last = block
    if not said or not isinstance(last, ast.Return) or not (last.value is None or is_literal(last.value, None)):
        return False
    if not all(isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) for part in said):
        return False
    says = (scope.callee(part.value) or "" for part in said if isinstance(part, ast.Expr))
    if not all(name == "print" or name.startswith(("warnings.warn", "logging.")) for name in says):
        return False
    others = [node for node in scope.of(ast.Return) if node is not last]
    return bool(others) and all(n.value is not None and not is_literal(n.value, None) for n in others)


def _says_unknown(branch: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    return block is branch.orelse and says_unknown(branch, scope)


def _shows(_: ast.If, block: list[ast.stmt], scope: Scope) -> bool:
    return only_shows(block, scope.function, scope.facts.calls)


_SELDOM = (_shows, _complains, _exports, _debugs, _sets_up, _is_for_other_callers, _says_unknown)


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
            _stands_in_set_up(call, around, caller, own, named) or _stands_in_what_shows(call, around, caller, scope)
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
        if isinstance(node, ast.If) and child in node.body and _makes_once(node.test, node.body, caller, calls):
            return named or _notes_once(node, caller)
    return False


def _stands_in_what_shows(node: ast.AST, around: Mapping[ast.AST, ast.AST], caller: Function, scope: Scope) -> bool:
    """Whether a call stands in a branch that is there to show something."""
    calls = scope.legality.inference.facts(caller).calls
    while node in around:
        child, node = node, around[node]
        if isinstance(node, ast.If) and child is not node.test:
            block = node.body if child in node.body else node.orelse
            if only_shows(block, caller, calls):
                return True
    return False


def _notes_once(branch: ast.If, function: Function) -> bool:
    """Whether a block that runs where a global flag is off switches it on: `if not _inited: _inited = True`."""
    shared = {name for node in function.of(ast.Global) for name in node.names}
    return any(
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
        and any(isinstance(target, ast.Name) and target.id in shared for target in statement.targets)
        for statement in branch.body
    )
