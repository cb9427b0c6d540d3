"""The fix that lets a number read from a tensor stay a tensor, or the reason why there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.devices import on_default_device
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.host_reads.number_flow import Flow, Renderer
from compilefix.codemods.host_reads.number_follow import follow
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet


def number_fix(node: ast.expr, source: ast.expr, cast: str, scope: Scope) -> Fix | str:
    """The fix for the number `node` that is read from the tensor `source`, or why there is none.

    `cast` says how it is read: `item`, `float`, `int`, `bool`, or `implicit` for a tensor in the place of a number.
    """
    read = scope.value(source)
    flow = Flow(read, boolean=cast == "bool" or (cast in ("item", "implicit") and read.dtype == "bool"))
    flow.elsewhere = not on_default_device(source, scope)
    flow.alike = frozenset(_alike(source)) if read.rank is None else frozenset()
    flow.asked = _asked(source, scope)
    template = Template()
    follow(node, scope, flow)
    template.refuse(flow.obstacles)
    template.refuse(scope.recomputed(source))
    code = stands_for(source, cast, flow, scope, template)
    return template.broken or fix_of(node, code, flow, template, scope)


def fix_of(node: ast.expr, code: str, flow: Flow, template: Template, scope: Scope) -> Fix | str:
    """The fix that writes new code for a read, and for what changes with it."""
    edits = _edits(node, code, flow, template, scope)
    if isinstance(edits, str):
        return edits
    needed = imports(scope) if any("torch." in edit.template for edit in edits) else ()
    return Fix(edits, needed, template.assumptions, template.reasons)


def _asked(node: ast.expr, scope: Scope) -> str | None:
    """The argument that methods are asked for a tensor: `x.std().clamp_min(1e-6)`."""
    asked = node
    while isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute):
        asked = asked.func.value
    given = {parameter.arg for parameter in scope.function.parameters}
    return asked.id if isinstance(asked, ast.Name) and asked is not node and asked.id in given else None


def _alike(node: ast.expr) -> Iterator[str]:
    """The tensors that an expression computes with element by element: where it has one element, so have they."""
    if isinstance(node, ast.BinOp):
        yield from _alike(node.left)
        yield from _alike(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _alike(node.operand)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        yield ast.unparse(node)


def is_detached(source: ast.expr) -> bool:
    """Whether the code itself detaches what it reads: `loss.detach().item()`."""
    return isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "detach"


def stands_for(source: ast.expr, cast: str, flow: Flow, scope: Scope, template: Template, *, one: bool = True) -> str:
    """Code for the tensor that stands for the number; for all that are read of it where it is not `one`."""
    value = flow.read
    template.refuse(_noticed(source, flow))
    code = template.use(source, operand=True)
    if not value.certain or value.is_unknown:
        template.refuse([Obstacle(f"`{snippet(source)}` is not proved to be a tensor", "is-tensor")])
    # An item of an argument may require a gradient, of which the analysis knows nothing.
    given = any(token.startswith("param:") for token in value.storage)
    if value.dtype not in ("int", "bool") and (value.leaves or given) and not is_detached(source):
        code += ".detach()"
        if cast == "implicit":
            reason = f"`{snippet(source)}` raises TypeError there where it requires a gradient, and is detached now"
            template.refuse([Obstacle(reason, "number-to-tensor")])
    if shared(source, scope) or (flow.handed_out and _is_held(source)):
        # The number was read once; the tensor would follow later writes into its memory.
        code += ".clone()"
    if one and value.rank != 0:
        if not value.has_one_element:
            reason = f"`{snippet(source)}` is not proved to be without dimensions: with more than one element another "
            template.refuse([Obstacle(f"{reason}error is raised", "condition-one-element")])
        code += ".reshape(())"
    if flow.picks:
        if flow.operations and not flow.whole:
            template.refuse([Obstacle(f"`{snippet(source)}` is an integer in one place, and computed with in another")])
        if cast == "int" and value.dtype not in ("int", "bool"):
            reason = f"`int()` of NaN or infinity in `{snippet(source)}` raises, and as a tensor it does not"
            template.refuse([Obstacle(reason, "math-errors")])
        # uint8 would be taken for a mask.
        return code if value.dtype_id == "int64" else code + ".long()"
    if cast == "bool" and value.dtype != "bool":
        code = f"({code} != 0)"
    return code if flow.boolean else _converted(code, source, cast, flow, scope, template)


def _noticed(source: ast.expr, flow: Flow) -> Iterator[Obstacle]:
    """Where the code would notice that the number is kept as a tensor, or in double precision."""
    value = flow.read
    if flow.shown:
        yield Obstacle("a line that is printed or logged reads the number where it is made", "log-late")
    if (flow.shown or flow.raised) and flow.operations and value.dtype is None:
        where = "in an exception" if flow.raised else "printed or logged"
        yield Obstacle(f"the number is {where}, and would show as a float if it is an integer")
    if flow.typed and flow.operations and not (flow.whole and value.dtype_id == "int64"):
        yield Obstacle("the type of the number is asked for, and it is computed with, perhaps as a double")
    if value.dtype == "complex" and flow.operations:
        yield Obstacle(f"`{snippet(source)}` is complex: Python computes with it in double precision")


def _converted(code: str, source: ast.expr, cast: str, flow: Flow, scope: Scope, template: Template) -> str:
    """The tensor in the dtype in which it gives the results that Python's number gives."""
    value = flow.read
    computed = bool(flow.operations) and not flow.keeps_dtype
    if cast == "int" and value.dtype not in ("int", "bool"):
        reason = (
            "`int()` truncates, and the tensor is not proved to be of an integer dtype: NaN and infinity raise there"
        )
        template.refuse([Obstacle(reason, "math-errors")])
        if value.dtype is None and computed and not flow.whole and flow.narrow:
            reason = f"`{snippet(source)}` is computed with as a float, in double the result's dtype would change"
            template.refuse([Obstacle(reason, "float32-rounding")])
            return code + ".long()"
        if value.dtype is None:
            # It may be a bool, which `trunc` refuses.
            return code + (".double().trunc()" if computed and not flow.whole else ".long()")
        code += ".long()" if flow.handed_out and not flow.operations else ".trunc()"
    if computed and flow.narrow and value.dtype != "bool":
        reason = f"`{snippet(source)}` is computed with in its own precision: in double the result's dtype would change"
        template.refuse([Obstacle(reason, "float32-rounding")])
        return code
    if computed:
        if value.dtype in ("int", "bool") and cast in ("item", "int", "implicit"):
            if flow.whole:
                return code if value.dtype_id == "int64" else code + ".long()"
            if flow.negates:
                reason = (
                    f"`{snippet(source)}` holds integers, of which zero has no sign, and is computed with as a float"
                )
                template.refuse([Obstacle(reason, "float32-rounding")])
        if flow.decides and cast != "float" and value.dtype != "float" and not _is_count(source, scope):
            reason = f"`{snippet(source)}` may hold integers above 2**53, which Python computes with exactly"
            template.refuse([Obstacle(reason, "float32-rounding")])
        return code + ".double()"
    if cast == "float" and value.dtype in ("int", "bool"):
        return code + ".double()"
    if cast == "int" and value.dtype == "bool":
        return code + ".long()"
    return code


_MAY_VIEW = frozenset(
    [
        "bfloat16",
        "contiguous",
        "cpu",
        "cuda",
        "detach",
        "double",
        "expand",
        "flatten",
        "float",
        "half",
        "ravel",
        "requires_grad_",
        "reshape",
        "squeeze",
        "t",
        "to",
        "transpose",
        "type",
        "type_as",
        "unsqueeze",
        "view",
        "view_as",
    ]
)
"""Methods that may give the memory of the tensor itself."""


def _is_count(source: ast.expr, scope: Scope) -> bool:
    """Whether a tensor counts elements or names a place: no tensor has so many that a double rounds their number."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute):
        return False
    counts = source.func.attr == "sum" and scope.value(source.func.value).dtype == "bool"
    return counts or source.func.attr in ("count_nonzero", "argmax", "argmin")


def _is_held(source: ast.expr) -> bool:
    """Whether the tensor is one that has a name or place, or may be a view of one: `loss.detach().cpu()`."""
    while isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr in _MAY_VIEW:
        source = source.func.value
    return isinstance(source, ast.Name | ast.Attribute | ast.Subscript)


def shared(source: ast.expr, scope: Scope) -> bool:
    """Whether somebody else can write into the memory of the tensor that is read."""
    storage = scope.value(source).storage
    if not storage or any(token.startswith(("param:", "self.", "global.")) for token in storage):
        return True
    return scope.legality.memory.writer(storage, (), scope.facts) is not None


def _edits(node: ast.expr, code: str, flow: Flow, template: Template, scope: Scope) -> tuple[Edit, ...] | str:
    """One edit for the read, and one for each expression that must change with it; nested ones as one.

    The reason where there are none: the code of an outer one does not hold that of an inner one.
    """
    codes: dict[ast.AST, str] = {node: code}
    render = Renderer(template, codes)
    for changed, build in flow.rewrites:
        codes[changed] = build(render)
    tops = [n for n in codes if not any(n is not other and n in ast.walk(other) for other in codes)]
    lost = next((n for n in codes if n not in tops and not any(codes[n] in codes[top] for top in tops)), None)
    if lost is not None:
        return f"`{snippet(lost)}` would change inside of code that changes too"
    # An index of one place takes one element, whatever its dimensions.
    codes = {changed: text.replace(".reshape(()).reshape(1)", ".reshape(1)") for changed, text in codes.items()}
    return tuple(
        scope.edit(top, codes[top], **{n: p for n, p in template.parts.items() if f"{{{n}}}" in codes[top]})
        for top in tops
    )
