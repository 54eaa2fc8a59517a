"""The dashboard of a service: it stays until the last process of the service has ended."""

import socket
from collections.abc import Generator
from contextlib import contextmanager

from afresh.web.server import Dashboard, DashboardServer


class ServiceServer(DashboardServer):
    """Signals are the service's, from before its first process is started until the last has ended; the server ends after it."""

    def __init__(self, dashboard: Dashboard) -> None:
        super().__init__(dashboard)
        self._pages = dashboard

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def end(self) -> None:
        """Called from another thread when nothing is left to wait for."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pages.feed.end_streams()
        await super().shutdown(sockets)
