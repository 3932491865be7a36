"""Finds the rules that are installed, devlint's own and third parties' alike, through entry points."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from functools import lru_cache, partial
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import selection, unreadable, unused
from .errors import FAULTS, DevlintError
from .finding import Severity
from .rule import Rule
from .selection import choose, covers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from importlib.metadata import EntryPoint

    from .settings import Selection

GROUP = "devlint.rules"
_CODE = re.compile(r"[A-Z]{1,3}[0-9]{3}")  # what flake8 accepts as a plugin's code
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Installed(NamedTuple):
    """One rule: what it declares, its page and the class that finds it."""

    code: str
    name: str
    severity: Severity
    page: str
    """The documentation: the docstring of the rule's module."""
    rule: type[Rule[Any]] | None
    """`None` for what devlint itself reports."""

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.partition("\n")[0]


_unusable: list[DevlintError] = []


@lru_cache(maxsize=1)
def installed() -> Mapping[str, Installed]:
    """Return every usable rule by code, in the order of codes; `unusable` tells of the others.

    Raises DevlintError where there are no rules at all.
    """
    from importlib.metadata import entry_points

    _unusable.clear()
    found = {own.CODE: _own(own) for own in (unreadable, unused)}
    entries = {entry.value: entry for entry in sorted(entry_points(group=GROUP), key=lambda e: e.value)}
    if not entries:
        raise DevlintError("no rules are installed: devlint runs from an installation (`pip install -e .`)")
    for entry in entries.values():
        for module in _modules(entry):
            for rule in _rules(module):
                try:
                    item = _checked(rule, module)
                    if item.code in found:
                        raise DevlintError(
                            f"two rules have the code {item.code}: {_origins(found[item.code], item)}"
                        )
                except DevlintError as error:
                    _unusable.append(error)
                else:
                    found[item.code] = item
    return MappingProxyType(dict(sorted(found.items())))


def unusable() -> tuple[DevlintError, ...]:
    """Return what keeps rules from being used, as far as rules have been loaded; loads none."""
    return tuple(_unusable)


def check(selectors: Iterable[str], where: str) -> None:
    """Raise DevlintError naming the selectors that mean no rule.

    Where a package cannot be loaded, nobody knows which codes it has: its own message is enough.
    """
    rules = installed()
    if not _unusable:
        selection.check(selectors, rules, where)


@lru_cache(maxsize=256)
def active(selections: tuple[Selection, ...]) -> tuple[Rule[Any], ...]:
    """Return an instance of every rule that these selections turn on, in the order of codes."""
    rules = installed()
    on = choose(severities(), selections)
    return tuple(item.rule() for code, item in rules.items() if code in on and item.rule is not None)


def meant(names: Iterable[str]) -> list[Installed]:
    """Return the rules that codes, prefixes, names or `ALL` mean, each once.

    Raises DevlintError that says what means no rule, and what was probably meant.
    """
    rules = installed().values()
    chosen: dict[str, Installed] = {}
    for name in names:
        found = {
            rule.code: rule
            for rule in rules
            if name and (covers(name, rule.code) or name.lower() == rule.name)
        }
        if not found:
            raise DevlintError(f"no rule has the code, prefix or name {name!r} ({_hint(name)})")
        chosen |= found
    return list(chosen.values())


def _hint(name: str) -> str:
    from difflib import get_close_matches

    known = {word.lower(): word for rule in installed().values() for word in (rule.name, rule.code)}
    close = get_close_matches(name.lower(), known, n=1)
    return f"did you mean `{known[close[0]]}`?" if close else "`devlint rules` lists all"


def severities() -> dict[str, Severity]:
    """Return the severity of every rule by code."""
    return {code: item.severity for code, item in installed().items()}


def _own(module: ModuleType) -> Installed:
    return Installed(module.CODE, module.NAME, module.SEVERITY, (module.__doc__ or "").strip(), None)


def _modules(entry: EntryPoint) -> Iterator[ModuleType]:
    """Import what an entry point names: a module, or a package and the modules in it that import."""
    root = _imported(entry, entry.value, entry.load)
    if root is None:
        return
    yield root
    for info in pkgutil.iter_modules(getattr(root, "__path__", ())):
        name = f"{root.__name__}.{info.name}"
        module = _imported(entry, name, partial(importlib.import_module, name))
        if module is not None:
            yield module


def _imported(entry: EntryPoint, name: str, load: Callable[[], object]) -> ModuleType | None:
    """Return a module of rules, or `None` where it cannot be had, which is remembered."""
    try:
        module = load()
        if isinstance(module, ModuleType):
            return module
        raise TypeError("the entry point must name a module or a package")
    except FAULTS as error:
        _unusable.append(_failure(entry, name, error))
        return None


def _failure(entry: EntryPoint, name: str, error: BaseException) -> DevlintError:
    """Return what to say about a module of rules that cannot be had."""
    if isinstance(error, ModuleNotFoundError) and error.name == f"{__package__}.rules":
        return DevlintError(
            f"{os.path.dirname(__file__)} is a source tree, in which no rules are installed: "
            "run `devlint`, not `python -m devlint`, or elsewhere, or install it (`pip install -e .`)"
        )
    origin = f"{name} (from {entry.dist.name})" if entry.dist else name
    failure = DevlintError(f"cannot load the rules in {origin}: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure


def _rules(module: ModuleType) -> Iterator[type[Rule[Any]]]:
    """Yield the rules defined in a module, not those it imports."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
            yield value


def _checked(rule: type[Rule[Any]], module: ModuleType) -> Installed:
    where = f"{rule.__module__}.{rule.__qualname__}"
    code, name = getattr(rule, "code", None), getattr(rule, "name", None)
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        raise DevlintError(
            f"rule {where}: `code` must be one to three capitals and three digits, not {code!r}"
        )
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DevlintError(f"rule {where}: `name` must be in kebab-case, not {name!r}")
    if not isinstance(rule.severity, Severity):
        raise DevlintError(f"rule {where}: `severity` must be a Severity, not {rule.severity!r}")
    if not isinstance(getattr(rule, "fact", None), type):
        raise DevlintError(f"rule {where}: `fact` must be the type of fact it listens to")
    page = (module.__doc__ or "").strip()
    if not page:
        raise DevlintError(f"rule {where}: its module has no docstring, which is its documentation page")
    try:
        rule()
    except FAULTS as error:
        raise DevlintError(f"rule {where}: cannot be made: {type(error).__name__}: {error}") from error
    return Installed(code, name, rule.severity, page, rule)


def _origins(*items: Installed) -> str:
    names = (f"{i.rule.__module__}.{i.rule.__qualname__}" if i.rule else "devlint itself" for i in items)
    return " and ".join(names)
