"""What a client may ask of the server: initialization options, or the section `devlint` of its settings."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..config.settings import Selection
from ..errors import DevlintError


class Options(NamedTuple):
    """How the server behaves; which rules are on is otherwise said by the files' own configuration."""

    configuration: str | None = None
    """One configuration file for everything."""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    lint_tests: bool = False
    preview: bool = False
    inlay_hints: bool = False
    documentation_url: str | None = None
    """The page of a rule, with `{code}` where its code goes; without it, diagnostics link nowhere."""
    reason: str = "why?"
    """What a comment that silences says after the codes, where one with a reason is asked for."""

    @property
    def selection(self) -> Selection:
        """The layer of rule selection on top of what the files say."""
        return Selection(self.select, self.extend_select, self.ignore)


_KINDS: dict[str, type] = {
    "configuration": str,
    "select": tuple,
    "extend_select": tuple,
    "ignore": tuple,
    "lint_tests": bool,
    "preview": bool,
    "inlay_hints": bool,
    "documentation_url": str,
    "reason": str,
}


def read(data: object) -> Options:
    """Return the options that a client gives, in camel case; raises DevlintError naming what is wrong."""
    if data is None:
        return Options()
    if not isinstance(data, dict):
        raise DevlintError("the options are no object")
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in str(key))
        kind = _KINDS.get(name)
        if kind is None:
            known = ", ".join(map(_camel, _KINDS))
            raise DevlintError(f"there is no option {key!r}: there are {known}")
        if value is None:
            continue
        if kind is tuple:
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise DevlintError(f"the option {key!r} is a list of strings")
            value = tuple(value)
        elif not isinstance(value, kind):
            raise DevlintError(f"the option {key!r} is {'true or false' if kind is bool else 'a string'}")
        found[name] = value
    for name in ("select", "extend_select", "ignore"):
        if found.get(name):
            from ..match.registry import resolved

            found[name] = resolved(found[name], "options")
    options = Options(**found)
    if options.documentation_url is not None and "{code}" not in options.documentation_url:
        raise DevlintError("the option 'documentationUrl' has no {code} in it")
    return options


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
