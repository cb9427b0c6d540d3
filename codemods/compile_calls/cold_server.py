"""CF809: a server that compiles while its first users wait.

## What it does
Finds compiled models that only the request handlers of a web application (FastAPI, Flask, Quart, Sanic, Starlette)
call.

## Why is this bad
`torch.compile` compiles at the first call, and at the first call with another size: here that is somebody's request,
which waits for seconds to minutes, and perhaps runs into a time limit. Every worker process and every restart pays
again.

## Example
```python
model = torch.compile(load())

@app.post("/predict")
def predict(item: Item):
    return model(encode(item)).tolist()
```

## Use instead
```python
model = torch.compile(load())
for size in (1, 8, 32):
    model(torch.zeros(size, 128))  # compiled before the first request

@app.post("/predict")
def predict(item: Item):
    return model(encode(item)).tolist()
```

## Fix safety
This rule has no fix: which inputs stand for what users send is not in the code.

Not reported: models that anything else calls, which may be the warm-up.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import COMPILE, ModuleRule, ModuleView

_APPLICATIONS = (
    "fastapi.FastAPI",
    "fastapi.APIRouter",
    "flask.Flask",
    "flask.Blueprint",
    "quart.Quart",
    "sanic.Sanic",
    "starlette.applications.Starlette",
)
_ROUTES = frozenset({"get", "post", "put", "patch", "route", "api_route", "websocket", "websocket_route"})
_ADVICE = "call it once with inputs of the usual sizes before the server takes requests"


class ColdServer(ModuleRule):
    """Server that compiles while its first users wait."""

    code = "CF809"
    name = "cold-server"
    summary = "compiled model that only request handlers call"
    effect = "slow"
    hints = ("fastapi", "flask", "quart", "sanic", "starlette")

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The compiled names of the module that handlers call first."""
        applications = {name for name, value in view.module.assigns.items() if view.is_value(value, _APPLICATIONS)}
        for name, value in view.module.assigns.items() if applications else ():
            if not view.is_value(value, COMPILE):
                continue
            uses = [n for n in view.names(view.module.tree, name) if isinstance(n.ctx, ast.Load)]
            handlers = [_handler(use, applications, view) for use in uses]
            if uses and all(handlers):
                message = f"`{name}` is compiled in the first request to `{handlers[0]}`, which waits for it"
                yield self.declined_at(view, value, message, _ADVICE)


def _handler(use: ast.Name, applications: set[str], view: ModuleView) -> str | None:
    """The request handler in which a name is used."""
    for above in view.ancestors(use):
        for decorator in getattr(above, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if (
                isinstance(called, ast.Attribute)
                and called.attr in _ROUTES
                and isinstance(called.value, ast.Name)
                and called.value.id in applications
            ):
                return str(above.name)  # type: ignore[attr-defined]
    return None
