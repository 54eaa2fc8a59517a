"""Tells open pages that something has happened. One task looks at all stores, and only while somebody listens."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from afresh.app.inspect.watch_store import StoreWatch
from afresh.errors import AfreshError
from afresh.ports.patience import fail_at_once

LOOKS_PER_SECOND = 4
MAX_LISTENERS = 32
SECONDS_OF_SILENCE = 15.0
"""After so long a comment is sent, by which a closed connection is noticed."""


class LiveFeed:
    def __init__(self, watches: Mapping[str, StoreWatch]) -> None:
        self._watches = watches
        self._listeners: dict[asyncio.Event, str] = {}
        self._looking: asyncio.Task[None] | None = None
        self._over = False

    def stream_changes(self, project: str) -> Response:
        """Return an endless answer with an event for each change of the project's store."""
        if len(self._listeners) >= MAX_LISTENERS:
            return Response("Too many open pages.\n", 503)
        return StreamingResponse(self._tell(project), media_type="text/event-stream")

    def tell_all(self) -> None:
        """Have all open pages look again."""
        for heard in self._listeners:
            heard.set()

    def end_streams(self) -> None:
        """End all answers, so that the server can stop."""
        self._over = True
        self.tell_all()

    async def _tell(self, project: str) -> AsyncIterator[str]:
        heard = asyncio.Event()
        self._listeners[heard] = project
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield "retry: 1000\n\n"
            while not self._over:
                with suppress(TimeoutError):
                    async with asyncio.timeout(SECONDS_OF_SILENCE):
                        await heard.wait()
                yield "data: changed\n\n" if heard.is_set() else ": still here\n\n"
                heard.clear()
        finally:
            self._listeners.pop(heard, None)

    async def _look(self) -> None:
        while self._listeners and not self._over:
            for project in {*self._listeners.values()}:
                with suppress(AfreshError):  # a locked file is looked at again
                    with fail_at_once():
                        changed = await run_in_threadpool(self._watches[project].has_changed)
                    if changed:
                        for heard, theirs in self._listeners.items():
                            if theirs == project:
                                heard.set()
            await asyncio.sleep(1 / LOOKS_PER_SECOND)
        self._looking = None
