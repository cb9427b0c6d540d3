"""The texts that Dynamo writes about a graph break and about a failed guard, taken apart."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from compilefix.analysis.dynamo_words import BREAK_PLACE, REASON, STACK_FRAME, id_in, named, without_frame_id
from compilefix.tracing.model import Place

_SHORT_PLACE = re.compile(r"# (?P<path>\S+):(?P<line>\d+) in (?P<function>\S+)")
_FOREIGN = re.compile(r"[\\/](?:site|dist)-packages[\\/]torch[\\/]|^<")
_STDLIB = re.compile(r"[\\/]lib[\\/]python3\.\d+[\\/](?!(?:site|dist)-packages)")
_VARIANT = re.compile(
    r"requires_grad mismatch|dtype mismatch|device mismatch|dispatch key|GLOBAL_STATE|^___check_global"
)
_TENSOR = re.compile(r"^tensor '[^']*'")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


@dataclass(frozen=True)
class BreakText:
    """What a text about a break says. `place` is None where no line of the program is named."""

    place: Place | None
    gb: str
    title: str
    reason: str
    skipped: bool


@dataclass(frozen=True)
class Guard:
    """A guard that failed, and the line of the program that made it, where that is told."""

    text: str
    cause: Place | None


def read_break(text: str, torch_folder: str, ids: Mapping[str, str]) -> BreakText:
    """Take the text about a graph break apart. `ids` gives the id for a title, where the text does not name it."""
    lines = text.splitlines()
    title, explanation = _headline(lines)
    gb = id_in(text) or ids.get(title, "")
    reason = f"{title}: {explanation}" if explanation else title
    return BreakText(_break_place(lines, torch_folder), gb, title, reason, "Skipping the function" in text)


def read_guards(text: str) -> tuple[Guard, ...]:
    """The guards in a text about a recompile, that of the newest compilation first."""
    reasons: Sequence[object] = [text]
    if text.lstrip().startswith("["):
        try:
            reasons = json.loads(text)
        except ValueError:
            # Cut off: the first reason is there, or nothing that could be used.
            reasons = [text.lstrip().lstrip('[\n "').partition('",\n')[0].replace("\\n", "\n").replace('\\"', '"')]
    return tuple(_guard(reason) for reason in reasons if isinstance(reason, str) and reason.strip())


def culprit(guards: Sequence[Guard]) -> Guard | None:
    """The guard to which a recompile is put down. Each compiled version of the function has failed by one guard.

    Versions for another dtype or grad mode fail in any case; of the others the newest would have been the one to use.
    """
    return next((guard for guard in guards if not _VARIANT.search(guard.text)), guards[0] if guards else None)


def guard_kind(text: str) -> str:
    """The guard without its numbers and tensors: `self.calls == 3` and `self.calls == 4` are one kind."""
    return _NUMBER.sub("N", _TENSOR.sub("tensor", text))


def is_foreign(path: str, torch_folder: str) -> bool:
    """Whether a file is torch's or Python's own."""
    if torch_folder and path.startswith(torch_folder):
        return True
    return bool(_FOREIGN.search(path) or _STDLIB.search(path))


def _headline(lines: Sequence[str]) -> tuple[str, str]:
    """The title of a break and its explanation. The title is the line above the explanation; older texts have none."""
    for above, line in pairwise(lines):
        if line.strip().startswith("Explanation: "):
            return REASON.sub(r"\g<reason>", above).strip(), line.strip()[13:].strip()
    for line in lines:
        if found := REASON.search(line):
            return found["reason"].strip(), ""
    return next((line.strip() for line in lines if line.strip() and not BREAK_PLACE.match(line)), ""), ""


def _break_place(lines: Sequence[str], torch_folder: str) -> Place | None:
    head = next((found for line in lines if (found := BREAK_PLACE.match(line))), None)
    frames = _user_frames(lines)
    if head is not None and not is_foreign(head["path"], torch_folder):
        path, line = head["path"], int(head["line"])
        same = [frame for frame in frames if (frame.path, frame.line) == (path, line)]
        return same[-1] if same else Place(path, line)
    return next((frame for frame in reversed(frames) if not is_foreign(frame.path, torch_folder)), None)


def _user_frames(lines: Sequence[str]) -> list[Place]:
    """The frames of the traceback through the program, the innermost last."""
    frames: list[Place] = []
    inside = False
    for index, line in enumerate(lines):
        if line.startswith("Traceback (most recent call last)"):
            inside = False
        elif line.startswith(("User code traceback", "User Stack")):
            inside, frames = True, []
        elif inside and (found := STACK_FRAME.fullmatch(line.strip())):
            below = lines[index + 1 : index + 3]
            source = below[0] if below and not STACK_FRAME.fullmatch(below[0].strip()) else ""
            marks = below[1] if len(below) == 2 and set(below[1].strip()) <= set("^~") and below[1].strip() else ""
            offset = len(marks) - len(marks.lstrip()) - (len(source) - len(source.lstrip())) + 1 if marks else 0
            frames.append(
                Place(found["path"], int(found["line"]), max(offset, 0), named(found["function"]), source.strip())
            )
    return frames


def _guard(reason: str) -> Guard:
    first, _, rest = without_frame_id(reason.strip()).partition("\n")
    guard, _, comment = first.partition("  #")
    cause: Place | None = None
    stack = rest.splitlines()
    for index, line in enumerate(stack):
        if found := STACK_FRAME.fullmatch(line.strip()):
            source = stack[index + 1].strip() if index + 1 < len(stack) else ""
            cause = Place(found["path"], int(found["line"]), 0, named(found["function"]), source)
    if cause is None and (found := _SHORT_PLACE.search(f"#{comment}")):
        source = comment.partition("  #")[0].strip()
        cause = Place(found["path"], int(found["line"]), 0, named(found["function"]), source)
    return Guard(guard.strip(), cause)
