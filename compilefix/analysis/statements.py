"""Statements: the walk through the body of one function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from compilefix.analysis import autocast, values
from compilefix.analysis.annotations import annotated
from compilefix.analysis.expressions import OPERATORS, Expressions
from compilefix.analysis.function_facts import Env, FunctionFacts, either, join_env
from compilefix.analysis.managers import catches_errors
from compilefix.analysis.operators import binary, item_of_turn, of_another_turn, opaque, unpack
from compilefix.analysis.torch_call import RESHAPES_IN_PLACE
from compilefix.analysis.values import Kind, Value, join, join_all, replace
from compilefix.source.annotated import AnnAssign
from compilefix.source.tree import children, walk

_DEEP = 4
"""In so many loops around it the names that a loop gives values count as unknown in it."""


class Interpreter(Expressions):
    """One walk through one function, statement by statement."""

    def run(self) -> FunctionFacts:
        """Walk the function; what was found stands in the result, those of `self` too."""
        env = self.parameters()
        end = self.block(self.function.node.body, env)
        if end is not None and not self.returned and self.function.node.name == "__init__":
            self._keep_what_is_left(end)
        if end is not None:
            self.returned.append(values.NONE)
        if any(self.function.of(kind) for kind in (ast.Yield, ast.YieldFrom)):
            self.facts.returns = values.UNKNOWN
        else:
            self.facts.returns = join_all(self.returned)
        return self.facts

    def _keep_what_is_left(self, end: Env) -> None:
        """What an attribute holds when the object is made: an array, or where nothing is known of a value it had.

        `self.p = p` says nothing where `self.p = np.array(p)` follows in all branches.
        """
        for name, value in self.facts.self_assigned.items():
            left = end.get(f"{self.self_name}.{name}")
            if left is not None and (left.is_(Kind.NDARRAY) or (value.is_unknown and not left.is_unknown)):
                self.facts.self_assigned[name] = left

    def block(self, body: Sequence[ast.stmt], env: Env | None) -> Env | None:
        """Walk statements; None when the end of the block is not reached."""
        for index, node in enumerate(body):
            if env is None:
                return None
            env = self.statement(node, env)
            if env is None:
                self.facts.dead.update(body[index + 1 :])
        return env

    def statement(self, node: ast.stmt, env: Env) -> Env | None:
        """Walk one statement; None when what follows it is not reached."""
        if self.latest != env:  # most statements leave the names as they were: one copy is kept for all of these
            self.latest = dict(env)
        self.facts.env_before[node] = self.latest
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            return handler(self, node, env)
        for child in children(node):
            if isinstance(child, ast.expr):
                self.eval(child, env)
        return env

    def _expr_statement(self, node: ast.Expr, env: Env) -> Env | None:
        self.dropped = node.value
        self.eval(node.value, env)
        self.register(node.value)
        return env

    def _assign(self, node: ast.Assign, env: Env) -> Env | None:
        value = self.eval(node.value, env)
        self.narrow_rank(node, env)
        for target in node.targets:
            parts = self._aligned(target, node.value)
            if parts is None:
                self.bind(target, value, env)
                continue
            for item, part in parts:
                self.bind(item, part, env)
        return env

    def _aligned(self, target: ast.expr, source: ast.expr) -> list[tuple[ast.expr, Value]] | None:
        """The items of a target with their values in `b, n, scale = *x.shape, self.scale`, where one is spread."""
        if not isinstance(target, ast.Tuple | ast.List) or not isinstance(source, ast.Tuple | ast.List):
            return None
        spread = [index for index, item in enumerate(source.elts) if isinstance(item, ast.Starred)]
        count = len(target.elts) - len(source.elts) + 1
        if len(spread) != 1 or count < 1 or any(isinstance(item, ast.Starred) for item in target.elts):
            return None
        starred = source.elts[spread[0]]
        assert isinstance(starred, ast.Starred)
        given = [self.facts.value(item) for item in source.elts]
        given[spread[0] : spread[0] + 1] = unpack(self.facts.value(starred.value), count, self.place(target))
        return list(zip(target.elts, given, strict=True))

    def _ann_assign(self, node: ast.AnnAssign, env: Env) -> Env | None:
        declared = annotated(node.annotation, self.module, self.project)
        if node.value is None and isinstance(node.target, ast.Name):
            # The name has no value yet, or keeps the one that it has.
            env.setdefault(node.target.id, replace(declared, certain=False))
            return env
        value = self.eval(node.value, env) if node.value is not None else values.UNKNOWN
        one_of = value.kinds == values.OBJECTS and (declared.ref or "").endswith(".Module")  # which says less
        if value.is_unknown and not declared.is_unknown and not one_of:
            value = replace(declared, storage=value.storage, leaves=value.leaves)
        elif value.is_tensor and not value.certain and declared.is_tensor:
            value = replace(value, certain=declared.certain)
        self.bind(node.target, value, env)
        if value.kinds == values.NONE.kinds and isinstance(node.target, ast.Attribute) and not declared.is_unknown:
            # `self.total: Tensor | None = None`: what comes later is what is declared.
            key = self.key(node.target)
            if key is not None and node.target.attr in self.facts.self_assigned:
                self.facts.self_assigned[node.target.attr] = join(self.facts.self_assigned[node.target.attr], declared)
        return env

    def _aug_assign(self, node: ast.AugAssign, env: Env) -> Env | None:
        load = _as_load(node.target)
        old = self.eval(load, env)
        self.facts.values[node.target] = old
        right = self.eval(node.value, env)
        value = binary(node.op, old, right, self.place(node))
        if self.runs_own_code((old, right), OPERATORS):
            value = opaque(self.place(node), (old, right))
        elif old.is_tensor:
            # `+=` on a tensor writes into it: dtype, shape and memory stay.
            value = replace(old, leaves=old.leaves | right.leaves)
        elif old.may_be(Kind.TENSOR) or old.is_(Kind.NDARRAY):
            value = replace(value, storage=value.storage | old.storage)
        if old.is_(Kind.CONTAINER):
            # A list takes what is iterated over, a tensor as well.
            self.changed(old, None, env, self.place(node))
            value = replace(
                values.container(ref=old.ref),
                storage=old.storage | right.storage | values.UNKNOWN.storage,
                leaves=values.UNKNOWN.leaves,
            )
        elif old.is_unknown and isinstance(node.target, ast.Attribute):
            self.changed(old, right, env, self.place(node))  # a list that is known under another name, perhaps
        self.bind(node.target, value, env)
        if not right.leaves <= old.leaves and not old.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.CONTAINER):
            self.hangs_on(old, right.leaves, env, self.place(node), self.key(node.target))
        return env

    def _if(self, node: ast.If, env: Env) -> Env | None:
        self.eval(node.test, env)
        decided = self.compile_time(node.test)
        then_env, else_env = self.narrow(node.test, env, True), self.narrow(node.test, env, False)
        if decided is False:
            self.facts.dead.update(node.body)
            return self.block(node.orelse, else_env)
        if decided is True:
            self.facts.dead.update(node.orelse)
            return self.block(node.body, then_env)
        after_then = self.block(node.body, then_env)
        after_else = self.block(node.orelse, else_env)
        if after_then is not None and after_else is not None and not node.orelse:
            self._defaulted(node.test, after_then, after_else)
        if after_then is not None and after_else is not None:
            self._given_on_one_way(node, after_then, after_else)
        after = join_env(after_then, after_else, self.place(node), self.stored)
        if after is not None and after_then is not None and after_else is not None:
            self._tell_apart(node, after, after_then)
        return after

    def _given_on_one_way(self, node: ast.If, after_then: Env, after_else: Env) -> None:
        """An attribute that one branch gives a value holds what its class says where the other one was taken."""
        for key in sorted(after_then.keys() ^ after_else.keys()):
            owner, _, name = key.partition(".")
            if not name or key not in self.stored:
                continue
            other = after_else if key in after_then else after_then
            read = ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Load())
            value = self.eval(ast.fix_missing_locations(ast.copy_location(read, node)), dict(other))
            if not value.is_unknown:
                other[key] = value

    def _tell_apart(self, node: ast.If, after: Env, after_then: Env) -> None:
        """Names of the dtype and shape that a tensor has behind an `if`, where its branches leave different ones.

        What is computed of it elementwise has the same.
        """
        for name, value in after.items():
            if value is after_then.get(name) or not (value.is_tensor and value.certain):
                continue
            if value.dtype_id is None or value.shape_id is None:
                of = f"{name} behind {self.place(node)}"
                after[name] = replace(
                    value,
                    dtype_id=value.dtype_id or f"dtype of {of}",
                    shape_id=value.shape_id or f"shape of {of}",
                )

    def _defaulted(self, test: ast.expr, given: Env, as_passed: Env) -> None:
        """`if mask is None: mask = torch.ones(...)`: what callers pass in its place is most likely a tensor too."""
        if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1):
            return
        name, right = test.left.id, test.comparators[0]
        none = isinstance(test.ops[0], ast.Is) and isinstance(right, ast.Constant) and right.value is None
        if not none or name not in given or name not in as_passed or name not in self.parameter_names():
            return
        old = as_passed[name]
        # In the place of a number that is computed (`lengths.max()`), callers pass a number.
        number = given[name].rank == 0
        if given[name].is_tensor and not number and old.is_unknown and old.storage == frozenset({f"param:{name}"}):
            as_passed[name] = replace(old, kinds=given[name].kinds, certain=False)

    def _for(self, node: ast.For | ast.AsyncFor, env: Env) -> Env | None:
        item = item_of_turn(self.eval(node.iter, env), self.place(node.target))
        return self._loop(node, env, lambda e: self.bind(node.target, item, e))

    def _while(self, node: ast.While, env: Env) -> Env | None:
        def enter(inside: Env) -> None:
            self.eval(node.test, inside)

        enter(env)
        return self._loop(node, env, enter)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Env, enter: Callable[[Env], None]) -> Env | None:
        place = self.place(node)
        entry: Env = dict(env)
        # In loops within loops within loops, the innermost would be walked three times for each walk of another.
        deep = len(self.loop_exits) > _DEEP
        state: Env = _within(node.body, env) if deep else dict(env)
        self.loop_exits.append([])
        for _ in range(1 if deep else 3):
            inside = dict(state)
            enter(inside)
            self.next_turns.append([])
            end = self.block(node.body, inside)
            for turn, early in enumerate(self.next_turns.pop()):
                end = join_env(end, early, f"{place}.next{turn}", self.stored)
            merged = dict(state)
            if end is not None:
                for name, value in end.items():
                    if name not in entry:
                        if "." not in name:
                            # The first turn may ask for it before it has a value; so may what follows no turn.
                            made = replace(value.stripped(), certain=False)
                            merged[name] = of_another_turn(made, f"{place}.{name}")
                        elif name in self.stored:
                            merged[name] = values.UNKNOWN  # the first turn finds it as it was before
                    elif entry[name] is not value:
                        value = of_another_turn(value, f"{place}.{name}")
                        merged[name] = either(place, state[name], value.stripped()) if state[name] != value else value
            if merged == state:
                break
            state = merged
        exits = self.loop_exits.pop()
        # `else` runs where no `break` ended the loop.
        result = self.block(node.orelse, dict(state)) if node.orelse else state
        for index, exit_env in enumerate(exits):
            for name in exit_env.keys() - entry.keys():
                exit_env[name] = of_another_turn(exit_env[name], f"{place}.exit{index}")
            result = join_env(result, exit_env, f"{place}.exit{index}", self.stored)
        return result

    def _break(self, _node: ast.stmt, env: Env) -> Env | None:
        if self.loop_exits:
            self.loop_exits[-1].append({k: v.stripped() for k, v in env.items()})
        return None

    def _continue(self, _node: ast.stmt, env: Env) -> Env | None:
        if self.next_turns:
            self.next_turns[-1].append(env)
        return None

    def _with(self, node: ast.With | ast.AsyncWith, env: Env) -> Env | None:
        entered, region = self.grad_modes, self.autocast_region
        for item in node.items:
            value = self.eval(item.context_expr, env)
            called = self.facts.refs.get(item.context_expr, "")
            if called.rpartition(".")[2] in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
                self.grad_modes = (*self.grad_modes, f"?{self.place(item.context_expr)}")
            if autocast.may_switch(called):
                self.autocast_region = f"@{self.place(item.context_expr)}"
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value if value.is_(Kind.OBJECT) else values.UNKNOWN, env)
        catches = any(catches_errors(item.context_expr, self.facts, self.project) for item in node.items)
        skipped, before = _within(node.body, env) if catches else None, self.so_far()
        after = self.block(node.body, env)
        if skipped is not None:
            self.perhaps_run(before, skipped, self.place(node))
        self.grad_modes, self.autocast_region = entered, region
        return join_env(after, skipped, self.place(node), self.stored)

    def _try(self, node: ast.Try, env: Env) -> Env | None:
        start, so_far = dict(env), self.so_far()
        ways = [each[-1] for each in (self.loop_exits, self.next_turns) if each]
        before = [len(way) for way in ways]
        after = self.block(node.body, dict(env))
        if after is not None and node.orelse:
            after = self.block(node.orelse, after)
        result = after
        for handler in node.handlers:
            state = _within(node.body, start)
            self.perhaps_run(so_far, state, self.place(handler))
            if handler.name:
                state[handler.name] = values.UNKNOWN
            result = join_env(result, self.block(handler.body, state), self.place(handler), self.stored)
        if node.finalbody:
            end = self.block(node.finalbody, dict(result)) if result is not None else None
            # It also runs on the way out of an exception, from anywhere in what comes before.
            failed = _within([*node.body, *node.handlers, *node.orelse], start)
            self.perhaps_run(so_far, failed, self.place(node))
            so_far = self.so_far()
            self.block(node.finalbody, failed)
            result = end
            # And on the way to the end of a loop, or to its next turn.
            for way, known in zip(ways, before, strict=True):
                way[known:] = [_within(node.finalbody, left) for left in way[known:]]
                for left in way[known:]:
                    self.perhaps_run(so_far, left, self.place(node))
        return result

    def _return(self, node: ast.Return, env: Env) -> Env | None:
        self.returned.append(self.eval(node.value, env) if node.value is not None else values.NONE)
        return None

    def _raise(self, node: ast.Raise, env: Env) -> Env | None:
        for part in (node.exc, node.cause):
            if part is not None:
                self.eval(part, env)
        return None

    def _assert(self, node: ast.Assert, env: Env) -> Env | None:
        self.eval(node.test, env)
        if node.msg is not None:
            self.eval(node.msg, self.narrow(node.test, env, False))
        env.update(self.narrow(node.test, env, True))
        return None if isinstance(node.test, ast.Constant) and not node.test.value else env

    def _function_def(self, node: ast.FunctionDef | ast.AsyncFunctionDef, env: Env) -> Env | None:
        for inner in self.module.all_functions:
            if inner.node is node:
                env[node.name] = replace(values.FUNCTION, ref=f"{inner.full_name}")
                break
        return env

    def _class_def(self, node: ast.ClassDef, env: Env) -> Env | None:
        env[node.name] = values.FUNCTION
        return env

    def _delete(self, node: ast.Delete, env: Env) -> Env | None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                env.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                self.changed(self.eval(_as_load(target.value), env), None, env, self.place(target))
        return env

    def _match(self, node: ast.Match, env: Env) -> Env | None:
        self.eval(node.subject, env)
        result: Env | None = None
        left: Env = dict(env)  # for the cases that come next, and where none fits
        for case in node.cases:
            state = dict(left)
            for part in ast.walk(case.pattern):
                name = getattr(part, "rest" if isinstance(part, ast.MatchMapping) else "name", None)
                if isinstance(name, str):
                    state[name] = values.UNKNOWN
            if case.guard is not None:
                self.eval(case.guard, state)
                # What the pattern has bound stays so where the guard does not hold.
                left = join_env(left, state, self.place(case.guard), self.stored) or left
            result = join_env(result, self.block(case.body, state), self.place(case.pattern), self.stored)
        return join_env(result, left, self.place(node), self.stored)


def _within(body: Sequence[ast.AST], start: Env) -> Env:
    """The names where a block may have ended anywhere: nothing that is assigned in it is sure."""
    left = {k: v for k, v in start.items() if "." not in k}
    return left | dict.fromkeys(_touched(body), replace(values.UNKNOWN, certain=False))


def _touched(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that a run of part of this code may leave with another value, or with a tensor of another shape."""
    found = set()
    for node in (n for s in nodes for n in walk(s)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (isinstance(node.ctx, ast.Store) or node.attr in RESHAPES_IN_PLACE)
        ):
            found.add(node.value.id)
    return found


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node


_STATEMENTS: dict[type[ast.stmt], Callable[..., Env | None]] = {
    ast.Expr: Interpreter._expr_statement,
    ast.Assign: Interpreter._assign,
    ast.AnnAssign: Interpreter._ann_assign,
    AnnAssign: Interpreter._ann_assign,
    ast.AugAssign: Interpreter._aug_assign,
    ast.If: Interpreter._if,
    ast.For: Interpreter._for,
    ast.AsyncFor: Interpreter._for,
    ast.While: Interpreter._while,
    ast.With: Interpreter._with,
    ast.AsyncWith: Interpreter._with,
    ast.Try: Interpreter._try,
    ast.Return: Interpreter._return,
    ast.Raise: Interpreter._raise,
    ast.Assert: Interpreter._assert,
    ast.Break: Interpreter._break,
    ast.Continue: Interpreter._continue,
    ast.FunctionDef: Interpreter._function_def,
    ast.AsyncFunctionDef: Interpreter._function_def,
    ast.ClassDef: Interpreter._class_def,
    ast.Delete: Interpreter._delete,
    ast.Match: Interpreter._match,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Interpreter._try
