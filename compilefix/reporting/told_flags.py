"""What two rules say of one place is told once: a flag that is set, or would not do, beside advice to set it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from compilefix.analysis.compile_sites import is_compile_call
from compilefix.codemods.finding import Finding

_ADVICE = {
    "CF506": (
        "; where the shape itself is needed, set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`",
        "`capture_dynamic_output_shape_ops`",
    ),
    "CF610": (
        ", or set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`",
        "`allow_unspec_int_on_nn_module`",
    ),
    "CF205": (
        ", or set `torch._dynamo.config.capture_scalar_outputs = True` where it is compiled",
        "`capture_scalar_outputs`",
    ),
}
"""The rules for flags: how others advise these, and what they are called."""
_SAYS_THE_SAME = {"CF506": ("CF501", "CF502"), "CF610": (), "CF205": ()}
"""For each flag the rules whose message at its place is that of the flag."""
_GRADIENTS, _FLAG_FOR_GRADIENTS = "CF712", "CF717"
_WOULD_NOT_DO = "the flag would not do for "
_REFUSES = "the flag "
"""So begins why a flag is not set where code is compiled."""
_WHAT_TO_WRITE = "write `"


def flags_told_once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, save a flag that would not do at a place that another one names, which then says so.

    No other finding of the function advises the flag then, nor one of what a compile call leads to where the flag would
    not do for that. Where a fix sets the flag, the advice to do so at its place is not told.
    """
    findings = _without_refused_advice(_gradients_told_once(findings))
    by_function: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_function[finding.path, finding.function].append(finding)
    told = {key: iter(_told(group)) for key, group in by_function.items()}
    return tuple(one for f in findings if (one := next(told[f.path, f.function])) is not None)


def _told(findings: Sequence[Finding]) -> list[Finding | None]:
    """What is told of each finding of a function, None of those that another one stands for."""
    told: list[Finding | None] = list(findings)
    for code, (advice, flag) in _ADVICE.items():
        own = [f for f in findings if f.code == code]
        fixed = {f.span for f in own if f.fix is not None}
        refused = {f.span: f.declined for f in own if (f.declined or "").startswith(_WOULD_NOT_DO)}
        others = [f for f in findings if f.code not in _ADVICE and f.fix is None and f.effect in ("break", "recompile")]
        advised = {id(f) for f in others}  # a function may have thousands of findings
        there = {f.span for f in others}
        for index, finding in enumerate(told):
            if finding is None:
                continue
            if code == finding.code and finding.span in there and finding.span in refused:
                told[index] = None
            elif id(findings[index]) not in advised:
                continue
            elif finding.span in fixed and (advice in (finding.declined or "") or finding.code in _SAYS_THE_SAME[code]):
                told[index] = None
            elif refused:
                told[index] = _said(finding, refused.get(finding.span), advice, flag)
    return told


def _said(finding: Finding, refused: str | None, advice: str, flag: str) -> Finding:
    """A finding without the advice to set a flag, and with what stands against that, where it is told here."""
    own = (finding.declined or "").replace(advice, "")
    if refused is not None and flag not in own and not own.startswith(_WHAT_TO_WRITE):
        own += "; " + refused.replace("the flag", flag, 1)
    return replace(finding, declined=own)


def _without_refused_advice(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without advice to set a flag that would not do for what is compiled there."""
    refused: dict[str, set[tuple[str, ...]]] = {}
    for code in _ADVICE:
        own = [f for f in findings if f.code == code and any(map(is_compile_call, f.reached_by[:1]))]
        refuse = {f.reached_by[:1] for f in own if (f.declined or "").startswith(_REFUSES)}
        refused[code] = refuse.difference(f.reached_by[:1] for f in own if f.fix is not None)
    told = []
    for finding in findings:
        reason = finding.declined
        for code, (advice, _) in _ADVICE.items():
            if reason is not None and advice in reason and finding.reached_by[:1] in refused[code]:
                reason = reason.replace(advice, "")
        told.append(finding if reason == finding.declined else replace(finding, declined=reason))
    return told


def _gradients_told_once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, save a gradient at the place where a flag is offered that keeps it in the graph, as others tell."""
    offers = {f.path: f.span for f in findings if f.code == _FLAG_FOR_GRADIENTS and f.fix is not None}
    refused = {(f.path, f.span): f.declined for f in findings if f.code == _FLAG_FOR_GRADIENTS and f.fix is None}
    there = {(f.path, f.span) for f in findings if f.code == _GRADIENTS and f.fix is None}
    told = []
    for finding in findings:
        place = (finding.path, finding.span)
        if place in refused and place in there:
            if finding.code == _FLAG_FOR_GRADIENTS:
                continue
            if finding.code == _GRADIENTS:
                why = f"`trace_autograd_ops` would not do: {refused[place]}"
                finding = replace(finding, declined=f"{finding.declined}; {why}")
        offer = offers.get(finding.path)
        if offer is not None and finding.fix is None and finding.code == _GRADIENTS and finding.gb == ("GB9186",):
            if finding.span == offer:
                continue
            finding = replace(
                finding, declined=f"{finding.declined}; the flag of line {offer.line} keeps it in the graph"
            )
        told.append(finding)
    return told
