"""Make the logs of a run with TORCH_TRACE small, for fixtures.

`python scripts/shrink_trace_logs.py LOGS FOLDER NAME=TO...` keeps the records that `compilefix trace` reads, with their
texts, and the heads of two of each other kind; everything else, above all graphs, generated code and the settings of
the compilers, goes. NAME=TO replaces a text, such as a folder, everywhere. The results are compressed with gzip.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from compilefix.tracing.collect import find_logs
from compilefix.tracing.records import is_wanted

_HEADER = re.compile(rb"^[VDIWE]\d{4} ")
_CONFIG = re.compile(rb'(?<=_config": )"(?:[^"\\]|\\.)*"')
_KEPT_OF_OTHERS = 2


def shrunk(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a log that are kept."""
    others: Counter[str] = Counter()
    keep = payload = False
    for line in lines:
        if _HEADER.match(line):
            keep = payload = is_wanted(line)
            if not keep:
                start = line.find(b'{"')
                kind = next(iter(json.loads(line[start:])), "") if start >= 0 else ""
                others[kind] += 1
                keep = others[kind] <= _KEPT_OF_OTHERS
            if keep:
                yield _CONFIG.sub(b"null", line)
        elif payload:
            yield line


def main(logs: Path, folder: Path, replaced: list[str]) -> None:
    """Shrink all logs."""
    folder.mkdir(parents=True, exist_ok=True)
    for log in find_logs(logs):
        text = b"".join(shrunk(log.read_bytes().splitlines(keepends=True)))
        for pair in replaced:
            name, _, other = pair.partition("=")
            text = text.replace(name.encode(), other.encode())
        # Without a time in it, the same log gives the same file.
        (folder / f"{log.name}.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
