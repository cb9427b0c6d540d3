"""What is for code round the model alone, or for nothing, and so is compiled by nobody.

Of what is for its own file, as its name says, all users are known. Of another function the users in the project say
something where it is no part of what a package hands out: users of the package call that too, and a loop that trains
calls just what is compiled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project
from compilefix.source.tree import walk

_OF_MODULES = frozenset(
    {"forward", "__call__", "to", "cuda", "cpu", "half", "float", "eval", "train", "compile", "apply"}
)
"""Methods of a module that run its `forward`, or give the module itself."""
_PLAIN = ("torch.", "functools.", "typing.", "dataclass", "staticmethod", "classmethod", "property")
"""What begins the names of decorators that keep nothing of what they decorate."""


def serves_the_host(
    function: Function,
    project: Project,
    is_host: Callable[[Function], bool],
    live: Callable[[Function], Iterable[ast.AST]],
) -> bool:
    """Whether all that uses a function with an underscore is host code, or nothing can use it.

    `is_host` tells host code, and `live` gives the nodes of a function that run compiled: a call in a branch for
    exporters is no use.
    """
    name = function.node.name
    if function.parent is not None or not name.startswith("_") or name.endswith("__"):
        return False
    readers = [other for other in function.module.naming(name) if other is not function]
    if not all(
        (is_host(r) and not _hands_on(name, r)) or (r.parent is None and not _reads(name, live(r))) for r in readers
    ):
        return False
    return not _may_be_used_otherwise(function, readers) and _is_named_here_alone(function, project)


def serves_others(found: Function | Class, project: Project, may_run: Callable[[Function], bool]) -> bool:
    """Whether the project uses a function or class, hands it out nowhere, and nothing that uses it may run compiled.

    `may_run` tells what may. Of a class its own methods are no users.
    """
    name, module = found.node.name, found.module
    if _is_handed_out(found, project):
        return False
    used, texts = False, project.modules.texts
    if isinstance(found, Function) and found.cls is not None and texts.mentioning(name) != (module.name,):
        return False  # who has the object may call a method of that name
    # What another file uses it imports from here: what has the same words alone is not parsed.
    for place in chain([module], map(project.modules.__getitem__, texts.importing(module.name, name))):
        if name in place.names_outside:
            return False
        users = [user for user in place.naming(name) if user is not found and user.cls is not found]
        if any(may_run(user) or (isinstance(found, Function) and _hands_on(name, user)) for user in users):
            return False
        if not users and place.imported(name) is not None:
            return False  # a file that imports it and does not use it hands it out
        used = used or bool(users)
    return used


def is_made_by_no_one(cls: Class, project: Project) -> bool:
    """Whether a project that has programs names a class nowhere but in the class itself: no program makes one.

    What a package hands out, a decorator keeps, or a text names is made by whoever uses that; so may be all of a
    project that imports by names that it puts together.
    """
    name, module, texts = cls.node.name, cls.module, project.modules.texts
    if not texts.matching("__main__", r"^if __name__ *==") or texts.matching("import_module", r"import_module\("):
        return False
    if texts.mentioning(name) != (module.name,) or name in module.names_outside or _is_handed_out(cls, project):
        return False
    quoted = re.search(rf"""['"]{re.escape(name)}['"]""", module.file.text) is not None
    return not quoted and all(user.cls is cls for user in module.naming(name))


def is_called_by_no_one(cls: Class, project: Project) -> bool:
    """Whether the project makes objects of a module, and only asks them for methods: its `forward` never runs.

    `self.stft = STFT(...)` in another class, of which all uses are calls such as `self.stft.transform(x)`.
    """
    return serves_others(cls, project, lambda user: not _keeps_it_for_its_methods(user, cls.node.name, project))


def _keeps_it_for_its_methods(user: Function, name: str, project: Project) -> bool:
    if user.cls is None:
        return False
    made = [node for node in user.of(ast.Call) if _is_named(node.func, name)]
    kept = [node.targets[0] for node in user.of(ast.Assign) if node.value in made and len(node.targets) == 1]
    named = sum(_is_named(node, name) for node in user.nodes)
    if not made or len(kept) != len(made) or named != len(made):
        return False
    attributes = {target.attr for target in kept if isinstance(target, ast.Attribute)}
    return len(attributes) == 1 and all(_is_only_asked(a, user.cls, project) for a in attributes)


def _is_only_asked(attribute: str, cls: Class, project: Project) -> bool:
    """Whether all reads of an attribute of a name, some of them in a class, ask it for a method."""
    own = list(_reads_of(attribute, cls.node))
    if not own or not all(own):
        return False
    others = (project.modules[name] for name in project.modules.texts.mentioning(attribute))
    return all(asked for module in others for asked in _reads_of(attribute, module.tree))


def _reads_of(attribute: str, tree: ast.AST) -> Iterator[bool]:
    """For each read of an attribute whether a method of what it holds is called there."""
    nodes = walk(tree)
    asked = {
        node.func.value
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _OF_MODULES
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load):
            yield node in asked


def _is_handed_out(found: Function | Class, project: Project) -> bool:
    """Whether a package gives a function or class a name of its own, or a decorator may keep it."""
    decorators = (node.func if isinstance(node, ast.Call) else node for node in found.node.decorator_list)
    if any(not (found.module.qualified(node) or "").startswith(_PLAIN) for node in decorators):
        return True
    return bool(project.modules.texts.handing_out(found.module.name, found.node.name))


def _reads(name: str, nodes: Iterable[ast.AST]) -> bool:
    return any(_is_named(node, name) for node in nodes)


def _is_named(node: ast.AST, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _hands_on(name: str, reader: Function) -> bool:
    """Whether a function keeps another one for later, or gives it to something: `self.update = self._update_rows`.

    So does one that makes a lambda which calls it: `Metric(compute=lambda x, y: _score(x, y))`.
    """
    called = {node.func for node in reader.of(ast.Call)}
    if any(_is_named(node, name) and node not in called for node in reader.nodes):
        return True
    return stands_in_lambda(name, reader)


def stands_in_lambda(name: str, reader: Function) -> bool:
    """Whether a function makes a lambda that uses another one, by whoever it is called later."""
    return any(_reads(name, walk(made.body)) for made in reader.of(ast.Lambda))


def _may_be_used_otherwise(function: Function, readers: list[Function]) -> bool:
    """Whether the file keeps the function outside of functions, or may put its name together."""
    if function.node.name in function.module.names_outside:
        return True
    return function.cls is not None and not readers and function.module.mentions("getattr(")


def _is_named_here_alone(function: Function, project: Project) -> bool:
    """Whether no other file names the function. Copies of a file have functions of the same names, each for itself."""
    name, texts = function.node.name, project.modules.texts
    others = set(texts.mentioning(name)) - {function.module.name}
    return not others if function.cls is not None else others.issubset(texts.matching(name, rf"def {name}\("))
