"""The worker process: `python -m compilefix.measuring.worker REQUEST.json` runs one arm of a measurement.

It talks in JSON lines over what was its standard output when it started: `{"stage": ...}` while it works, and one
`{"result": ...}` per answer. Its own standard output is then joined to standard error, so that nothing that the
program prints can be taken for an answer. It ends when its standard input ends, that is, when its parent is gone.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, Any

from compilefix.measuring.request import ArmResult, WorkerRequest, WorkloadError


class Parent:
    """The pipe to the parent process."""

    def __init__(self) -> None:
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
        os._exit(3)

    def _send(self, data: dict[str, Any]) -> None:
        self._out.write(json.dumps(data) + "\n")
        self._out.flush()


def main(path: str) -> int:
    """Runs the request in the file at `path`; the exit status is 0 also when the arm failed and said so."""
    parent = Parent()
    request = WorkerRequest.from_json(Path(path).read_text(encoding="utf-8"))
    try:
        if request.role == "time":
            from compilefix.measuring.clock import serve

            serve(request, parent)
        else:
            from compilefix.measuring.observing import observe

            parent.result(observe(request, parent.stage).to_dict())
    except WorkloadError as error:
        parent.result(ArmResult(error=str(error), error_kind="workload").to_dict())
    except BaseException as error:
        traceback.print_exc()
        parent.result(ArmResult(error=f"{type(error).__name__}: {error}", error_kind="run").to_dict())
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and atexit functions of the program must not keep a finished worker alive.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
