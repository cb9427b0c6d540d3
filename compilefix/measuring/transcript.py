"""What a call says: what it prints, logs and warns of, in order."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any

import torch

from compilefix.measuring.snapshot import without_addresses

KEPT_CHARACTERS = 200_000
_COMPILER = tuple(str(Path(torch.__file__).parent.with_name(name)) + os.sep for name in ("torch", "triton"))


@dataclass
class Transcript:
    """The text of one call. `records` holds log records and warnings: level, source, text, and how many lines
    had been printed before.
    """

    stdout: str = ""
    stderr: str = ""
    records: list[list[Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, addresses blanked."""
        return {"stdout": self.stdout, "stderr": self.stderr, "records": self.records}


@contextlib.contextmanager
def recorded(folder: Path, untraced: Callable[[Any], Any]) -> Iterator[Transcript]:
    """Records what the body says; the transcript is filled when the body ends, also by an exception.

    Printed text goes through real files: they are written in C, so that Dynamo sees no frames that are not the
    program's own, and the parent can watch their size. `untraced` keeps Dynamo out of the recorder's own functions.
    Log records are taken at the levels that the program has set. Those of torch itself are left out, as are warnings
    that torch and Triton give: they are about compiling, or come once per process. (Triton 3.6 warns of an `int8`
    condition in the code that Inductor makes for a `torch.where` on a 0-d tensor.)
    """
    transcript = Transcript()
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(_text_file(folder / "stdout.txt"))
        err = stack.enter_context(_text_file(folder / "stderr.txt"))
        sink = _Records(transcript.records, out)
        handler = logging.Handler()
        handler.emit = untraced(sink.log)  # type: ignore[method-assign]
        logging.getLogger().addHandler(handler)
        stack.callback(logging.getLogger().removeHandler, handler)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always")
        warnings.showwarning = untraced(sink.warning)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield transcript
        finally:
            transcript.stdout, transcript.stderr = _text(out), _text(err)
            printed = transcript.stdout.encode("utf-8", "backslashreplace")
            for record in transcript.records:
                record[3] = printed[: record[3]].count(b"\n")


class _Records:
    def __init__(self, records: list[list[Any]], out: IO[str]) -> None:
        self._records = records
        self._out = out

    def log(self, record: logging.LogRecord) -> None:
        if record.name == "torch" or record.name.startswith("torch."):
            return
        try:
            text = record.getMessage()
        except Exception as error:
            text = f"<{type(error).__name__}: {error}>"
        if record.exc_info and record.exc_info[0] is not None:
            text += f"\n{record.exc_info[0].__name__}: {record.exc_info[1]}"
        self._add(record.levelname, record.name, text)

    def warning(self, message: Warning | str, category: type[Warning], *_: object) -> None:
        text = str(message)
        if "Triggered internally at" in text or _warner().startswith(_COMPILER):
            return
        self._add("warning", category.__name__, text)

    def _add(self, kind: str, source: str, text: str) -> None:
        if len(self._records) < 10_000:
            self._out.flush()
            self._records.append([kind, source, _bounded(without_addresses(text)), self._out.tell()])


def _warner() -> str:
    """The file of the function that warned; the place that a warning names may be any of its callers."""
    frame: FrameType | None = sys._getframe(1)
    inside = False
    while frame is not None:
        if frame.f_code.co_filename == warnings.__file__:
            inside = True
        elif inside:
            return frame.f_code.co_filename
        frame = frame.f_back
    return ""


def _text_file(path: Path) -> IO[str]:
    return path.open("w+", encoding="utf-8", errors="backslashreplace", newline="")


def _text(stream: IO[str]) -> str:
    try:
        stream.flush()
        stream.seek(0)
        return _bounded(without_addresses(stream.read()))
    except ValueError:  # the program closed its stdout
        return "<closed>"


def _bounded(text: str) -> str:
    if len(text) <= KEPT_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{text[:KEPT_CHARACTERS]}\n<{len(text)} characters, sha256 {digest}>"
