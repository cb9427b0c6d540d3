"""Writes an input that shows a difference as a folder with a small program that anybody can run again.

The folder holds `run.py`, which needs torch and nothing of compilefix, the changed files as they were and as they are
(`original/` and `patched/`), and the inputs (`inputs.pt`).
"""

from __future__ import annotations

import os
import pprint
from pathlib import Path
from typing import Any

from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.reproducer_program import PROGRAM
from compilefix.measuring.request import Variant, split_spec

_MOST = 3


class Reproducers:
    """Writes reproducers below one folder; at most a few, since one cause shows in many inputs."""

    def __init__(self, folder: Path, patchset: PatchSet, workload: str, seed: int) -> None:
        self._folder = folder
        self._patchset = patchset
        self._workload = workload
        self._seed = seed
        self.written: list[Path] = []

    def keep(self, variant: Variant | None, difference: str, given: Any, training: bool) -> None:
        """Writes the program for one difference. `given` holds the arguments of each call, plain data and tensors.

        Nothing is written where the folder cannot be made, or for more than a few differences.
        """
        if len(self.written) >= _MOST:
            return
        place, function = split_spec(self._workload)
        folder = self._folder / f"{function}-{len(self.written) + 1}"
        try:
            self._write(folder, place, function, variant, difference, given, training)
        except OSError:
            return
        self.written.append(folder / "run.py")

    def _write(
        self,
        folder: Path,
        place: str,
        function: str,
        variant: Variant | None,
        difference: str,
        given: Any,
        training: bool,
    ) -> None:
        import torch

        folder.mkdir(parents=True, exist_ok=True)
        if self._folder.parent.name == ".compilefix":
            (self._folder.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        files = {}
        for number, change in enumerate(self._patchset):
            name = f"{number}-{change.path.name}" if len(self._patchset.changes) > 1 else change.path.name
            files[os.path.relpath(change.path, folder)] = name
            for side, text in (("original", change.before), ("patched", change.after)):
                (folder / side).mkdir(exist_ok=True)
                (folder / side / name).write_text(text or "", encoding="utf-8")
        if given is not None:
            torch.save(given, folder / "inputs.pt")
        settings = {
            "root": os.path.relpath(Path.cwd(), folder),
            "place": place,
            "function": function,
            "files": files,
            "new": {
                change.module: os.path.relpath(change.path, folder)
                for change in self._patchset
                if change.before is None
            },
            "mode": "as given" if variant is None else variant.mode,
            "training": training,
            "seed": self._seed,
        }
        title = difference.replace("\\", "\\\\").replace('"""', "'''")
        about = pprint.pformat(settings, width=110, sort_dicts=False)
        program = PROGRAM.replace("<difference>", title).replace("<settings>", about)
        (folder / "run.py").write_text(program, encoding="utf-8")


def thawed(node: Any) -> Any:
    """The value of a frozen node, or None inside for what has no plain content. Raises ValueError for such a node."""
    kind = node["kind"]
    if kind == "tensor":
        return node["tensor"].requires_grad_(node["requires_grad"]) if node["requires_grad"] else node["tensor"]
    if kind == "scalar" and node["type"] in ("NoneType", "bool", "int", "float", "str"):
        return node["value"]
    if kind == "list" and node["type"] in ("list", "tuple"):
        items = [thawed(item) for item in node["items"]]
        return items if node["type"] == "list" else tuple(items)
    if kind == "dict" and node["type"] == "dict":
        return {key: thawed(item) for key, item in node["items"].items()}
    raise ValueError(f"{node['type']} cannot be written to a file")
