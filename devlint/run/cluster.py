"""Lints on a Dask cluster that is already there; needs the extra `devlint[dask]`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

_PATIENCE = 10
"""Seconds in which a cluster must answer."""


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Give an executor of a cluster, and how many processes that has; raises DevlintError without one."""
    try:
        from distributed import Client
    except ImportError:
        raise DevlintError("--dask needs distributed: pip install 'devlint[dask]'") from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise DevlintError(f"--dask: no cluster at {address}: {error}") from error
    with client:
        workers = len(client.nthreads())
        if not workers:
            raise DevlintError(f"--dask: the cluster at {address} has no workers")
        # What is linted may have changed since: the same call need not have the same result.
        yield client.get_executor(pure=False), workers
