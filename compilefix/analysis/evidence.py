"""What the uses of a parameter, or of a part of one, say of it: that it is a tensor, that it is a floating one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from compilefix.analysis import torch_api
from compilefix.analysis.array_namespaces import array_namespaces, computes_of
from compilefix.analysis.array_uses import (
    COMPUTES,
    Masks,
    computed_from,
    has_dimensions,
    is_element,
    rearranged,
    reduced,
    whole_of,
)
from compilefix.analysis.docstrings import tensor_parameters
from compilefix.analysis.rebound import Rebound
from compilefix.analysis.unconditional import unconditional
from compilefix.analysis.values import Value, tensor
from compilefix.source.definitions import Function

_ALSO = frozenset({"astype", "batch_size", "copy", "items", "keys", "names", "share_memory"})
"""What the table of tensors does not know, and what arrays and dictionaries of tensors have."""
_WITH_ARGUMENTS = frozenset({"chunk", "unbind", "topk"})
"""Methods of tensors whose names are attributes of configurations too, which nobody calls with a number."""


_TORCH_KEYWORDS = frozenset({"dim", "keepdim", "descending"})
"""Keywords that methods of tensors have, and those of lists and arrays have not."""

_CASTS = frozenset({"float", "double", "half", "long", "int"})
"""Methods of tensors by which truths become numbers; arrays, tables and numbers have none of them."""
_MOVES = _CASTS | {"to", "cpu", "cuda", "type"}
_COMPARES = frozenset({"eq", "ne", "gt", "ge", "lt", "le"})

_OF_TWO = frozenset(
    {"torch.matmul", "torch.mm", "torch.bmm", "torch.mv", "torch.dot", "torch.cdist", "torch.outer", "torch.cross"}
    | {
        f"torch.nn.functional.{name}"
        for name in (
            *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "kl_div", "linear"),
            *("binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_similarity", "pairwise_distance"),
        )
    }
)
"""Functions that take two tensors."""
OF_LISTS = frozenset(f"torch.{name}" for name in ("cat", "concat", "stack", "hstack", "vstack", "dstack"))
"""Functions that take a list of tensors."""
_GRADIENTS = "torch.autograd.grad"
"""What takes tensors, or lists of them, as `outputs` and `inputs`."""


_NAMED_SO = re.compile(r"(^|_)tensor\d?$")
"""How parameters are called that hold a tensor, as their names say."""


def taken(function: Function) -> Mapping[str, ast.Name]:
    """The names that a function first gives to parts of what it is given, each with the place where it does.

    The fields of a named tuple (`logit, action = data`), attributes of an object (`boxes = instances.boxes`) and items
    of a dict (`ids = batch["ids"]`).
    """
    method = function.cls is not None and function.parent is None and not function.is_static
    given = {a.arg for a in function.parameters[int(method) :]}
    found: dict[str, ast.Name] = {}
    if not given:
        return found
    for node in function.of(ast.Assign):
        for source, name in _parts_named(node):
            if source.id in given and name.id not in given and function.stores[name.id][0] is name:
                found[name.id] = name
    return found


def _parts_named(node: ast.Assign) -> Iterator[tuple[ast.Name, ast.Name]]:
    """The names that an assignment gives to parts of something, each with the name of that.

    Several at once are `mean, square = state["mean"], state["square"]`.
    """
    target, value = node.targets[0], node.value
    if len(node.targets) > 1:
        return
    pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Name):
        yield from ((value, item) for item in target.elts if isinstance(item, ast.Name))
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        starred = any(isinstance(item, ast.Starred) for item in (*target.elts, *value.elts))
        pairs = [] if starred else zip(target.elts, value.elts, strict=False)
    for item, given in pairs:
        if isinstance(item, ast.Name) and (part := _part_of(given)) is not None:
            yield part, item


def _part_of(node: ast.expr) -> ast.Name | None:
    """The name of which an expression is an attribute, or the item of a key."""
    keyed = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is str
    if (keyed or isinstance(node, ast.Attribute)) and isinstance(node.value, ast.Name):  # type: ignore[attr-defined]
        return node.value  # type: ignore[attr-defined]
    return None


class Evidence:
    """What the uses of a parameter without annotation say of it: methods that only tensors have, arguments of torch.

    And what those of its parts say of them, which have a name in the function.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._names: set[str] = set()
        self._proof: set[str] = set()
        self._hint: set[str] = set()
        method = function.cls is not None and function.parent is None and not function.is_static
        names = self._names = {a.arg for a in function.parameters[int(method) :] if a.annotation is None}
        self.taken = taken(function)
        names |= set(self.taken)
        if not names:
            return
        namespaces = array_namespaces(function)
        names -= namespaces
        self._namespaces = namespaces
        given = Rebound(function, self.taken)
        forward = function.node.name == "forward"
        constant = _with_constant(function) | _sizes(function) if forward else frozenset[str]()
        self._of_attributes(given)
        self._of_calls(given, constant if forward else None)
        if namespaces or (method and forward):
            self._hint |= self.computes
        self._hint |= tensor_parameters(function) & names
        if function.module.mentions("torch"):
            self._hint |= {name for name in names if _NAMED_SO.search(name) and name not in constant}

    def _of_attributes(self, given: Rebound) -> None:
        """Note what is asked for what tensors have: `x.ndim`, `x.shape`, `(x + 1).sum`."""
        names, tensors_only = self._names, torch_api.TENSOR_ONLY_METHODS  # looked up in a table
        for attribute in self._function.of(ast.Attribute):
            if isinstance(attribute.value, ast.Name) and attribute.value.id in names:
                if attribute.attr in tensors_only:
                    self._note(attribute.value, given, proof=attribute in self._always)
                elif attribute.attr in ("shape", "size", "device", "dtype") and self._may_hold_size(attribute):
                    self._note(attribute.value, given, proof=False)
            elif attribute.attr in tensors_only and (first := rearranged(attribute.value, names)) is not None:
                self._note(first, given, proof=False)
            elif attribute.attr in tensors_only or attribute.attr in _CASTS or attribute.attr == "to":
                first = reduced(attribute.value)
                if first is not None and first.id in names:
                    self._note(first, given, proof=False)

    def _of_calls(self, given: Rebound, constant: frozenset[str] | None) -> None:
        """Note whose methods are called as those of tensors, and what functions of torch, or layers, are given.

        constant: in a `forward`, the parameters that no layer is given as a tensor.
        """
        names = self._names
        for node in self._function.of(ast.Call):
            func = node.func
            if isinstance(func, ast.Attribute) and func.attr in _CASTS and not node.args:
                self._of_truths(func.value, given)
            if not node.args and isinstance(func, ast.Attribute) and func.attr in torch_api.BARE_TENSOR_METHODS:
                if isinstance(func.value, ast.Name) and func.value.id in names and not node.keywords:
                    self._note(func.value, given, proof=False)  # a Decimal has `sqrt`, too
                continue
            asked = func.value if isinstance(func, ast.Attribute) and _asks_as_of_tensor(node, func) else None
            if isinstance(asked, ast.Compare):  # `(weights >= 0).all(dim=-1)`
                asked = computed_from(asked.left)
            if isinstance(asked, ast.Name) and asked.id in names:
                self._note(asked, given, proof=False)
            if node.args and isinstance(func, ast.Attribute) and func.attr in _WITH_ARGUMENTS:
                if isinstance(func.value, ast.Name) and func.value.id in names:
                    self._note(func.value, given, proof=False)
                continue
            self._of_several(node, given)
            self._of_first(node, given, constant)

    def _of_first(self, node: ast.Call, given: Rebound, constant: frozenset[str] | None) -> None:
        """Note what a call takes first."""
        first = computed_from(node.args[0]) if node.args else None
        if first is not None and first.id not in self._names:
            first = self._aliases.get(first.id)
        if first is None:
            return
        if computes_of(node, self._namespaces):
            self._note(first, given, proof=False)
            return
        called = self._function.module.qualified(node.func)
        if called is None or called in torch_api.NO_TENSOR_FIRST:
            return
        api = torch_api.function(called)
        if api is not None and api.dtype not in ("arg", "unknown") and api.returns == "Tensor":
            self._note(first, given, proof=first is node.args[0] or node in self._always)
            return
        alone = first is node.args[0] and constant is not None and first.id not in constant
        if alone and _is_layer(called, self._function):
            self._note(first, given, proof=False)

    def _of_several(self, node: ast.Call, given: Rebound) -> None:
        """Note what torch takes for tensors beside a first argument: `b` of `torch.mm(a, b)`, both of `cat([a, b])`."""
        called = self._function.module.qualified(node.func) if node.args or node.keywords else None
        if called == _GRADIENTS:
            for asked in [*node.args[:2], *(k.value for k in node.keywords if k.arg in ("outputs", "inputs"))]:
                while isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute):
                    asked = asked.func.value
                if isinstance(asked, ast.Name) and asked.id in self._names:
                    self._note(asked, given, proof=False)  # either may be a list of tensors
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr == "repeat_interleave":
            self._of_repeats(node, called, given)
        if called in _OF_TWO:
            more: list[ast.expr] = node.args[1:2]
        elif called in OF_LISTS and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            more = node.args[0].elts
        else:
            return
        for argument in more:
            if not isinstance(argument, ast.Name):
                continue
            named = argument if argument.id in self._names else self._aliases.get(argument.id)
            if named is not None:
                self._note(named, given, proof=node in self._always)

    def _of_truths(self, node: ast.expr, given: Rebound) -> None:
        """Note what a comparison compares that is cast: `(scores > 0.5).float()`, `found.eq(wanted).long()`.

        Comparing numbers or arrays gives nothing that has such a method. What the other side is may be a number.
        """
        stores = self._function.stores.get(node.id, []) if isinstance(node, ast.Name) else []
        if len(stores) == 1:  # compared under a name: `hits = scores > 0.5`, `hits.float()`
            node = next((s.value for s in self._function.of(ast.Assign) if s.targets == stores), node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COMPARES:
            compared = node.func.value
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            compared = node.comparators[0] if isinstance(node.left, ast.Constant) else node.left
        else:
            return
        first = compared if isinstance(compared, ast.Name) else reduced(compared)
        if first is not None and first.id in self._names:
            self._note(first, given, proof=False)

    def _of_repeats(self, node: ast.Call, called: str | None, given: Rebound) -> None:
        """Note what tells how often rows are repeated: a number, or a tensor where something of it is asked for.

        So is what is cast there: `counts.to(dtype=torch.long)`.
        """
        place = 1 if called == "torch.repeat_interleave" else 0
        repeats = [*node.args[place : place + 1], *(k.value for k in node.keywords if k.arg == "repeats")]
        for asked in repeats:
            while isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and asked.func.attr in _MOVES:
                asked = asked.func.value
            if isinstance(asked, ast.Name) and asked.id in self._names and asked.id in self._asked:
                self._note(asked, given, proof=False)

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The names of which something is read that tensors have: `counts.numel()`, `counts.to(device)`."""
        reads = (node for node in self._function.of(ast.Attribute) if isinstance(node.ctx, ast.Load))
        return frozenset(n.value.id for n in reads if isinstance(n.value, ast.Name) and torch_api.method(n.attr))

    def _may_hold_size(self, attribute: ast.Attribute) -> bool:
        """Whether what has a shape or a device is no image, whose size is not called, and no other kind of object."""
        if attribute.attr == "size" and attribute not in self._called:
            return False
        return isinstance(attribute.value, ast.Name) and attribute.value.id not in self._objects

    @cached_property
    def _called(self) -> frozenset[ast.expr]:
        return frozenset(node.func for node in self._function.of(ast.Call))

    @cached_property
    def _objects(self) -> frozenset[str]:
        """The parameters of which something is read that no tensor has: `args.epochs`, beside `args.device`."""
        reads = (node for node in self._function.of(ast.Attribute) if isinstance(node.ctx, ast.Load))
        return frozenset(
            node.value.id
            for node in reads
            if isinstance(node.value, ast.Name) and not node.attr.startswith("_") and is_no_tensors(node.attr)
        )

    @cached_property
    def _always(self) -> frozenset[ast.AST]:
        """What every run evaluates: behind a flag, another caller may pass a number for what is computed with there."""
        ends = [n.lineno for n in self._function.of(ast.Return)] + [n.lineno for n in self._function.of(ast.Yield)]
        end = min(ends, default=None)
        found = (n for statement in self._function.node.body for n in unconditional(statement))
        return frozenset(
            n for n in found if isinstance(n, ast.Call | ast.Attribute) and (end is None or n.lineno <= end)
        )

    @cached_property
    def _aliases(self) -> dict[str, ast.Name]:
        """Other names of parameters, given once: `b` of `b = a`, with the `a` that stands there.

        And those of the pieces of one: `part` of `for part in a.split(size)`, as a text is split into no tensors.
        """
        found: dict[str, ast.Name] = {}
        stored: list[str] = [n.id for n in self._function.of(ast.Name) if isinstance(n.ctx, ast.Store)]
        for loop in self._function.of(ast.For):
            whole = whole_of(loop.iter)
            if isinstance(loop.target, ast.Name) and whole is not None and whole.id in self._names:
                found.setdefault(loop.target.id, whole)
        for statement in self._function.of(ast.Assign):
            target, value = statement.targets[0], statement.value
            if len(statement.targets) > 1 or not isinstance(target, ast.Name) or not isinstance(value, ast.Name):
                continue
            if value.id in self._names and stored.count(target.id) == 1:
                found[target.id] = value
        return found

    def _note(self, use: ast.Name, given: Rebound, *, proof: bool) -> None:
        says = given.says(use)
        if says is not None:
            (self._proof if proof and says else self._hint).add(use.id)

    @cached_property
    def computes(self) -> frozenset[str]:
        """The parameters that are used as arrays are: `p.sum()`, `(p != 0).any()`, both in `x[p > 0]`, `p[:, 0]`.

        And `p[1:] - p[:-1]`: of a list no part is subtracted.
        """
        if not self._names:
            return frozenset()
        masks, given = Masks(self._function, self._names), Rebound(self._function, self.taken)
        found: set[str] = set()
        for method in self._function.of(ast.Attribute):
            if isinstance(method.value, ast.Name) and given.says(method.value) is None:
                continue
            if method.attr in COMPUTES or method.attr in torch_api.TENSOR_ONLY_METHODS:
                found |= masks.computed(method.value)
        for part in self._function.of(ast.Subscript):
            selected = masks.compared(part.slice)
            if selected or has_dimensions(part.slice) or is_element(part.slice):
                found |= selected | masks.computed(part.value)
        for operation in self._function.of(ast.BinOp):
            if isinstance(operation.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Pow):
                for side in (operation.left, operation.right):
                    if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Slice):
                        name = side.value
                        if isinstance(name, ast.Name) and name.id in self._names and given.says(name) is not None:
                            found.add(name.id)
        return frozenset(found)

    def of(self, name: str) -> Value | None:
        """A tensor, certain or not; None without evidence."""
        if name in self._proof:
            return tensor()
        if name in self._hint:
            return tensor(certain=False)
        return None


def _asks_as_of_tensor(node: ast.Call, func: ast.Attribute) -> bool:
    """Whether a method of tensors is called with a keyword that only they take: `lengths.sort(descending=True)`."""
    return any(k.arg in _TORCH_KEYWORDS for k in node.keywords) and torch_api.method(func.attr) is not None


def is_no_tensors(attribute: str) -> bool:
    """Whether neither tensors nor arrays have an attribute, nor dictionaries of tensors."""
    return torch_api.method(attribute) is None and attribute not in _ALSO


def _is_layer(called: str, function: Function) -> bool:
    """Whether what is called is an attribute of the object itself, `self.layer`.

    A method of its class that takes what it is given apart (`height, width = size`) is given a size, and so is one that
    says that it gets numbers (`size: tuple[int, int]`).
    """
    owner, _, name = called.rpartition(".")
    method = function.cls.methods.get(name) if function.cls is not None else None
    if owner != "self" or method is None:
        return owner == "self"
    parameters = method.parameters[int(not method.is_static) :]
    if not parameters:
        return True
    given, says = parameters[0].arg, parameters[0].annotation
    words = {n.id for n in ast.walk(says) if isinstance(n, ast.Name)} if says is not None else set[str]()
    if words and words <= _NUMBERS:
        return False
    return not any(
        isinstance(node.value, ast.Name) and node.value.id == given and isinstance(node.targets[0], ast.Tuple)
        for node in method.of(ast.Assign)
    )


_NUMBERS = frozenset({"int", "float", "bool", "str", "tuple", "list", "Tuple", "List", "Sequence", "Optional", "Union"})


def _with_constant(function: Function) -> frozenset[str]:
    """The parameters that are a number, a truth or a text where the caller gives none: `index=0`."""
    arguments = function.node.args
    given = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(given[len(given) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return frozenset(a.arg for a, d in pairs if isinstance(d, ast.Constant) and d.value is not None)


def _sizes(function: Function) -> frozenset[str]:
    """The names that are sizes where something gets another shape: `queries` of `x.view(-1, queries, 4)`."""
    calls = (n for n in function.of(ast.Call) if isinstance(n.func, ast.Attribute) and n.func.attr in _SHAPES)
    return frozenset(a.id for call in calls for a in call.args if isinstance(a, ast.Name) and len(call.args) > 1)


_SHAPES = frozenset({"view", "reshape", "expand", "repeat"})
