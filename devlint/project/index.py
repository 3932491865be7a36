"""What the files of a project define: summaries, computed when somebody asks, each once a run."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .. import knowledge
from ..core.events import Event
from ..core.kinds import Kind
from ..core.met import Met, There
from ..core.summary import Calling, ClassSummary, FunctionSummary, Loading, ModuleSummary, within
from ..core.values import Api, Defined, Value
from ..errors import FAULTS
from ..span import Span
from .binds import Binds
from .choices import Alone, Choices, Default
from .memory import Definitions, Log, Memory, Question, digest_of
from .mentions import Mentions
from .nature import Natures
from .reach import reached
from .resolve import Layout
from .unused import Part, Unused

if TYPE_CHECKING:
    from ..infer.file import File

Answer = Value | FunctionSummary | ClassSummary | None


class Rehearses(Protocol):
    """Goes through programs."""

    def knows(self, path: str, lazy: bool, *, tried: bool) -> bool:
        """Whether it takes no rehearsal to say what goes wrong in a program, or in what is tried of it."""

    def rehearse(self, path: str, lazy: bool, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in a program, in whichever of its files; `lazy` is whether modules are imported
        when something of them is used, `tree` its own, if that is at hand.
        """

    def try_out(self, path: str, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in what a file defines, called by who imports it."""

    def reread(self, path: str) -> None:
        """Trust nothing that rests on the text of a file that has changed."""

    def followed(self, path: str, before: str, text: str, function: str) -> None:
        """A file has another text than before, in which only the body of a function is another, if of one."""


_MAX_DEPTH = 64 if sys.version_info >= (3, 11) else 10
"""Files deeper in a chain of imports are unknown to the first; Python 3.10 runs out of stack before."""
_MAX_FORWARDS = 16
_MAX_CALLS = 6
_MAX_REPLAYS = 4
"""What was learned of a file is asked for so often in one run; then it is analysed."""
_MAX_KEPT = 1_000_000
"""Of so many characters of text, analyses are kept: of some hundred files, in thirty megabytes."""
_MAX_CALLERS = 24
"""Where more files than these mention a function, its callers are not looked for."""
_MANY = 30
"""In larger projects, programs that are gone through import what they use."""
_BY_CLASS = frozenset({"__init__", "__call__", "forward"})
"""Methods that are called by the name of their class, or of what holds an instance."""


class Watching(Protocol):
    """Rules that are on."""

    def wants(self, event: str, name: str = "", sketch: Event | None = None) -> bool:
        """Whether any of them may watch events of a type and name, and this one as far as it is known."""

    def matching(self, event: Event) -> Iterable[object]:
        """Those that watch an event."""

    @property
    def key(self) -> str:
        """What tells them from others."""


Observed = tuple[tuple[Event, ...], ModuleSummary, "File"]
"""The events of a file that somebody watches, what the file defines, and its analysis, to be released."""


class Follows(Protocol):
    """Keeps the analyses of files that somebody edits."""

    def edited(self, view: View, text: str, rules: Watching) -> tuple[tuple[Event, ...], File] | None:
        """The events of a file, and its analysis, if one of an earlier text tells."""

    def keep(self, view: View, text: str, rules: Watching, file: File) -> None:
        """Keep the analysis of a file for the next edit; to release it does nothing then."""

    def span(self, path: str, text: str, node: tuple[str, int]) -> Span | None:
        """Where a node stands in a file whose analysis is kept, by its function and its number in that."""


class _NotKnown(Exception):
    """An answer takes an analysis."""


class _Seen(NamedTuple):
    """What was seen in a file that is to be linted, when another asked for what it defines."""

    text: int
    """The hash of its text."""
    rules: Watching
    events: tuple[Event, ...]
    analysed: File | None
    """Its analysis, as long as that is kept, if somebody may ask more; to be released."""
    log: Log
    """What was asked."""
    answers: Mapping[str, Answer]
    """What the project was said to define."""
    met: tuple[Met, ...]
    """What the programs that run it had shown."""


class _Told(NamedTuple):
    """The hash of a file's text, what it was told of others, and what it defines then."""

    text: int
    answers: Mapping[str, Answer]
    summary: ModuleSummary


def parsed(text: str) -> ast.Module:
    """A file of the project; raises as `ast.parse` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file's own, such as invalid escapes
        return ast.parse(text)


def _nobody(path: str, text: str) -> None:
    return None


class Project:
    """The files around those that are linted; they are read, never run."""

    def __init__(
        self,
        read: Callable[[str], str | None],
        summarise: Callable[[ast.Module, str, View], ModuleSummary],
        locate: Callable[[str, str, tuple[str, int], View], Span | None] | None = None,
        observe: Callable[[str, str, View, Watching], Observed] | None = None,
        memory: Memory | None = None,
        layout: Layout | None = None,
        company: Callable[[Layout, Callable[[str], str | None], Memory | None], Rehearses] | None = None,
        edits: Follows | None = None,
    ) -> None:
        """`read` gives a file's text, None where that cannot be had; `summarise` analyses a module, `observe`
        does so for the events in it as well, `locate` finds a node in one that its summary named; `memory`
        has what was learned before, `layout` finds files; `company` makes what goes through programs, `edits`
        has the analyses of files that are edited."""
        self.layout = layout or Layout()
        self._read = read
        self._summarise = summarise
        self._find = locate
        self.memory = memory
        self._only_known = False
        self._not_known: set[str] = set()
        """Files that take an analysis, as was seen when none was wanted."""
        self._replays: dict[str, int] = {}
        """How often what was learned of a file has been asked for."""
        self._observe = observe
        self._company = company
        self.edits = edits
        self._rehearses: Rehearses | None = None
        self._rehearsed: dict[str, tuple[Met, ...]] = {}
        self.watching: Callable[[str, str], Watching | None] = _nobody
        """The rules with which a file, and its text, will be linted by and by; None where it will not."""
        self._seen: dict[str, _Seen] = {}
        self._kept: dict[str, int] = {}
        """The lengths of the texts of which the analysis is kept, the oldest first."""
        self._modules: dict[str, ModuleSummary | None] = {}
        self._told: dict[str, _Told] = {}
        """Of files that ask each other, the first analysis: those after it are often told the same."""
        self._early: dict[str, ModuleSummary | None] = {}
        """What is known so far of files that ask for one that is still being analysed."""
        self._running: list[_Running] = []
        self._at_hand: tuple[str, str] | None = None
        """The file that is being linted, and its text."""
        self._mentions: dict[str, Mentions] = {}
        """By the root of a project, the names in its files."""
        self._callers: dict[tuple[str, str], tuple[list[str], tuple[Calling, ...]]] = {}
        """The files that were asked for the calls of a function, and the calls."""
        self._circles: dict[str, _Circle] = {}
        """Of files that ask each other, as they were analysed last."""
        self._moved: set[str] = set()
        """Those that have turned out to be in another circle, perhaps, while one of them was linted."""
        self._doubted: dict[str, _Doubt] = {}
        """Files in circles that have changed: what they define is looked at when somebody asks."""
        self._last = "", ""
        """The file that was linted last, and its text."""
        self.natures = Natures(self.layout, self._text)
        self.choices = Choices(self.layout, self._text)
        self._unused = Unused(self.choices, self.layout, self._text)
        self._binds = Binds(self.layout, self._text)
        self._paths: dict[tuple[str, str], str] = {}
        """The file of each module by the root of its project, in which its name is unique, and that name."""
        self._asked: dict[str, set[str]] = {}
        """The files that each file has asked."""
        self._chosen_by: dict[str, frozenset[str]] = {}
        """The files whose texts told a file of choices: what it defines does not depend on them."""

    def view(self, path: str) -> View:
        """The project as one of its files sees it."""
        path = os.path.abspath(path)
        self._paths.setdefault((self._root(path), self.layout.module_name(path)), path)
        return View(self, path)

    def forget(self, path: str) -> None:
        """A file has changed: who asks next is told what it, and what asks it, define now."""
        self._forget(os.path.abspath(path))

    def _forget(self, path: str, but: frozenset[str] = frozenset()) -> None:
        askers: dict[str, list[str]] = {}
        for each, asked in self._asked.items():
            for other in asked:
                askers.setdefault(other, []).append(each)
        for each in reached(path, lambda each: askers.get(each, ())) - but:
            self._modules.pop(each, None)
            self._unsee(each)
            self._doubted.pop(each, None)
            self._circles.pop(each, None)
        self._mentions.clear()
        self._callers.clear()
        self._reread(path)

    def _reread(self, path: str) -> None:
        """Trust nothing that rests on the text of a file that has changed."""
        self._last = "", ""
        self.natures = Natures(self.layout, self._text)
        text = self._text(path)
        if text is None or not self.choices.follow(path, text):
            self.choices = Choices(self.layout, self._text, self.choices)
        self._unused = Unused(self.choices, self.layout, self._text)
        self._binds.forget()
        if self._rehearses is not None:
            self._rehearses.reread(path)
        self._rehearsed.clear()

    def followed(self, path: str, before: str, text: str, function: str) -> None:
        """A file has another text than before, in which only the body of a function is another, if of one."""
        if self._rehearses is not None:
            self._rehearses.followed(path, before, text, function)

    def renew(self, path: str) -> None:
        """A file has changed: it is analysed again, and who asks it only where it defines something else."""
        path = os.path.abspath(path)
        if path in self._doubted or (path in self._circles and self._modules.get(path) is not None):
            self._doubt(path)
            return
        if path not in self._modules or self._modules[path] is None:
            self.forget(path)
            return
        known = self._modules.pop(path)
        self._unsee(path)
        self._asked.pop(path, None)
        self._reread(path)
        found = self.module(path)
        if any(path in reached(each, self._asks) for each in set(self._asks(path)) - {path}):
            self.forget(path)  # it is in a circle now, in which nobody is told of the others
        elif found != known:
            self._forget(path, but=frozenset((path,)))

    def _doubt(self, path: str) -> None:
        """Keep what is known of the others in a circle: none of them was told of what this one defines."""
        if path not in self._doubted:
            self._doubted[path] = _Doubt(self._modules.pop(path), self._asked.get(path, set()))
        self._asked.pop(path, None)
        self._reread(path)

    def asks_otherwise(self, path: str) -> bool:
        """Whether a file in doubt, linted since, has asked other files than before it changed.

        Then it may be in another circle, and what it was told of the others may have to change.
        """
        path = os.path.abspath(path)
        moved, doubt = path in self._moved, self._doubted.get(path)
        self._moved.clear()
        return moved or (doubt is not None and doubt.asked != self._asked.get(path, set()))

    def confirm(self, but: str | None = None) -> None:
        """Look at what files in doubt define, all or but one, and forget who asks them where that is new."""
        for path in [each for each in self._doubted if each != but]:
            if path in self._doubted:
                self._confirm(path)

    def _confirm(self, path: str) -> None:
        doubt, circle = self._doubted.pop(path), self._circles[path]
        before = self._asked.pop(path, set())
        running = _Running(path, len(self._running))
        self._running.append(running)
        found = self._run(path, circle.files - {path})
        self._running.pop()
        asked = self._asked.get(path, set())
        self._asked[path] = before | asked
        if asked != circle.asked or running.low != running.index:
            self._moved.add(path)
            self.forget(path)  # it may be in another circle now
            return
        if found != doubt.known:
            self._forget(path, but=circle.files)
        self._modules[path] = found

    def _asks(self, path: str) -> Iterable[str]:
        """The files that a file has asked itself."""
        return self._asked.get(path, ())

    def asked_by(self, path: str) -> frozenset[str]:
        """The files that a file's findings depend on, itself among them."""
        path = os.path.abspath(path)
        return frozenset(reached(path, self._asks)) | self._chosen_by.get(path, frozenset())

    def events(
        self, path: str, text: str, rules: Watching, view: View
    ) -> tuple[tuple[Event, ...], File | None] | None:
        """What rules watch of the events in a file that is linted, by the same analysis as what it defines;
        and that, if it is at hand, to be released. What it asked is added to what the `view` has asked.

        None where it needs one of its own: it asks for itself, or is not what is on disk.
        """
        fresh = path not in self._modules and path not in self._doubted
        if fresh and not self._running and self._read(path) == text:
            self._last = path, text
            around = self.watching
            self.watching = lambda each, its_text: rules if each == path else around(each, its_text)
            self._at_hand = path, text
            try:
                self._analyse(path)
            finally:
                self.watching, self._at_hand = around, None
        seen = self._seen.get(path)
        alike = seen is not None and seen.text == hash(text) and seen.rules is rules
        alike = alike and seen is not None and seen.met == self.rehearsed(path)
        if seen is not None and alike and (path not in self._circles or view.tells(seen.answers)):
            del self._seen[path]
            self._kept.pop(path, None)
            view.log |= seen.log
            return seen.events, seen.analysed
        self._unsee(path)
        known = None
        if self.memory is not None:
            known = self.memory.events(path, view.name, text, rules.key, View(self, path).answered)
        if known is None:
            return None
        events, log = known
        view.log |= log
        return events, None

    def _keep(self, path: str, size: int) -> None:
        """Keep the analysis of a file until it is linted, in place of those kept longest if need be."""
        self._kept[path] = size
        while sum(self._kept.values()) >= _MAX_KEPT:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            seen = self._seen[oldest]
            if seen.analysed is not None:
                seen.analysed.release()
            self._seen[oldest] = seen._replace(analysed=None)

    def _unsee(self, path: str) -> None:
        """Forget what was seen in a file."""
        seen = self._seen.pop(path, None)
        self._kept.pop(path, None)
        if seen is not None and seen.analysed is not None:
            seen.analysed.release()

    @contextmanager
    def only_known(self) -> Iterator[None]:
        """Do not analyse anything meanwhile; who asks for something that is not known is stopped."""
        self._only_known = True
        try:
            yield
        except _NotKnown:
            self._not_known.update(running.path for running in self._running)
            self._running.clear()
            self._early.clear()
        finally:
            self._only_known = False

    def _text(self, path: str) -> str | None:
        return self._last[1] if self._last[0] == path else self._read(path)

    def note(self, asker: str, asked: str) -> None:
        """Remember that one file asks another."""
        self._asked.setdefault(asker, set()).add(asked)

    def throughout(self, path: str) -> bool:
        """Whether all that runs a file runs on CUDA alone."""
        found, asked = self.choices.throughout(path)
        if not found and not self.choices.is_library(path):
            programs, others = self.choices.programs(path)
            found = bool(programs) and all(map(self.natures.needs_extension, programs))
            asked |= others.union(*map(self.natures.imports, programs))
        self._chosen_by[path] = self._chosen_by.get(path, frozenset()) | asked
        return found

    def rehearsed(self, path: str, tree: ast.Module | None = None) -> tuple[Met, ...]:
        """What goes wrong in the programs that run a file, where it is the file that is to be changed."""
        found = self._rehearsed.get(path)
        if found is None and self._company is not None:
            programs, asked = self.choices.programs(path)
            found = self._rehearsed[path] = self._in_programs(path, programs, tree)
            self._chosen_by[path] = self._chosen_by.get(path, frozenset()) | asked
        return found or ()

    def _in_programs(self, path: str, programs: tuple[str, ...], tree: ast.Module | None) -> tuple[Met, ...]:
        assert self._company is not None
        if self._rehearses is None:
            self._rehearses = self._company(self.layout, self._text, self.memory)
        met: dict[Met, None] = {}
        lazy = len(self.layout.files(self._root(path))) > _MANY
        if self._only_known and not self._is_known(path, programs, lazy):
            raise _NotKnown
        for program in programs:
            own_tree = tree if program == path else None
            with suppress(*FAULTS):  # what goes wrong here costs nothing of what is known otherwise
                met.update(dict.fromkeys(self._rehearses.rehearse(program, lazy, own_tree)))
        if self.choices.is_tried(path):
            with suppress(*FAULTS):
                met.update(dict.fromkeys(self._rehearses.try_out(path, tree)))
        own = (each for each in met if each.home.path == path)
        # What is certain comes last, and takes the place of what is only tried.
        return tuple(sorted(own, key=lambda each: (each.home, not each.tried, each.here, each.kind)))

    def _is_known(self, path: str, programs: tuple[str, ...], lazy: bool) -> bool:
        """Whether it takes no rehearsal to say what goes wrong in a file."""
        assert self._rehearses is not None
        with suppress(*FAULTS):
            return all(self._rehearses.knows(program, lazy, tried=False) for program in programs) and (
                not self.choices.is_tried(path) or self._rehearses.knows(path, lazy, tried=True)
            )
        return False

    def may_define(self, path: str, name: str) -> bool:
        """Whether a file can define a name at all: what its text rules out takes no analysis."""
        return path in self._modules or self._binds.may(path, name)

    def module(self, path: str) -> ModuleSummary | None:
        """What a file defines; None where it cannot be read, or asks for itself."""
        if path in self._modules:
            return self._modules[path]
        if path in self._doubted:
            self._confirm(path)
            return self.module(path)
        for running in self._running:
            if path == running.path or path in running.circle:
                for above in self._running[running.index :]:
                    above.low = min(above.low, running.index)
                return self._early.get(path)
        if len(self._running) >= _MAX_DEPTH:
            return None
        if self._only_known and path in self._not_known:
            raise _NotKnown
        return self._analyse(path)

    def callers(self, function: str, path: str) -> tuple[Calling, ...]:
        """The calls of a function of the file `path` in all of the project, whichever files are linted.

        Those of the methods that it replaces count. Where many files mention it, only its own is looked at.
        """
        self.confirm()
        key = path, function
        known = self._callers.get(key)
        if known is None:
            own = self.module(path)
            if own is None:
                return ()
            names = {function} | self._replaced(function, path, own)
            others = self._mentioning(function, path, own)
            summaries = [own, *filter(None, map(self.module, others))]
            calls = tuple(call for each in summaries for call in each.calls if call.callee in names)
            known = self._callers[key] = others, calls
        others, calls = known
        self._asked.setdefault(path, set()).update(others)
        return calls

    def loaders(self, function: str, path: str) -> tuple[Loading, ...]:
        """The loaders, in all of the project, that run a function of the file `path` in their workers."""
        own = self.module(path)
        if own is None:
            return ()
        self.confirm()
        others = self._mentioning(function, path, own)
        self._asked.setdefault(path, set()).update(others)
        summaries = [own, *filter(None, map(self.module, others))]
        return tuple(each for one in summaries for each in one.loaders if each.function == function)

    def default_gpu(self, path: str) -> Alone:
        """What is alone in the programs that import a file: the default GPU among GPUs, or among devices."""
        found, asked = self.choices.default_gpu(path)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def initialises(self, path: str, module: str) -> bool:
        """Whether a file initialises CUDA as it imports a module of the project."""
        home = self.layout.find(module, path)
        if home is None or home.path == path:
            return False
        found, asked = self.choices.initialises(home.path)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def unused(self, path: str, parts: tuple[Part, ...], quiet: bool) -> bool:
        """Whether nothing in the program uses one of the parts of a file, or the whole file."""
        found, asked = self._unused.unused(path, parts, quiet)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def stays_on_cpu(self, path: str, name: str) -> bool:
        """Whether nothing that may use a class of a file brings anything to a device."""
        found, asked = self.choices.stays_on_cpu(path, name)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def moves_attribute(self, path: str, name: str) -> bool:
        """Whether another file of the program moves what objects have as an attribute."""
        home = self.choices.home(path)
        self._asked.setdefault(path, set()).update({*self.choices.mentioning(home, name)} - {path})
        pattern = re.compile(knowledge.MOVES_ATTRIBUTE.format(name=re.escape(name)))
        return any(each != path for each in self.choices.texts(home).matching(pattern, name))

    def mentioned_beside(self, path: str, name: str) -> bool:
        """Whether another file of a program that runs one has a name."""
        found, asked = self.choices.mentioned_beside(path, name)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def saved_on_cpu(self, path: str, file: str) -> bool:
        """Whether other files of a project save what is called so, in programs without accelerators."""
        found, asked = self.choices.saved_on_cpu(path, file)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def calls_are_known(self, path: str, function: str) -> bool:
        """Whether nothing but the project calls a function of a file, and all by its name."""
        found, asked = self._unused.calls_are_known(path, function.rpartition(".")[2])
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def default_device(self, path: str) -> Default:
        """Who sets the default device to an accelerator for a file."""
        found, asked = self.choices.default_device(path)
        self._asked.setdefault(path, set()).update(asked - {path})
        return found

    def _mentioned(self, root: str) -> Mentions:
        if root not in self._mentions:
            self._mentions[root] = Mentions(self.layout.files(root), self._read)
        return self._mentions[root]

    def _mentioning(self, function: str, path: str, own: ModuleSummary) -> list[str]:
        """The other files that mention a function, and the module or package that it is imported from."""
        parts = function.removeprefix(f"{own.name}.").split(".")
        by_class = parts[-1] in _BY_CLASS | knowledge.IN_WORKERS and len(parts) > 1
        name = parts[-2] if by_class else parts[-1]
        root = self._root(path)
        found = [each for each in self._mentioned(root).of(name) if each != path]
        if found and (by_class or len(parts) == 1):  # who calls it imports it, from wherever
            above = reached(path, self.choices.importers)
            known = own.name.split(".")
            mentions = self._mentions[root]
            found = [each for each in found if each in above or any(mentions.has(each, one) for one in known)]
        if len(found) > _MAX_CALLERS:
            near = own.name.split(".")[-2:]
            found = [each for each in found if any(self._mentions[root].has(each, part) for part in near)]
        return found if len(found) <= _MAX_CALLERS else []

    def _replaced(self, function: str, path: str, own: ModuleSummary) -> set[str]:
        """The methods of base classes that a method takes the place of."""
        owner, _, method = function.rpartition(".")
        todo = [own.classes[owner]] if owner in own.classes and method not in _BY_CLASS else []
        view, found, done = View(self, path), set[str](), set[str]()
        while todo:
            each = todo.pop()
            for base in each.bases:
                known = own.classes.get(base) or view.find(base)
                if isinstance(known, ClassSummary) and known.name not in done:
                    done.add(known.name)
                    todo.append(known)
                    if method in known.methods:
                        found.add(known.methods[method])
        return found

    def _analyse(self, path: str) -> ModuleSummary | None:
        running = _Running(path, len(self._running))
        self._running.append(running)
        remembered = frozenset[str]()
        if self.memory is not None and self._may_replay(path):
            remembered = self.memory.circle(path)
        known = self._circle(running, remembered) if len(remembered) > 1 else None
        found = {path: self._run(path, frozenset())} if known is None else known
        running.circle.add(path)
        circle = {path} if known is None else set(known)
        while running.low == running.index and circle != running.circle:
            # Files that ask each other: each is told of all but those, whoever was asked first.
            circle = set(running.circle)
            found = {each: self._run_in_circle(each, frozenset(circle)) for each in sorted(circle)}
        self._running.pop()
        alone = circle == {path} and running.low == running.index
        if alone:
            self._told.pop(path, None)
        if alone and self.memory is not None and (self._at_hand is None or self._at_hand[0] != path):
            seen = self._seen.get(path)
            text = self._read(path) if seen is not None else None
            if seen is not None and text is not None and seen.text == hash(text):
                # Perhaps another process is to lint it.
                name = self.layout.module_name(path)
                self.memory.keep_events(path, name, text, seen.rules.key, seen.log, seen.events)
        if running.low < running.index:
            below = self._running[-1]
            below.low = min(below.low, running.low)
            below.circle |= running.circle
            self._early.update(found)
        else:
            self._modules.update(found)
            if self.memory is not None and circle != remembered:
                for each in circle if len(circle) > 1 or remembered else ():
                    self.memory.keep_circle(each, circle)
        return found[path]

    def _run_in_circle(self, path: str, circle: frozenset[str]) -> ModuleSummary | None:
        before = self._asked.pop(path, set())
        found = self._run(path, circle - {path})
        asked = frozenset(self._asked.get(path, ()))
        self._asked[path] = before | asked
        self._circles[path] = _Circle(circle, asked)
        return found

    def _circle(self, running: _Running, circle: frozenset[str]) -> dict[str, ModuleSummary | None] | None:
        """Take files for the circle that they were once; None where they, and no others, are one no more."""
        running.circle |= circle
        found = {each: self._run(each, circle - {each}) for each in sorted(circle)}
        same = running.circle == circle and running.low == running.index
        if same and all(circle <= reached(each, self._asks) for each in circle):
            return found
        running.circle.clear()
        running.low = running.index
        return None

    def _run(self, path: str, hidden: frozenset[str]) -> ModuleSummary | None:
        name = self.layout.module_name(path)
        self._paths.setdefault((self._root(path), name), path)
        at_hand = self._at_hand
        linted = at_hand is not None and at_hand[0] == path
        text = at_hand[1] if at_hand is not None and linted else self._read(path)
        if text is None:
            return None
        if self.memory is not None and self._may_replay(path):
            self._replays[path] = self._replays.get(path, 0) + 1
            known = self.memory.summary(path, name, text, View(self, path, hidden).answered)
            if known is not None:
                return known
        told = self._told.get(path)
        if told is not None and told.text == hash(text) and View(self, path, hidden).tells(told.answers):
            return told.summary
        if self._only_known:
            raise _NotKnown
        try:
            view = View(self, path, hidden)
            rules = self.watching(path, text) if self._observe is not None and not hidden else None
            if rules is None or self._observe is None:
                summary = self._summarise(parsed(text), name, view)
            else:
                events, summary, file = self._observe(text, name, view, rules)
                self._unsee(path)
                kept = file if events and len(text) < _MAX_KEPT else None
                met = self._rehearsed.get(path, ())
                self._seen[path] = _Seen(hash(text), rules, events, kept, view.log, view.answers, met)
                if kept is None:
                    file.release()
                else:
                    self._keep(path, len(text))
            if self.memory is not None:
                summary = self.memory.keep_summary(path, text, view.log, summary)
            self._told[path] = _Told(hash(text), view.answers, summary)
            return summary
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _may_replay(self, path: str) -> bool:
        """Whether to ask what was learned of a file.

        Files in circles are asked for once for each circle that they may be in, and where many ask each other
        that takes longer than an analysis.
        """
        return self._replays.get(path, 0) < _MAX_REPLAYS

    def digest_of_text(self, path: str, near: str) -> bytes:
        """What tells a file, and the way to it from another, from any other."""
        self.note(near, path)
        text = self._read(path)
        where = os.path.relpath(path, os.path.dirname(near))
        return digest_of((where, text)) if text is not None else b""

    def locate(self, node: tuple[str, int], near: str) -> tuple[str, Span] | None:
        """The file and the place of a node that a summary named in the project of the file `near`."""
        path, _ = self.named(node[0], near) or ("", "")
        text = self._read(path) if path else None
        if text is None or self._find is None:
            return None
        self.note(near, path)
        if self.edits is not None and path not in self._circles:
            kept = self.edits.span(path, text, node)
            if kept is not None:  # numbers are those of the analysis that the summary is of
                return path, kept
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                span = self._find(text, self.layout.module_name(path), node, View(self, path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return (path, span) if span is not None else None

    def _root(self, path: str) -> str:
        return self.layout.project_of(os.path.dirname(path))

    def named(self, dotted: str, near: str) -> tuple[str, str] | None:
        """The file and the rest of a name that a summary gave, in the project of the file `near`."""
        root = self._root(near)
        module, rest = dotted, ""
        while module:
            path = self._paths.get((root, module))
            if path is not None:
                return path, rest
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None


def _answer(found: Definition | Value | None) -> Answer:
    return found.table[found.name] if isinstance(found, Definition) else found


def _digest(found: Definition | Value | None) -> bytes:
    if isinstance(found, Definition):
        assert isinstance(found.table, Definitions)  # a project that has a memory has no others
        return found.table.digest(found.name)
    return digest_of(found)


class _Circle(NamedTuple):
    """Files that ask each other."""

    files: frozenset[str]
    asked: frozenset[str]
    """The files that one of them asked, being told nothing of the others."""


class _Doubt(NamedTuple):
    """What was known of a file before it changed."""

    known: ModuleSummary | None
    asked: set[str]


class _Running:
    """A file that is being analysed."""

    __slots__ = ("circle", "index", "low", "path")

    def __init__(self, path: str, index: int) -> None:
        self.path = path
        self.index = index
        self.low = index
        self.circle: set[str] = set()
        """Files that ask for this one, or for one below."""


class Definition(NamedTuple):
    """Something that a module defines: the table that it is in, and its name there."""

    table: Mapping[str, Any]
    name: str


class View:
    """The project as one file sees it: the `Index` of its analysis.

    Whatever is asked of it is a `Question`, whose answer has a digest: what was learned from the answers
    holds as long as they are the same.
    """

    def __init__(self, project: Project, path: str, hidden: frozenset[str] = frozenset()) -> None:
        self._project = project
        self.path = path
        self._hidden = hidden
        """Files that ask for this one in turn."""
        self.log: Log = {}
        """What has been asked, if the project has a memory."""
        self.answers: dict[str, Answer] = {}
        """What the project was said to define."""

    @property
    def name(self) -> str:
        """The name of the file's module."""
        return self._project.layout.module_name(self.path)

    def locate(self, node: tuple[str, int]) -> tuple[str, Span] | None:
        """The file and the place of a node that a summary named; None where it is not there any more."""
        if self._project.memory is not None:
            question = "locate", node[0], str(node[1])
            self.log[question] = self.answered(question)
        return self._project.locate(node, self.path)

    def events(self, text: str, rules: Watching) -> tuple[tuple[Event, ...], File | None] | None:
        """What rules watch of the events in this file; see `Project.events`."""
        return self._project.events(self.path, text, rules, self) or self.edited(text, rules)

    def edited(self, text: str, rules: Watching) -> tuple[tuple[Event, ...], File] | None:
        """The events in this file, and its analysis, if one of an earlier text tells."""
        edits = self._project.edits
        return edits.edited(self, text, rules) if edits is not None else None

    def followed(self, before: str, text: str, function: str) -> None:
        """This file has another text, in which only the body of a function is another, if of one."""
        self._project.followed(self.path, before, text, function)

    def keep(self, text: str, rules: Watching, file: File) -> None:
        """Keep the analysis of this file, if somebody edits it."""
        if self._project.edits is not None:
            self._project.edits.keep(self, text, rules, file)

    def callers(self, function: str) -> tuple[Calling, ...]:
        """The calls of a function of this file, or of one that calls, wherever the project has them."""
        found = self._callers(function)
        if self._project.memory is not None:
            self.log["callers", function] = digest_of(found)
        return found

    def loaders(self, function: str) -> tuple[Loading, ...]:
        """The loaders, wherever the project has them, that run a function of this file in their workers."""
        found = self._project.loaders(function, self.path)
        if self._project.memory is not None:
            self.log["loaders", function] = digest_of(found)
        return found

    def _callers(self, function: str) -> tuple[Calling, ...]:
        found = self._project.named(function, self.path)
        return self._project.callers(function, found[0] if found is not None else self.path)

    def needs_accelerator(self, function: str) -> bool:
        """Whether an accelerator is there whoever runs a function of this file, as other files tell.

        The file imports what runs nowhere else, or all that call the function make sure of it; what nobody
        calls may be called by anybody.
        """
        natures = self._project.natures
        if natures.needs_accelerator(self.path):
            return True
        for each in natures.imports(self.path):
            self._project.note(self.path, each)
        return bool(function) and self._guarded(function, set(), _MAX_CALLS)

    def throughout(self) -> bool:
        """Whether all that runs this file runs on CUDA alone."""
        found = self._throughout()
        if self._project.memory is not None:
            self.log["throughout", ""] = digest_of(found)
        return found

    def _throughout(self) -> bool:
        return self._project.throughout(self.path)

    def rehearsed(self, tree: ast.Module) -> tuple[Met, ...]:
        """What goes wrong in the programs that run this file, where it is this file that is to be changed."""
        found = self._project.rehearsed(self.path, tree)
        if self._project.memory is not None:
            self.log["rehearsed", ""] = self._rehearsed_digest(found)
        return found

    def _rehearsed_digest(self, found: tuple[Met, ...]) -> bytes:
        folder = os.path.dirname(self.path)

        def near(part: object) -> object:
            if not isinstance(part, There):
                return part
            return tuple(part._replace(path=os.path.relpath(part.path, folder)))

        return digest_of(tuple(tuple(map(near, each)) for each in found))

    def default_gpu(self) -> Alone:
        """What is alone in the programs that import this file."""
        found = self._project.default_gpu(self.path)
        if self._project.memory is not None:
            self.log["default gpu", ""] = digest_of(found)
        return found

    def initialises(self, module: str) -> bool:
        """Whether this file initialises CUDA as it imports a module of the project."""
        found = self._project.initialises(self.path, module)
        if self._project.memory is not None:
            self.log["initialises", module] = digest_of(found)
        return found

    def unused(self, parts: tuple[Part, ...], quiet: bool) -> bool:
        """Whether nothing in the program uses one of the parts of this file, or the whole file.

        `quiet` is whether it does nothing when it is run.
        """
        found = self._project.unused(self.path, parts, quiet)
        if self._project.memory is not None:
            told = ";".join(":".join(map(str, (*each[:3], int(each.within)))) for each in parts)
            self.log["unused", told, "quiet" if quiet else ""] = digest_of(found)
        return found

    def stays_on_cpu(self, name: str) -> bool:
        """Whether nothing that may use a class of this file brings anything to a device, nor it."""
        found = self._project.stays_on_cpu(self.path, name)
        if self._project.memory is not None:
            self.log["stays on cpu", name] = digest_of(found)
        return found

    def moves_attribute(self, name: str) -> bool:
        """Whether another file of the program moves what objects have as an attribute."""
        found = self._project.moves_attribute(self.path, name)
        if self._project.memory is not None:
            self.log["moves attribute", name] = digest_of(found)
        return found

    def mentioned_beside(self, name: str) -> bool:
        """Whether another file of a program that runs this one has a name."""
        found = self._project.mentioned_beside(self.path, name)
        if self._project.memory is not None:
            self.log["mentioned beside", name] = digest_of(found)
        return found

    def saved_on_cpu(self, file: str) -> bool:
        """Whether other files of the project save what is called so, in programs without accelerators."""
        found = self._project.saved_on_cpu(self.path, file)
        if self._project.memory is not None:
            self.log["saved on cpu", file] = digest_of(found)
        return found

    def calls_are_known(self, function: str) -> bool:
        """Whether nothing but the project calls a function of this file, and all by its name."""
        found = self._project.calls_are_known(self.path, function)
        if self._project.memory is not None:
            self.log["calls are known", function] = digest_of(found)
        return found

    def default_device(self) -> Default:
        """Who sets the default device to an accelerator for this file."""
        found = self._project.default_device(self.path)
        if self._project.memory is not None:
            self.log["default device", ""] = digest_of(found)
        return found

    def _guarded(self, function: str, asked: set[str], left: int) -> bool:
        asked.add(function)
        calls = self.callers(function)
        todo = {call.caller for call in calls if not call.guarded}
        known = left > 0 and "" not in todo and todo.isdisjoint(asked)
        return bool(calls) and (
            not todo or (known and all(self._guarded(each, asked, left - 1) for each in sorted(todo)))
        )

    def find(self, dotted: str) -> Answer:
        """What the project defines under a dotted name, as imported here or as a summary gave it."""
        found = self._follow(dotted, self.path, _MAX_FORWARDS)
        if self._project.memory is not None:
            self.log["find", dotted] = _digest(found)
        answer = self.answers[dotted] = _answer(found)
        return answer

    def has(self, module: str) -> bool:
        """Whether a name that this file imports means a file of the project."""
        return self._project.layout.find(module, self.path) is not None

    def tells(self, answers: Mapping[str, Answer]) -> bool:
        """Whether the project defines what a file was told once."""
        return all(
            _answer(self._follow(dotted, self.path, _MAX_FORWARDS)) == answer
            for dotted, answer in answers.items()
        )

    def answered(self, question: Question) -> bytes:
        """The digest of the answer to a question, as it is today."""
        kind, about, *more = question
        if kind == "find":
            return _digest(self._follow(about, self.path, _MAX_FORWARDS))
        if kind == "callers":
            return digest_of(self._callers(about))
        if kind == "loaders":
            return digest_of(self._project.loaders(about, self.path))
        if kind == "rehearsed":
            return self._rehearsed_digest(self._project.rehearsed(self.path))
        if kind == "throughout":
            return digest_of(self._throughout())
        if kind == "default gpu":
            return digest_of(self._project.default_gpu(self.path))
        if kind == "initialises":
            return digest_of(self._project.initialises(self.path, about))
        if kind == "unused":
            parts = (each.split(":") for each in filter(None, about.split(";")))
            told = tuple(Part(each[0], int(each[1]), int(each[2]), each[3] == "1") for each in parts)
            return digest_of(self._project.unused(self.path, told, any(more)))
        if kind == "stays on cpu":
            return digest_of(self._project.stays_on_cpu(self.path, about))
        if kind == "moves attribute":
            return digest_of(self._project.moves_attribute(self.path, about))
        if kind == "mentioned beside":
            return digest_of(self._project.mentioned_beside(self.path, about))
        if kind == "saved on cpu":
            return digest_of(self._project.saved_on_cpu(self.path, about))
        if kind == "calls are known":
            return digest_of(self._project.calls_are_known(self.path, about))
        if kind == "default device":
            return digest_of(self._project.default_device(self.path))
        if kind == "locate":  # where a node stands depends on the whole text
            path, _ = self._project.named(about, self.path) or ("", "")
            return self._project.digest_of_text(path, self.path) if path else b""
        return b"?"  # nobody knows how to ask it any more

    def _follow(
        self, dotted: str, importer: str, left: int, searched: set[tuple[str, str]] | None = None
    ) -> Definition | Value | None:
        """What a name means in a file; `searched` were looked for in files that have all names of others."""
        searched = set() if searched is None else searched
        found = self._project.layout.find(dotted, importer)
        path, rest = found if found is not None else (self._project.named(dotted, self.path) or ("", ""))
        if not path or not rest or path == self.path:
            return None
        self._project.note(self.path, path)
        if path in self._hidden or not left:
            return None
        if not self._project.may_define(path, rest.partition(".")[0]):
            return None
        summary = self._project.module(path)
        if summary is None:
            return None
        full = f"{summary.name}.{rest}"
        for table in (summary.functions, summary.classes):
            if full in table:
                return Definition(table, full)
        first, _, others = rest.partition(".")
        value = summary.values.get(first)
        if value is None:
            return self._starred(summary, rest, path, left, searched)
        if value.kind is Kind.LIBRARY and isinstance(value.known, Api):
            onward = f"{value.known.dotted}.{others}" if others else value.known.dotted
            forwarded = self._follow(onward, path, left - 1, searched)
            if forwarded is None and self._project.layout.find(onward, path) is None:
                return Value(Kind.LIBRARY, known=Api(onward)) if not onward.startswith(".") else None
            return forwarded
        if isinstance(value.known, Defined) and value.kind in (Kind.FUNCTION, Kind.CLASS):
            onward = f"{value.known.dotted}.{others}" if others else value.known.dotted
            if onward != dotted:
                return self._follow(onward, path, left - 1, searched)
            return None
        return Definition(summary.values, first) if not others else None

    def _starred(
        self, summary: ModuleSummary, rest: str, path: str, left: int, searched: set[tuple[str, str]]
    ) -> Definition | Value | None:
        """What a module has from those of which it imports all names, which may import all of this one's."""
        if not rest.startswith("_") and (path, rest) not in searched:
            searched.add((path, rest))
            for star in reversed(summary.stars):
                found = self._follow(within(star, rest), path, left - 1, searched)
                if found is not None:
                    return found
        return None
