"""Whether a module can define a name at all, as its text tells: what cannot is not analysed to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..bind.binding import STARS, may_bind
from ..core.summary import within
from .resolve import Layout


class Binds:
    """Looks for names in the texts of modules, and of those of which they import all names."""

    def __init__(self, layout: Layout, read: Callable[[str], str | None]) -> None:
        self._layout = layout
        self._read = read
        self._known: dict[tuple[str, str], bool] = {}

    def forget(self) -> None:
        """A file has changed."""
        self._known.clear()

    def may(self, path: str, name: str) -> bool:
        """Whether anything in a file, or in what it imports all names of, may bind a name of the module."""
        name = name.partition("@")[0]  # of several definitions of a name, the others have a number
        if not name.isidentifier():
            return True
        key = path, name
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = any(may_bind(text, name) for text in self._texts(path, name))
        return found

    def _texts(self, path: str, name: str) -> Iterator[str]:
        """The text of a file, and those of all modules of which it imports all names."""
        todo, done = [path], {path}
        while todo:
            each = todo.pop()
            text = self._read(each) or ""
            yield text
            if "*" not in text:
                continue
            for star in STARS.findall(text):
                found = self._layout.find(within(star, name), each)
                if found is not None and found.path not in done:
                    done.add(found.path)
                    todo.append(found.path)
