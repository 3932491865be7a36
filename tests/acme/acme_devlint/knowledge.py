"""What Acme's functions do to devices, for devlint."""

from __future__ import annotations

from devlint.knowledge import Row, Table

TABLES = (
    Table(
        "acme.",
        Row("tensor", "device", devices=("on",)),
        """
    render(scene, size, *, on): probe=('a',3)
    Encoder(size, *, on): gives=module probe=(3,on='cuda')
    """,
    ),
    Table(
        "acme.",
        Row("tensor", "operands"),
        """
    blend(one, other): probe=(x,x)
    submit(image): gives=other place= topics=acme-sends
    """,
    ),
)
