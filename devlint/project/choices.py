"""Whether the programs of a project run on CUDA alone, or mean a device to be a choice.

Told by texts, without any analysis: a file chooses where it asks for an accelerator, has a device to pass on,
or an option about one. What a program imports, and what imports a file, may choose for it. Who only moves to
CUDA where it is there, in a program that moves more of its values there in any case, has no choice. Programs
that share files are one.
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from .. import knowledge
from ..source.text import NOTEBOOK
from .demands import demands_cuda
from .initialising import initialises
from .mentions import Mentions
from .nature import imported
from .reach import reached
from .resolve import Layout
from .world import ROOTS

Default = Literal["", "above", "beside"]
"""Whether what runs a file sets the default device, or only another file of the project; else empty."""

Alone = Literal["", "some", "gpus", "devices", "current"]
"""Whether the default GPU is the only one that a program uses, or the only device where it is there; or it is
the one that the program makes the default. It is `some` of several where no program has an option about them,
and empty where one has, or where others may import what they need."""

_COMMENT = re.compile(r"#[^\n]*")
_PATHS = re.compile(r"\bsys\.path\.(?:append|insert)\([^\n]*?[\"']([\w./-]+)[\"']")
_SYS_PATH = "sys.path"
_JOINED = re.compile(r"\bjoin\(([^\n]*)")
"""What a path is made of, its folders named by texts."""
_TEXTS = re.compile(r"[\"']([\w.][\w./-]*)[\"']")
_BY_NAME = re.compile(r"\bimport_module\(\s*([^\n,]+)")
_TEXT = re.compile(r"[rf]?([\"'])([\w.{}%]*)\1")
_LEFT_OPEN = re.compile(r"\{[^}]*\}|%s")
_MARGIN = re.compile(r"^[ \t]+", re.MULTILINE)
_SAID = re.compile(r"[A-Za-z]{3}")
"""So much of a name has to be there to tell which modules may be meant."""
_IN_A_BLOCK = re.compile(rf"^[ \t]+.*(?:{knowledge.SETS_DEFAULT_DEVICE.pattern})", re.MULTILINE)
"""A function sets the default device, for all that it calls."""
_PLACES = re.compile(r"\bModule\b|cuda|device|\.to\(")
_BRINGS = re.compile(
    r"\.(?:to|cuda|xpu|mps|to_device)\(|\bdevice\w*\s*=(?!=)|\bdevice\(|cuda\.|[\"']cuda"
    r"|\w*[Aa]ccelerat|\bTrainer\(|pytorch_lightning|\blightning\b|\bignite\b|deepspeed|set_default_"
)
_LISTED = re.compile(r"\bchoices\s*=\s*[\[(][^\])]*[\])]")
"""What an option may be brings nothing anywhere: whoever reads it does."""
_SPEAKS = re.compile(
    r"cuda(?!\.(?:manual_seed|seed_all|is_available\(\):\s+torch\.cuda\.manual_seed))"
    r"|device|gpu|\.to\(|accelerat",
    re.IGNORECASE,
)
"""What is said of devices; that random numbers are seeded on all of them puts nothing there."""
_SAVES = re.compile(r"\btorch\.save\(")
_MAIN = re.compile(
    r"^(?:if\s+__name__\b|(?:for|while)\b|print\(|\w+(?:\s*,\s*\w+)*\s*=[^\n#]*\.parse_(?:known_)?args\()",
    re.MULTILINE,
)
"""What a file does when it is run, and a library's does not when it is imported."""
_FOLDERS = re.compile(
    r"[\"'](?:/(?:home|Users|root|mnt|media|data\d*|scratch\w*|work|nfs\w*|gpfs\w*|lustre\w*|storage|exports?"
    r"|shares?|shared|vol\w*|disk\w*|ssd\w*|raid\w*|projects?|cluster)/\w[\w.-]*/"
    r"|[A-Za-z]:(?:/|\\\\)\w|(?<=[rR].)[A-Za-z]:\\\w)"
)
"""A path from the root of a machine's file system to where somebody keeps data; `"x:\\n"` is none."""
_CALLS = re.compile(r"^[A-Za-z_][\w.]*\([^\n]*\)[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
"""A call that a file makes when it is run."""
_MAX_PROGRAMS = 12
"""Of those that run a file, so many are gone through, the nearest first."""
_MAX_ABOVE = 24
"""Among so many files that import a file, or import one that does, they are looked for."""
_MAX_IMPORTERS = 24
"""What more files than these may import has no programs of its own."""
_INSTALLS = {
    "setup.py": re.compile(r"\b(?:packages|py_modules)\b"),
    "setup.cfg": re.compile(r"^\[(?:metadata|options)", re.MULTILINE),
    "pyproject.toml": re.compile(
        r"^\[(?:project|build-system|tool\.(?:poetry|flit|pdm|setuptools))\b", re.MULTILINE
    ),
}
"""What says in each of these files that others install what is beside it, and not only how to check it."""
_PACKAGE = "__init__"
_MAX_UP = 3
_IMPORTS = ("imports", "imports_anywhere", "modules")
"""The signs that are the names of modules."""
_HARDLY = 5
"""So many files of a project name CUDA, for each that chooses, where it is settled that all runs there."""
_THROUGHOUT = 3
"""So often a program names CUDA before that is what it means, and no line that nobody gave a thought."""
_MOVED = 2
"""So often a program moves something there, its model and what that is given, and means it as well."""


class _Signs:
    """What the text of a file tells; each is looked for when it is asked for, as most never are."""

    def __init__(self, text: str) -> None:
        self.hash = hash(text)
        self._text = knowledge.without_flags(_COMMENT.sub("", knowledge.without_texts(text)))

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The modules that it imports, whatever happens."""
        return tuple(imported(self._text))

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Those of them that are modules for sure."""
        return tuple(imported(self._text, certain=True))

    @cached_property
    def imports_anywhere(self) -> tuple[str, ...]:
        """The modules that it imports, in blocks as well."""
        return tuple(imported(_MARGIN.sub("", self._text)))

    @cached_property
    def by_name(self) -> tuple[str, ...]:
        """The names of modules that it makes up when it is run, with `*` for what nobody knows."""
        return tuple(filter(_SAID.search, map(_pattern, _BY_NAME.findall(self._text))))

    @cached_property
    def needs(self) -> int:
        """How often it names CUDA where a device goes."""
        return knowledge.names_cuda(self._text)

    @cached_property
    def initialises(self) -> bool:
        """Whether its import initialises CUDA by itself."""
        return initialises(self._text)

    @cached_property
    def bound(self) -> bool:
        """Whether it names folders of one machine."""
        return _FOLDERS.search(self._text) is not None

    @cached_property
    def chooses(self) -> bool:
        """Whether it seems to mean a device to be a choice."""
        return knowledge.chooses_device(self._text)

    @cached_property
    def demands(self) -> bool:
        """Whether it ends where there is no CUDA, whatever else it does."""
        return knowledge.may_demand_cuda(self._text) and demands_cuda(self._text)

    @cached_property
    def leaves(self) -> bool:
        """Whether it leaves the choice to a trainer."""
        return knowledge.leaves_device(self._text)

    @cached_property
    def trains(self) -> str:
        """What a trainer that it makes runs on."""
        return knowledge.trains_on(self._text)

    @cached_property
    def offers(self) -> bool:
        """Whether it has an option about devices, which holds for those who import it."""
        return knowledge.offers_device(self._text)

    @cached_property
    def numbers(self) -> bool:
        """Whether it has one that may be the number of a GPU."""
        return knowledge.numbers_devices(self._text)

    @cached_property
    def limits(self) -> bool:
        """Whether it says which GPUs are seen."""
        return knowledge.limits_devices(self._text)

    @cached_property
    def moves(self) -> tuple[int, int]:
        """How often it moves to CUDA only where that is there, and does nothing else; how often otherwise."""
        return knowledge.moves_to_cuda(self._text)

    @cached_property
    def besides(self) -> bool:
        """Whether it has a choice besides that of CUDA where it is there."""
        return self.offers or self.leaves or knowledge.chooses_besides(self._text)

    @cached_property
    def calls(self) -> bool:
        """Whether it does something when it is run."""
        return self.runs or _CALLS.search(self._text) is not None

    @cached_property
    def elsewhere(self) -> bool:
        """Whether it may have anything on another GPU than the default one."""
        return knowledge.places_elsewhere(self._text)

    @cached_property
    def current(self) -> bool:
        """Whether it says which GPU is the current one."""
        return knowledge.sets_current_device(self._text)

    @cached_property
    def places(self) -> bool:
        """Whether it has modules, or speaks of devices, and is no test."""
        return _PLACES.search(self._text) is not None and not self.tests

    @cached_property
    def brings(self) -> bool:
        """Whether it may bring anything to a device, by itself or by a framework's hands."""
        return _BRINGS.search(_LISTED.sub("", self._text)) is not None

    @cached_property
    def accelerates(self) -> bool:
        """Whether it speaks of devices at all."""
        return _SPEAKS.search(self._text) is not None

    @cached_property
    def tests(self) -> bool:
        """Whether it imports what tests are written with."""
        return not set(knowledge.TEST_FRAMEWORKS).isdisjoint(self.imports)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Where else, by what it says, imports may start, from where it is."""
        if _SYS_PATH not in self._text:
            return ()
        joined = ("/".join(_TEXTS.findall(found)) for found in _JOINED.findall(self._text))
        return tuple(filter(None, (*_PATHS.findall(self._text), *joined)))

    @cached_property
    def runs(self) -> bool:
        """Whether it does something when it is run."""
        return _MAIN.search(self._text) is not None


class Choices:
    """Looks for choices of a device in files, in what they import, and in what imports them."""

    def __init__(
        self, layout: Layout, read: Callable[[str], str | None], before: Choices | None = None
    ) -> None:
        """`read` gives a file's text; what texts told `before` they tell again, if they are the same."""
        self._layout = layout
        self._read = read
        self._before: dict[str, _Signs] = {**before._before, **before._known} if before is not None else {}
        self._known: dict[str, _Signs] = {}
        self._imports: dict[str, frozenset[str]] = {}
        self._may_import: dict[str, frozenset[str]] = {}
        self._importers: dict[str, frozenset[str]] = {}
        self._mentions: dict[str, Mentions] = {}
        self._answers: dict[str, tuple[bool, frozenset[str]]] = {}
        self._on_cpu: dict[tuple[str, str], tuple[bool, frozenset[str]]] = {}
        self._settled: dict[str, tuple[bool, frozenset[str]]] = {}
        self._packages: dict[str, tuple[bool, frozenset[str]]] = {}
        self._defaults: dict[str, tuple[Default, frozenset[str]]] = {}

    def follow(self, path: str, text: str) -> bool:
        """A file has another text; whether all that was told still holds."""
        before = self._known.get(path)
        if os.path.basename(path) in _INSTALLS or path.endswith(NOTEBOOK):
            return False
        now = _Signs(text)
        asked = vars(before).keys() - vars(now).keys() if before is not None else ()
        if not all(self._is_as(getattr(before, name), getattr(now, name), name, path) for name in asked):
            return False
        if not all(each.follow(path, text) for each in self._mentions.values()):
            return False
        self._known[path] = now
        # Where it sets the default device, what was told of that rests on more of its text.
        return not (self._defaults and knowledge.SETS_DEFAULT_DEVICE.search(text))

    def _is_as(self, before: Any, now: Any, sign: str, path: str) -> bool:
        """Whether a sign of a file says what it said: of imports, the standard library's say nothing."""
        if before == now:
            return True
        differ = {*before} ^ {*now} if sign in _IMPORTS else {""}
        if not all(each.partition(".")[0] in sys.stdlib_module_names for each in differ):
            return False
        starts = self._starts(path)
        return differ.isdisjoint(knowledge.TEST_FRAMEWORKS) and not any(
            self._named(each, path, starts) for each in differ
        )

    def throughout(self, path: str) -> tuple[bool, frozenset[str]]:
        """Whether all that runs a file runs on CUDA alone; and the files that tell."""
        found = self._answers.get(path)
        if found is None:
            found = self._find(path)
            if not found[0]:
                demanded, asked = self._is_demanded(path)
                found = demanded, found[1] | asked
            if not found[0]:
                settled, asked = self._is_settled(self.home(path))
                found = settled, found[1] | asked
            self._answers[path] = found
        return found

    def _is_demanded(self, path: str) -> tuple[bool, frozenset[str]]:
        """Whether all programs that run a file end where there is no CUDA; and the files that tell."""
        if self._is_part(path) and self._installs(self._project(path)):
            return False, frozenset()
        programs, asked = self.programs(path)
        return bool(programs) and all(self._signs(each).demands for each in programs), asked

    def programs(self, path: str) -> tuple[tuple[str, ...], frozenset[str]]:
        """The programs of the project that run a file, itself first, and the files that tell."""
        above, programs = [path], list[str]()
        for each in above:  # grows while it is gone through: the nearest come first
            if self._is_program(each):
                programs.append(each)
            if len(above) < _MAX_ABOVE and len(programs) < _MAX_PROGRAMS:
                above += sorted(self._few_importers(each).difference(above))
        gone_through = {*programs, path} if self.is_tried(path) else programs
        below = (reached(each, self._imported) for each in gone_through)
        return tuple(programs[:_MAX_PROGRAMS]), frozenset(above).union(*below)

    def is_tried(self, path: str) -> bool:
        """Whether what a file defines is tried, to see what goes wrong: it is no test, and no mere program.

        What others import may do something when it is run, to show what it has.
        """
        imported = not self._is_program(path) or bool(self._few_importers(path))
        return imported and self._signs(path).places

    def _is_program(self, path: str) -> bool:
        """Whether a file is run by itself; what a part of a package calls, it calls as it is imported."""
        signs = self._signs(path)
        return not signs.tests and (signs.runs or (signs.calls and not self._is_in_package(path)))

    def _few_importers(self, path: str) -> frozenset[str]:
        """The files that import a file, of which not too many may."""
        few = all(len(self.mentioning(home, name)) <= _MAX_IMPORTERS for home, name in self._mentioned(path))
        return self.importers(path) if few else frozenset()

    def default_gpu(self, path: str) -> tuple[Alone, frozenset[str]]:
        """What makes the default GPU right in the programs that import a file; and the files that tell."""
        above = reached(path, self.importers)
        if any(self._signs(each).current and not self._signs(each).tests for each in above):
            return "current", frozenset(above)
        if self.is_library(path):
            return "", frozenset(above)
        below = set[str]().union(*(reached(each, self._imported) for each in above))
        programs = above if self._signs(path).runs else above - {path}
        needing = any(self._signs(each).needs for each in programs)
        told = frozenset(above | below)
        if not needing or any(self._signs(each).elsewhere for each in below):
            return "" if any(self._signs(each).offers for each in above) else "some", told
        return "gpus" if any(self._signs(each).besides for each in told) else "devices", told

    def initialises(self, path: str) -> tuple[bool, frozenset[str]]:
        """Whether the import of a file, or of what it imports, initialises CUDA; and the files that tell."""
        below = reached(path, self._imported)
        return any(self._signs(each).initialises for each in below), frozenset(below)

    def stays_on_cpu(self, path: str, name: str) -> tuple[bool, frozenset[str]]:
        """Whether no file that may use a class of one brings anything to a device; and who tells."""
        found = self._on_cpu.get((path, name))
        if found is None:
            found = self._on_cpu[path, name] = self._stays_on_cpu(path, name)
        return found

    def _stays_on_cpu(self, path: str, name: str) -> tuple[bool, frozenset[str]]:
        home = self.home(path)
        if self._signs(path).brings or self.is_library(path):
            return False, frozenset()
        if any(name in (self._read(each) or "") for each in self._layout.notebooks(home)):
            return False, frozenset()
        naming = {*self.mentioning(home, name)} - {path}
        told = naming.union(*(reached(each, self.importers) for each in naming))
        silent = not any(self._signs(each).brings for each in told)
        return silent and any(map(self.is_program, told)), frozenset(told)

    def saved_on_cpu(self, path: str, file: str) -> tuple[bool, frozenset[str]]:
        """Whether files save what is called so, in programs without accelerators; and who tells."""
        texts = self.texts(self.home(path))
        speaks = texts.first(_SPEAKS)
        if texts.paths and not speaks:
            return bool(texts.first(_SAVES)), texts.paths
        if not file:
            return False, frozenset({speaks})  # until that is another text
        saving = {*texts.matching(_SAVES, file)} - {path}
        above = set[str]().union(*(reached(each, self.importers) for each in saving))
        told = above.union(*(reached(each, self._imported) for each in above))
        found = bool(saving) and not any(self._signs(each).accelerates for each in told)
        return found, frozenset(told | {speaks})

    def mentioned_beside(self, path: str, name: str) -> tuple[bool, frozenset[str]]:
        """Whether another file has a name that imports one, or that such a file imports; and who tells."""
        naming = {*self.mentioning(self.home(path), name)} - {path}
        above = reached(path, self.importers) if naming else set[str]()
        told = above.union(*(reached(each, self._imported) for each in above))
        return not naming.isdisjoint(told), frozenset(naming | told)

    def default_device(self, path: str) -> tuple[Default, frozenset[str]]:
        """Who sets the default device to an accelerator for a file, and the files that tell; no tests."""
        found = self._defaults.get(path)
        if found is None:
            found = self._defaults[path] = self._default_device(path)
        return found

    def _default_device(self, path: str) -> tuple[Default, frozenset[str]]:
        homes = {self._layout.project_of(os.path.dirname(path)), self.home(path)}
        found = {
            each
            for home in homes
            for each in self.texts(home).matching(knowledge.SETS_DEFAULT_DEVICE, "set_default_")
            if not any(self.texts(home).has(each, name) for name in knowledge.TESTS_WITH)
        }
        if path in found and not _IN_A_BLOCK.search(self._read(path) or ""):
            found.remove(path)  # what its statements set, and when, is known where it is analysed
        if not found:
            return "", frozenset()
        above = reached(path, self.importers)
        return "beside" if found.isdisjoint(above) else "above", frozenset(found | above)

    def _is_settled(self, home: str) -> tuple[bool, frozenset[str]]:
        """Whether a project names CUDA in many files, and hardly chooses in any; and the files that tell."""
        found = self._settled.get(home)
        if found is None:
            naming = {each for each in self.texts(home).of(knowledge.CUDA) if self._names_cuda(each)}
            most, choosing = len(naming) // _HARDLY, set[str]()
            for each in self._layout.files(home) if most else ():
                signs = self._signs(each)
                if signs.chooses or (signs.leaves and signs.trains != knowledge.GPUS):
                    choosing.add(each)
                    if len(choosing) > most:
                        break
            settled = bool(most) and len(choosing) <= most
            found = self._settled[home] = settled, frozenset(naming | choosing)
        return found

    def _names_cuda(self, path: str) -> bool:
        return bool(self._signs(path).needs) and not self._signs(path).tests

    def _find(self, path: str) -> tuple[bool, frozenset[str]]:
        """Whether none of the programs that a file is part of has a choice; and the files that tell."""
        if self._signs(path).chooses or self.is_library(path):
            return False, frozenset()
        above = reached(path, self.importers)
        below = set[str]().union(*(reached(each, self._imported) for each in above))
        asked = frozenset(above | below)
        programs = [each for each in above if self._signs(each).runs] or [path]
        if all(self._signs(each).bound and not self._signs(each).chooses for each in programs):
            return True, asked  # it runs on that machine, and nobody else's
        if self._choose(above, below) or not any(self._signs(each).needs for each in above):
            return False, asked
        named = sum(self._signs(each).needs for each in asked)
        moved = sum(self._signs(each).moves[1] for each in asked)
        if named < _THROUGHOUT and (moved < _MOVED or path.endswith(NOTEBOOK)):  # of whose cells some are run
            return False, asked
        if self._is_part(path) and above == {path}:  # somebody may import it by a name that is made up
            needing, told = self._package_needs(path)
            return needing, asked | told
        return True, asked

    def _choose(self, above: set[str], below: set[str]) -> bool:
        """Whether something among files, or those that they import, has a choice."""
        runs = [self._signs(each) for each in above]
        used = [self._signs(each) for each in below]
        if any(each.chooses for each in runs) or any(each.offers for each in used):
            return True
        led = runs if any(each.runs for each in runs) else used  # or nobody knows which program imports it
        if any(each.leaves for each in led) and {each.trains for each in used} - {""} != {knowledge.GPUS}:
            return True
        if any(each.numbers for each in used) and not any(each.limits or each.current for each in used):
            return True
        asked = sum(each.moves[0] for each in runs)
        return asked > 0 and asked >= sum(each.moves[1] for each in used)

    def _package_needs(self, path: str) -> tuple[bool, frozenset[str]]:
        """Whether all of the package that a file is part of runs on CUDA alone; and the files that tell."""
        package = self._package(path)
        found = self._packages.get(package)
        if found is None:
            files = [each for each in self._layout.files(self._project(path)) if each.startswith(package)]
            above = set[str]().union(*(reached(each, self.importers) for each in files))
            below = set[str]().union(*(reached(each, self._imported) for each in above))
            needing = any(self._signs(each).needs for each in above.difference(files))
            found = self._packages[package] = (
                needing and not self._choose(above, below),
                frozenset(above | below),
            )
        return found

    def _project(self, path: str) -> str:
        return self._layout.project_of(os.path.dirname(path))

    def _package(self, path: str) -> str:
        """The package that a file is part of, the outermost one; else the folder of its project."""
        home = self._project(path)
        *folders, _ = os.path.relpath(path, home).split(os.sep)
        inside = [os.path.join(home, *folders[: depth + 1]) for depth in range(len(folders))]
        found = next(filter(self._layout.is_package, inside), os.path.join(home, *folders[:1]))
        return os.path.join(found, "")

    def _signs(self, path: str) -> _Signs:
        found = self._known.get(path)
        if found is None:
            text = self._read(path) or ""
            text = cells(text) if path.endswith(NOTEBOOK) else text
            before = self._before.pop(path, None)
            same = before is not None and before.hash == hash(text)
            found = self._known[path] = before if before is not None and same else _Signs(text)
        return found

    def home(self, path: str) -> str:
        """The folder of all that belongs to a file's project; without a mark, where its imports are found."""
        root = self._layout.project_of(os.path.dirname(path))
        if not self._layout.names(root).isdisjoint(ROOTS):
            return root
        tops = {name.partition(".")[0] for name in self._signs(path).imports if not name.startswith(".")}
        missing = [name for name in tops if self._layout.find(name, path) is None]
        above = root
        for _ in range(_MAX_UP):
            above = os.path.dirname(above)
            if any(self._layout.holds(above, name) for name in missing):
                return above
        return root

    def is_library(self, path: str) -> bool:
        """Whether a file is part of a package that others install, or that no program imports."""
        if not self._is_part(path):
            return False
        home, package = self._project(path), self._package(path)
        if self._installs(home):
            return True
        if any(self.is_program(each) for each in reached(path, self.importers) - {path}):
            return False
        return not any(
            found.startswith(package)
            for each in self.mentioning(home, os.path.basename(os.path.dirname(package)))
            if not each.startswith(package)
            for found in self._imported(each)
        )

    def is_program(self, path: str) -> bool:
        """Whether a file is a program that nobody imports, and no test."""
        return self._signs(path).runs and not self._signs(path).tests and not self.importers(path)

    def _installs(self, home: str) -> bool:
        """Whether others install what is in a folder, and not only an extension that is built there."""
        there = self._layout.names(home)
        return any(
            each in there and says.search(self._read(os.path.join(home, each)) or "")
            for each, says in _INSTALLS.items()
        )

    def _is_part(self, path: str) -> bool:
        """Whether a file is in a package, or a folder of one, and is no program that nobody imports."""
        if self._signs(path).runs and not self.importers(path):
            return False
        return self._is_in_package(path)

    def _is_in_package(self, path: str) -> bool:
        above = path
        for _ in range(_MAX_UP):
            above = os.path.dirname(above)
            if self._layout.is_package(above):
                return True
        return False

    def _imported(self, path: str) -> frozenset[str]:
        """The files of the project that a file imports, whatever happens."""
        found = self._imports.get(path)
        if found is None:
            self._imports[path] = frozenset()
            found = self._imports[path] = self._meant(self._signs(path).imports, path)
        return found

    def may_import(self, path: str) -> frozenset[str]:
        """The files of the project that a file imports, also where only some of it does."""
        found = self._may_import.get(path)
        if found is None:
            found = self._may_import[path] = self._meant(self._signs(path).imports_anywhere, path)
        return found

    def _meant(self, names: Iterable[str], path: str) -> frozenset[str]:
        """The files that a file imports by names, and by those that it makes up."""
        starts = self._starts(path)
        all_of = (self._named(name, path, starts) for name in names)
        others = self._made_up(path, starts)
        return frozenset((*(each for each in all_of if each is not None), *others)) - {path}

    def _starts(self, path: str) -> list[str]:
        """Where imports start: where a program is that imports a file, say."""
        home = self.home(path)
        starts = [os.path.dirname(path), home]
        starts += [os.path.join(home, each) for each in _above(os.path.relpath(starts[0], home))]
        beside = (os.path.join(starts[0], f"{name}.py") for name in self._signs(path).imports)
        names = self._layout.names(starts[0])
        for file in (path, *(each for each in beside if os.path.basename(each) in names)):
            for each in self._signs(file).paths:
                starts += [os.path.normpath(os.path.join(start, each)) for start in starts[:2]]
        return starts

    def imported(self, path: str) -> frozenset[str]:
        """The files of the project that a file imports, whatever happens."""
        return self._imported(path)

    def modules(self, path: str) -> tuple[str, ...]:
        """The names of the modules that a file imports, whatever happens."""
        return self._signs(path).modules

    def starts(self, path: str) -> list[str]:
        """Where a file's imports may start."""
        return self._starts(path)

    def named(self, name: str, path: str) -> str | None:
        """The file that a module's name means in a file of the project."""
        return self._named(name, path, self._starts(path))

    def _made_up(self, path: str, starts: list[str]) -> Iterator[str]:
        """The files that a file may import by names that it makes up."""
        for name in self._signs(path).by_name:
            above, _, last = name.rpartition(".")
            for start in starts if "*" not in above else ():
                folder = os.path.join(start, *above.split("."))
                for each in fnmatch.filter(self._layout.names(folder), f"{last}.py"):
                    yield os.path.join(folder, each)

    def _named(self, name: str, path: str, starts: list[str]) -> str | None:
        """The file that a name means in another file, which may be run by itself."""
        found = self._layout.found_in(starts[0], name) if self._is_own(name, path) else None
        found = found or self._layout.find(name, path)
        if found is None and not name.startswith(".") and name.split(".")[0] not in sys.stdlib_module_names:
            found = next(filter(None, (self._layout.found_in(start, name) for start in starts)), None)
        return found.path if found is not None else None

    def is_imported(self, path: str) -> bool:
        """Whether a file is imported, or may be by who knows the package that it is in."""
        return bool(self.importers(path)) or self._is_in_package(path)

    def _is_own(self, name: str, path: str) -> bool:
        """Whether a program finds a module beside itself: Python looks there first, and then for packages."""
        beside = f"{name.partition('.')[0]}.py"
        return beside in self._layout.names(os.path.dirname(path)) and self._signs(path).runs

    def importers(self, path: str) -> frozenset[str]:
        """The files of the project that import a file."""
        found = self._importers.get(path)
        if found is None:
            mentioned = self._mentioned(path)
            asked = [self.mentioning(home, name) for home, name in mentioned]
            asked += [self.mentioning(home, knowledge.IMPORTS_BY_NAME) for home, _ in mentioned]
            naming = set[str]().union(*asked) - {path}
            found = self._importers[path] = frozenset(each for each in naming if path in self._imported(each))
        return found

    def _mentioned(self, path: str) -> set[tuple[str, str]]:
        """By what name those mention a file who import it, in each folder where they may be."""
        stem = os.path.splitext(os.path.basename(path))[0]
        name = os.path.basename(os.path.dirname(path)) if stem == _PACKAGE else stem
        return {(self._project(path), name), (self.home(path), name)}

    def mentioning(self, home: str, name: str) -> list[str]:
        """The files of a project that have a name."""
        return self.texts(home).of(name)

    def texts(self, home: str) -> Mentions:
        """The texts of a project's files."""
        if home not in self._mentions:
            self._mentions[home] = Mentions(self._layout.files(home), self._read)
        return self._mentions[home]


def _pattern(given: str) -> str:
    """What the first argument of `import_module` looks like: `models.*` for `"models." + name`."""
    said = ""
    for part in given.split("+"):
        found = _TEXT.match(part.strip())
        said += _LEFT_OPEN.sub("*", found[2]) if found is not None else "*"
    return said


def _above(folder: str) -> list[str]:
    """The folders that a relative one is in, the nearest first; none for what is not below."""
    first, *names = folder.split(os.sep)
    return [os.path.join(first, *names[:depth]) for depth in range(len(names) - 1, -1, -1)] if names else []


def cells(text: str) -> str:
    """The code of a notebook, one cell after the other; empty where it is none."""
    import json

    try:
        found = json.loads(text)["cells"]
        return "\n".join("".join(each["source"]) for each in found if each["cell_type"] == "code")
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
