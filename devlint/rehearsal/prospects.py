"""Which functions and classes of a file can show anything when they are tried: told by texts alone.

Most cannot. A module that makes nothing on the cpu, and calls nothing that does, has all that it needs where
it is; a function that names no accelerator, and calls nothing that does, has nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cached_property

from .. import knowledge

Find = Callable[[str, str], "tuple[str, str] | None"]
"""The file that a dotted name means to another, and what of the name lies in it."""
_Node = tuple[str, str, bool]
"""A file, a name in it, and whether the file is another than the one that is asked about."""

_STATEMENTS = re.compile(r"^(?=[A-Za-z_@])", re.MULTILINE)
"""What begins at the margin, with all below it that does not."""
_DEFINES = re.compile(r"(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_DEFINES_INSIDE = re.compile(r"^[ \t]+(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNS = re.compile(r"^([\w \t,]+)(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_FROM = re.compile(r"\bfrom[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]{0,5000}\)|[^\n]*)")
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#]+)", re.MULTILINE)
_NO_NAME = re.compile(r"#[^\n]*|[()\\]")
_METHOD = re.compile(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(?=\w)", re.MULTILINE)
_CALLED = re.compile(r"\b([A-Z]\w*)\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CALLS_OF = "|".join(sorted(knowledge.FACTORIES | knowledge.WANTS_HOST))
_ACCELERATOR = "|".join(sorted(knowledge.ACCELERATORS))
_AHEAD = knowledge.ACCELERATORS | {"accelerator"}
_LEFT = re.compile(
    rf"\b(?:{_CALLS_OF}|torch\.range|\w*Tensor)\(|=[ \t]*torch\.\w*Tensor\b|\b(?:np\.|numpy\b|\w*Loader\b)"
    rf"|(?<![=!]=[ ])[\"'](?:cpu|(?:{_ACCELERATOR}):)|\.(?:cpu|{_ACCELERATOR})\("
)
"""What is made on the cpu, has to be there, or is moved."""
_LEFT_WORDS = (
    knowledge.FACTORIES | knowledge.WANTS_HOST | knowledge.ACCELERATORS | {"cpu", "np", "numpy", "range"}
)
_LEFT_ENDS = ("Loader", "Tensor(", "= torch.", "=torch.")
"""Without any of these there is none of it: to look for words is faster than to look for a pattern."""
_REGISTERED = re.compile(r"\b(?:Parameter\(|register_buffer\([^,()]{0,100},)\s*torch\.\w+\(")
"""What a module knows, and takes along."""
_HIDES = re.compile(r"\bself\.(\w+)[ \t]*(?::[^=\n]{1,200})?=[ \t]*(?:[\[{]|(?:list|dict)\()")
"""Puts something into a plain container, in which a module does not find its parts."""
_IN_TURN = re.compile(r"\bself\.(\w+)\b[ \t]*(?:\[|\.(?:values|items)\(|\)|:[ \t]*\n)")
"""Takes something out of it."""
_PLAIN = re.compile(r"class[ \t]+\w+[ \t]*(?:\([ \t]*(?:object)?[ \t]*\))?[ \t]*:")
_MODULE = re.compile(r"class[ \t]+\w+\([^)]*Module")
_APART = re.compile(r"class[ \t]+\w+\([^)]*(?:Module|\bFunction\b)")
_FUNCTION = re.compile(r"(?:async[ \t]+)?def\b")
_PARAMETER = "Parameter"
_FORWARD = "forward"
_CLASS = "class"
_LEAVES, _LEADS = "leaves", "leads"
"""It has something that stays on the cpu, or names an accelerator."""


class Prospects:
    """Looks into the texts of a project's files, each of which is divided once."""

    def __init__(self, find: Find, read: Callable[[str], str | None]) -> None:
        """Take what finds files, and what gives a file's text."""
        self._find = find
        self._read = read
        self._files: dict[str, _File] = {}
        self._known: dict[_Node, set[str]] = {}

    def reread(self, path: str) -> None:
        """Trust nothing that rests on the text of a file that has changed."""
        before = self._files.pop(path, None)
        if before is not None:
            self._files[path] = now = _File(self._read(path) or "")
            if before.tells_the_same(now):
                return
        self._known.clear()

    def of(self, path: str) -> frozenset[str]:
        """The names of the functions and classes of a file that are worth trying.

        A class is where it leaves something behind, as modules are put where an accelerator is; a function
        where it brings something ahead.
        """
        defined = self._file(path).defined
        self._explore([(path, name, False) for name in defined])
        return frozenset(
            name
            for name, kind in defined.items()
            if (_LEAVES if kind == _CLASS else _LEADS) in self._known[path, name, False]
        )

    def _explore(self, first: list[_Node]) -> None:
        """Learn what everything does that is mentioned, directly or not; each is looked at once."""
        new, todo = dict.fromkeys(first), list(first)
        by: dict[_Node, list[_Node]] = {}
        found: list[tuple[_Node, str]] = []
        while todo:
            node = todo.pop()
            known = self._known.get(node)
            if known is None:
                self._known[node] = set()
                path, name, abroad = node
                if abroad and self._is_apart(path, name):
                    continue
                known = self._does(path, name)
                for at, word in self._mentioned(path, name):
                    other = at, word, abroad or at != path
                    by.setdefault(other, []).append(node)
                    if other not in new:
                        new[other] = None
                        todo.append(other)
                for part in self._file(path).parts.get(name, ()):
                    part.__dict__.pop("words", None)  # they take more memory than the text
            found += [(node, each) for each in known]
        while found:
            node, what = found.pop()
            self._known[node].add(what)
            found += [(each, what) for each in by.get(node, ()) if what not in self._known[each]]

    def _is_apart(self, path: str, name: str) -> bool:
        """Whether something is a module, or an operation, of another file: what that makes is told there."""
        return any(_APART.match(part.text) for part in self._file(path).parts.get(name, ()))

    def _does(self, path: str, name: str) -> set[str]:
        parts = self._file(path).parts.get(name, ())
        found = {_LEADS} if any(part.leads for part in parts) else set()
        if any(
            part.leaves or part.hides or any(self._is_module(path, each) for each in part.makes)
            for part in parts
        ):
            found.add(_LEAVES)
        return found

    def _is_module(self, path: str, name: str) -> bool:
        """Whether a class is one of torch's layers, or a module of the project."""
        layer = f"torch.nn.{name}"
        if name == _PARAMETER or (knowledge.find(layer) is not None and knowledge.has_weight(layer)):
            return True
        file = self._file(path)
        parts = file.parts.get(name)
        if parts is None and name in file.imports:
            found = self._find(file.imports[name], path)
            parts = self._file(found[0]).parts.get(found[1]) if found is not None else None
        return any(_MODULE.match(part.text) for part in parts or ())

    def _mentioned(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        file = self._file(path)
        yield from self._elsewhere(file, path, name, frozenset())
        for part in file.parts.get(name, ()):
            yield from ((path, word) for word in part.words & file.parts.keys())
            for word in part.words if file.stars else part.words & file.imports.keys():
                yield from self._elsewhere(file, path, word, part.words)

    def _elsewhere(
        self, file: _File, path: str, name: str, beside: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        """What an imported name may mean; of a module, all that is mentioned beside it."""
        dotted = [file.imports[name]] if name in file.imports else [f"{each}.{name}" for each in file.stars]
        for each in dotted:
            found = self._find(each, path)
            if found is None:
                continue
            names = (found[1].partition(".")[0],) if found[1] else beside
            yield from ((found[0], word) for word in names)

    def _file(self, path: str) -> _File:
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = _File(self._read(path) or "")
        return found


class _Part:
    """A statement of a file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def tells_the_same(self, other: _Part, names: Set[str]) -> bool:
        """Whether another statement tells nothing else, and mentions the same of some names."""
        return self.text == other.text or (
            self.words & names == other.words & names
            and (self.leaves, self.leads, self.hides, self.makes)
            == (other.leaves, other.leads, other.hides, other.makes)
            and bool(_MODULE.match(self.text)) == bool(_MODULE.match(other.text))
            and bool(_APART.match(self.text)) == bool(_APART.match(other.text))
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The names that it mentions, and more."""
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def leaves(self) -> bool:
        """Whether it leaves something where no module takes it along."""
        may = not _LEFT_WORDS.isdisjoint(self.words) or any(each in self.text for each in _LEFT_ENDS)
        if may and _LEFT.search(_REGISTERED.sub("", self.text)) is not None:
            return True
        return self.text.startswith(_CLASS) and not _MODULE.match(self.text) and self.leads

    @cached_property
    def leads(self) -> bool:
        """Whether it names an accelerator."""
        return not _AHEAD.isdisjoint(self.words)

    @cached_property
    def hides(self) -> bool:
        """Whether a class may run parts that it has in a plain container."""
        hidden = () if _FUNCTION.match(self.text) else _HIDES.findall(self.text)
        return bool(hidden) and not set(hidden).isdisjoint(_IN_TURN.findall(self.text))

    @cached_property
    def makes(self) -> frozenset[str]:
        """The classes of which a class makes objects when it is run, or at any time if it is no module."""
        if _FUNCTION.match(self.text):
            return frozenset()
        if _PLAIN.match(self.text):
            return frozenset(_CALLED.findall(self.text))
        methods: dict[str, str] = {}
        for text in _METHOD.split(self.text)[1:]:
            methods[_WORD.findall(text)[0]] = text
        made = _reached(methods, (name for name in methods if name in knowledge.CONSTRUCTS))
        run = _reached(methods, [_FORWARD]) if _FORWARD in methods else methods.keys() - made
        return frozenset(name for method in run for name in _CALLED.findall(methods[method]))


def _reached(methods: dict[str, str], first: Iterable[str]) -> set[str]:
    """The methods that some of a class mention, and those."""
    found, todo = set[str](), list(first)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += methods.keys() & set(_WORD.findall(methods[name]))
    return found


def _may_leave(dotted: str) -> bool:
    """Whether what is imported by some name is numpy, or makes tensors or loaders."""
    last = dotted.rpartition(".")[2]
    return dotted.startswith("numpy") or last in _LEFT_WORDS or last.endswith(("Tensor", "Loader"))


class _File:
    """What a file has at its margin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: dict[str, list[_Part]] = {}
        """By name, the statements that bind it."""
        self.defined: dict[str, str] = {}
        """The functions and classes, with what they are: `def` or `class`."""
        self.imports: dict[str, str] = {}
        """By name, what that is called where it is imported from."""
        self.stars: list[str] = []
        """The modules of which all names are imported."""
        decorators = ""
        for statement in _STATEMENTS.split(knowledge.without_texts(text)):
            if statement.startswith("@"):
                decorators += statement
                continue
            defines = _DEFINES.match(statement)
            part = _Part(statement + decorators)
            decorators = ""
            if "import" in statement:
                self._note_imports(statement)
            if defines is not None:
                self.defined[defines[2]] = defines[1]
                self.parts.setdefault(defines[2], []).append(part)
            else:
                inside = {name: kind for kind, name in _DEFINES_INSIDE.findall(statement)}
                self.defined.update(inside)
                assigned = _WORD.findall(" ".join(_ASSIGNS.findall(statement)))
                for name in {*assigned, *inside}:
                    self.parts.setdefault(name, []).append(part)
        for name, dotted in self.imports.items():
            if _may_leave(dotted):
                self.parts.setdefault(name, []).append(_Part("numpy"))

    def tells_the_same(self, other: _File) -> bool:
        """Whether another text of the file tells nothing else of anything."""
        if (self.defined, self.imports, self.stars) != (other.defined, other.imports, other.stars):
            return False
        ours, theirs = self._beside(other), other._beside(self)
        if self.stars or list(ours) != list(theirs):
            return False
        names = ours.keys() | self.imports.keys()
        return all(
            len(ones) == len(others)
            and all(one.tells_the_same(two, names) for one, two in zip(ones, others, strict=True))
            for ones, others in zip(ours.values(), theirs.values(), strict=True)
        )

    def _beside(self, other: _File) -> dict[str, list[_Part]]:
        """The statements, without those that another text has not, and that say nothing to anybody."""
        idle = {name for name in self.parts.keys() - other.parts.keys() if self._is_idle(name)}
        return {name: parts for name, parts in self.parts.items() if name not in idle}

    def _is_idle(self, name: str) -> bool:
        """Whether what binds a name leaves nothing behind, leads nowhere, and nothing else mentions it."""
        parts = self.parts[name]
        if any(each.leaves or each.leads or each.hides or each.makes for each in parts):
            return False
        return self.text.count(name) == sum(each.text.count(name) for each in parts)

    def _note_imports(self, text: str) -> None:
        """What a statement imports, at the margin or when a function is called."""
        for module, listed in _FROM.findall(text):
            for each in _NO_NAME.sub(" ", listed).split(","):
                words = each.split()
                if words == ["*"]:
                    self.stars.append(module)
                elif words:
                    self.imports[words[-1]] = f"{module}{'' if module.endswith('.') else '.'}{words[0]}"
        for listed in _IMPORT.findall(text):
            for each in listed.split(","):
                dotted, _, alias = each.strip().partition(" as ")
                first = dotted.partition(".")[0]
                self.imports[alias.strip() or first] = dotted.strip() if alias else first
