"""The dashboard of a service: it stays until the last process of the service has ended."""

import socket
from collections.abc import Callable
from types import FrameType

from afresh.web.server import Dashboard, DashboardServer


class ServiceServer(DashboardServer):
    """A signal asks the service to stop; the server ends when the service has."""

    def __init__(self, dashboard: Dashboard, request_stop: Callable[[], None]) -> None:
        super().__init__(dashboard)
        self._request_stop, self._pages = request_stop, dashboard

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._request_stop()
        self._pages.feed.tell_all()

    def end(self) -> None:
        """Called from another thread when nothing is left to wait for."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pages.feed.end_streams()
        await super().shutdown(sockets)
