"""What a docstring says of the types of parameters that have no annotation.

Read are the entries of the usual styles: `lengths : torch.Tensor` (NumPy), `lengths (Tensor, optional): ...` and
`lengths: An integer tensor of ...` (Google), `:param torch.Tensor lengths:`, `:param lengths: (torch.Tensor) ...`,
`:param lengths: tensor of ...` or `:type lengths: Tensor` (Sphinx). Text is written for people: what it says is
evidence and no proof.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from compilefix.source.definitions import Function

_TENSOR = (
    r"(?::\w+(?::\w+)?:)?`{0,2}~?(?:torch\.)?(?:cuda\.)?(?:autograd\.)?"
    r"(?:Float|Double|Half|BFloat16|Long|Int|Short|Byte|Bool)?[Tt]ensors?`{0,2}"
)
# What may follow the type: the rest of the entry, and nothing that names another type.
_ALONE = (
    r"(?=\s*(?:[):;.,\[(]|$|of\s|with\s|or\s+None|\|\s*None|shape\b|,\s*optional))"
    r"(?!\s*,?\s*(?:or|\||/)\s+(?!None\b))(?!\s*\|\s*(?!None\b))"
    r"(?!\s*,\s*(?:float|int|str|list|tuple|dict|n(?:um)?py?\b|nd?array|sequence|callable|scalar|number))"
)
# What describes a tensor before the word: `a float tensor`, `the input tensor`, `2D tensor`, `an [N x C] tensor`.
_DESCRIBED = (
    r"(?:\(?[Oo]ptional\)?,?\s+)?(?:(?:[Aa]n?|[Tt]he)\s+)?"
    r"(?:(?:[Ii]nput|[Oo]utput|[Tt]arget|[Ii]mage|[Mm]ask|[Ss]calar|[Ff]loat(?:ing)?(?:32|64)?|[Ii]nt(?:eger)?(?:32|64)?"
    r"|[Ll]ong|[Bb]ool(?:ean)?|[Pp]y[Tt]orch|(?:[1-6]\s*-\s*)?[1-6]-?[dD]|(?:[nN1-6]|one|two|three|four)[-\s]dim(?:ensional)?"
    r"|\[[^\[\]]*\])\s+){0,3}"
)
_NAMES = r"[*`\-\s]*(?P<names>\w+(?:\s*,\s*\w+)*)`{0,2}\s*"
_ENTRIES = (
    re.compile(rf"^{_NAMES}\(\s*(?:Optional\[)?{_DESCRIBED}{_TENSOR}\]?{_ALONE}"),
    re.compile(rf"^{_NAMES}:\s*\(?\s*(?:[Oo]ptional\[)?{_DESCRIBED}{_TENSOR}\]?{_ALONE}"),
    re.compile(rf"^\s*:param\s+{_TENSOR}\s+(?P<names>\w+)\s*:"),
    re.compile(rf"^\s*:param\s+(?P<names>\w+)\s*:?\s*\(\s*{_TENSOR}{_ALONE}"),
    re.compile(rf"^\s*:param\s+(?P<names>\w+)\s*:\s*{_DESCRIBED}{_TENSOR}{_ALONE}"),
    re.compile(rf"^\s*:type\s+(?P<names>\w+)\s*:\s*{_TENSOR}{_ALONE}"),
)
_BOOLEAN = re.compile(r"BoolTensor|\bbool(?:ean)?\b", re.IGNORECASE)
_LISTED = re.compile(
    rf"^\s*(?::(?:param|type)\s+)?{_NAMES}(?::\s*|\()\s*(?:[Oo]ptional\[)?`{{0,2}}"
    r"(?:list|tuple|sequence|iterable|slice|int|str)\b(?!\w*\s*[\[(]\s*(?:torch\.)?(?:Bool)?[Tt]ensor)",
    re.IGNORECASE,
)
_PICTURE = re.compile(r"^\s*(?P<name>\w+)\s*(?P<type>[({][^)}]*\bPIL\b[^)}]*[)}])")
_GIVES = re.compile(r"^\s*Returns?\s*:?\s*$")
_GIVEN = re.compile(rf"^\s*(?:\w+\s*:\s*)?\(?\s*{_DESCRIBED}{_TENSOR}{_ALONE}")
_RESULTS = re.compile(r"^\s*(?:Returns?|Yields?|Outputs?|Examples?|Attributes|Raises)\s*:?\s*$")


def tensor_parameters(function: Function) -> frozenset[str]:
    """The parameters that the docstring of a function calls tensors, and nothing else beside that but None."""
    return frozenset(name for names, _ in _entries(function) for name in names)


def gives_tensor(function: Function) -> bool:
    """Whether the docstring of a function says first of its result that it is a tensor."""
    if "ensor" not in (text := _text(function.node)):
        return False
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if _GIVES.match(line)]
    after = [line for line in lines[heads[-1] + 1 :] if line.strip(" -")] if heads else []
    return bool(after) and _GIVEN.match(after[0]) is not None


def boolean_parameters(function: Function) -> frozenset[str]:
    """The parameters that the docstring of a function calls boolean tensors."""
    return frozenset(name for names, line in _entries(function) if _BOOLEAN.search(line) for name in names)


def listed_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> frozenset[str]:
    """The parameters that a docstring calls a list, a number or a slice: what is selected with them are places."""
    found = (_LISTED.match(line) for line in _text(node).splitlines())
    return frozenset(name for match in found if match for name in re.split(r"\s*,\s*", match["names"]))


def no_tensors(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> frozenset[str]:
    """The parameters that a docstring calls a list or a number, with no word of tensors or arrays beside that."""
    lines = (line for line in _text(node).splitlines() if "ensor" not in line and "rray" not in line)
    found = (_LISTED.match(line) for line in lines)
    return frozenset(name for match in found if match for name in re.split(r"\s*,\s*", match["names"]))


def takes_pictures(function: Function) -> bool:
    """Whether the docstring of a function says of an argument that it is a picture of PIL, and no tensor.

    `img {PIL.Image, np.ndarray, or list} -- ...`, `img (PIL Image): ...`.
    """
    found = (_PICTURE.match(line) for line in _text(function.node).splitlines())
    types = {match["name"]: match["type"] for match in found if match}
    return any(parameter.arg in types and "ensor" not in types[parameter.arg] for parameter in function.parameters)


def _entries(function: Function) -> Iterator[tuple[Sequence[str], str]]:
    """The entries for tensors: the parameters that one is for, and its line."""
    if "ensor" not in (text := _text(function.node)):
        return
    for line in text.splitlines():
        if _RESULTS.match(line):
            break
        if "ensor" in line:
            match = next((found for entry in _ENTRIES if (found := entry.match(line))), None)
            if match is not None:
                yield re.split(r"\s*,\s*", match["names"]), line


def _text(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The docstring of a function or class; empty without one."""
    first = node.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return ""
    text = first.value.value
    return text if isinstance(text, str) else ""
