"""Who is served when: one analysis at a time, questions first, documents once nobody types."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
_IDLE = 2.0
"""Seconds with nothing to do after which garbage is collected: that takes longer than an analysis."""
_LITTER = 100
"""Documents that are linted, and questions answered, without such a pause."""


class Desk:
    """Runs work on one thread, so that what analyses share needs no lock."""

    def __init__(self, serve: Callable[[str], Awaitable[None]]) -> None:
        """`serve` lints the document at an address; it is called once for however many requests."""
        self._serve = serve
        self._thread = ThreadPoolExecutor(1, "devlint")
        self._questions: deque[Callable[[], Awaitable[None]]] = deque()
        self._due: dict[str, float] = {}
        self._wake: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to serve, in the loop that is running."""
        if self._task is None:
            self._wake = asyncio.Event()
            self._task = asyncio.ensure_future(self._run())

    def close(self) -> None:
        """Begin nothing any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def request(self, uri: str, delay: float = 0.0) -> None:
        """Have a document linted after some seconds in which nobody asks again."""
        self.start()
        self._due[uri] = asyncio.get_running_loop().time() + delay
        self._rouse()

    def cancel(self, uri: str) -> None:
        """Have a document linted no more."""
        self._due.pop(uri, None)

    def is_due(self, uri: str) -> bool:
        """Whether a document waits to be linted."""
        return uri in self._due

    async def ask(self, work: Callable[[], T]) -> T:
        """Return what some work returns, done before all documents that wait."""
        self.start()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def question() -> None:
            if answer.cancelled():
                return
            try:
                found = await self.work(work)
            except Exception as error:
                if not answer.done():
                    answer.set_exception(error)
            else:
                if not answer.done():
                    answer.set_result(found)

        self._questions.append(question)
        self._rouse()
        return await answer

    async def work(self, work: Callable[[], T]) -> T:
        """Do some work on the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _rouse(self) -> None:
        if self._wake is not None:
            self._wake.set()

    async def _run(self) -> None:
        assert self._wake is not None
        loop, litter = asyncio.get_running_loop(), 0
        while True:
            self._wake.clear()
            if self._questions:
                await self._questions.popleft()()
                litter += 1
                continue
            uri = min(self._due, key=self._due.__getitem__, default=None)
            wait = self._due[uri] - loop.time() if uri is not None else None
            if uri is not None and wait is not None and wait <= 0:
                del self._due[uri]
                await self._serve(uri)
                litter += 1
                continue
            if litter >= _LITTER:
                litter = await self._tidied()
                continue
            idle = _IDLE if litter and wait is None else wait
            try:
                await asyncio.wait_for(self._wake.wait(), idle)
            except asyncio.TimeoutError:
                litter = await self._tidied() if wait is None else litter

    async def _tidied(self) -> int:
        """Collect garbage, of which there is little: a syntax tree is many objects, and goes by itself."""
        await self.work(gc.collect)
        return 0
