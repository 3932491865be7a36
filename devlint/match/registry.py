"""Finds the rules that are installed, devlint's own and third parties' alike, through entry points."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from functools import lru_cache, partial
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

from .. import knowledge
from ..core.watches import EVENTS
from ..errors import FAULTS, DevlintError
from ..finding import Severity
from ..rule import Rule
from . import brought, faults, manifest, sources
from .selection import choose, covers
from .watch import Entry, Matcher, problem, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from ..config.settings import Selection

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
    def preview(self) -> bool:
        """Whether it runs with `--preview` alone."""
        return self.rule is not None and self.rule.preview

    @property
    def state(self) -> str:
        """When it runs, in words."""
        on = "off unless selected" if self.severity is Severity.NOTE else "on by default"
        return f"in preview: with --preview, {on}" if self.preview else on

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.partition("\n")[0]


@lru_cache(maxsize=1)
def installed() -> Mapping[str, Installed]:
    """Return every usable rule by code, in the order of codes; `unusable` tells of the others.

    It imports all of them: what a run of the linter needs to know first, `entries` knows without.
    Raises DevlintError where there are no rules at all.
    """
    from ..comments import unused  # what reads comments is not needed to know the rules
    from ..source import unreadable

    faults.RULES.clear()
    found = {own.CODE: _own(own) for own in (unreadable, unused)}
    points = _entry_points()
    if not points:
        raise DevlintError("no rules are installed: devlint runs from an installation (`pip install -e .`)")
    for point in points:
        for module in _modules(point):
            for rule in _rules(module):
                try:
                    item = _checked(rule, module)
                    if item.code in found:
                        raise DevlintError(
                            f"two rules have the code {item.code}: {_origins(found[item.code], item)}"
                        )
                except DevlintError as error:
                    faults.RULES.append(error)
                else:
                    found[item.code] = item
    return MappingProxyType(dict(sorted(found.items())))


def resolved(selectors: Iterable[str], where: str) -> tuple[str, ...]:
    """Return selectors with codes in place of names; raises DevlintError naming those that mean no rule.

    Where a package cannot be loaded, nobody knows which codes it has: its own message is enough.
    """
    codes = {entry.name: entry.code for entry in entries().values()}
    found, unknown = [], []
    for selector in selectors:
        if selector and any(covers(selector, code) for code in codes.values()):
            found.append(selector)
        elif selector.lower() in codes:
            found.append(codes[selector.lower()])
        else:
            found.append(selector)
            unknown.append(selector)
    if unknown and not faults.RULES:
        hint = _hint(unknown[0])
        names = ", ".join(repr(name) for name in unknown)
        raise DevlintError(f"{where}: no rule has the code, prefix or name {names} ({hint})")
    return tuple(found)


def check(selectors: Iterable[str], where: str) -> None:
    """Raise DevlintError naming the selectors that mean no rule."""
    resolved(selectors, where)


def inert(selections: Iterable[Selection]) -> list[str]:
    """Return the selectors that turn nothing on while preview is off: they mean rules in preview alone."""
    rules = entries().values()
    if not any(entry.preview for entry in rules):
        return []
    found = dict[str, None]()
    for layer in selections:
        for selector in (*(layer.select or ()), *layer.extend_select):
            meant = [entry.preview for entry in rules if covers(selector, entry.code)]
            if meant and all(meant):
                found[selector] = None
    return list(found)


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """Return what every usable rule declares, by code; none is imported where the manifest is at hand."""
    return MappingProxyType({entry.code: entry for entry in _known().rules})


def versions() -> str:
    """Return what tells this devlint, its rules and all knowledge from any other; empty if nobody can say."""
    return "" if faults.unusable() else _known().versions


@lru_cache(maxsize=1)
def _known() -> manifest.Declared:
    declared = manifest.declared(_declared)
    knowledge.provide(declared.tables)
    return declared


@lru_cache(maxsize=256)
def active(
    selections: tuple[Selection, ...], lint_tests: bool = False, preview: bool = False, explicit: bool = False
) -> Matcher:
    """Return the watches of every rule that these selections turn on, of test code too if asked."""
    on = turned_on(selections, preview, explicit)
    return Matcher((entry for code, entry in entries().items() if code in on), lint_tests)


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

    rules = entries().values()
    known = {word.lower(): word for rule in rules for word in (rule.name, rule.code)}
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    return f"did you mean `{known[close[0]]}`?" if close else "`devlint rules` lists all"


def turned_on(
    selections: Sequence[Selection], preview: bool = False, explicit: bool = False
) -> frozenset[str]:
    """Return the codes of the rules that are on.

    Those in preview only where that is on, and only by their whole code where they are to be `explicit`.
    """
    known = {code: entry for code, entry in entries().items() if preview or not entry.preview}
    severities = {code: Severity(entry.severity) for code, entry in known.items()}
    return choose(
        severities, selections, [code for code, entry in known.items() if explicit and entry.preview]
    )


def names() -> dict[str, str]:
    """Return the name of every rule by code."""
    return {code: entry.name for code, entry in entries().items()}


def severities() -> dict[str, Severity]:
    """Return the severity of every rule by code."""
    return {code: Severity(entry.severity) for code, entry in entries().items()}


@lru_cache(maxsize=256)
def load(entry: Entry) -> Rule[Any]:
    """Import the one module of a rule and return an instance.

    The manifest is not trusted to name code: what is imported is below an installed entry point.
    """
    if any(f"{entry.module}.".startswith(f"{point.value}.") for point in _entry_points()):
        try:
            rule = getattr(importlib.import_module(entry.module), entry.rule, None)
        except FAULTS as error:
            raise _unloadable(entry.module, error) from error
        if isinstance(rule, type) and issubclass(rule, Rule) and getattr(rule, "code", None) == entry.code:
            return rule()
    known = installed().get(entry.code)
    if known is None or known.rule is None:
        raise DevlintError(f"the rule {entry.code} is not installed any more: run devlint again")
    return known.rule()


def _declared() -> tuple[manifest.Declared, set[str] | None]:
    """Import all rules and knowledge for what they declare, and name the files that this depends on.

    None for the files where some cannot be had: the next run has to say so again.
    """
    faults.KNOWLEDGE.clear()
    tables = brought.tables(faults.KNOWLEDGE)
    knowledge.provide(tables)  # what a file must contain depends on it
    found = manifest.Declared(tuple(_entry(item) for item in installed().values()), tables)
    if faults.RULES or faults.KNOWLEDGE:
        return found, None
    points = (*_entry_points(), *brought.points())
    files, said = sources.of(points)
    found = found._replace(versions=said)
    for point in points:
        metadata = getattr(point.dist, "_path", None)
        if metadata is not None:
            files.add(os.path.join(metadata, "entry_points.txt"))
    return found, files


def _entry(item: Installed) -> Entry:
    rule = item.rule
    watches = rule.watches if rule is not None else ()
    return Entry(
        item.code,
        item.name,
        item.severity.value,
        rule.__module__ if rule is not None else "",
        rule.__name__ if rule is not None else "",
        watches,
        frozenset().union(*map(words, watches)) if watches else frozenset(),
        item.preview,
    )


@lru_cache(maxsize=1)
def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.value)
    return tuple({entry.value: entry for entry in found}.values())


def forget() -> None:
    """Forget what is installed: for tests, which change it."""
    knowledge.provide(())
    faults.KNOWLEDGE.clear()
    manifest.forget()
    for kept in (installed, entries, _known, active, load, _entry_points):
        kept.cache_clear()


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
        faults.RULES.append(_failure(entry, name, error))
        return None


def _failure(entry: EntryPoint, name: str, error: BaseException) -> DevlintError:
    """Return what to say about a module of rules that cannot be had."""
    if isinstance(error, ModuleNotFoundError) and error.name == "devlint.rules":
        folder = os.path.dirname(os.path.dirname(__file__))
        return DevlintError(
            f"{folder} is a source tree, in which no rules are installed: "
            "run `devlint`, not `python -m devlint`, or elsewhere, or install it (`pip install -e .`)"
        )
    origin = f"{name} (from {entry.dist.name})" if entry.dist else name
    failure = _unloadable(origin, error)
    failure.__cause__ = error
    return failure


def _unloadable(name: str, error: BaseException) -> DevlintError:
    return DevlintError(f"cannot load the rules in {name}: {type(error).__name__}: {error}")


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
    if not isinstance(rule.preview, bool):
        raise DevlintError(f"rule {where}: `preview` must be True or False, not {rule.preview!r}")
    complaint = _watches(rule)
    if complaint:
        raise DevlintError(f"rule {where}: {complaint}")
    page = (module.__doc__ or "").strip()
    if not page:
        raise DevlintError(f"rule {where}: its module has no docstring, which is its documentation page")
    try:
        rule()
    except FAULTS as error:
        raise DevlintError(f"rule {where}: cannot be made: {type(error).__name__}: {error}") from error
    return Installed(code, name, rule.severity, page, rule)


def _watches(rule: type[Rule[Any]]) -> str:
    """What is wrong with the watches of a rule; empty if nothing is."""
    watches = getattr(rule, "watches", None)
    if not isinstance(watches, tuple) or not watches:
        return '`watches` must be a tuple of watches, such as `(call("torch.load"),)`'
    for watch in watches:
        complaint = problem(watch)
        if complaint:
            return f"`watches`: {complaint}"
    given = {EVENTS[watch.event] for watch in watches}
    for base in getattr(rule, "__orig_bases__", ()):
        for kind in get_args(base) if get_origin(base) is Rule else ():
            said = set(get_args(kind)) or {kind}
            if all(isinstance(each, type) for each in said) and not given <= said:
                own, others = (", ".join(sorted(e.__name__ for e in kinds)) for kinds in (said, given - said))
                return f"`watches`: it is a rule on {own}, not on {others}"
    return ""


def _origins(*items: Installed) -> str:
    names = (f"{i.rule.__module__}.{i.rule.__qualname__}" if i.rule else "devlint itself" for i in items)
    return " and ".join(names)
