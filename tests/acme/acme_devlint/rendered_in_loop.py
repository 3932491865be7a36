"""A scene is rendered again in every round of a loop

The press keeps no image, so the same scene is rendered on the device once a round.

    for copy in range(10):
        images.append(acme.render("sky"))  # ACM104

Render it before:

    sky = acme.render("sky")
    for copy in range(10):
        images.append(sky)

It is not settled yet which scenes change from round to round, so the rule runs with `--preview` alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from devlint.rule import RUNS, Ask, Call, Claim, Report, Rule, Severity, call, cst, in_loop


class RenderedInLoop(Rule[Call]):
    """A call that is told where it stands."""

    code = "ACM104"
    name = "rendered-in-loop"
    severity = Severity.WARNING
    preview = True
    watches = (call("acme.render", in_loop()),)
    claim = Claim(RUNS)

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report a scene that is written down; a name may be another scene in every round."""
        assert isinstance(node, cst.Call)
        if isinstance(node.args[0].value, cst.SimpleString):
            yield Report("the same scene is rendered in every round")
