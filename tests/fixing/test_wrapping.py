"""Statements that are too long for a line come out on several, and mean the same."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from compilefix.fixing.wrapping import Wrapping

WARNED = """emit(
    lambda condition, name: (
        warnings.warn(
            f"no positive samples in {name}, so that the recall is not defined",
            UserWarning,
        )
        if condition
        else None
    ),
    condition,
    name,
)
"""
RAISED = """emit(
    lambda target, n: ValueError(
        f"expected only values below {n} in the target tensor"
        f" but got {torch.unique(target)} there",
    ),
    target,
    raise_if=check,
)
"""
RETURNED = """return (
    torch.where(condition, first_result * 2, third_result),
    torch.where(condition, second_result * 3, second_result),
)
"""
TESTED = """emit(
    lambda condition: print("far") if condition else None,
    (first_variance < bound).any()
    | (second_variance < bound).any()
    | ~torch.isfinite(second_variance).any(),
)
"""
CHAINED = """loss = torch.where(
    selected,
    (first_prediction - second_prediction) * torch.where(kept, weight, 1),
    0,
).sum()
"""
DIVIDED = """share = (
    torch.where(
        selected, F.mse_loss(prediction, target, reduction="none"), 0
    ).sum()
    / selected.expand_as(prediction).sum()
)
"""
SQUARED = """error = torch.where(
    correct,
    (
        (
            torch.where(correct[..., None], first_flow, 1)
            - torch.where(correct[..., None], second_flow, 1)
        )
        ** 2
    ).sum(-1),
    0,
)
"""
FORMATTED = """emit(
    lambda first, second: ValueError(
        "the first element of the row is not that of the column: "
        "{} and {}".format(first, second),
    ),
    first,
    second,
    raise_if=~(
        (first[..., 0] == second[..., 0]).all()
        if first.shape == second.shape
        else first.new_zeros(()).bool()
    ),
)
"""


def wrapped(code: str, line_length: int = 80) -> str:
    module = cst.parse_module(code)
    statement = module.body[0]
    assert isinstance(statement, cst.SimpleStatementLine)
    return module.with_changes(body=[Wrapping("    ", line_length, []).statement(statement, 0)]).code


def on_one_line(code: str) -> str:
    return ast.unparse(ast.parse(code.replace('"\n        f"', '" f"'))) + "\n"


@pytest.mark.parametrize("code", [WARNED, RETURNED, TESTED, CHAINED, DIVIDED, SQUARED])
def test_long_statements_are_broken_as_formatters_do(code: str) -> None:
    flat = on_one_line(code).replace("'", '"')
    assert wrapped(flat) == code
    assert wrapped(code) == code, "what stands on several lines already stays"


@pytest.mark.parametrize("code", [RAISED, FORMATTED])
def test_strings_that_stand_side_by_side_get_a_line_each(code: str) -> None:
    flat = " ".join(line.strip() for line in code.splitlines()).replace("( ", "(").replace(" )", ")") + "\n"
    assert wrapped(flat.replace(",)", ")")) == code


@pytest.mark.parametrize("code", [WARNED, RAISED, RETURNED, TESTED, CHAINED, DIVIDED, SQUARED, FORMATTED])
@pytest.mark.parametrize("line_length", [1, 20, 50, 79, 100, 400])
def test_the_meaning_stays(code: str, line_length: int) -> None:
    flat = on_one_line(code)
    assert ast.dump(ast.parse(wrapped(flat, line_length))) == ast.dump(ast.parse(code))


def test_a_short_statement_stays_as_it_is() -> None:
    assert wrapped("emit(lambda: print('a'),x )\n") == "emit(lambda: print('a'),x )\n"


PART_ON_SEVERAL_LINES = """emit(lambda edges: ValueError("edges are not sorted in {}".format(edges)), edges, raise_if=~(
    (edges[0] < edges[1])
    | (edges[2] < edges[1])
).all())
"""
PART_ON_LINES_OF_ITS_OWN = """emit(
    lambda edges: ValueError("edges are not sorted in {}".format(edges)),
    edges,
    raise_if=~((edges[0] < edges[1]) | (edges[2] < edges[1])).all(),
)
"""
ELEMENT_ON_SEVERAL_LINES = """return (x[mask].sum(), torch.where(
        mask, x, 0
    ).sum(), count)
"""
ARGUMENT_BETWEEN_OTHERS = """filled.copy_(torch.where(condition, torch.where(
        (filled <= 0).reshape(()), filled + 1, filled
    ), filled))
"""
TEXT_ON_SEVERAL_LINES = '''emit(lambda edges: ValueError("edges are not sorted in {}".format(edges)), edges, """
a
""")
'''
COMMENTED = """emit(lambda edges: ValueError("edges are not sorted in {}".format(edges)), edges, raise_if=~(
    (edges[0] < edges[1])  # why
).all())
"""


@pytest.mark.parametrize(
    ("code", "after"),
    [
        (PART_ON_SEVERAL_LINES, PART_ON_LINES_OF_ITS_OWN),
        (ELEMENT_ON_SEVERAL_LINES, "return (x[mask].sum(), torch.where(mask, x, 0).sum(), count)\n"),
        (
            ARGUMENT_BETWEEN_OTHERS,
            "filled.copy_(\n"
            "    torch.where(\n"
            "        condition, torch.where((filled <= 0).reshape(()), filled + 1, filled), filled\n"
            "    ),\n"
            ")\n",
        ),
        (TEXT_ON_SEVERAL_LINES, TEXT_ON_SEVERAL_LINES),
        (COMMENTED, COMMENTED),
    ],
    ids=["an argument", "an element", "an argument between others", "a text", "a comment"],
)
def test_a_part_that_was_on_several_lines_is_laid_out_anew(code: str, after: str) -> None:
    """What a rewrite takes over may stand on several lines: beside new code a line would be too long."""
    (statement,) = cst.parse_module(code).body
    assert isinstance(statement, cst.SimpleStatementLine)
    assert cst.Module(body=[Wrapping("    ", 88, ()).statement(statement, 0)]).code == after


def test_parts_of_a_text_stay_on_lines_of_their_own() -> None:
    """On one line linters object to them."""
    parts = '"the line search has failed: the parameters are poor"', '" and must be changed"'
    (statement,) = cst.parse_module(f"emit(lambda: warnings.warn({' '.join(parts)}))\n").body
    assert isinstance(statement, cst.SimpleStatementLine)
    laid_out = cst.Module(body=[Wrapping("    ", 88, ()).statement(statement, 0)]).code
    assert all(part in map(str.strip, laid_out.replace(",\n", "\n").split("\n")) for part in parts)


def test_an_assert_on_several_tests_has_each_on_a_line() -> None:
    tests = ["isinstance(history, torch.Tensor)", "len(history.shape) == 1", "history.shape[0] > 0", "limit > 1"]
    (statement,) = cst.parse_module(f"assert {' and '.join(tests)}, 'no history'\n").body
    assert isinstance(statement, cst.SimpleStatementLine)
    laid_out = cst.Module(body=[Wrapping("    ", 88, ()).statement(statement, 0)]).code
    parts = "\n    and ".join(tests)
    assert laid_out == f"assert (\n    {parts}\n), 'no history'\n"
