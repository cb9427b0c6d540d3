"""What a docstring says of the types of parameters that have no annotation.

Read are the entries of the usual styles: `lengths : torch.Tensor` (NumPy), `lengths (Tensor, optional): ...` (Google)
and `:param torch.Tensor lengths:` or `:type lengths: Tensor` (Sphinx). Text is written for people: what it says is
evidence and no proof.
"""

from __future__ import annotations

import ast
import re

from compilefix.source.index import Function

_TENSOR = (
    r"(?::\w+(?::\w+)?:)?`{0,2}~?(?:torch\.)?(?:cuda\.)?(?:autograd\.)?"
    r"(?:Float|Double|Half|BFloat16|Long|Int|Short|Byte|Bool)?[Tt]ensors?`{0,2}"
)
# What may follow the type: the rest of the entry, and nothing that names another type.
_ALONE = (
    r"(?=\s*(?:[):;.,\[(]|$|of\s|with\s|or\s+None|\|\s*None|shape\b|,\s*optional))"
    r"(?!\s*,?\s*(?:or|\||/)\s+(?!None\b))(?!\s*\|\s*(?!None\b))"
    r"(?!\s*,\s*(?:float|int|bool|str|list|tuple|dict|n(?:um)?py?\b|nd?array|sequence|callable|scalar|number))"
)
_NAMES = r"[*`\-\s]*(?P<names>\w+(?:\s*,\s*\w+)*)`{0,2}\s*"
_ENTRIES = (
    re.compile(rf"^{_NAMES}\(\s*(?:Optional\[)?{_TENSOR}\]?{_ALONE}"),
    re.compile(rf"^{_NAMES}:\s*\(?\s*(?:[Oo]ptional\[)?(?:[Aa]n?\s+)?{_TENSOR}\]?{_ALONE}"),
    re.compile(rf"^\s*:param\s+{_TENSOR}\s+(?P<names>\w+)\s*:"),
    re.compile(rf"^\s*:type\s+(?P<names>\w+)\s*:\s*{_TENSOR}{_ALONE}"),
)
_RESULTS = re.compile(r"^\s*(?:Returns?|Yields?|Outputs?|Examples?|Attributes|Raises)\s*:?\s*$")


def tensor_parameters(function: Function) -> frozenset[str]:
    """The parameters that the docstring of a function calls tensors, and nothing else beside that but None."""
    first = function.node.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return frozenset()
    text = first.value.value
    if not isinstance(text, str) or "ensor" not in text:
        return frozenset()
    found: set[str] = set()
    for line in text.splitlines():
        if _RESULTS.match(line):
            break
        if "ensor" in line:
            for entry in _ENTRIES:
                if match := entry.match(line):
                    found.update(re.split(r"\s*,\s*", match["names"]))
                    break
    return frozenset(found)
