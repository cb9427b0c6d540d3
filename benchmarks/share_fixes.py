"""The fixes for one package, safe ones and with all assumptions, and what is reported before and after them."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compilefix.cli.inputs import Request, gather
from compilefix.codemods.finding import Finding
from compilefix.measuring.request import Overlay
from compilefix.measuring.verdict import overlays
from compilefix.source.files import SourceFile
from compilefix.source.interpreter import prepare
from compilefix.source.notebooks import parse_any

LEVELS = ("safe", "assumed")

# Of a package of thousands of files only what its chosen models are made of.
_PARTS = {
    "monai": ("losses", "metrics", "networks", "utils"),
    "diffusers": (
        "models/autoencoders",
        "models/transformers/transformer_flux.py",
        "models/unets/unet_1d.py",
        "models/unets/unet_1d_blocks.py",
        "models/embeddings.py",
        "schedulers",
    ),
    "speechbrain": ("nnet", "processing", "lobes/models/transformer"),
    "transformers": (
        "activations.py",
        "cache_utils.py",
        "masking_utils.py",
        "modeling_attn_mask_utils.py",
        "modeling_layers.py",
        "modeling_outputs.py",
        "pytorch_utils.py",
        "loss",
        "models/data2vec",
        "models/gpt2",
        "models/informer",
        "models/led",
        "models/mra",
        "models/bart",
        "models/m2m_100",
        "models/plbart",
        "models/blenderbot_small",
        "models/whisper",
        "models/detr",
        "models/perceiver",
        "integrations/moe.py",
        "models/pegasus",
        "models/pegasus_x",
        "models/fsmt",
        "models/mvp",
        "models/olmoe",
        "models/phimoe",
        "models/deepseek_v3",
        "models/dbrx",
        "models/speech_to_text",
        "models/hubert",
        "models/sew_d",
        "models/encodec",
        "models/dac",
        "models/swin",
        "models/videomae",
        "models/splinter",
        "models/timesfm",
        "models/mask2former",
        "models/xglm",
        "models/flaubert",
        "models/fastspeech2_conformer",
    ),
}


def file_of(package: str, level: str, out: Path) -> Path:
    """Where the fixes of a package are kept."""
    return out / f"fixes-{package}-{level}.json"


def fix_package(package: str, out: Path, levels: Sequence[str] = LEVELS) -> None:
    """Compute and keep the fixes for an installed package."""
    prepare()
    for level in levels:
        kept = file_of(package, level, out)
        if kept.exists():
            continue
        started = time.monotonic()
        inputs = gather(Request(paths=_paths(package), unsafe_fixes=level == "assumed"))
        outcome = inputs.run(rewrite=True)
        before, after = overlays(outcome.patchset)
        assert not before
        texts = outcome.patchset.sources()
        files = [_with_text(file, texts.get(file.path)) for file in inputs.files]
        left = inputs.run(rewrite=False, files=files).findings
        document = {
            "overlay": dataclasses.asdict(after),
            "boundary": outcome.patchset.boundary,
            "fixes": [_described(f) for f in outcome.patchset.fixes],
            "before": [_described(f) for f in outcome.findings],
            "left": [_described(f) for f in left],
        }
        kept.write_text(json.dumps(document, default=str), encoding="utf-8")
        print(
            f"{package}, {level}: {len(outcome.patchset.fixes)} fixes, {time.monotonic() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )


def folder(package: str) -> Path:
    """Where a package is installed."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))


def _paths(package: str) -> list[Path]:
    parts = [folder(package) / part for part in _PARTS.get(package, ("",))]
    return [part for part in parts if part.exists()]


def load(package: str, level: str, out: Path) -> tuple[Overlay, str | None]:
    """What is served for a package, and the name of the boundary helper; nothing for the level `none`."""
    if level == "none":
        return Overlay(), None
    from compilefix.measuring.request import NewModule

    document = json.loads(file_of(package, level, out).read_text(encoding="utf-8"))
    overlay = document["overlay"]
    return (
        Overlay(
            tuple((Path(path), text) for path, text in overlay["sources"]),
            tuple(NewModule(m["name"], Path(m["path"]), m["text"]) for m in overlay["new_modules"]),
        ),
        document["boundary"],
    )


def _with_text(file: SourceFile, text: str | None) -> SourceFile:
    if text is None:
        return file
    parsed = parse_any(file.path, text.encode(file.encoding))
    assert isinstance(parsed, SourceFile)
    return dataclasses.replace(parsed, module=file.module)


def _described(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {
        "code": finding.code,
        "path": str(Path(finding.path).resolve()),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "function": finding.function,
        "effect": finding.effect,
        "assumptions": None if finding.fix is None else list(finding.fix.assumptions),
        "declined": finding.declined,
        "message": finding.message,
    }
