"""All nodes of a piece of syntax are found, in the order of the standard library."""

from __future__ import annotations

import ast
from pathlib import Path

import devlint
from devlint.bind.walk import descendants

_SHAPES = """
async def f(a: int, /, *b, c=1, **d) -> list[int]:
    global g
    async with a as h, b: yield [i async for i in c if i]
    try: del h[1:2], h.x
    except (ValueError, TypeError) as e: raise e from None
    else: print(k := {1: 2, **d})
    match d:
        case {"x": [1, *rest], **more} | P(q=None): return await f"{a!r:>{c}}"
    return lambda *, z=-1: z if not z < 2 <= 3 else z and b
"""


def test_the_nodes_of_the_standard_library_without_contexts() -> None:
    """Every kind of statement and expression, and files as people write them."""
    package = Path(devlint.__file__).parent
    for text in (_SHAPES, *(path.read_text(encoding="utf-8") for path in package.glob("infer/*.py"))):
        tree = ast.parse(text)
        every = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
        found = descendants(tree)
        assert len(found) == len(every)
        assert all(one is other for one, other in zip(found, every, strict=True))
