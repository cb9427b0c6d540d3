"""The walks over syntax trees."""

from __future__ import annotations

import ast

from compilefix.source.tree import statements, walk

EVERY_KIND = """\
import os
class C(object):
    size = 1
    def method(self, x):
        def inner(y):
            return lambda z: z if y else x
        for i in range(3):
            if i:
                continue
            elif x:
                break
        else:
            x += 1
        while x:
            with open(x) as f, g:
                del f
        try:
            raise ValueError
        except OSError:
            pass
        except ValueError:
            x: int = 2
        else:
            assert x
        finally:
            global n
        match x:
            case [1, *rest] if rest:
                return [a for a in rest if a]
            case _:
                x
async def run():
    async for a in b:
        async with c:
            await a
"""


def test_statements_are_those_of_a_whole_walk_in_the_same_order() -> None:
    tree = ast.parse(EVERY_KIND)
    assert statements(tree) == [node for node in walk(tree) if isinstance(node, ast.stmt)]


def test_a_statement_is_not_one_below_itself() -> None:
    loop = ast.parse("for i in x:\n    y = i\n").body[0]
    assert [type(node) for node in statements(loop)] == [ast.Assign]
