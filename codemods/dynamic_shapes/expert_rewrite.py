"""The edits that make a loop over the experts that got tokens one in which every expert computes all tokens."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from compilefix.analysis.values import may_share
from compilefix.codemods.dynamic_shapes.expert_counts import count_behind
from compilefix.codemods.dynamic_shapes.expert_forms import (
    asks_whether_empty,
    holds,
    inside,
    mask_name,
    number_of,
    row_of,
    sum_of,
    tests,
)
from compilefix.codemods.dynamic_shapes.expert_masks import adds_nothing
from compilefix.codemods.dynamic_shapes.expert_routing import Routing, are_numbers, is_rows
from compilefix.codemods.dynamic_shapes.expert_turns import changed_by_more_turns
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import elements_of, names_in

_MOST_EXPERTS = 16


class Rewrite:
    """The edits of one loop."""

    def __init__(self, loop: ast.For, routing: Routing, scope: Scope) -> None:
        self.loop = loop
        self.routing = routing
        self.scope = scope
        self.edits: list[Edit] = []
        self.routed = free_name("routed", scope)
        self.replaced: dict[ast.AST, str] = {}
        self.weights: ast.expr | None = None
        self.fresh: set[str] = set()
        self.counted: ast.Assign | None = None
        self.skips: list[ast.stmt] = []
        self.dropped: ast.stmt | None = None
        self.viewed = False
        self.in_line = False

    def run(self) -> None:
        """Collect the edits; `routing.refusal` is set where the loop stays."""
        routing, scope = self.routing, self.scope
        # What such a name stands for is no index any more: it goes.
        self.replaced.update(dict.fromkeys(routing.copies, ""))
        self.edits += [scope.edit(copied, "") for copied in routing.copies if copied in self.loop.body]
        sums = [found for s in ast.walk(self.loop) if isinstance(s, ast.stmt) and (found := sum_of(s, routing))]
        if not routing.position:  # one name stands for the tokens
            self.in_line = all(name == routing.whole for _, _, name in sums)
        elif len({name for _, _, name in sums}) == 1 and sums[0][2] == routing.position:
            routing.token, routing.position, routing.token_first = routing.position, routing.token, True
        elif len({name for _, _, name in sums}) != 1:
            routing.refuse("the results are added by different indices")
        self._range()
        self._block(self.loop.body)
        if self.loop.orelse:
            routing.refuse("the loop has an `else`")
        outside = [n for name in sorted(routing.indices) for n in scope.names(name) if not inside(n, self.loop)]
        if outside:
            routing.refuse(f"`{outside[0].id}` is used after the loop")
        later = [n for name in routing.rows for n in scope.names(name) if not inside(n, self.loop)]
        if later:
            routing.refuse(f"`{later[0].id}` is used outside the loop")
        earlier = next((n for name in sorted(routing.rows) for n in self._of_earlier_turn(name)), None)
        if earlier is not None:
            routing.refuse(f"`{earlier.id}` is read in a later turn, and holds all rows then")
        if not routing.selections:
            routing.refuse("no rows are picked")
        added = [scope.value(tensor).storage for tensor, _, _ in sums]
        read = next(
            (s for s in routing.selections if any(may_share(scope.value(s.value).storage, a) for a in added)), None
        )
        if read is not None:
            # The rows were a copy; the tensor itself may be kept for the backward pass.
            routing.refuse(f"`{snippet(read.value)}` may share memory with what the results are added to")
        changed = changed_by_more_turns(self.loop, self.skips, self.replaced, routing, scope)
        if changed is not None:
            routing.refuse(changed)

    def _of_earlier_turn(self, name: str) -> Iterator[ast.Name]:
        """Reads of a name for rows by which a turn may find those of the turn before."""
        scope = self.scope
        stores = [scope.statement(n) for n in scope.names(name, stores=True) if inside(n, self.loop)]
        if not stores:
            return
        first = min(stores, key=lambda s: s.lineno)
        for use in scope.names(name):
            statement = scope.statement(use)
            if inside(use, self.loop) and (statement is first or statement.lineno < first.lineno):
                yield use

    def _range(self) -> None:
        """A loop over the experts that were hit becomes one over all."""
        scope, loop = self.scope, self.loop
        if isinstance(loop.iter, ast.Call) and scope.callee(loop.iter) == "range" and len(loop.iter.args) == 1:
            const = scope.value(loop.iter.args[0]).const
            if const is not None and isinstance(const.value, int) and const.value > _MOST_EXPERTS:
                self.routing.refuse(
                    f"with {const.value} experts each would compute all tokens: keep the selection, and set "
                    "`torch._dynamo.config.capture_dynamic_output_shape_ops = True`"
                )
        if not isinstance(loop.target, ast.Name) or not scope.value(loop.iter).is_tensor:
            return
        definition: ast.Assign | None = None
        source: ast.expr = loop.iter
        if isinstance(source, ast.Name):
            statement = scope.only_assignment(source.id)
            if statement is None or len(scope.names(source.id)) != 1:
                self.routing.refuse(f"`{source.id}` is assigned or used elsewhere too")
                return
            definition, source = statement, statement.value
        flat = False
        while (
            isinstance(source, ast.Call)
            and isinstance(source.func, ast.Attribute)
            and source.func.attr
            in (
                "squeeze",
                "flatten",
                "view",
                "reshape",
            )
        ):
            flat, source = True, source.func.value
        name = (scope.callee(source) or "") if isinstance(source, ast.Call) else ""
        mask = mask_name(self.routing.mask, loop.target.id)
        if name not in ("Tensor.nonzero", "torch.nonzero") or mask is None or not tests(source, mask):
            self.routing.refuse(f"`{snippet(loop.iter)}` is not known to list the experts that got tokens")
            return
        self.skips.append(loop)
        experts = f"range({mask}.shape[0])"
        if definition is not None and scope.function.module.lines[definition.lineno - 2].lstrip().startswith("#"):
            # The comment before it would be left alone.
            self.edits.append(scope.edit(definition.value, experts))
        else:
            self.edits.append(scope.edit(loop.iter, experts))
            self.edits.extend([] if definition is None else [scope.edit(definition, "")])
        self._index(loop.target.id, flat)

    def _index(self, name: str, flat: bool) -> None:
        """What made a number of the expert's index has nothing to do any more."""
        scalar = flat
        for statement in self.loop.body:
            if (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
                and number_of(statement.value, name)
                and statement.targets[0].id == name
            ):
                self.edits.append(self.scope.edit(statement, ""))
                self.replaced[statement] = ""
                scalar = True
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.expr) and number_of(node, name):
                    if not any(outer in self.replaced for outer in self.scope.ancestors(node)):
                        self.replaced[node] = name
                elif (row := row_of(node, name)) is not None:
                    if not any(outer in self.replaced for outer in self.scope.ancestors(node)):
                        self.replaced[node] = f"{row}[{name}]"
                elif (
                    isinstance(node, ast.Call)
                    and not scalar
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr == "squeeze"
                    and [ast.unparse(a) for a in node.args] in ([], ["0"])
                    and isinstance(node.func.value, ast.Subscript)
                    and ast.unparse(node.func.value.slice) == name
                ):
                    # The index of one element had left a dimension of one.
                    self.replaced[node] = ast.unparse(node.func.value)

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if statement not in self.replaced:
                self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        routing, scope = self.routing, self.scope
        counted = count_behind(statement, self.loop, routing, scope) if isinstance(statement, ast.If) else None
        if counted is not None:
            self.counted = counted
            self.skips.append(statement)
            self.edits += [scope.edit(statement, ""), scope.edit(counted, "")]
        elif statement is routing.statement and not routing.position:
            template = Template()
            code = self._picked_by_mask(template)
            self.edits.append(scope.edit(statement, code, **template.parts))
        elif statement is routing.statement:
            template = Template()
            boolean = scope.value(routing.mask).dtype == "bool"
            plain = routing.token_first and boolean
            mask = self._code(routing.mask, template, operand=not plain)
            side = mask if routing.token_first else f"{mask}.t()"
            code = f"{self.routed} = {side}" if boolean else f"{self.routed} = {side} != 0"
            self.edits.append(scope.edit(statement, code, **template.parts))
        elif (found := sum_of(statement, routing)) is not None:
            template = Template()
            code = self._sum(*found, template)
            self.edits.append(scope.edit(statement, code, **template.parts))
        elif self._makes_mask(statement):
            pass
        elif not any(routing.mentions(n) for n in ast.walk(statement)) and not holds(statement, routing):
            self._replace(statement)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if is_rows(statement.value, routing, scope):
                self._bind(statement.targets[0], statement.value)
                self._replace(statement)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            if statement.target.id in self.fresh and (
                not routing.mentions(statement.value) or is_rows(statement.value, routing, scope)
            ):
                self._replace(statement)
            else:
                routing.refuse(f"`{snippet(statement)}` is not known to treat each row by itself")
        elif isinstance(statement, ast.With):
            self._block(statement.body)
        elif isinstance(statement, ast.If):
            self._if(statement)
        else:
            routing.refuse(f"`{snippet(statement)}` is not known to treat each row by itself")

    def _makes_mask(self, statement: ast.stmt) -> bool:
        """Whether a statement makes the mask of the choices, which stays."""
        routing = self.routing
        name = single_target(statement)
        if not isinstance(name, ast.Name) or name.id not in {routing.choices, routing.whole} - {""}:
            return False
        return isinstance(statement, ast.Assign) and not routing.mentions(statement.value)

    def _picked_by_mask(self, template: Template) -> str:
        """The statement that says which tokens were sent to the expert, one column or one for each choice."""
        routing = self.routing
        if routing.choices:
            return f"{self.routed} = {routing.choices}"
        if self.in_line:
            return ""
        return f"{self.routed} = {template.use(routing.statement.value, operand=True)}[:, None]"

    def _if(self, statement: ast.If) -> None:
        """`if token.numel() == 0: continue` has nothing to skip any more."""
        if not self.routing.mentions(statement.test) and asks_whether_empty(statement.test, self.routing) is None:
            self._replace(statement.test)
            self._block(statement.body)
            self._block(statement.orelse)
            return
        empty = asks_whether_empty(statement.test, self.routing)
        self.skips.append(statement)
        if empty is True and not statement.orelse and [type(s) for s in statement.body] == [ast.Continue]:
            self.edits.append(self.scope.edit(statement, ""))
        elif empty is False and all(self._adds_nothing(s) for s in statement.orelse):
            template = Template()
            lines = [line for inner in statement.body if (line := self._line(inner, template))]
            self.edits.append(self.scope.edit(statement, "\n".join(lines), **template.parts))
        else:
            self.routing.refuse(f"`if {snippet(statement.test)}` depends on the tokens")

    def _adds_nothing(self, statement: ast.stmt) -> bool:
        """Whether what is done for an expert without tokens adds zeros: its parameters take part now anyway."""
        if isinstance(statement, ast.If):
            return all(self._adds_nothing(s) for s in (*statement.body, *statement.orelse))
        if not adds_nothing(statement):
            return False
        self.dropped = self.dropped or statement
        return True

    def _line(self, statement: ast.stmt, template: Template) -> str:
        """The code of a statement that is always carried out now."""
        routing, scope = self.routing, self.scope
        if statement in self.replaced:
            return self.replaced[statement]
        if statement is routing.statement and not routing.position:
            return self._picked_by_mask(template)
        if (found := sum_of(statement, routing)) is not None:
            return self._sum(*found, template)
        if not routing.mentions(statement):
            return template.use(statement)
        if (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and is_rows(statement.value, routing, scope)
        ):
            self._bind(statement.targets[0], statement.value)
            return f"{ast.unparse(statement.targets[0])} = {self._code(statement.value, template)}"
        routing.refuse(f"`{snippet(statement)}` is not known to treat each row by itself")
        return "pass"

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        names = elements_of(target)
        if not all(isinstance(n, ast.Name) for n in names):
            self.routing.refuse(f"`{snippet(target)}` is assigned rows")
        found = {n.id for n in names if isinstance(n, ast.Name)}
        self.routing.rows.update(found)
        alone = are_numbers(value, self.routing, self.scope)
        self.routing.numbers = self.routing.numbers | found if alone else self.routing.numbers - found
        # What was a copy of some rows is now the tensor itself: nothing may write into it.
        linear = isinstance(value, ast.Call) and self.scope.callee(value) == "torch.nn.functional.linear"
        self.fresh = self.fresh | found if isinstance(value, ast.BinOp) or linear else self.fresh - found

    def _sum(self, tensor: ast.expr, rows: ast.expr, index: str, template: Template) -> str:
        """The code that adds the rows of those tokens that were sent to the expert."""
        routing, scope = self.routing, self.scope
        if not is_rows(rows, routing, scope):
            routing.refuse(f"`{snippet(rows)}` is not known to have a row for each token")
        if routing.mentions(tensor):
            routing.refuse(f"`{snippet(tensor)}` depends on the tokens")
        if are_numbers(rows, routing, scope):
            routing.refuse(f"`{snippet(rows)}` has one number for each token, and no row")
        if routing.whole and index == routing.whole:
            self.viewed = True
            code = f"{self._code(rows, template, operand=True)}.view_as({template.use(tensor, operand=True)})"
            hit = f"{routing.whole}[..., None]"
            return f"{template.use(tensor, operand=True)}.add_({where(scope)}({hit}, {code}, 0))"
        if scope.value(tensor).rank != 2 and not self._two_dimensional():
            routing.refuse(f"`{snippet(tensor)}` is not known to have two dimensions")
        hit = self.routed if routing.by_mask else f"{self.routed}.any(-1, keepdim=True)"
        code = self._code(rows, template)
        return f"{template.use(tensor, operand=True)}.add_({where(scope)}({hit}, {code}, 0))"

    def _two_dimensional(self) -> bool:
        """Whether the rows are weighted by one number for each: they have one dimension then."""
        names = {self.routing.choices} if self.routing.choices else {self.routing.token, self.routing.position}
        return "" not in names and any(names <= names_in(s.slice) for s in self.routing.selections)

    def _replace(self, part: ast.AST) -> None:
        """Edits for the picked rows, and the expert's index, in a statement that otherwise stays."""
        for node in ast.walk(part):
            if any(outer in self.replaced and outer is not node for outer in self.scope.ancestors(node)):
                continue
            if node in self.replaced:
                self.edits.append(self.scope.edit(node, self.replaced[node]))
            elif isinstance(node, ast.Subscript) and self.routing.picks(node):
                template = Template()
                code = self.picked(node, template)
                self.edits.append(self.scope.edit(node, code, **template.parts))

    def picked(self, node: ast.Subscript, template: Template) -> str:
        """Code for the rows of all tokens: `h[token]` is `h`, a weight that of the choice that fell on the expert."""
        parts = elements_of(node.slice)
        texts = [self.routing.also.get(text := ast.unparse(p), text) for p in parts]
        token, position = self.routing.token, self.routing.position
        tensor = template.use(node.value, operand=True)
        if texts == [token]:
            return tensor
        if texts == [self.routing.choices]:
            self.weights = node.value
            return f"{where(self.scope)}({self.routed}, {tensor}, 0).sum(-1)"
        if position and texts in ([token, position], [token, position, "None"]):
            keep = ", keepdim=True" if len(texts) == 3 else ""
            self.weights = node.value
            return f"{where(self.scope)}({self.routed}, {tensor}, 0).sum(-1{keep})"
        if token in texts and position not in texts:
            rest = [":" if text == token else text for text in texts]
            return f"{tensor}[{', '.join(rest)}]"
        self.routing.refuse(f"`{snippet(node)}` picks by the choice alone")
        return tensor

    def _code(self, node: ast.expr, template: Template, *, operand: bool = False) -> str:
        """The code of an expression with the picked rows replaced."""
        return ast.unparse(_Fill(self, template).fill(node, operand=operand))


class _Fill:
    def __init__(self, rewrite: Rewrite, template: Template) -> None:
        self.rewrite = rewrite
        self.template = template

    def fill(self, node: ast.expr, *, operand: bool = True) -> ast.expr:
        """The expression with names whose text is a placeholder, or other code."""
        rewrite = self.rewrite
        if node in rewrite.replaced:
            return ast.Name(rewrite.replaced[node], ast.Load())
        if isinstance(node, ast.Subscript) and rewrite.routing.picks(node):
            return ast.Name(rewrite.picked(node, self.template), ast.Load())
        changed = any(
            n in rewrite.replaced or (isinstance(n, ast.Subscript) and rewrite.routing.picks(n)) for n in ast.walk(node)
        )
        if not changed:
            return ast.Name(self.template.use(node, operand=operand), ast.Load())
        plain = isinstance(node, ast.Call)
        fields = {
            name: self._field(value, operand=not plain or name == "func") for name, value in ast.iter_fields(node)
        }
        filled = copy.copy(node)
        for name, value in fields.items():
            setattr(filled, name, value)
        return filled

    def _field(self, value: object, *, operand: bool) -> object:
        if isinstance(value, ast.keyword):
            return ast.keyword(value.arg, self.fill(value.value, operand=False))
        if isinstance(value, ast.expr):
            return self.fill(value, operand=operand)
        return [self._field(v, operand=operand) for v in value] if isinstance(value, list) else value
