"""Worker processes, seen from the parent: whatever happens in one comes back as a result."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from compilefix.measuring.leftovers import MARK, end_all
from compilefix.measuring.ranks import rendezvous
from compilefix.measuring.request import ArmResult, WorkerRequest

if TYPE_CHECKING:
    from typing_extensions import Self

MAX_PRINTED_BYTES = 256 * 1024 * 1024
_TAIL_LINES = 12
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]


class WorkerFailed(Exception):
    """A worker gave no answer: it crashed, hung or printed without end. The message says which, and its last output."""


class Worker:
    """A running worker. As a context manager, it ends the worker and everything that it started.

    `cache` is the arm's own folder for compiled code.
    """

    def __init__(self, request: WorkerRequest, cache: Path, progress: Callable[[str], None]) -> None:
        self._request = request
        self._progress = progress
        self._stage = "starting"
        self._mark = uuid.uuid4().hex
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        request.folder.mkdir(parents=True, exist_ok=True)
        file = request.folder / "request.json"
        file.write_text(request.to_json(), encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "compilefix.measuring.worker", str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**_environment(request, cache), MARK: self._mark},
            start_new_session=True,
        )
        self._errors = self._reader(self._process.stderr, self._keep)
        self._reader(self._process.stdout, self._take)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()

    def ask(self, command: dict[str, Any]) -> dict[str, Any]:
        """Sends a command and waits for the answer. Raises WorkerFailed when there is none."""
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):  # a dead worker is reported by `answer`
            pipe.write(json.dumps(command).encode() + b"\n")
            pipe.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Waits for the next answer. Raises WorkerFailed when none comes in time."""
        timeout = self._request.options.timeout_s
        deadline = time.monotonic() + timeout
        ended = False
        while True:
            try:
                item = self._answers.get(timeout=0.1)
            except queue.Empty:
                if ended:
                    raise self._failure(self._death()) from None
                # The program's children may hold the pipe open, so its end does not tell. One more round takes what
                # was still under way.
                ended = self._process.poll() is not None
                if time.monotonic() > deadline:
                    self._kill()
                    raise self._failure(f"was stopped after {timeout:g} s without an answer") from None
                if self._printed() > MAX_PRINTED_BYTES:
                    self._kill()
                    raise self._failure(f"printed more than {MAX_PRINTED_BYTES // 2**20} MiB") from None
                continue
            if "stage" in item:
                self._stage = item["stage"]
                self._progress(f"{self._request.name}: {self._stage}")
            else:
                result: dict[str, Any] = item["result"]
                return result

    def _reader(self, pipe: IO[bytes] | None, take: Callable[[str], None]) -> threading.Thread:
        assert pipe is not None

        def read() -> None:
            # Long lines are cut, so that output without newlines cannot fill the memory.
            with contextlib.suppress(ValueError, OSError):
                while line := pipe.readline(64 * 1024 * 1024 if take == self._take else 4096):
                    take(line.decode("utf-8", "replace"))

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread

    def _keep(self, line: str) -> None:
        if line.strip():
            self._tail.append(line.rstrip())

    def _take(self, line: str) -> None:
        with contextlib.suppress(ValueError):
            self._answers.put(json.loads(line))

    def _printed(self) -> int:
        files = [self._request.folder / name for name in ("stdout.txt", "stderr.txt")]
        return sum(file.stat().st_size for file in files if file.exists())

    def _death(self) -> str:
        status = self._process.wait()
        if status >= 0:
            return f"ended with exit status {status}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")

    def _failure(self, what: str) -> WorkerFailed:
        self._errors.join(timeout=1.0)
        tail = [*self._tail, *self._last_printed()][-_TAIL_LINES:]
        said = "; its last output: " + " | ".join(tail) if tail else ""
        return WorkerFailed(f"the worker {what} while {self._stage}{said}")

    def _last_printed(self) -> list[str]:
        lines: list[str] = []
        for name in ("stdout.txt", "stderr.txt"):
            with contextlib.suppress(OSError), (self._request.folder / name).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
                lines += file.read().decode("utf-8", "replace").splitlines()[-5:]
        return [line for line in lines if line.strip()]

    def _kill(self) -> None:
        end_all(self._process.pid, self._mark)
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()


def run_arm(request: WorkerRequest, cache: Path, progress: Callable[[str], None]) -> ArmResult:
    """Runs an arm of the role "observe" or "cover" to its end; a dead worker is a result with its `error` set."""
    with Worker(request, cache, progress) as worker:
        try:
            return ArmResult.from_dict(worker.answer())
        except WorkerFailed as failure:
            return ArmResult(error=str(failure), error_kind="run")


def _environment(request: WorkerRequest, cache: Path) -> dict[str, str]:
    found = dict(os.environ)
    # Logging and cache settings of the user's shell would mix into the measurement.
    for name in ("TORCH_LOGS", "TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "TRITON_CACHE_DIR"):
        found.pop(name, None)
    if not request.compiled:
        # An eager arm stays eager also where the workload itself calls torch.compile.
        found["TORCHDYNAMO_DISABLE"] = "1"
    found["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
    found |= rendezvous(os.environ, f"{request.workload}:{request.folder.name}")
    found["PYTHONPATH"] = os.pathsep.join(item for item in (found.get("PYTHONPATH"), str(_PACKAGE_PARENT)) if item)
    return found
