"""The program that a reproducer consists of, as text; `Reproducers` fills in what it is about."""

from __future__ import annotations

PROGRAM = '''"""<difference>

Written by compilefix verify. It needs torch and the project, not compilefix:

    python run.py    # runs the original and the patched code, each in a process of its own, and prints what they do
"""

import importlib.abc
import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ABOUT = <settings>


class Served(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Serves the changed files in place of those of the project."""

    def __init__(self, side):
        self.texts = {os.path.realpath(HERE / path): HERE / side / name for path, name in ABOUT["files"].items()}
        self.asking = False

    def find_spec(self, name, path=None, target=None):
        if self.asking:
            return None
        self.asking = True
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        finally:
            self.asking = False
        origin = spec.origin if spec else ABOUT["new"].get(name) and str(HERE / ABOUT["new"][name])
        if origin and os.path.realpath(origin) in self.texts:
            return importlib.util.spec_from_file_location(
                name, origin, loader=self, submodule_search_locations=spec.submodule_search_locations if spec else None
            )
        return None

    def get_filename(self, name):
        return sys.modules[name].__spec__.origin

    def exec_module(self, module):
        text = self.texts[os.path.realpath(module.__spec__.origin)].read_text(encoding="utf-8")
        exec(compile(text, module.__spec__.origin, "exec"), vars(module))

    def get_data(self, path):
        return self.texts[os.path.realpath(path)].read_bytes()


def workload():
    root = (HERE / ABOUT["root"]).resolve()
    os.chdir(root)
    sys.path.insert(0, str(root))
    place = ABOUT["place"]
    if place.endswith(".py"):
        folder, parts = (root / place).resolve().parent, [Path(place).stem]
        while (folder / "__init__.py").exists():
            parts.insert(0, folder.name)
            folder = folder.parent
        sys.path.insert(0, str(folder))
        place = ".".join(parts)
    function = getattr(importlib.import_module(place), ABOUT["function"])
    takes_device = "device" in function.__code__.co_varnames[: function.__code__.co_argcount]
    return function(device="cpu") if takes_device else function()


def main(side):
    import torch

    def seed(number):
        random.seed(number)
        torch.manual_seed(number)

    sys.meta_path.insert(0, Served(side))
    seed(ABOUT["seed"])
    target, inputs = workload()
    sets = inputs if isinstance(inputs, list) else [inputs]
    calls = [(item, {}) if isinstance(item, tuple) else ((), dict(item)) for item in sets]
    if (HERE / "inputs.pt").exists():
        calls = torch.load(HERE / "inputs.pt", weights_only=True)
    if ABOUT["mode"] == "other mode" and isinstance(target, torch.nn.Module):
        target.train(not target.training)
    if ABOUT["mode"] in ("float64", "bfloat16"):
        torch.set_default_dtype(getattr(torch, ABOUT["mode"]))
        if isinstance(target, torch.nn.Module):
            target.to(torch.get_default_dtype())
    if ABOUT["mode"] == "large parameters" and isinstance(target, torch.nn.Module):
        for parameter in target.parameters():
            parameter.data.mul_(100)
    for number, (args, kwargs) in enumerate(calls):
        seed(ABOUT["seed"] + number)
        try:
            with torch.set_grad_enabled(ABOUT["training"]):
                print(f"call {number + 1} returned", target(*args, **kwargs))
        except Exception as error:
            print(f"call {number + 1} raised {type(error).__name__}: {error}")
        print("inputs after the call:", args, kwargs)
    if isinstance(target, torch.nn.Module):
        print("buffers after the calls:", dict(target.named_buffers()))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        for side in ("original", "patched"):
            print(f"==== {side}", flush=True)
            subprocess.run([sys.executable, __file__, side], check=False)
'''
