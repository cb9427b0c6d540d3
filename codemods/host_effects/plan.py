"""What a lambda at the compile boundary is given: the values that are computed where the call stood."""

from __future__ import annotations

import ast
import builtins
import keyword
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.host_effects.lasting import changes_later
from compilefix.codemods.host_effects.texts import source_of
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet

_VIEWS = frozenset({"keys", "values", "items"})
_STAY = frozenset({"torch", "numpy", "math", "sys", "os", "logging", "string", "warnings"})


class Refused(Exception):
    """The call cannot be moved to the boundary; the text says why."""


@dataclass
class Plan:
    """One call on its way into a lambda: what is passed to it, and what is taken on trust.

    bound: what is given to the lambda as the default of a parameter, not as a value: a logger, of which PyTorch before
    2.12 cannot tell the type. made: the code of names whose values are made in the lambda. gradient_texts: which
    tensors would lose what their text shows of their gradient. in_check: whether it is called, or raised, where a
    check of tensors fails. conditional: whether the lambda computes nothing where the condition is false. failing: what
    may fail of the parts that are computed always then.
    """

    scope: Scope
    captured: dict[str, str] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    reads: dict[str, ast.expr] = field(default_factory=dict)
    inlined: set[str] = field(default_factory=set)
    in_check: bool = False
    gradient_texts: list[str] = field(default_factory=list)
    nodes: list[ast.expr] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    conditional: bool = False
    failing: list[Obstacle] = field(default_factory=list)

    @property
    def parameters(self) -> list[str]:
        """The parameters of the lambda."""
        return [*self.captured.values(), *(f"{name}={value}" for value, name in self.bound.items())]

    @property
    def head(self) -> str:
        """How the lambda begins."""
        return f"lambda {', '.join(self.parameters)}: " if self.parameters else "lambda: "

    def assume(self, assumption: str, reason: str) -> None:
        """Rest on an assumption, because of something that is not proved."""
        self.assumptions.append(assumption)
        self.reasons.append(reason)


def capture(node: ast.expr, plan: Plan, *, checked: bool, raw: bool = False) -> str:
    """The name that a value has in the lambda, passed on as it is where the call stood.

    Raises:
        Refused: with `checked`, what would be shown could differ; the code does not run compiled.
    """
    scope = plan.scope
    if node not in scope.parents:
        raise Refused(f"`{snippet(node)}` stands where compiled code never comes")
    text = source_of(node, scope)
    if checked:
        check(node, scope.value(node), plan, raw=raw)
    lasts = changes_later(node, scope)
    if lasts is not None:
        raise Refused(f"`{snippet(node)}` {lasts}")
    listed = _of_unknown_size(node, scope)
    if listed is not None:
        return f"{ast.unparse(node.func)}({capture(listed, plan, checked=False)})"  # type: ignore[attr-defined]
    plan.nodes.append(node)
    if text not in plan.captured:
        plan.captured[text] = _parameter(node, plan)
    elif (
        any(isinstance(part, ast.Call) for part in ast.walk(node))
        and not scope.legality.effects.of(node, scope.facts).repeatable
    ):
        raise Refused(f"`{snippet(node)}` stands there several times, and may do something each time")
    return plan.captured[text]


def bind(node: ast.expr, plan: Plan) -> str:
    """The name that an object has in the lambda which is given to it as a default.

    Raises:
        Refused: the code does not run compiled.
    """
    if node not in plan.scope.parents:
        raise Refused(f"`{snippet(node)}` stands where compiled code never comes")
    text = source_of(node, plan.scope)
    plan.nodes.append(node)
    if text not in plan.bound:
        plan.bound[text] = _parameter(node, plan)
    return plan.bound[text]


def _of_unknown_size(node: ast.expr, scope: Scope) -> ast.Name | None:
    """The tensor in `torch.unique(x)`: the different values are looked for when they are shown, not in the graph."""
    if not isinstance(node, ast.Call) or scope.callee(node) != "torch.unique" or len(node.args) != 1:
        return None
    plain = all(k.arg == "dim" and isinstance(k.value, ast.Constant) and k.value.value is None for k in node.keywords)
    tensor, module = node.args[0], getattr(node.func, "value", None)
    named = isinstance(module, ast.Name) and is_global(module, scope)
    return tensor if plain and named and isinstance(tensor, ast.Name) and scope.value(tensor).is_tensor else None


def check(node: ast.expr, value: Value, plan: Plan, *, raw: bool) -> None:
    """Note where what is shown could differ from what the original shows.

    Raises:
        Refused: it is an object, which may be another by then.
    """
    if value.is_(Kind.STATIC, Kind.SIZE, Kind.NONE, Kind.NUMBER):
        return
    if _is_view(node, plan.scope):
        raise Refused(f"`{snippet(node)}` shows what the dictionary holds when it is shown")
    if value.is_(Kind.OBJECT, Kind.CALLABLE, Kind.NDARRAY) or (Kind.NDARRAY in value.kinds and not value.is_unknown):
        is_one = "is" if value.is_(Kind.OBJECT, Kind.CALLABLE, Kind.NDARRAY) else "may be"
        raise Refused(f"`{snippet(node)}` {is_one} an object, which may have changed when it is shown")
    if value.is_(Kind.CONTAINER) and value.ref == "torch.Size":
        return
    parts = [value, *([] if value.element is None else [value.element])]
    if raw and any(Kind.TENSOR in part.kinds for part in parts):
        for part in parts:
            check_text(node, part, plan)
        return
    if value.is_unknown or value.is_(Kind.CONTAINER):
        plan.reasons.append(
            f"`{snippet(node)}` is not known to be a number, a text or a tensor without gradient: "
            "what it shows could change until the call returns"
        )


def _is_view(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether an expression, or what a name was given, is a view of a dictionary."""
    if isinstance(node, ast.Name):
        stores = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
        given = [s.value for s in stores if isinstance(s, ast.Assign)]
        return depth < 4 and any(_is_view(value, scope, depth + 1) for value in given)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _VIEWS and not node.args


def check_text(node: ast.expr, value: Value, plan: Plan) -> None:
    """Note where the text of a tensor names its gradient function, which a detached copy has not."""
    if Kind.TENSOR not in value.kinds or value.dtype in ("bool", "int"):
        return
    if value.leaves and not (value.rank == 0 and _is_formatted(node, value, plan.scope)):
        plan.gradient_texts.append(f"the text of `{snippet(node)}` would not show that it requires a gradient")


def _is_formatted(node: ast.expr, value: Value, scope: Scope) -> bool:
    """Whether the value stands in an f-string by itself, which shows a tensor without dimensions as a number."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.FormattedValue) and parent.conversion == -1 and value is scope.value(node)


def _parameter(node: ast.expr, plan: Plan) -> str:
    words = [w for w in _words(node) if w not in ("self", "detach")] or _words(node)
    words = [word.strip("_") or word for word in words]
    name = "_".join(words)
    if not name.isidentifier() or len(name) > 24:
        name = words[-1] if words and words[-1].isidentifier() and not words[-1].isdigit() else "value"
    taken = {*plan.captured.values(), *plan.bound.values(), *plan.inlined, *dir(builtins), "emit"}
    # The lambda reads globals, and a local name that is shown itself keeps its name there.
    read = [n for n in ast.walk(plan.scope.statement(node)) if isinstance(n, ast.Name) and n in plan.scope.parents]
    shown = {n.id for n in read if not isinstance(plan.scope.parents[n], ast.Attribute)}
    taken |= {n.id for n in read if is_global(n, plan.scope)}
    taken |= shown - ({node.id} if isinstance(node, ast.Name) else set())
    name = "value" if name in dir(builtins) else name
    base, number = name, 1
    while name in taken or keyword.iskeyword(name):
        number += 1
        name = f"{base}_{number}"
    return name


def _words(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [*_words(node.value), node.attr]
    if isinstance(node, ast.Call):
        function = _words(node.func)
        if len(function) != 1 or function[0] not in dir(builtins) or len(node.args) != 1:
            return function
        return [*_words(node.args[0]), *(function if function[0] not in ("tuple", "list") else ())]
    if isinstance(node, ast.Subscript):
        index = [str(node.slice.value)] if isinstance(node.slice, ast.Constant) else []
        return [*_words(node.value), *index]
    return []


def is_global(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression means the same in the lambda as here: a builtin, or what the module imports or defines."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    name, module = root.id, scope.function.module
    owner: Function | None = scope.function
    while owner is not None:
        if name in owner.bound:
            return False
        owner = owner.parent
    if name in module.functions or name in module.classes:
        return True
    if name in module.top_level_names:
        return _stays(module.imported(name) or name, scope)
    if name in module.assigns:
        return bool(scope.value(root).ref == "logging.Logger")
    return module.imported(name) is None and hasattr(builtins, name)


def _stays(imported: str, scope: Scope) -> bool:
    """Whether what is imported is a function, a class or a module, and not a list, say, that code goes on to change."""
    project = scope.legality.inference.project
    found = project.resolve(imported)
    head, _, last = found.rpartition(".") if isinstance(found, str) else ("", "", "")
    owner = project.modules.get(head)
    if owner is None or last not in owner.assigns:
        return True
    value = scope.legality.inference.module_global(owner, last)
    return value is not None and value.ref == "logging.Logger"


def may_change(node: ast.expr, scope: Scope) -> bool:
    """Whether a name that means the same in the lambda may have another value by then: an attribute of a class, say.

    What a module of Python or torch has under a name stays there.
    """
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if root is node or not isinstance(root, ast.Name):
        return False
    imported = scope.function.module.imported(root.id)
    return imported is None or imported.partition(".")[0] not in _STAY
