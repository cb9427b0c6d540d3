"""The worker process: `python -m compilefix.measuring.worker REQUEST.json` runs one arm of a measurement.

It talks in JSON lines over what was its standard output when it started: `{"stage": ...}` while it works, and one
`{"result": ...}` per answer. Its own standard output is then joined to standard error, so that nothing that the
program prints can be taken for an answer. It ends when its standard input ends, that is, when its parent is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import queue
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, Any

from compilefix.measuring.request import ArmResult, WorkerRequest, WorkloadError

_TO_BE_ENDED_S = 10.0


class Parent:
    """The pipe to the parent process."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._out: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
        os.dup2(2, 1)
        commands = os.fdopen(os.dup(0), "r", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._commands: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(commands,), daemon=True).start()

    def stage(self, text: str) -> None:
        """Says what is being done, for messages should the process die."""
        self._send({"stage": text})

    def result(self, data: dict[str, Any]) -> None:
        """Gives an answer."""
        self._send({"result": data})

    def command(self) -> dict[str, Any]:
        """Waits for the next command."""
        data: dict[str, Any] = json.loads(self._commands.get())
        return data

    def _read(self, commands: IO[str]) -> None:
        for line in commands:
            self._commands.put(line)
        # The parent is gone. Nobody else would end what this worker has started.
        if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(3)

    def _send(self, data: dict[str, Any]) -> None:
        if os.getpid() != self._pid:
            # A child that the program forked came back from the program's code. It must not answer too.
            os._exit(0)
        self._out.write(json.dumps(data) + "\n")
        self._out.flush()


def main(path: str) -> int:
    """Runs the request in the file at `path`; the exit status is 0 also when the arm failed and said so."""
    _end_with_parent()
    parent = Parent()
    request = WorkerRequest.from_json(Path(path).read_text(encoding="utf-8"))
    try:
        if request.role == "time":
            from compilefix.measuring.clock import serve

            serve(request, parent)
        else:
            from compilefix.measuring.observing import observe

            for answer in observe(request, parent.stage):
                parent.result(answer.to_dict())
    except WorkloadError as error:
        parent.result(ArmResult(error=str(error), error_kind="workload").to_dict())
    except BaseException as error:
        traceback.print_exc()
        parent.result(ArmResult(error=f"{type(error).__name__}: {error}", error_kind="run").to_dict())
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, OSError):  # the program may have closed it
            stream.flush()
    # The parent ends this worker, and looks first at what runs below it. What has cleared its environment is known by
    # nothing else, so the worker is still there when it looks.
    threading.Event().wait(_TO_BE_ENDED_S)
    # Threads and atexit functions of the program must not keep a finished worker alive.
    os._exit(0)


def _end_with_parent() -> None:
    """Has Linux end this process with its parent, also when code that never returns keeps it from noticing."""
    if sys.platform.startswith("linux"):
        pr_set_pdeathsig = 1
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
