"""Names that code reads though nothing gives them a value."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator


def unbound_names(text: str) -> frozenset[str]:
    """The names that a module reads as globals, and that neither it nor Python defines; none where `import *` may.

    A function that is never called may read such names, so that they say something only in comparison.

    Raises:
        SyntaxError: the text cannot be compiled, also where it can be parsed (`return` outside of a function).
    """
    compile(text, "<module>", "exec", dont_inherit=True)
    if "import *" in text:
        return frozenset()
    tables = list(_tables(symtable.symtable(text, "<module>", "exec")))
    top = tables[0]
    defined = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    for table in tables[1:]:
        defined |= {s.get_name() for s in table.get_symbols() if s.is_declared_global() and s.is_assigned()}
    read = {s.get_name() for t in tables for s in t.get_symbols() if s.is_referenced() and (t is top or s.is_global())}
    return frozenset(name for name in read - defined - set(dir(builtins)) if not name.startswith("__"))


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _tables(inner)
