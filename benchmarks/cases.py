"""Runs single-file cases as written and with the fixes, with inductor: graphs, values, gradients, exceptions.

    python benchmarks/cases.py --folder cases            # every *.py in the folder
    python benchmarks/cases.py --folder cases --safe     # without assumptions

A case is a file with `Before`, a module class or function, and `inputs()`, a list of argument tuples. Each arm runs in
a process of its own, compiled with inductor, on all inputs in order, against the eager original.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


def main() -> None:
    """Run all cases, or with `--arm` one arm of one case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--safe", action="store_true", help="safe fixes only")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--arm", nargs=2, type=Path, metavar=("ORIGINAL", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arm is not None:
        print(json.dumps(arm(*options.arm, options.backend)))
        return
    if options.folder is None:
        parser.error("--folder is missing")
    print("| case | graphs for each input | after | fixes | results | after | gradients | after | left |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(options.folder.glob("*.py")):
            print(row(path, Path(folder), options.safe, options.backend), flush=True)


def row(path: Path, folder: Path, safe: bool, backend: str) -> str:
    """One line of the table."""
    fixed, fixes, left = rewritten(path, folder, safe)
    before, after = (_in_process(path, file, backend) for file in (path, fixed))
    if after is None or before is None:
        return f"| {path.stem} | - | the process failed | {fixes} | - | - | - | - | {left} |"
    pairs = [f"{before[part]} | {after[part]}" for part in ("results", "gradients")]
    return f"| {path.stem} | {_graphs(before)} | {_graphs(after)} | {fixes} | {' | '.join(pairs)} | {left} |"


def rewritten(path: Path, folder: Path, safe: bool) -> tuple[Path, int, int]:
    """The case with the fixes, in a folder with the helper that they need; their number, and that of sites left."""
    from compilefix.codemods import registry
    from compilefix.fixing import engine
    from compilefix.source.config import Config
    from compilefix.source.files import SourceFile, read

    source = read(path)
    assert isinstance(source, SourceFile), source
    target = folder / path.stem
    target.mkdir()
    allowed: frozenset[str] | None = frozenset() if safe else None
    outcome = engine.run([source], Config(root=path.parent), rules=list(registry.load().values()), allowed=allowed)
    texts = {change.path.name: change.after for change in outcome.patchset}
    for name, text in {path.name: source.text, **texts}.items():
        (target / name).write_text(text, encoding="utf-8")
    fixes = sum(len(change.fixes) for change in outcome.patchset)
    return target / path.name, fixes, sum(f.fix is None and f.effect == "break" for f in outcome.findings)


def _in_process(original: Path, file: Path, backend: str) -> dict[str, Any] | None:
    command = [sys.executable, __file__, "--backend", backend, "--arm", str(original), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def _graphs(measured: dict[str, Any]) -> str:
    return ", ".join(map(str, measured["graphs"]))


def arm(original: Path, file: Path, backend: str) -> dict[str, Any]:
    """What one arm does on all inputs, compiled, beside the eager original."""
    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    sys.path.insert(0, str(file.parent))
    plain, _ = _observe(_load(original, "original"), lambda program: program, [], gradients=False)
    expected, _ = _observe(_load(original, "original"), lambda program: program, [])
    # A program that writes into its inputs does not train: it runs without gradients.
    trains = all(_failed(a[0]) == _failed(b[0]) for a, b in zip(plain, expected, strict=True))
    if not trains:
        expected = plain
    graphs: list[int] = []

    def counting(module: Any, inputs: Sequence[Any]) -> Any:
        graphs.append(1)
        return torch._dynamo.lookup_backend(backend)(module, inputs)

    compiled = _load(file, "case")

    def compile_it(program: Any) -> Any:
        wrapped = torch.compile(program, backend=counting)
        if not (file.parent / "_compile_boundary.py").exists():
            return wrapped
        return importlib.import_module("_compile_boundary").boundary(wrapped)

    found, counts = _observe(compiled, compile_it, graphs, gradients=trains)
    pairs = list(zip(expected, found, strict=True))
    failed = next((b[0][0] for a, b in pairs if _failed(b[0]) and not _failed(a[0])), None)
    return {
        "graphs": counts,
        "results": failed or ("equal" if all(_equal(a[0], b[0]) for a, b in pairs) else "different"),
        "gradients": failed or ("equal" if all(_equal([*a[1]], [*b[1]]) for a, b in pairs) else "different"),
    }


def _failed(result: Any) -> bool:
    return isinstance(result, tuple) and bool(result) and isinstance(result[0], str)


def _load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _observe(
    module: ModuleType, prepare: Callable[[Any], Any], graphs: list[int], *, gradients: bool = True
) -> tuple[list[Any], list[int]]:
    """For each input the result or exception and the gradients, and how many graphs were compiled for it."""
    import torch

    torch.manual_seed(0)
    program = prepare(module.Before() if isinstance(module.Before, type) else module.Before)
    parameters = list(program.parameters()) if isinstance(program, torch.nn.Module) else []
    observed, counts = [], []
    for arguments in module.inputs():
        torch.manual_seed(1)
        values = copy.deepcopy(arguments)
        leaves = [v for v in values if isinstance(v, torch.Tensor) and v.is_floating_point()]
        for leaf in leaves if gradients else ():
            leaf.requires_grad_()
        before = len(graphs)
        result: Any
        try:
            result = program(*values)
            total = [t.float().sum() for t in _tensors(result) if t.requires_grad]
            wanted = [*leaves, *parameters]
            grads = torch.autograd.grad(sum(total), wanted, allow_unused=True) if total and gradients else []
        except Exception as error:  # what it raises is a result
            result, grads = (type(error).__name__, str(error)), []
        counts.append(len(graphs) - before)
        observed.append((result, grads))
    return observed, counts


def _tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for item in items for tensor in _tensors(item)]


def _equal(a: Any, b: Any) -> bool:
    import torch

    if isinstance(a, torch.Tensor):
        alike = isinstance(b, torch.Tensor) and a.shape == b.shape and a.dtype == b.dtype
        # Inductor computes in float32 where eager rounds to half precision after each operation.
        rtol, atol = (2e-2, 2e-2) if a.dtype in (torch.float16, torch.bfloat16) else (1e-4, 1e-5)
        return alike and torch.allclose(a.detach(), b.detach(), rtol=rtol, atol=atol, equal_nan=True)
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(_equal(a[key], b[key]) for key in a)
    return bool(a == b)


if __name__ == "__main__":
    main()
