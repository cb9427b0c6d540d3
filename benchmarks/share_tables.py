"""Which models are free of breaks in which arm, what is left and why, and whether results are those of the original."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import share_models
from accuracy_compare import Source
from share_fixes import LEVELS, file_of
from share_run import Place, free, options, result_of

from compilefix.measuring.parity import ASPECTS, compare
from compilefix.measuring.request import ArmResult

_ARMS = ("written", "safe", "assumed", "flags")
_LEVEL = {"written": "none", "safe": "safe", "assumed": "assumed", "flags": "assumed"}


@dataclass(frozen=True)
class Left:
    """A break site that an arm still has, with the rule that reports it and the reason why it stands."""

    path: str
    line: int
    gb: str
    source: str
    code: str
    reason: str


@dataclass
class Model:
    """One model: by arm whether it is free of breaks, what is left, and what differs from the eager original.

    same: the arms whose fixes change nothing that the model runs.
    """

    name: str
    error: str = ""
    free: dict[str, bool] = field(default_factory=dict)
    sites: dict[str, list[Left]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    differs: dict[str, list[str]] = field(default_factory=dict)
    same: list[str] = field(default_factory=list)

    @property
    def package(self) -> str:
        """The package of the model."""
        return self.name.partition("/")[0]

    def gone(self, arm: str) -> bool:
        """Whether all breaks went and every result is that of the original. Flags are set where they are needed."""
        right = self.free.get(arm, False) and not _wrong_results(self, arm)
        return right or (arm == "flags" and self.gone("assumed"))


class Reports:
    """What is reported, by file and statement, before the fixes of a level or after them."""

    def __init__(self, package: str, level: str, out: Path) -> None:
        kept = (file_of(package, one, out) for one in (LEVELS if level == "none" else (level,)))
        document = json.loads(next(file for file in kept if file.exists()).read_text(encoding="utf-8"))
        self._texts = {} if level == "none" else dict(document["overlay"]["sources"])
        self._texts |= {} if level == "none" else {m["path"]: m["text"] for m in document["overlay"]["new_modules"]}
        self._sources: dict[str, Source | None] = {}
        self._found: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        self._paths: set[str] = set()
        for finding in document["before" if level == "none" else "left"]:
            if finding["effect"] == "break":
                self._found[finding["path"], self._place(finding["path"], finding["line"])].append(finding)

    def left(self, site: Mapping[str, Any]) -> Left:
        """The site with the reason why it is there."""
        path, line = str(Path(site["path"]).resolve()), site["line"]
        found = self._found.get((path, self._place(path, line)), [])
        chosen = min(found, key=lambda f: (f["line"] != line, f["declined"] is None), default=None)
        if chosen is None:
            code, reason = "", f"not reported: {_first(site['reason'])}"
        elif chosen["declined"] is None:
            code, reason = chosen["code"], f"not applied: needs {', '.join(chosen['assumptions']) or 'nothing'}"
        else:
            code, reason = chosen["code"], chosen["declined"]
        return Left(_short(site["path"]), line, site["gb"], site["source"], code, reason)

    def _place(self, path: str, line: int) -> int:
        if path not in self._sources:
            self._sources[path] = self._source(path)
        source = self._sources[path]
        return line if source is None else source.place(line)

    def _source(self, path: str) -> Source | None:
        source = Source(Path(path))
        if path in self._texts:
            source.__dict__["text"] = self._texts[path]
        elif not Path(path).is_file() or not path.endswith(".py"):
            return None
        return source


def tables(out: Path, markdown: Path | None, json_path: Path | None) -> int:
    """Judge all results in a folder, print the tables, and write them."""
    reports: dict[tuple[str, str], Reports] = {}
    models = []
    for name in share_models.chosen():
        model = Model(name)
        for arms in (("eager",), ("written",), ("assumed", "flags")):
            if not any(result_of(name, arm, out).exists() for arm in arms):
                model.error = f"not run ({arms[0]})"
        if not model.error:
            _judge(model, out, reports)
            if model.free.get("written"):
                model.error = "does not break as written"
        models.append(model)
    text = _markdown([m for m in models if not m.error], [m for m in models if m.error])
    print(text)
    if markdown is not None:
        markdown.write_text(text + "\n", encoding="utf-8")
    if json_path is not None:
        document = {"version": 1, "models": [asdict(m) for m in models]}
        json_path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _judge(model: Model, out: Path, reports: dict[tuple[str, str], Reports]) -> None:
    eager = load(model.name, "eager", out)
    written = load(model.name, "written", out)
    if "error" in eager or "error" in written:
        model.error = eager.get("error") or written["error"]
        return
    for arm in _ARMS:
        if not result_of(model.name, arm, out).exists():
            continue
        result = load(model.name, arm, out)
        model.free[arm] = free(result)
        if arm != "written" and result.get("key") == "written":
            model.same.append(arm)
        level = _LEVEL[arm]
        reported = reports.get((model.package, level)) or Reports(model.package, level, out)
        reports[model.package, level] = reported
        sites: dict[tuple[str, int, str], Left] = {}
        if "error" in result:
            model.failed[arm] = result["error"]
        for mode, data in result.get("modes", {}).items():
            if data["error"]:
                model.failed[arm] = f"{mode}: {_first(data['error'])}"
            for site in data["break_sites"]:
                left = reported.left(site)
                sites[left.path, left.line, left.gb] = left
            differs = difference(eager, written, result, mode)
            if differs:
                model.differs.setdefault(arm, []).append(f"{mode}: {differs}")
        model.sites[arm] = list(sites.values())


def difference(
    eager: Mapping[str, Any], written: Mapping[str, Any] | None, result: Mapping[str, Any], mode: str
) -> str | None:
    """How a mode differs from the eager original; None where it does not, or where there is nothing to compare.

    written: the original compiled, which may round otherwise than the original itself.
    """
    reference, arm = ArmResult.from_dict(eager["modes"][mode]), ArmResult.from_dict(result["modes"][mode])
    compiled = written is not None and mode in written["modes"]
    baseline = ArmResult.from_dict(written["modes"][mode]) if written is not None and compiled else ArmResult()
    if reference.error is not None:
        return None
    if arm.error is not None:
        return f"failed: {_first(arm.error)}"
    if not reference.observations or not reference.observations.exists():
        return None
    parity = compare(reference, arm, baseline if baseline.observations else None, options(mode, Place()))
    first = parity.first_difference
    if first is None:
        return None
    wrong = [a for a in ASPECTS if a != first.aspect and getattr(parity, a) in ("different", "error")]
    also = f" (and {', '.join(wrong)})" if wrong else ""
    return _first(f"{first.aspect}, {first.place}: {first.text}") + also


def load(name: str, arm: str, out: Path) -> dict[str, Any]:
    """The kept result of an arm of a model."""
    document: dict[str, Any] = json.loads(result_of(name, arm, out).read_text(encoding="utf-8"))
    return document


def _first(text: str) -> str:
    line = next(iter(text.strip().splitlines()), "")
    return line if len(line) < 200 else line[:200] + "..."


def _short(path: str) -> str:
    return path.partition("site-packages/")[2] or Path(path).name


def _markdown(models: list[Model], not_run: list[Model]) -> str:
    parts = [_summary(models), _by_package(models), _by_rule(models), _wrong(models), _by_model(models), _left(models)]
    if not_run:
        parts.append("Not run: " + "; ".join(f"{m.name} ({m.error})" for m in not_run))
    return "\n\n".join(part for part in parts if part)


def _summary(models: list[Model]) -> str:
    lines = ["| | models free of breaks, results equal | share | wrong results |", "|---|---|---|---|"]
    for arm, title in _TITLES.items():
        if not any(arm in m.free for m in models):
            continue
        gone = sum(m.gone(arm) for m in models)
        wrong = sum(bool(_wrong_results(m, arm)) for m in models)
        lines.append(f"| {title} | {gone} of {len(models)} | {gone / len(models):.0%} | {wrong} |")
    return "\n".join(lines)


_TITLES = {
    "safe": "safe fixes",
    "assumed": "all assumptions",
    "flags": "all assumptions and capture flags",
}


def _wrong_results(model: Model, arm: str) -> list[str]:
    """What differs from the eager original; not what differs as written in the same way, with the same words.

    An arm that changes nothing that the model runs is the arm as written.
    """
    if arm in model.same:
        return []
    own = model.differs.get("written", [])
    return [d for d in model.differs.get(arm, []) if d not in own]


def _by_package(models: list[Model]) -> str:
    lines = [
        "| package | models | safe fixes | assumptions | and flags | sites as written | safe | assumptions |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for package in sorted({m.package for m in models}):
        own = [m for m in models if m.package == package]
        gone = [str(sum(m.gone(arm) for m in own)) for arm in ("safe", "assumed", "flags")]
        sites = [str(len(_unique(own, arm))) for arm in ("written", "safe", "assumed")]
        lines.append(f"| {package} | {len(own)} | {' | '.join(gone)} | {' | '.join(sites)} |")
    return "\n".join(lines)


def _unique(models: Iterable[Model], arm: str) -> list[Left]:
    return list({(s.path, s.line, s.gb): s for m in models for s in m.sites.get(arm, [])}.values())


def _by_rule(models: list[Model]) -> str:
    lines = ["| rule | sites as written | safe | assumptions |", "|---|---|---|---|"]
    counted = {arm: Counter(s.code for s in _unique(models, arm)) for arm in ("written", "safe", "assumed")}
    for code in sorted({c for counts in counted.values() for c in counts}, key=lambda c: c or "~"):
        numbers = " | ".join(str(counted[arm][code]) for arm in counted)
        lines.append(f"| {code or 'not reported'} | {numbers} |")
    return "\n".join(lines)


def _wrong(models: list[Model]) -> str:
    lines = []
    for model in models:
        for arm in _TITLES:
            lines += [f"- {model.name}, {_TITLES[arm]}: {d}" for d in _wrong_results(model, arm)]
    same = [m.name for m in models if m.differs.get("written")]
    text = "Results that differ from the eager original:\n\n" + "\n".join(lines) if lines else ""
    return text + (f"\n\nDiffer as written already: {', '.join(same)}." if same else "")


def _by_model(models: list[Model]) -> str:
    lines = ["| model | sites as written | safe | assumptions | and flags |", "|---|---|---|---|---|"]
    for model in models:
        cells = [str(len(model.sites["written"]))]
        for arm in ("safe", "assumed", "flags"):
            count = len(model.sites.get(arm, []))
            cells.append("free" if model.gone(arm) else model.failed.get(arm, "")[:60] or f"{count} left")
        lines.append(f"| {model.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _left(models: list[Model]) -> str:
    """What is left with all assumptions, by reason: how many models it blocks, and the places."""
    blocked: dict[tuple[str, str], set[str]] = defaultdict(set)
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    for model in models:
        if model.gone("flags"):
            continue
        for site in model.sites.get("flags") or model.sites.get("assumed", []):
            key = site.code or "not reported", _general(site.reason)
            blocked[key].add(model.name)
            places[key].add(f"`{site.source.replace('|', chr(92) + '|')[:90]}` ({site.path}:{site.line}, {site.gb})")
    lines = ["| rule | reason | models | places |", "|---|---|---|---|"]
    for key in sorted(blocked, key=lambda k: (-len(blocked[k]), k)):
        where = "<br>".join(sorted(places[key]))
        lines.append(f"| {key[0]} | {key[1].replace('|', chr(92) + '|')} | {len(blocked[key])} | {where} |")
    return "\n".join(lines)


def _general(reason: str) -> str:
    return re.sub(r"`[^`]*`", "`...`", reason)
