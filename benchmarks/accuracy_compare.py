"""Compares what `compilefix check` reports with where Dynamo broke, and writes the tables."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import accuracy_models

from compilefix.codemods.registry import load as load_rules

Position = tuple[int, int, int, int]

# Ids that stand for many causes: a rule covers a site with one only where the reason or the line names what it covers.
_BROAD = {
    "GB0007": re.compile(r"warnings?\.warn|\bwarn\(|(?<!torch\.)\brandom\b|logger|logging"),
    "GB0291": re.compile(r"logger|logging|log\w*\.(?:debug|info|warn|error)", re.IGNORECASE),
    "GB4841": re.compile(r"logger|logging", re.IGNORECASE),
    "GB0156": re.compile(r"random|\brng\b|numpy|\bnp\.", re.IGNORECASE),
    "GB0055": re.compile(r"numpy|\bnp\."),
    "GB0294": re.compile(r"numpy|\bnp\."),
}
_FALLOUT = "GB7000"  # a whole function is given up; its cause has a site of its own


@dataclass
class Source:
    """One analysed file: its statements, for deciding what is in the same place."""

    path: Path

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def by_span(self) -> dict[Position, list[ast.AST]]:
        """All statements and expressions by their position, outer ones first."""
        found: dict[Position, list[ast.AST]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt | ast.expr):
                found[node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0].append(node)
        return found

    @cached_property
    def places(self) -> dict[int, int]:
        """For each line the first line of the statement, or of the head of the compound statement, that it is in.

        The heads of an `if` chain are one place.
        """
        found: dict[int, int] = {}
        self._places(self.tree.body, found)
        return found

    def _places(self, body: Iterable[ast.stmt], found: dict[int, int], chain: int | None = None) -> None:
        for node in body:
            first = chain or node.lineno
            inner = [s for name in ("body", "orelse", "finalbody") for s in getattr(node, name, [])]
            handlers = getattr(node, "handlers", []) + getattr(node, "cases", [])
            inner += [s for handler in handlers for s in handler.body]
            if inner:
                nested = min(s.lineno for s in inner)
                end = max((n.end_lineno or 0 for n in _heads(node)), default=node.lineno)
                last = min(end, nested - 1) if nested > node.lineno else end
                for line in range(node.lineno, max(node.lineno, last) + 1):
                    found[line] = first
            else:
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    found[line] = first
            if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                self._places(node.body, found)
                self._places(node.orelse, found, first)
            else:
                self._places(inner, found)

    def place(self, line: int) -> int:
        """The statement that a line belongs to."""
        return self.places.get(line, line)

    def offset(self, line: int, column: int) -> int:
        """The UTF-8 offset for a column from 1 in characters."""
        text = self.text.split("\n")[line - 1]
        return len(text[: column - 1].encode())

    def evaluated(self, finding: Mapping[str, Any], traced: frozenset[Position]) -> bool:
        """Whether all that makes up the finding was traced: a call up to its end, a condition with all its parts."""
        start = (finding["line"], self.offset(finding["line"], finding["column"]))
        end = (finding["end_line"], self.offset(finding["end_line"], finding["end_column"]))
        nodes = self.by_span.get((*start, *end), [])
        node = nodes[0] if nodes else None
        if isinstance(node, ast.Expr):
            node = node.value
        parts = _deciding(node) if node is not None else []
        if not parts:
            return any(p[0] == finding["line"] for p in traced)
        ends = {(p[2], p[3]): p for p in sorted(traced)}
        return all(
            any((p[2], p[3]) == _end(part) and (p[0], p[1]) >= (part.lineno, part.col_offset) for p in traced)
            if _end(part) in ends
            else False
            for part in parts
        )


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _heads(node: ast.stmt) -> list[ast.expr]:
    """The expressions in the head of a compound statement."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [node.iter]
    if isinstance(node, ast.With | ast.AsyncWith):
        return [item.context_expr for item in node.items]
    return []


def _deciding(node: ast.AST) -> list[ast.expr]:
    """The expressions that must have been evaluated for a finding at a node to be confirmed or refuted."""
    if isinstance(node, ast.If):
        tests = _leaves(node.test)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            tests += _deciding(node.orelse[0])
        return tests
    if isinstance(node, ast.While | ast.IfExp | ast.Assert):
        return _leaves(node.test)
    if isinstance(node, ast.BoolOp):
        return [leaf for value in node.values[:-1] for leaf in _leaves(value)]
    if isinstance(node, ast.UnaryOp):
        return _leaves(node.operand)
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, ast.Call) and any(isinstance(a, ast.GeneratorExp | ast.ListComp) for a in node.args):
        return [node]
    return [node] if isinstance(node, ast.expr) else []


def _leaves(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp):
        return [leaf for value in node.values for leaf in _leaves(value)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _leaves(node.operand)
    return [] if isinstance(node, ast.Constant) else [node]


@dataclass
class Tally:
    """Counts of one package, or of one rule or id."""

    confirmed: int = 0
    refuted: int = 0
    found: int = 0
    missed: int = 0
    models: int = 0
    apart: int = 0

    def __iadd__(self, other: Tally) -> Tally:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def row(self, name: str) -> str:
        """A line of a Markdown table."""
        reported, sites = self.confirmed + self.refuted, self.found + self.missed
        return (
            f"| {name} | {self.models or ''} | {reported} | {self.confirmed} | {_share(self.confirmed, reported)} "
            f"| {sites} | {self.found} | {_share(self.found, sites)} | {self.apart} |"
        )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


@dataclass
class Comparison:
    """All that was compared. The lists hold `(package, path, line, code or id, text)`."""

    by_package: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    by_rule: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    by_id: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    wrong: list[dict[str, Any]] = field(default_factory=list)
    missed: list[dict[str, Any]] = field(default_factory=list)
    apart: list[dict[str, Any]] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> Tally:
        """The sum over all packages."""
        total = Tally()
        for tally in self.by_package.values():
            total += tally
        return total


def compare(out: Path, markdown: Path | None, json_path: Path | None, again: bool, groups: tuple[str, ...]) -> int:
    """Compare all results in a folder, print the tables, and write them."""
    results = {n: json.loads(p.read_text()) for n in accuracy_models.load() if (p := _result(out, n)).exists()}
    chosen = {group: {n: r for n, r in results.items() if accuracy_models.group(n) == group} for group in groups}
    wanted = {n for part in chosen.values() for n in part}
    site_packages = _site_packages(results)
    packages = sorted({name.partition("/")[0] for name in wanted if "error" not in results[name]})
    findings = _check(packages, site_packages, out, again)
    compared = {group: _compare(chosen[group], findings, site_packages, packages) for group in groups}
    text = "\n\n".join(_markdown(group, compared[group]) for group in groups)
    print(text)
    if markdown is not None:
        markdown.write_text(text + "\n", encoding="utf-8")
    if json_path is not None:
        json_path.write_text(json.dumps({p: _document(c) for p, c in compared.items()}, indent=1), encoding="utf-8")
    return 0


def _result(out: Path, name: str) -> Path:
    return out / (name.replace("/", "__").replace(" ", "_") + ".json")


def _site_packages(results: Mapping[str, Any]) -> Path:
    counted = Counter(
        path.partition("site-packages")[0] + "site-packages"
        for result in results.values()
        for path in result.get("positions", {})
        if "site-packages" in path
    )
    return Path(counted.most_common(1)[0][0])


def _check(packages: list[str], site_packages: Path, out: Path, again: bool) -> dict[str, list[dict[str, Any]]]:
    """What `compilefix check` reports for each package, checked alone, at the default rule set."""

    def one(package: str) -> list[dict[str, Any]]:
        kept = out / f"check-{package}.json"
        if again or not kept.exists():
            command = [
                *shlex.split(os.environ.get("COMPILEFIX", f"{sys.executable} -m compilefix")),
                "check",
                str(_folder(package, site_packages)),
                "--output-format",
                "json",
                "--exit-zero",
                "--quiet",
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=out)
            if done.returncode not in (0, 1, 2) or not done.stdout:
                raise RuntimeError(f"check failed on {package}: {done.stderr[-500:]}")
            kept.write_text(done.stdout, encoding="utf-8")
        found: list[dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8"))["findings"]
        return found

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(packages, pool.map(one, packages), strict=True))


def _folder(package: str, site_packages: Path) -> Path:
    """Where a package is installed: its folder, or its only file."""
    for base in [site_packages, *map(Path, sys.path)]:
        if (base / package).is_dir() and any((base / package).glob("**/*.py")):
            return base / package
        if (base / f"{package}.py").is_file():
            return base / f"{package}.py"
    raise FileNotFoundError(package)


def _compare(
    results: Mapping[str, Any], findings: Mapping[str, list[dict[str, Any]]], site_packages: Path, packages: list[str]
) -> Comparison:
    compared = Comparison()
    traced: dict[str, set[Position]] = defaultdict(set)
    sites: dict[tuple[str, int, str], dict[str, Any]] = {}
    for name, result in results.items():
        if "error" in result:
            compared.not_run[name] = result["error"]
            continue
        compared.by_package[name.partition("/")[0]].models += 1
        for path, positions in result["positions"].items():
            traced[path].update(tuple(p) for p in positions)  # type: ignore[misc]
        for site in result["sites"]:
            # A line of several breaks of one kind is one site.
            sites.setdefault((site["path"], site["line"], site["gb"]), {**site, "model": name})
    checked = {str(_folder(p, site_packages)): p for p in packages}
    sources = {path: Source(Path(path)) for path in {*traced, *(s["path"] for s in sites.values())}}
    covered = {gb for rule in load_rules().values() for gb in rule.gb}
    reported: dict[str, dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    by_path: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for package in packages:
        for finding in findings[package]:
            path = str(Path(finding["path"]).resolve())
            if finding["effect"] == "break" and path in sources:
                by_path[path].append(finding)
                reported[path][sources[path].place(finding["line"])].append(finding)
    broken: dict[str, set[int]] = defaultdict(set)
    for site in sites.values():
        path = site["path"]
        package = next((p for folder, p in checked.items() if Path(path).is_relative_to(folder)), "")
        place = sources[path].place(site["line"]) if path.endswith(".py") and Path(path).exists() else site["line"]
        broken[path].add(place)
        site["package"], site["source"] = package, _line(sources[path], site["line"])
        matched = bool(reported[path].get(place))
        reason = _no_rule(site, covered)
        if not package:
            reason = "not in a checked package"
        if reason is not None and not matched:
            compared.apart.append({**site, "why": reason})
            if package:
                compared.by_package[package].apart += 1
            continue
        for tally in (compared.by_package[package], compared.by_id[site["gb"]]):
            tally.found += matched
            tally.missed += not matched
        if not matched:
            compared.missed.append(site)
    for path, found in by_path.items():
        package = next(p for folder, p in checked.items() if Path(path).is_relative_to(folder))
        for finding in found:
            confirmed = sources[path].place(finding["line"]) in broken[path]
            if not confirmed and not sources[path].evaluated(finding, frozenset(_near(traced[path], finding))):
                continue
            for tally in (compared.by_package[package], compared.by_rule[finding["code"]]):
                tally.confirmed += confirmed
                tally.refuted += not confirmed
            if not confirmed:
                compared.wrong.append({**finding, "package": package, "source": _line(sources[path], finding["line"])})
    return compared


def _near(traced: set[Position], finding: Mapping[str, Any]) -> Iterator[Position]:
    # The head of an `if` chain may be far below its first line.
    return (p for p in traced if finding["line"] <= p[0] <= finding["end_line"])


def _no_rule(site: Mapping[str, Any], covered: set[str]) -> str | None:
    """Why no rule is meant to find a site; None where one is."""
    gb = site["gb"]
    if gb == _FALLOUT:
        return "the function is given up for a break that has a site of its own"
    if gb not in covered:
        return "no rule for this id"
    pattern = _BROAD.get(gb)
    reason = site["reason"].replace("(e.g. _warnings.warn)", "")
    if pattern is not None and not pattern.search(f"{reason}\n{site['source']}"):
        return "no rule for this cause"
    return None


def _line(source: Source, line: int) -> str:
    try:
        return source.text.split("\n")[line - 1].strip()
    except (OSError, IndexError):
        return ""


_TITLES = {
    "improved-on": "Models that the analysis was improved on",
    "held-out": "Held-out models",
    "unseen": "Models of packages that were first run in the end",
    "latest": "Models of packages that were first run after that",
    "fifth": "Models of packages that were first run last",
    "sixth": "Models of thirteen packages that were chosen after all the others",
    "seventh": "Models of fourteen packages that were chosen after those",
    "eighth": "Models of fifteen packages that were chosen in the end",
    "ninth": "Models of fifteen packages that were chosen last",
    "tenth": "Models of nineteen packages that were chosen after the ninth group",
    "eleventh": "Models of eleven packages that were chosen after the work on the tenth group",
    "twelfth": "Models of twenty packages that were chosen after the eleventh group",
    "thirteenth": "Models of sixteen packages that were chosen after the twelfth group",
    "fourteenth": "Models of fifteen packages that were chosen after the thirteenth group",
    "after-fourteenth": "Models of three packages that were chosen after the work on the fourteenth group",
    "fifteenth": "Models of thirteen packages that were chosen after all of the fourteenth group",
    "after-fifteenth": "Models of three packages that were run after the work on the fifteenth group",
    "sixteenth": "Models of eleven packages that were chosen after all of the fifteenth group",
    "after-sixteenth": "Models of five packages that were run after the work on the sixteenth group",
    "seventeenth": "Models of twelve packages that were chosen after all of the sixteenth group",
    "after-seventeenth": "Models of five packages that were run after the work on the seventeenth group",
    "eighteenth": "Models of ten packages that were chosen after all of the seventeenth group",
    "after-eighteenth": "Models of five packages that were run after the work on the eighteenth group",
    "nineteenth": "Models of ten well-known packages that were chosen after all of the eighteenth group",
    "after-nineteenth": "Models of packages that were run after the work on the nineteenth group",
    "twentieth": "Models of nine packages that were chosen after all of the nineteenth group",
    "after-twentieth": "Models of packages that were run after the work on the twentieth group",
    "twenty-first": "Models of eight packages that were chosen after all of the twentieth group",
    "after-twenty-first": "Models of packages that were run after the work on the twenty-first group",
    "twenty-second": "Models of nine packages that were chosen after all of the twenty-first group",
    "after-twenty-second": "Models of packages that were run after the work on the twenty-second group",
    "twenty-third": "Models of nine packages that were chosen after all of the twenty-second group",
    "after-twenty-third": "Models of packages that were run after the work on the twenty-third group",
    "twenty-fourth": "Models of nine packages that were chosen after all of the twenty-third group",
    "after-twenty-fourth": "Models of packages that were run after the work on the twenty-fourth group",
    "twenty-fifth": "Models of ten packages that were chosen after all of the twenty-fourth group",
    "after-twenty-fifth": "Models of packages that were run after the work on the twenty-fifth group",
    "twenty-sixth": "Models of packages that were chosen after all of the twenty-fifth group",
    "twenty-seventh": "Models of five packages that were chosen after the twenty-sixth group was begun",
    "twenty-eighth": "Models of seven packages that were chosen after all of the twenty-seventh group",
    "twenty-ninth": "Models of packages that were chosen after all of the twenty-eighth group",
    "thirtieth": "Models of nine packages that were chosen after all of the twenty-ninth group",
    "thirty-first": "Models of ten packages that were chosen after all of the thirtieth group",
}


def _markdown(group: str, compared: Comparison) -> str:
    columns = ("", "models", "reported", "confirmed", "precision", "break sites", "reported", "recall", "apart")
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"
    lines = [f"## {_TITLES[group]}", "", head]
    lines += [tally.row(name) for name, tally in sorted(compared.by_package.items())]
    lines += [compared.total.row("**all**"), "", "By rule:", "", head]
    lines += [tally.row(code) for code, tally in sorted(compared.by_rule.items())]
    lines += ["", "By graph-break id:", "", head]
    lines += [tally.row(gb or "none") for gb, tally in sorted(compared.by_id.items())]
    lines += ["", "Reported, run, and not confirmed:", ""]
    lines += [f"- {_where(f)}: {f['code']} `{f['source'][:110]}`" for f in sorted(compared.wrong, key=_where)]
    lines += ["", "Break sites that are not reported:", ""]
    lines += [f"- {_where(s)}: {s['gb']} `{s['source'][:110]}`" for s in sorted(compared.missed, key=_where)]
    lines += ["", "Break sites apart:", ""]
    counted = Counter((s["why"], s["gb"], s["reason"].partition(":")[0]) for s in compared.apart)
    for (why, gb, reason), count in counted.most_common():
        lines.append(f"- {count} times {gb or 'without id'} {reason}: {why}")
    if compared.not_run:
        lines += ["", f"Not run ({len(compared.not_run)}): " + ", ".join(sorted(compared.not_run)) + "."]
    return "\n".join(lines)


def _where(item: Mapping[str, Any]) -> str:
    path = item["path"].partition("site-packages/")[2] or Path(item["path"]).name
    return f"{path}:{item['line']}"


def _document(compared: Comparison) -> dict[str, Any]:
    return {
        "total": vars(compared.total),
        "packages": {n: vars(t) for n, t in sorted(compared.by_package.items())},
        "rules": {n: vars(t) for n, t in sorted(compared.by_rule.items())},
        "ids": {n: vars(t) for n, t in sorted(compared.by_id.items())},
        "not_confirmed": [{"at": _where(f), "code": f["code"], "source": f["source"]} for f in compared.wrong],
        "missed": [_site(s) for s in compared.missed],
        "apart": [_site(s) | {"why": s["why"]} for s in compared.apart],
        "not_run": compared.not_run,
    }


def _site(site: Mapping[str, Any]) -> dict[str, Any]:
    return {"at": _where(site), "gb": site["gb"], "reason": site["reason"].partition(":")[0], "source": site["source"]}
