"""CF713: sparse tensors in compiled code.

## What it does
Finds where compiled code makes a sparse tensor: `torch.sparse_coo_tensor`, `x.to_sparse()` and the like.

## Why is this bad
Dynamo traces no sparse tensors: the graph breaks where one is made (GB0007, GB0277), and again where it is used.

## Example
```python
counts = torch.sparse_coo_tensor(torch.stack([row, column]), ones, (rows, columns)).to_dense()
```

## Use instead
```python
places = torch.stack([row, column])
size = (rows, columns)
counts = torch.zeros(size, dtype=ones.dtype, device=ones.device).index_put(tuple(places), ones, accumulate=True)
```

## Fix safety
There is a fix where the next step is `to_dense()`, always or behind a flag of the function: values in the same place
are added into zeros, as `to_dense` does (`summation-order` but for integers). An index that is negative or too large
raises another error, or none (`index-in-range`). Else whether the dense tensor fits into memory is for a person to say.

Graph breaks: GB0007, GB0277. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports
from compilefix.codemods.unsupported.made_dense import dense_edits, made_dense
from compilefix.source.snippets import snippet

_FUNCTIONS = frozenset(f"torch.sparse_{kind}_tensor" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed"))
_METHODS = frozenset(f"Tensor.to_sparse{kind}" for kind in ("", "_coo", "_csr", "_csc", "_bsr", "_bsc"))
_ADVICE = "add into a dense tensor with `index_add_` or `scatter_add_`, or make it outside the compiled code"


class SparseTensor(Rule):
    """Sparse tensor made in compiled code."""

    code = "CF713"
    name = "sparse-tensor"
    summary = "a sparse tensor is made in compiled code"
    gb = ("GB0007", "GB0277")
    hints = ("sparse",)
    assumptions = ("index-in-range", "summation-order", "same-shape-dtype")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that make a sparse tensor."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if name in _FUNCTIONS or name in _METHODS:
                gb = "GB0007" if name in _FUNCTIONS else "GB0277"
                message = f"`{snippet(node)}` makes a sparse tensor, which Dynamo does not trace: the graph breaks"
                found = made_dense(node, scope) if name == "torch.sparse_coo_tensor" else None
                if found is None:
                    yield self.declined(scope, node, message, _ADVICE, gb=(gb,))
                    continue
                template = Template()
                edits = dense_edits(found, scope, template)
                fix = Fix(tuple(edits), imports(scope), template.assumptions, template.reasons)
                yield self.fixed(scope, node, message, fix, gb=(gb,))
