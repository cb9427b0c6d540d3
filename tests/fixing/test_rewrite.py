# ruff: noqa: E501
"""Edits change what they name and nothing else, whatever the file looks like."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor

from compilefix.codemods import registry
from compilefix.codemods.finding import Edit, Span
from compilefix.fixing.engine import run
from compilefix.fixing.rewrite import EditError, rewrite
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

HEAD = "import torch\n\n\n"


def fixed(text: str, line_length: int | None = None) -> str:
    """The text with all safe fixes of some rules."""
    path = Path("module.py")
    rules = [rule for code, rule in registry.load().items() if code in ("CF101", "CF102", "CF201", "CF709")]
    config = Config(root=Path(), line_length=line_length)
    outcome = run([SourceFile(path, "module", text)], config, rules=rules)
    return next((change.after for change in outcome.patchset), text)


def of(text: str, part: str, occurrence: int = 0) -> Span:
    """Where a part of a text stands."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(part, start + 1)
    line, column = text.count("\n", 0, start) + 1, start - (text.rfind("\n", 0, start) + 1)
    end = start + len(part)
    return Span(line, column, text.count("\n", 0, end) + 1, end - (text.rfind("\n", 0, end) + 1))


BRANCH = (
    HEAD
    + """def f(x: torch.Tensor):
    x = x.float()
    y = x * 2
    if x.sum() > 0:
        y = x + 1
    return y * 3
"""
)

REWRITTEN = (
    HEAD
    + """def f(x: torch.Tensor):
    x = x.float()
    y = x * 2
    y = torch.where(x.sum() > 0, x + 1, y)
    return y * 3
"""
)


def test_a_branch_becomes_one_line() -> None:
    assert fixed(BRANCH) == REWRITTEN


def test_the_newlines_of_the_file_stay() -> None:
    assert fixed(BRANCH.replace("\n", "\r\n")) == REWRITTEN.replace("\n", "\r\n")


@pytest.mark.parametrize("indent", ["\t", "  ", " ", "        "])
def test_the_indentation_of_the_file_stays(indent: str) -> None:
    assert fixed(BRANCH.replace("    ", indent)) == REWRITTEN.replace("    ", indent)


def test_a_file_without_a_last_newline_stays_without() -> None:
    assert fixed(BRANCH.rstrip("\n")) == REWRITTEN.rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    if x.sum() > 0: y = x + 1\n", "    y = torch.where(x.sum() > 0, x + 1, y)\n"),
        ("    if (x.sum() > 0):\n        y = (x + 1)\n", "    y = torch.where(x.sum() > 0, x + 1, y)\n"),
        (
            "    if x.sum() > 0:\n        y = x + 1\n    else:\n        pass\n",
            "    y = torch.where(x.sum() > 0, x + 1, y)\n",
        ),
        ("    y = x + 1 if x.sum() > 0 else x - 1\n", "    y = torch.where(x.sum() > 0, x + 1, x - 1)\n"),
        ("    y = (x + 1 if x.sum() > 0\n         else x - 1)\n", "    y = (torch.where(x.sum() > 0, x + 1, x - 1))\n"),
        ("    if x.sum() > 0:\n        y: torch.Tensor = x + 1\n", "    y = torch.where(x.sum() > 0, x + 1, y)\n"),
    ],
)
def test_forms_of_one_branch(before: str, after: str) -> None:
    start = HEAD + "def f(x: torch.Tensor):\n    x = x.float()\n    y = x * 2\n"
    assert fixed(start + before + "    return y * 3\n") == start + after + "    return y * 3\n"


def test_no_comment_is_lost() -> None:
    comments = [
        "# above",
        "# on the if",
        "# first in the branch",
        "# on the value",
        "# above else",
        "# on else",
        "# in else",
        "# after",
    ]
    text = (
        HEAD
        + """def f(x: torch.Tensor):
    x = x.float()
    # above
    if x.sum() > 0:  # on the if
        # first in the branch
        y = x + 1  # on the value
    # above else
    else:  # on else
        # in else
        y = x - 1
    # after
    return y * 3
"""
    )
    result = fixed(text)
    assert "torch.where(" in result
    for comment in comments:
        assert result.count(comment) == text.count(comment), comment
    positions = [result.index(comment + "\n") for comment in comments]
    assert positions == sorted(positions)


def test_no_comment_inside_of_an_expression_is_lost() -> None:
    text = (
        HEAD
        + """def f(x: torch.Tensor):
    y = pow(  # the call
        x,  # the base
        2,  # the exponent
    )  # behind
    if pow(
        x.shape[0] * x,  # in the head
        2,
    ) is not None:
        y = y + 1
    return y
"""
    )
    result = fixed(text)
    assert "pow(" not in result
    for comment in ("# the call", "# the base", "# the exponent", "# behind", "# in the head"):
        assert result.count(comment) == 1, comment


def test_strings_blank_lines_and_decorators_around_stay() -> None:
    before = (
        HEAD
        + '''@torch.compile(  # compiled
    dynamic=False
)
def f(
    x: torch.Tensor,
):
    """Does it.

    if x.sum() > 0: not code
    """
    x = x.float()

    y = x * 2


'''
    )
    after = "\n\n    text = 'a'  ;   z = [1,2 ]  # odd spacing\n    return y * 3, text, z\n"
    branch, line = "    if x.sum() > 0:\n        y = x + 1\n", "    y = torch.where(x.sum() > 0, x + 1, y)\n"
    assert fixed(before + branch + after) == before + line + after


def test_columns_are_counted_in_characters() -> None:
    start = HEAD + "def f(x: torch.Tensor):\n    x = x.float()\n    größe = x * 2; é = '𝕏→'\n"
    end = "    return größe * 3\n"
    assert (
        fixed(start + "    größe, name = (x + 1 if x.sum() > 0 else -x), 'ü𝕏'  # äöü\n" + end)
        == start + "    größe, name = (torch.where(x.sum() > 0, x + 1, -x)), 'ü𝕏'  # äöü\n" + end
    )


def test_nested_blocks_keep_their_depth() -> None:
    start = (
        HEAD
        + """class A:
    class B:
        def f(self, x: torch.Tensor, flag: bool):
            x = x.float()
            for i in range(3):
                with open("f"):
                    if flag:
                        y = x * 2
"""
    )
    branch = "                        if x.sum() > 0:\n                            y = x + 1\n"
    end = "                        print(y.shape)\n            return x\n"
    line = "                        y = torch.where(x.sum() > 0, x + 1, y)\n"
    assert fixed(start + branch + end) == start + line + end


def test_a_long_line_is_wrapped() -> None:
    text = (
        HEAD
        + """def f(x: torch.Tensor):
    x = x.float()
    a_rather_long_name = x * 2
    if torch.isnan(x).any() or torch.isinf(x).any():
        a_rather_long_name = torch.nan_to_num(x + 1.0) - torch.nan_to_num(x * 3.0)
    return a_rather_long_name * 3
"""
    )
    result = fixed(text, line_length=80)
    assert result != text
    assert max(len(line) for line in result.splitlines()) <= 80
    assert ast.dump(ast.parse(result)) == ast.dump(ast.parse(fixed(text, line_length=500)))


@pytest.mark.parametrize(
    "head",
    [
        '"""Docs."""\n\nfrom __future__ import annotations\n\nimport math\n',
        "# comment\nimport math\n",
        '"""Docs."""\nfrom torch import Tensor\n',
    ],
)
def test_a_missing_import_goes_to_the_others(head: str) -> None:
    text = head + "\n\nX = 1\n"
    result = rewrite(text, [Edit(of(text, "1"), "torch.tensor({p})", (("p", of(text, "1")),))], ["torch"], 88)
    assert result.count("import torch\n") == 1
    assert result.endswith("\n\n\nX = torch.tensor(1)\n")
    assert ast.get_docstring(ast.parse(result)) == ast.get_docstring(ast.parse(text))
    compile(result, "module.py", "exec")


def test_an_import_that_is_there_is_not_added() -> None:
    text = "import torch\nX = 1\n"
    assert rewrite(text, [Edit(of(text, "1"), "torch.inf")], ["torch"], 88) == "import torch\nX = torch.inf\n"


def test_parts_keep_their_own_formatting() -> None:
    text = "y = f( a ,b ) if c[ 0 ] else {1 :2}\n"
    parts = (("test", of(text, "c[ 0 ]")), ("then", of(text, "f( a ,b )")), ("other", of(text, "{1 :2}")))
    edit = Edit(of(text, text.strip().removeprefix("y = ")), "where({test}, {then}, {other}, {{}})", parts)
    assert rewrite(text, [edit], [], 88) == "y = where(c[ 0 ], f( a ,b ), {1 :2}, {})\n"


def test_two_edits_in_one_line() -> None:
    text = "y = a + b\n"
    edits = [Edit(of(text, "a"), "({p} * 2)", (("p", of(text, "a")),)), Edit(of(text, "b"), "c")]
    assert rewrite(text, edits, [], 88) == "y = (a * 2) + c\n"


def test_parentheses_keep_the_meaning() -> None:
    text = "y = (a or b).c\n"
    edit = Edit(of(text, "a or b"), "{p}", (("p", of(text, "b")),))
    assert ast.unparse(ast.parse(rewrite(text, [edit], [], 88))) == "y = b.c"


@pytest.mark.parametrize("part", ["(mask,)", "(\n    mask,\n    n\n)", "(v for v in x)"])
def test_tuples_and_generators_have_their_parentheses(part: str) -> None:
    text = f"y = x.index_put({part}, 0)\n" if "for" not in part else f"y = f(1, {part})\n"
    edit = Edit(of(text, text.strip()), "y = g({p})", (("p", of(text, part)),), statement=True)
    assert rewrite(text, [edit], [], 88) == f"y = g({part})\n"


def test_removing_the_only_statement_of_a_block_leaves_a_block() -> None:
    text = "def f():\n    # why\n    g()\n"
    result = rewrite(text, [Edit(of(text, "g()"), "", statement=True)], [], 88)
    compile(result, "module.py", "exec")
    assert "# why" in result
    assert "g()" not in result


@pytest.mark.parametrize("part", ["x + ", "= x", "x + 1; z"])
def test_a_place_that_holds_no_node_is_an_error(part: str) -> None:
    text = "y = x + 1; z = 2\n"
    with pytest.raises(EditError, match="line 1"):
        rewrite(text, [Edit(of(text, part), "0")], [], 88)


def test_a_statement_that_shares_its_line_is_left_alone() -> None:
    text = (
        HEAD
        + "def f(x: torch.Tensor):\n    x = x.float()\n    y = x * 2; z = 1\n    if x.sum() > 0: y = x + 1; z = 1\n    return y * 3\n"
    )
    compile(fixed(text), "module.py", "exec")
    with pytest.raises(EditError, match="on lines of its own"):
        rewrite(text, [Edit(of(text, "z = 1"), "z = 2", statement=True)], [], 88)


def test_statements_before_another_stand_below_its_comments() -> None:
    text = "def f():\n    g()\n\n    # why\n    if h(1):\n        k()  # because\n    return 2\n"
    start = of(text, "if h(1)")
    place = Span(start.line, start.column, start.line, start.column)
    edits = [
        Edit(place, "a = {one}", (("one", of(text, "1")),), statement=True),
        Edit(place, "b = a\nc = b", statement=True),
        Edit(of(text, "h(1)"), "h(c)"),
    ]
    assert rewrite(text, edits, [], 88) == (
        "def f():\n    g()\n\n    # why\n    a = 1\n    b = a\n    c = b\n    if h(c):\n        k()  # because\n    return 2\n"
    )


def test_a_statement_that_two_fixes_need_stands_once() -> None:
    text = "def f():\n    return 2\n"
    start = of(text, "return 2")
    needed = Edit(Span(start.line, start.column, start.line, start.column), "seen = False", statement=True)
    assert rewrite(text, [needed, needed], [], 88) == "def f():\n    seen = False\n    return 2\n"


@pytest.mark.parametrize("replaced", ["", "use(2)"])
def test_statements_before_one_that_is_replaced_or_goes(replaced: str) -> None:
    text = "def f():\n    # why\n    g()\n    return 2\n"
    start = of(text, "g()")
    edits = [
        Edit(Span(start.line, start.column, start.line, start.column), "a = 1", statement=True),
        Edit(start, replaced, statement=True),
    ]
    result = rewrite(text, edits, [], 88)
    assert [line.strip() for line in result.splitlines() if "#" not in line and "pass" not in line] == [
        line for line in ("def f():", "a = 1", replaced, "return 2") if line
    ]
    assert "# why" in result


@pytest.mark.parametrize("template", ["{kept}\nafter = 1", "before = 1\n{kept}"])
def test_what_stands_above_a_kept_statement_stands_there_once(template: str) -> None:
    text = "import os\n\n# Why.\nx = f(os)\n"
    span = of(text, "x = f(os)")
    result = rewrite(text, [Edit(span, template, (("kept", span),), statement=True)], [], 88)
    assert result == "import os\n\n# Why.\n" + template.format(kept="x = f(os)") + "\n"


def test_no_statement_begins_at_the_place_of_an_insertion() -> None:
    with pytest.raises(EditError, match="no statement begins there"):
        rewrite("y = x + 1\n", [Edit(Span(1, 4, 1, 4), "a = 1", statement=True)], [], 88)


TOPS = (
    "",
    "# a comment\n",
    '"""What it is for."""\n',
    '"""What it is for."""\n\nx = 1\n',
    "x = 1\nimport os\n",
    "import os; x = 1\nimport sys\ny = 2\n",
    "from math import pi\n\n# behind\nx = pi\n",
    "if True:\n    import torch\nimport os\n",
    "def f():\n    import torch\n    return torch\n",
    "__strict__ = True\nimport os\n\n\ndef f():\n    return os\n",
)


@pytest.mark.parametrize("statement", ["torch", "from math import prod", "torch.nn.functional as F"])
@pytest.mark.parametrize("text", TOPS)
def test_an_import_goes_where_libcst_puts_it_in_the_whole_module(text: str, statement: str) -> None:
    context = CodemodContext()
    if statement.startswith("from "):
        AddImportsVisitor.add_needed_import(context, "math", "prod")
    else:
        name, _, alias = statement.partition(" as ")
        AddImportsVisitor.add_needed_import(context, name, asname=alias or None)
    whole = AddImportsVisitor(context).transform_module(cst.parse_module(text))
    assert rewrite(text, [], [statement], 88) == whole.code
