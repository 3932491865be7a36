"""Matches events against watches, without any rule; tells from watches what files and events could matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import knowledge
from ..core.events import Bind, Call, Compare, Event, Literal_, Meeting, Move, Use
from ..core.kinds import Kind
from ..core.places import Form
from ..core.values import ENCODED, MADE
from ..core.watches import EVENTS, Test, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..source.sift import Words

_FACTORIES = frozenset(MADE) - {ENCODED}
"""What makes tensors wherever a program does; what tokenizers give meets models that were moved in sight."""
_ALL = frozenset(EVENTS.values())
_TESTS: dict[str, tuple[frozenset[type], Callable[[Any, tuple[str, ...]], bool]]] = {
    "guarded": (_ALL, lambda event, wanted: event.at.guard.guarded),
    "context": (_ALL, lambda event, wanted: not event.at.context.isdisjoint(wanted)),
    "in_loop": (_ALL, lambda event, wanted: event.at.loops > 0),
    "lacks": (
        frozenset({Call}),
        lambda event, wanted: not event.open and event.given.keys().isdisjoint(wanted),
    ),
    "gives": (frozenset({Call}), lambda event, wanted: not event.given.keys().isdisjoint(wanted)),
    "result": (frozenset({Call, Move}), lambda event, wanted: event.result in wanted),
    "receiver": (
        frozenset({Call, Move}),
        lambda event, wanted: event.receiver is not None and event.receiver.kind.value in wanted,
    ),
    "casts": (frozenset({Move}), lambda event, wanted: event.casts),
    "elsewhere": (frozenset({Move}), lambda event, wanted: _elsewhere(event)),
    "made_here": (frozenset({Move}), lambda event, wanted: event.receiver.made_here),
    "iterated": (frozenset({Move}), lambda event, wanted: event.iterates is not None),
    "named": (frozenset({Move}), lambda event, wanted: event.named in wanted),
    "held_by": (
        frozenset({Move}),
        lambda event, wanted: any(holder.protocol in wanted for holder in event.holders),
    ),
    "of_leaf": (frozenset({Move}), lambda event, wanted: event.receiver.leaf),
    "becomes": (frozenset({Call, Move}), lambda event, wanted: not event.becomes.isdisjoint(wanted)),
    "conflict": (frozenset({Meeting}), lambda event, wanted: event.conflict.value in wanted),
    "comes_from": (
        frozenset({Meeting}),
        lambda event, wanted: event.left.origin is not None and event.left.origin.how in wanted,
    ),
    "how": (frozenset({Meeting}), lambda event, wanted: event.how in wanted),
    "sibling_moved": (frozenset({Meeting}), lambda event, wanted: event.sibling_moved),
    "role": (frozenset({Literal_}), lambda event, wanted: event.role in wanted),
    "left": (frozenset({Compare, Meeting}), lambda event, wanted: event.left.kind.value in wanted),
    "right": (frozenset({Compare, Meeting}), lambda event, wanted: event.right.kind.value in wanted),
    "owner": (
        frozenset({Bind}),
        lambda event, wanted: event.owner is not None and event.owner.kind.value in wanted,
    ),
    "hides": (
        frozenset({Bind}),
        lambda event, wanted: event.hidden is not None and event.hidden.what.value in wanted,
    ),
    "value": (frozenset({Bind}), lambda event, wanted: event.value.kind.value in wanted),
}
_NAME_OF: dict[type, Callable[[Any], str]] = {
    Call: lambda event: event.callee,
    Use: lambda event: event.name,
    Move: lambda event: event.method,
    Bind: lambda event: event.name,
    Literal_: lambda event: event.text,
}
_SKETCHED = frozenset(
    ("guarded", "context", "in_loop", "lacks", "gives", "result", "receiver", "left", "right", "hides")
)
"""Tests of which the answer is known before an event is finished."""
_NO_TOPICS: frozenset[str] = frozenset()
_MAX_NAMES = 1 << 14
_WRAPPERS = frozenset({"FullyShardedDataParallel"})
_MOVES = knowledge.MOVES | {"to_empty", "type"}


def _elsewhere(event: Move) -> bool:
    target = event.target
    return target is not None and (target.form is Form.UNKNOWN or target != event.receiver.place)


class Entry(NamedTuple):
    """One rule, as the manifest has it: all that is needed to know whether to import it."""

    code: str
    name: str
    severity: str
    module: str
    """Empty for what devlint itself reports."""
    rule: str
    """The class, in its module."""
    watches: tuple[Watch, ...]
    words: Words
    """What must be in a file: see `words`."""
    preview: bool = False
    """Whether it runs with `--preview` alone."""

    def wants_unguarded(self, event: Event) -> bool:
        """Whether it watches no such event where something speaks for an accelerator."""
        return all(
            any(test.name == "guarded" and test.negated for test in watch.tests)
            for watch in self.watches
            if EVENTS[watch.event] is type(event) and _passes(event, watch.tests)
        )


def problem(watch: object) -> str:
    """What is wrong with a watch, in words; empty if nothing is."""
    if not isinstance(watch, Watch):
        return f"a watch is what `call(…)`, `move(…)` and the like return, not {watch!r}"
    if watch.event not in EVENTS:
        return f"there is no event {watch.event!r}: there are {', '.join(EVENTS)}"
    for test in watch.tests:
        if not isinstance(test, Test) or test.name not in _TESTS:
            return f"there is no test {getattr(test, 'name', test)!r}"
        if EVENTS[watch.event] not in _TESTS[test.name][0]:
            return f"the test {test.name!r} says nothing about the event {watch.event!r}"
        if not all(isinstance(wanted, str) for wanted in test.wanted):
            return f"the test {test.name!r} wants strings, not {test.wanted!r}"
    if not all(isinstance(name, str) and name for name in watch.names):
        return f"names are strings, not {watch.names!r}"
    if watch.names and EVENTS[watch.event] not in _NAME_OF:
        return f"the event {watch.event!r} has no name"
    return ""


def words(watch: Watch) -> Words:
    """What a file must contain for a watch to match in it: pairs of a kind of word and the word.

    One of the `method`s (called), `statement`s (methods called and the result thrown away), `text`s (in
    quotes), `name`s or `start`s of names, and one of the `head`s. `any` means that no word tells.
    """
    if watch.event == "move":
        return _words_of_moves(watch) | _heads()
    found: set[tuple[str, str]] = set()
    if watch.event in ("meeting", "literal"):
        found |= {("text", kind) for kind in knowledge.ACCELERATORS} | _heads()
        if watch.event == "meeting":
            found |= {("method", name) for name in _MOVES}
            if any(test.name == "comes_from" and set(test.wanted) & _FACTORIES for test in watch.tests):
                found |= {("any", "")}  # another file may make it, and give it
            if any(test.name == "how" and "host" in test.wanted for test in watch.tests):
                found |= {("name", name) for name in knowledge.WANTS_HOST}
            if any(test.name == "left" and Kind.MODULE.value in test.wanted for test in watch.tests):
                found |= {("name", name) for name in knowledge.FILLS_WEIGHTS}
        return frozenset(found)
    names = [
        name for item in watch.names for name in (knowledge.named_in(item[1:]) if item[0] == "@" else (item,))
    ]
    if any(test.name in ("left", "right") and test.wanted == (Kind.DEVICE.value,) for test in watch.tests):
        return frozenset({("name", "device"), ("head", "torch")})
    if any(test.name == "hides" for test in watch.tests):
        return frozenset({("name", "class"), *_heads()})
    if not watch.names:
        return frozenset({("any", ""), *_heads()})
    for name in names:
        parts = [part for part in name.replace("*", "").split(".") if part]
        if not parts or (name[0] == "*" and name[1] != "."):
            found |= {("any", ""), *_heads()}
            continue
        found.add(("start" if name[-1] == "*" and name[-2] != "." else "name", parts[-1]))
        lower = parts[0][:1].islower() and name[0] != "*" and watch.event != "bind"
        found |= {("head", parts[0])} if lower else _heads()
    return frozenset(found)


def _heads() -> Words:
    """The libraries whose objects live on devices: one of them must be there for there to be any."""
    return frozenset(("head", name) for name in ("torch", *knowledge.libraries()))


def anything() -> frozenset[Words]:
    """What a file must contain for anything in it to be on a device."""
    return frozenset({frozenset({("any", ""), *_heads()})})


def _words_of_moves(watch: Watch) -> Words:
    tests = {test.name: test for test in watch.tests}
    only_casts = "casts" in tests and not tests["casts"].negated
    no_casts = "elsewhere" in tests or ("casts" in tests and tests["casts"].negated)
    lost = "result" in tests and not tests["result"].negated and "kept" not in tests["result"].wanted
    found: set[tuple[str, str]] = set()
    for name in watch.names or (_MOVES if no_casts else _MOVES | knowledge.CASTS):
        cast = name in knowledge.CASTS and (only_casts or name not in _MOVES)
        found.add(("statement" if cast and lost else "method", name.strip("*.")))
    if not watch.names and not only_casts:
        found |= {("name", name) for name in _WRAPPERS}
    return frozenset(found)


class Matcher:
    """The watches of the rules that are on, ready to be asked."""

    def __init__(self, entries: Iterable[Entry], tests: bool = False) -> None:
        """`tests` says that what rules leave alone in test code is told there too."""
        self.entries = tuple(entry for entry in entries if entry.watches)
        self.key = repr((tuple(entry.code for entry in self.entries), tests))
        """What tells these watches from those of any other choice among the same rules."""
        self.words: frozenset[Words] = frozenset(entry.words for entry in self.entries)
        """What must be in a file, by rule."""
        self._by_event: dict[type, list[tuple[Entry, Watch]]] = {}
        self._by_name: dict[tuple[type, str, frozenset[str]], tuple[tuple[Entry, Watch], ...]] = {}
        for entry in self.entries:
            for watch in entry.watches:
                asked = _in_tests(watch) if tests else watch
                self._by_event.setdefault(EVENTS[watch.event], []).append((entry, asked))

    def wants(self, event: str, name: str = "", sketch: Event | None = None) -> bool:
        """Whether some watch could match an event of this type and name: the others need not be made.

        In a `sketch` of the event, what the tests in `_SKETCHED` ask about is as it will be.
        """
        topics = knowledge.topics_of_call(name) if event in ("call", "use") else _NO_TOPICS
        found = self._named(EVENTS[event], name, topics)
        return bool(found) if sketch is None else any(_could_match(sketch, watch) for _, watch in found)

    def matching(self, event: Event) -> Iterator[Entry]:
        """Yield the rules of which a watch matches, each once."""
        done = ""
        name_of = _NAME_OF.get(type(event))
        name = name_of(event) if name_of is not None else ""
        for entry, watch in self._named(type(event), name, getattr(event, "topics", _NO_TOPICS)):
            if entry.code != done and _passes(event, watch.tests):
                done = entry.code
                yield entry

    def refusals(self, event: Event) -> Iterator[tuple[Entry, tuple[Test[Any], ...]]]:
        """Yield the rules that watch for events of this type and name and not for this one, each once.

        With each come the tests that fail, of the watch of which the fewest do.
        """
        name_of = _NAME_OF.get(type(event))
        name = name_of(event) if name_of is not None else ""
        failing: dict[Entry, tuple[Test[Any], ...]] = {}
        for entry, watch in self._named(type(event), name, getattr(event, "topics", _NO_TOPICS)):
            failed = tuple(test for test in watch.tests if not _passes(event, (test,)))
            if entry not in failing or len(failed) < len(failing[entry]):
                failing[entry] = failed
        yield from ((entry, failed) for entry, failed in failing.items() if failed)

    def _named(self, event: type, name: str, topics: frozenset[str]) -> tuple[tuple[Entry, Watch], ...]:
        """The watches of events of this type that watch for this name, or one of these topics."""
        key = event, name, topics
        found = self._by_name.get(key)
        if found is None:
            if len(self._by_name) >= _MAX_NAMES:
                self._by_name.clear()
            watches = self._by_event.get(event, ())
            found = tuple(each for each in watches if _is_named(each[1].names, name, topics))
            self._by_name[key] = found
        return found


def _is_named(patterns: tuple[str, ...], name: str, topics: frozenset[str]) -> bool:
    return not patterns or any(_names(pattern, name, topics) for pattern in patterns)


def _in_tests(watch: Watch) -> Watch:
    """A watch to which test code is like any other."""
    return watch._replace(
        tests=tuple(
            test._replace(wanted=tuple(each for each in test.wanted if each != "test"))
            if test.name == "context" and test.negated
            else test
            for test in watch.tests
        )
    )


def _names(pattern: str, name: str, topics: frozenset[str]) -> bool:
    if pattern[0] == "@":
        return pattern[1:] in topics
    if pattern[-1] == "*":
        return name.startswith(pattern[:-1])
    return name.endswith(pattern[1:]) if pattern[0] == "*" else name == pattern


def _could_match(sketch: Event, watch: Watch) -> bool:
    return _passes(sketch, (test for test in watch.tests if test.name in _SKETCHED))


def _passes(event: Event, tests: Iterable[Test[Any]]) -> bool:
    return all(_TESTS[test.name][1](event, test.wanted) is not test.negated for test in tests)
