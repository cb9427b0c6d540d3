"""Runs a program and compares what the analysis claims at each place with what is seen there.

Every expression and the names before every statement are looked at, in each function of the program, each time that
they are reached. A claim is about every run, so that one run against it shows it wrong.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import itertools
import re
import sys
import types
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from compilefix.analysis.annotations import annotated
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.infer import Inference
from compilefix.analysis.legality import Legality
from compilefix.analysis.torch_api import is_dtype
from compilefix.analysis.values import ANY_LEAF, Kind, Value, may_share
from compilefix.source.definitions import Function
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

FILE = "program.py"
_CLASSES = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "complex": "complex",
    "ReadInt": "int",
    "ReadFloat": "float",
}
Live = tuple[str, Value, Any]
_PYTHON = bool | int | float | complex | str | torch.dtype | torch.device
_SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr


class BrokenPromiseError(Exception):
    """A program gave an annotated name something else."""


class ReadFloat(float):
    """A float that was read from a tensor; arithmetic with it gives another one."""


class ReadInt(int):
    """An integer that was read from a tensor."""


def read(value: Any) -> Any:
    """The number, marked as read from a tensor."""
    if isinstance(value, list):
        return [read(v) for v in value]
    if isinstance(value, bool):
        return value
    return ReadInt(value) if isinstance(value, int) else ReadFloat(value) if isinstance(value, float) else value


def _marked(base: type, name: str) -> Any:
    plain = getattr(base, name)

    def operator(self: Any, *others: Any) -> Any:
        return read(plain(self, *others))

    return operator


for _class, _base in ((ReadFloat, float), (ReadInt, int)):
    for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "abs", "round"):
        for _form in (f"__{_name}__", f"__r{_name}__"):
            if hasattr(_base, _form):
                setattr(_class, _form, _marked(_base, _form))


def is_read(value: Any) -> bool:
    """Whether a number is known to come from a tensor."""
    return isinstance(value, ReadFloat | ReadInt)


@dataclass
class Program:
    """A program's text and what is claimed of it: the facts of its functions, by the place of each node."""

    text: str
    nodes: list[ast.AST] = field(init=False)
    legality: Legality = field(init=False)
    facts: dict[ast.AST, FunctionFacts] = field(init=False, default_factory=dict)
    owner: dict[int, FunctionFacts] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        project = Project([SourceFile(Path(FILE), "program", self.text)])
        inference = Inference(project)
        self.legality = Legality(inference)
        (module,) = project.modules.values()
        self.nodes = list(ast.walk(module.tree))
        numbers = {node: i for i, node in enumerate(self.nodes)}
        for function in module.all_functions:
            facts = inference.facts(function)
            self.facts[function.node] = facts
            for node in _own(function.node):
                self.owner[numbers[node]] = facts

    @functools.cached_property
    def code(self) -> types.CodeType:
        """The program with the calls that watch it."""
        tree = ast.parse(self.text)
        return compile(ast.fix_missing_locations(Watched(tree).visit(tree)), FILE, "exec")

    def functions(self) -> list[Function]:
        """The functions of the program."""
        return [facts.function for facts in self.facts.values()]


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of functions and classes in it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))


class Watched(ast.NodeTransformer):
    """Puts a call round each expression and before each statement of the functions of a program."""

    def __init__(self, tree: ast.Module) -> None:
        self.numbers = {node: i for i, node in enumerate(ast.walk(tree))}
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        node.body = self._body(node.body)
        self.depth -= 1
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        depth, self.depth = self.depth, 0
        node.body = [self.visit(s) for s in node.body]
        self.depth = depth
        return node

    def _body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            if not isinstance(statement, ast.Nonlocal | ast.Global):
                result.append(ast.parse(f"_before({self.numbers[statement]}, locals())").body[0])
                ast.copy_location(result[-1], statement)
            result.append(self.visit(statement))
        return result

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.pattern) or (isinstance(node, ast.Call) and _names(node.func) == "super"):
            return node
        if not self.depth:
            return super().generic_visit(node)
        number = self.numbers.get(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self._body(block))
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                node.value = ast.Call(_name("_promised"), [self.visit(node.value), ast.Constant(number)], [])
            return node
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                continue
            if isinstance(value, list):
                setattr(node, name, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return self._around(node, number)
        return node

    def _around(self, node: ast.expr, number: int | None) -> ast.expr:
        if number is None or isinstance(node, ast.Starred | ast.Slice | ast.FormattedValue | ast.Constant):
            return node
        if isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts):
            return node
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            return node
        if isinstance(node, ast.Call):
            node = ast.Call(_name("_called"), [node.func, *node.args], node.keywords)
        call = ast.Call(_name("_seen"), [ast.Constant(number), node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node) if hasattr(node, "lineno") else call)


def _names(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


class EndlessError(BaseException):
    """The program makes no end. No exception that it catches."""


_STEPS, _ITEMS = 5000, 1000
# A kind that an argument without an annotation was said to have.
_ARGUMENT = re.compile(r"(?:before it, u|`u`): is \w+(?: read from a tensor)?, said to be")
_READS = (float, int)
_KEEPS = (abs, round, min, max, sum)


class Watcher:
    """One run of one program: `found` holds what contradicts a claim, in words."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: list[str] = []
        self.statements: dict[types.FrameType, _Statement] = {}
        self.finished: dict[types.FrameType, int] = {}
        self.entry: dict[types.FrameType, list[tuple[str, torch.UntypedStorage]]] = {}
        self.arguments: dict[str, torch.Tensor] = {}
        self.failed: ast.stmt | None = None
        self.steps = 0
        self.space: dict[str, Any] = {
            "__name__": __name__,
            "_seen": self._seen,
            "_before": self._before,
            "_called": self._called,
            "_promised": self._promised,
        }
        self.out = io.StringIO()
        with self._compiling():
            exec(program.code, self.space)

    @contextlib.contextmanager
    def _compiling(self) -> Iterator[None]:
        """What is claimed holds for compiled code: `is_compiling()` is true there."""
        old = torch.compiler.is_compiling
        torch.compiler.is_compiling = lambda: True
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(self.out):
                warnings.simplefilter("ignore")
                yield
        finally:
            torch.compiler.is_compiling = old

    def run(self, entry: Any, *arguments: Any, names: Sequence[str] = ()) -> bool:
        """Call the entry; whether it ended without an exception."""
        self.statements.clear()
        self.finished.clear()
        self.steps = 0
        self.failed = None
        self.arguments = {n: a for n, a in zip(names, arguments, strict=False) if isinstance(a, torch.Tensor)}
        try:
            with self._compiling():
                entry(*arguments)
        except EndlessError:
            return False
        except Exception as error:
            if isinstance(error, AttributeError):
                # An argument is taken for a tensor because of what is done with it: with another, this fails.
                self.found = [text for text in self.found if _ARGUMENT.search(text) is None]
            self._raised(error)
            return False
        finally:
            self.statements.clear()
            self.finished.clear()
            self.entry.clear()
        return True

    def _say(self, node: ast.AST, text: str) -> None:
        line = getattr(node, "lineno", 0)
        shown = ast.unparse(node).splitlines()[0][:70]
        self.found.append(f"line {line}, `{shown}`: {text}")

    def _promised(self, value: Any, number: int) -> Any:
        """What is annotated is what the annotation says, or the program is wrong."""
        node = self.program.nodes[number]
        facts = self.program.owner.get(number)
        if isinstance(node, ast.AnnAssign) and facts is not None:
            claim = annotated(node.annotation, facts.function.module, self.program.legality.inference.project)
            if any(against(claim, value)):
                raise BrokenPromiseError
        return value

    def _called(self, function: Any, *args: Any, **keywords: Any) -> Any:
        result = function(*args, **keywords)
        name = getattr(function, "__name__", "")
        tensors = any(isinstance(a, torch.Tensor) for a in args)
        if name in ("item", "tolist") and isinstance(getattr(function, "__self__", None), torch.Tensor):
            return read(result)
        marked = any(is_read(a) for a in args)
        reads = function in _READS or getattr(function, "__module__", "") == "math"
        if (reads and (marked or tensors)) or (function in _KEEPS and all(is_read(a) for a in args)):
            return read(result)
        return result

    def _seen(self, number: int, value: Any) -> Any:
        node, facts = self.program.nodes[number], self.program.owner.get(number)
        frame = sys._getframe(1)
        self.finished[frame] = number
        if facts is not None and node in facts.values:
            for text in against(facts.values[node], value):
                self._say(node, text)
            statement = self.statements.get(frame)
            if statement is not None and isinstance(value, torch.Tensor):
                statement.seen.append((node, facts.values[node], value.shape, value.dtype))
        return value

    def _before(self, number: int, names: dict[str, Any]) -> None:
        node, facts = self.program.nodes[number], self.program.owner[number]
        assert isinstance(node, ast.stmt)
        frame = sys._getframe(1)
        claimed = facts.env_before.get(node)
        self.steps += 1
        if self.steps > _STEPS or any(isinstance(v, list) and len(v) > _ITEMS for v in names.values()):
            raise EndlessError
        previous = self.statements.pop(frame, None)
        state = State.of(names, self.out)
        if previous is not None:
            self._after(previous, state)
        self.statements[frame] = _Statement(node, facts, state)
        if node in facts.dead:
            self._say(node, "ran, and was said not to run")
            return
        if claimed is None:
            self._say(node, "ran, and nothing is known of it")
            return
        live = _live(claimed, names)
        if frame not in self.entry:
            self.entry[frame] = _held_outside(names, facts)
            for parameter in facts.function.parameters:
                if parameter.annotation is not None and any(against(claimed[parameter.arg], names[parameter.arg])):
                    raise BrokenPromiseError
        for name, claim, value in live:
            for text in against(claim, value):
                self._say(node, f"before it, {name}: {text}")
        ids = [(f"before it, {n}", c, v.shape, v.dtype) for n, c, v in live if isinstance(v, torch.Tensor)]
        self._alike(node, ids)
        if facts.function.parent is None:
            self._memory(node, facts, live, frame)
        if isinstance(node, ast.Return) and facts.function.qualname == "Program.forward":
            self._leaves(node, live, names)

    def _alike(self, node: ast.AST, seen: Sequence[tuple[Any, Value, torch.Size, torch.dtype]]) -> None:
        for (a, first, shape, dtype), (b, second, other_shape, other_dtype) in itertools.combinations(seen, 2):
            if not (first.is_tensor and second.is_tensor):
                continue
            texts = [n if isinstance(n, str) else ast.unparse(n) for n in (a, b)]
            if first.shape_id is not None and first.shape_id == second.shape_id and shape != other_shape:
                self._say(node, f"`{texts[0]}` has {tuple(shape)}, `{texts[1]}` {tuple(other_shape)}, said the same")
            if first.dtype_id is not None and first.dtype_id == second.dtype_id and dtype != other_dtype:
                self._say(node, f"`{texts[0]}` is {dtype} and `{texts[1]}` {other_dtype}, said the same dtype")

    def _memory(self, node: ast.stmt, facts: FunctionFacts, live: Sequence[Live], frame: types.FrameType) -> None:
        """Names that share memory are said to; callers may pass one tensor twice, which no claim is about."""
        held = [(n, storage_of(c), t) for n, c, v in live for t in tensors_in(v)]
        for (a, first, x), (b, second, y) in itertools.combinations(held, 2):
            if shares(x, y) and not may_share(first, second) and not (outside(first) and outside(second)):
                self._say(node, f"{a} and {b} share memory, said to have {sorted(first)} and {sorted(second)}")
        for name, storage, tensor in held:
            for token, owned in self.entry.get(frame, ()):
                # Callers may pass one tensor twice; the programs' own entry is called with different ones.
                exact = token != "self." and facts.function.qualname == "Program.forward"
                said = may_share(storage, frozenset({token})) if exact else outside(storage)
                if not said and same_memory(tensor.untyped_storage(), owned):
                    self._say(node, f"{name} shares memory with {token}, said to have {sorted(storage)}")

    def _after(self, before: _Statement, state: State) -> None:
        """Compare what a statement may do, as claimed, with what it did."""
        self._alike(before.node, before.seen)
        if not isinstance(before.node, _SIMPLE):
            return
        effects = self.program.legality.effects.of(before.node, before.facts)
        if effects.unknown is not None:
            return
        if effects.random is None and not torch.equal(state.random, before.state.random):
            self._say(before.node, "drew random numbers, said not to")
        if effects.host is None and state.printed != before.state.printed:
            self._say(before.node, "printed, said not to")
        changed = before.state.changed(state)
        if changed and effects.mutates is None:
            self._say(before.node, f"changed {changed}, said to change nothing")
        env = before.facts.env_before.get(before.node, {})
        tensors = {n: env[n].storage for n in changed if n in env and env[n].may_be(Kind.TENSOR)}
        tensors = {n: storage for n, storage in tensors.items() if n in before.state.versions}
        writer = self.program.legality.memory.writer
        silent = [n for n, storage in tensors.items() if writer(storage, {n}, before.facts) is None]
        # Callers may pass one tensor twice, or to a nested function what it has already, which no claim is about.
        nested = before.facts.function.parent is not None
        told = [storage for n, storage in tensors.items() if n not in silent and (nested or outside(storage))]
        for name in silent:
            if not (outside(tensors[name]) and told):
                self._say(before.node, f"wrote into {name}, and no place is said to")

    def _leaves(self, node: ast.stmt, live: Sequence[Live], names: dict[str, Any]) -> None:
        """Names with the same leaves get gradients to the same tensors, and to none that is not among them."""
        leaves = {n: a for n, a in self.arguments.items() if a.requires_grad}
        owner = names.get("self")
        if isinstance(owner, nn.Module):
            leaves |= {f"self.{n}": p for n, p in owner.named_parameters()}
        if not leaves:
            return
        reached: list[tuple[str, frozenset[str], frozenset[str]]] = []
        for name, claim, value in live:
            if not (claim.is_tensor and isinstance(value, torch.Tensor) and value.is_floating_point()):
                continue
            try:
                got = receivers(value, leaves)
            except RuntimeError:
                continue
            reached.append((name, claim.leaves, got))
            missing = {n for n in got if not any(n == t or n.startswith(f"{t}.") for t in claim.leaves)}
            if missing and not any(t.startswith("?") for t in claim.leaves):
                self._say(node, f"{name} has gradients to {sorted(missing)}, said to {sorted(claim.leaves)}")
        for (a, first, one), (b, second, other) in itertools.combinations(reached, 2):
            if first == second and ANY_LEAF not in first and one != other:
                self._say(
                    node, f"{a} has gradients to {sorted(one)}, {b} to {sorted(other)}; said the same {sorted(first)}"
                )

    def _raised(self, error: BaseException) -> None:
        """An expression that is said never to fail, and failed."""
        frame_line = error.__traceback__
        while frame_line is not None:
            frame = frame_line.tb_frame
            statement = self.statements.get(frame)
            if frame.f_code.co_filename == FILE and statement is not None:
                self.failed = self.failed or statement.node
                value = getattr(statement.node, "value", getattr(statement.node, "test", None))
                node_at = self.program.nodes[self.finished[frame]] if frame in self.finished else None
                if isinstance(error, NameError | AttributeError | BrokenPromiseError):
                    return  # a program that is wrong on every input
                if isinstance(value, ast.expr) and node_at is not value and _no_write(statement.node):
                    legality = self.program.legality
                    if not any(True for _ in legality.both_evaluated([value], statement.facts)):
                        self._say(statement.node, f"raised {type(error).__name__}: {error}, said not to")
            frame_line = frame_line.tb_next


@dataclass
class State:
    """What can be seen of the names at one moment, for comparison with a later one."""

    versions: dict[str, tuple[torch.Tensor, int]]
    contents: dict[str, tuple[Any, Any]]
    random: torch.Tensor
    printed: int

    @classmethod
    def of(cls, names: dict[str, Any], out: io.StringIO) -> State:
        """The state now."""
        versions = {n: (v, v._version) for n, v in names.items() if isinstance(v, torch.Tensor)}
        contents: dict[str, tuple[Any, Any]] = {}
        for name, value in names.items():
            if isinstance(value, list | dict):
                contents[name] = (value, _content(value))
            elif isinstance(value, nn.Module):
                contents[name] = (value, _content(_attributes(value)))
        return cls(versions, contents, torch.get_rng_state(), out.tell())

    def changed(self, later: State) -> list[str]:
        """The names whose objects have changed since; what a name is bound to does not count."""
        found = [n for n, (tensor, version) in self.versions.items() if tensor._version != version]
        for name, (value, content) in self.contents.items():
            now = _content(_attributes(value) if isinstance(value, nn.Module) else value)
            if now != content:
                found.append(name)
        return found


def _attributes(module: nn.Module) -> dict[str, Any]:
    if "_parameters" not in vars(module):
        return {}  # before `super().__init__()`
    plain = {k: v for k, v in vars(module).items() if not k.startswith("_")}
    return plain | dict(module.named_parameters()) | dict(module.named_buffers())


def _no_write(node: ast.stmt) -> bool:
    """Whether the statement does nothing but give names the value of an expression."""
    return isinstance(node, ast.Return | ast.Expr) or (
        isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets)
    )


def _content(value: Any) -> Any:
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    return [
        (k, id(v), v._version if isinstance(v, torch.Tensor) else len(v) if isinstance(v, list | dict) else None)
        for k, v in items
    ]


@dataclass
class _Statement:
    node: ast.stmt
    facts: FunctionFacts
    state: State
    seen: list[tuple[Any, Value, torch.Size, torch.dtype]] = field(default_factory=list)


def _held_outside(names: dict[str, Any], facts: FunctionFacts) -> list[tuple[str, torch.UntypedStorage]]:
    """The tensors that a function is given and that its instance holds, with the token of their memory."""
    given = {p.arg for p in facts.function.parameters}
    found = [(f"param:{n}", t) for n, v in names.items() if n in given for t in tensors_in(v)]
    owner = names.get("self")
    if isinstance(owner, nn.Module):
        found += [("self.", t) for t in tensors_in(_attributes(owner))]
    return [(token, tensor.untyped_storage()) for token, tensor in found]


def outside(storage: frozenset[str]) -> bool:
    """Whether the memory is said to be seen from outside the function."""
    return any(t.startswith(("self.", "global.", "param:")) for t in storage)


def _live(claimed: dict[str, Value], names: dict[str, Any]) -> list[Live]:
    """The names and attributes of which something is claimed, with the claim and what they are."""
    found = [(n, c, names[n]) for n, c in claimed.items() if n in names]
    owner = names.get("self")
    if isinstance(owner, nn.Module) and not _attributes(owner):
        return found
    for name, claim in claimed.items():
        first, _, attr = name.partition(".")
        if attr and first == "self" and hasattr(owner, attr):
            found.append((name, claim, getattr(owner, attr)))
    return found


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def storage_of(value: Value) -> frozenset[str]:
    """The memory tokens of a value and of what is in it."""
    parts = [*(value.elements or ()), *([value.element] if value.element is not None else [])]
    return value.storage.union(*(storage_of(p) for p in parts))


def shares(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether a write into one can show in the other."""
    return same_memory(one.untyped_storage(), other.untyped_storage())


def same_memory(one: torch.UntypedStorage, other: torch.UntypedStorage) -> bool:
    """Whether two storages are one, and not empty."""
    return one.nbytes() > 0 and one.data_ptr() == other.data_ptr()


def receivers(value: torch.Tensor, leaves: dict[str, torch.Tensor]) -> frozenset[str]:
    """The names of the tensors that get a gradient from a value."""
    if not value.requires_grad:
        return frozenset()
    grads = torch.autograd.grad(value.sum(), list(leaves.values()), allow_unused=True, retain_graph=True)
    return frozenset(n for n, g in zip(leaves, grads, strict=True) if g is not None)


def _dtype_class(value: Any) -> str | None:
    if isinstance(value, torch.Tensor):
        if value.dtype.is_floating_point:
            return "float"
        return "complex" if value.dtype.is_complex else "bool" if value.dtype == torch.bool else "int"
    return _CLASSES.get(type(value).__name__)


def _kind_holds(claim: Value, value: Any) -> bool:
    kinds = claim.kinds
    if Kind.UNKNOWN in kinds or not claim.certain:
        return True
    if isinstance(value, torch.Tensor):
        return Kind.TENSOR in kinds
    if value is None:
        return Kind.NONE in kinds
    if is_read(value):
        return Kind.NUMBER in kinds
    if isinstance(value, _PYTHON):
        return bool(kinds & {Kind.NUMBER, Kind.STATIC, Kind.SIZE})
    if isinstance(value, list | tuple | dict | set | range):
        return bool(kinds & {Kind.CONTAINER, Kind.STATIC})
    if isinstance(value, nn.Module):
        return Kind.OBJECT in kinds
    if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType | type):
        return bool(kinds & {Kind.CALLABLE, Kind.OBJECT, Kind.STATIC})
    return True


def against(claim: Value, value: Any) -> Iterator[str]:
    """What of a claim a value shows to be wrong, in words."""
    if not _kind_holds(claim, value):
        kind = f"{type(value).__name__}{' read from a tensor' if is_read(value) else ''}"
        yield f"is {kind}, said to be {' or '.join(sorted(k.name for k in claim.kinds))}"
        return
    constant = claim.const.value if claim.const is not None else None
    if constant is not None and (not isinstance(value, type(constant)) or is_read(value) or value != constant):
        yield f"is {value!r}, said to be the constant {constant!r}"
    numeric = isinstance(value, torch.Tensor | bool | int | float | complex)
    if claim.dtype is not None and numeric and _dtype_class(value) != claim.dtype:
        yield f"is of {getattr(value, 'dtype', type(value).__name__)}, said {claim.dtype}"
    if isinstance(value, torch.Tensor) and Kind.TENSOR in claim.kinds:
        exact = claim.dtype_id
        if exact is not None and is_dtype(f"torch.{exact}") and value.dtype != getattr(torch, exact):
            yield f"is of {value.dtype}, said {exact}"
        if exact == "default" and value.dtype != torch.get_default_dtype():
            yield f"is of {value.dtype}, said the default"
        if claim.has_one_element and value.numel() != 1:
            yield f"has {value.numel()} elements, said one"
        if claim.rank is not None and value.dim() != claim.rank:
            yield f"has {value.dim()} dimensions, said {claim.rank}"
        if (claim.dimensioned and value.dim() == 0) or (claim.shape_id == "()" and value.dim() > 0):
            yield f"has {value.dim()} dimensions, said {'some' if claim.dimensioned else 'none'}"
    if claim.is_(Kind.CONTAINER) and isinstance(value, list | tuple | dict):
        items = list(value.values()) if isinstance(value, dict) else list(value)
        if claim.elements is not None and len(claim.elements) != len(items):
            yield f"has {len(items)} elements, said {len(claim.elements)}"
        elif claim.elements is not None:
            for position, (part, item) in enumerate(zip(claim.elements, items, strict=True)):
                yield from (f"[{position}] {text}" for text in against(part, item))
        elif claim.element is not None:
            for position, item in enumerate(items):
                yield from (f"[{position}] {text}" for text in against(claim.element, item))
    if claim.is_(Kind.OBJECT) and isinstance(value, nn.Module) and claim.ref is not None:
        names = {c.__name__ for c in type(value).__mro__}
        if claim.ref.rpartition(".")[2] not in names:
            yield f"is a {type(value).__name__}, said {claim.ref}"
