"""Jupyter notebooks: their code cells as one module, and the way back into the cells.

The cells stand in the module one below the other, each under a comment that marks it, and lines that only IPython
understands are calls there. Writing puts changed cells into the JSON text and leaves every other byte as it was.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compilefix.source.files import NOTEBOOK_SUFFIX, SourceError, SourceFile, display_path, parse, syntax_tree

_PYTHON_CELL_MAGICS = frozenset({"capture", "prun", "time", "timeit"})
_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
_LINE_MAGIC = re.compile(r"(?P<indent>\s*)(?P<target>[\w.,\s\[\]]+=\s*)?(?P<magic>[%!]\S.*|\?{1,2}\S.*)$")
_HELP = re.compile(r"(?P<indent>\s*)[%\w.*]+\?{1,2}\s*$")
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells (from 1), its source, and where that stands.

    `start` and `end` frame the JSON value in the notebook's text; `line` is the cell's first line in the module.
    """

    number: int
    source: str
    start: int
    end: int
    line: int


@dataclass(frozen=True)
class Notebook(SourceFile):
    """A notebook as a module. `raw` is the text of the file, `stand_ins` the lines that stand for IPython's own."""

    raw: str = ""
    cells: tuple[Cell, ...] = ()
    stand_ins: tuple[str, ...] = ()
    mark: str = ""
    original: str = field(default="", repr=False)

    def encoded(self, text: str) -> bytes:
        """The notebook with the cells as they are in `text`. Raises ValueError where cells cannot be told apart."""
        raw = self.raw
        if text != self.original:
            for cell, source in reversed(list(zip(self.cells, self._split(text), strict=True))):
                if source != cell.source:
                    raw = raw[: cell.start] + _json_source(raw, cell, source) + raw[cell.end :]
        return raw.encode(self.encoding)

    def cell_at(self, line: int) -> Cell | None:
        """The cell in which a line of the module stands."""
        return next((cell for cell in reversed(self.cells) if cell.line <= line), None)

    def _split(self, text: str) -> list[str]:
        parts = re.split(rf"^# %% {self.mark} (\d+)\n", text, flags=re.MULTILINE)
        numbers = [int(number) for number in parts[1::2]]
        found = [int(number) for number in re.findall(rf"# {self.mark}:(\d+)$", text, re.MULTILINE)]
        if parts[0] or numbers != [cell.number for cell in self.cells] or found != [*range(len(self.stand_ins))]:
            raise ValueError("the cells cannot be told apart in the new text")
        sources = []
        for cell, part in zip(self.cells, parts[2::2], strict=True):
            lines = re.sub(
                rf"^.*# {self.mark}:(\d+)$", lambda found: self.stand_ins[int(found[1])], part, flags=re.MULTILINE
            )
            if _CELL_MAGIC.match(cell.source):
                lines = _with_first(lines, cell.source.partition("\n")[0])
            ends = cell.source.endswith("\n") or not lines
            sources.append(lines if ends else lines.removesuffix("\n"))
        return sources


def parse_any(path: Path, data: bytes) -> SourceFile | SourceError:
    """The notebook or, as the name of `path` says, the Python file that `data` holds."""
    return parse_notebook(path, data) if path.suffix == NOTEBOOK_SUFFIX else parse(path, data)


def parse_notebook(path: Path, data: bytes) -> SourceFile | SourceError:
    """The notebook that `data` holds, or why it cannot be looked at. One in another language has no code cells."""
    shown = display_path(path)
    try:
        raw = data.decode("utf-8")
        content = json.loads(raw)
    except UnicodeDecodeError as error:
        return SourceError(shown, f"is not valid utf-8: {error.reason}", data.count(b"\n", 0, error.start) + 1)
    except json.JSONDecodeError as error:
        return SourceError(shown, f"is not a notebook: {error.msg}", error.lineno)
    except RecursionError:
        return SourceError(shown, "is nested too deeply to be parsed")
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        return SourceError(shown, "is not a notebook of format 4 or newer")
    try:
        found = list(_code_cells(raw)) if _is_python(content) else []
    except (AttributeError, KeyError, TypeError, ValueError):
        return SourceError(shown, "is not a valid notebook")
    mark = "compilefix-" + hashlib.sha256(data).hexdigest()[:12]
    lines = 1
    stand_ins: list[str] = []
    cells: list[Cell] = []
    parts: list[str] = []
    for number, source, start, end in found:
        text = _as_python(source, mark, stand_ins)
        problem = syntax_tree(text, shown)
        if isinstance(problem, SourceError):
            place = f", line {problem.line}" if problem.line else ""
            return SourceError(shown, f"cell {number}{place}: {problem.message}")
        part = text if text.endswith("\n") or not text else text + "\n"
        cells.append(Cell(number, source, start, end, lines + 1))
        parts.append(f"# %% {mark} {number}\n{part}")
        lines += 1 + part.count("\n")
    module = "".join(parts)
    return Notebook(
        path=path,
        # Nothing imports a notebook, so that it must not take the name of the module beside it.
        module=f"{path.stem} (notebook)".replace(".", "_"),
        text=module,
        raw=raw,
        cells=tuple(cells),
        stand_ins=tuple(stand_ins),
        mark=mark,
        original=module,
    )


def _with_first(text: str, magic: str) -> str:
    """A cell with the line that must be its first one there, should something have come above it."""
    above, found, below = f"\n{text}".partition(f"\n{magic}")
    return f"{magic}\n{above.strip()}{below}" if found and above.strip() else text


def _is_python(content: dict[str, object]) -> bool:
    metadata = content.get("metadata")
    named = []
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            named.append(part[name].lower())
    return all(name.startswith(("python", "ipython")) for name in named)


def _as_python(source: str, mark: str, stand_ins: list[str]) -> str:
    """A cell with calls in the place of the lines that only IPython understands; each keeps its line."""
    lines = source.split("\n")
    magic = _CELL_MAGIC.match(source)

    def stand_in(index: int, code: str) -> None:
        stand_ins.append(lines[index])
        lines[index] = f"{code}# {mark}:{len(stand_ins) - 1}"

    if magic is not None and magic[1] not in _PYTHON_CELL_MAGICS:
        # No statement, so that no import comes to stand in it.
        for index in range(len(lines)):
            stand_in(index, "")
        return "\n".join(lines)
    if magic is not None:
        stand_in(0, "get_ipython()  ")
    if _parses("\n".join(lines)):
        return "\n".join(lines)
    continued = False
    indent = ""
    for index, line in enumerate(lines):
        found = _LINE_MAGIC.match(line) or _HELP.match(line)
        if continued:
            continued = line.endswith("\\")
            stand_in(index, indent)
        elif found is not None:
            indent = found["indent"]
            continued = line.endswith("\\")
            stand_in(index, f"{indent}{found.groupdict().get('target') or ''}get_ipython()  ")
    return "\n".join(lines)


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _code_cells(raw: str) -> Iterator[tuple[int, str, int, int]]:
    """Number, source, start and end of each code cell."""
    top = {key: start for key, start, _ in _members(raw, _skip(raw, 0))}
    for number, (start, _) in enumerate(_elements(raw, top["cells"]), 1):
        members = {key: (begin, end) for key, begin, end in _members(raw, start)}
        if json.loads(raw[slice(*members["cell_type"])]) == "code":
            begin, end = members["source"]
            source = json.loads(raw[begin:end])
            text = source if isinstance(source, str) else "".join(source)
            yield number, text, begin, end


def _members(raw: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Key, start and end of each value of the object at `start`."""
    decoder = json.JSONDecoder()
    if raw[start] != "{":
        raise ValueError("no object")
    position = _skip(raw, start + 1)
    while raw[position] != "}":
        key, position = decoder.raw_decode(raw, position)
        begin = _skip(raw, _skip(raw, position) + 1)
        _, end = decoder.raw_decode(raw, begin)
        yield key, begin, end
        position = _skip(raw, end)
        if raw[position] == ",":
            position = _skip(raw, position + 1)


def _elements(raw: str, start: int) -> Iterator[tuple[int, int]]:
    """Start and end of each element of the array at `start`."""
    decoder = json.JSONDecoder()
    if raw[start] != "[":
        raise ValueError("no array")
    position = _skip(raw, start + 1)
    while raw[position] != "]":
        _, end = decoder.raw_decode(raw, position)
        yield position, end
        position = _skip(raw, end)
        if raw[position] == ",":
            position = _skip(raw, position + 1)


def _skip(raw: str, position: int) -> int:
    found = _SPACE.match(raw, position)
    return position if found is None else found.end()


def _json_source(raw: str, cell: Cell, source: str) -> str:
    """The new source of a cell as JSON, in the layout of the old one; lines that stay keep their spelling."""
    ascii_only = raw.isascii()
    if raw[cell.start] != "[":
        return json.dumps(source, ensure_ascii=ascii_only)
    places = list(_elements(raw, cell.start))
    spelled = {json.loads(raw[begin:end]): raw[begin:end] for begin, end in places}
    lines = [spelled.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in _lines(source)]
    first = raw[cell.start + 1 : places[0][0]] if places else ""
    between = raw[places[0][1] : places[1][0]] if len(places) > 1 else "," + first
    last = raw[places[-1][1] : cell.end - 1] if places else ""
    return "[" + first + between.join(lines) + last + "]"


def _lines(source: str) -> Sequence[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", source)
