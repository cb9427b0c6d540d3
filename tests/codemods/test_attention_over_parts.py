"""Attention over a number of rows that depends on values: with the capture flags torch 2.13 fails to compile it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.codemods import execution

WRITTEN = """
    out = []
    for part in x.split(counts.tolist(), dim=0):
        weights = torch.softmax(part @ part.mT, dim=-1)
        out.append(weights @ part)
    return torch.cat(out)
"""
IN_LISTS = """
    parts = [t.split(counts.tolist(), dim=2) for t in (x, x * 2.0)]
    found = [F.scaled_dot_product_attention(q, k, k) for q, k in zip(*parts)]
    return torch.cat(found, dim=2)
"""
SELECTED = """
    kept = x[counts > 2]
    query = kept[None, None]
    return F.scaled_dot_product_attention(query, x[None, None], x[None, None])
"""
OTHERS = """
    kept = x[counts > 2]
    rest = F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
    return (kept * 2.0).sum(0, keepdim=True) + rest
"""
HEADER = """
import torch
import torch.nn.functional as F


def attended(x: torch.FloatTensor, counts: torch.LongTensor):
"""


def codes(body: str) -> set[str]:
    outcome = execution.rewritten(Path("attended.py"), HEADER.lstrip() + body.lstrip("\n"), None)
    return {fix.code for fix in outcome.patchset.fixes}


@pytest.mark.parametrize("body", [WRITTEN, IN_LISTS, SELECTED])
def test_no_flag_is_switched_on_for_it(body: str) -> None:
    assert codes(body) & {"CF205", "CF506"} == set()


def test_attention_over_something_else_does_not_matter() -> None:
    assert codes(OTHERS) & {"CF205", "CF506", "CF503"} != set()


def test_parts_without_attention_stay_in_the_graph() -> None:
    assert codes(WRITTEN.replace("torch.softmax(part @ part.mT, dim=-1)", "part.sum()")) == {"CF205"}
