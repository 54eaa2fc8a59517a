"""HTTP connections of local servers. One that sends no whole request within a time is closed, so that half requests can't take
all file descriptors."""

from typing import Any

REQUEST_SECONDS = 10.0
"""Longest wait for the head of a request."""


def make_patient_protocol() -> type[Any]:
    """Return uvicorn's protocol with an end to its patience."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class PatientProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._look_again()

        def _look_again(self) -> None:
            self.loop.call_later(REQUEST_SECONDS, self._close_if_idle, self.cycle)

        def _close_if_idle(self, before: Any) -> None:
            """Close if no request has come since the last look and no answer is under way."""
            if self.transport.is_closing():
                return
            if self.cycle is before and (before is None or before.response_complete):
                self.transport.close()
            else:
                self._look_again()

    return PatientProtocol
