class Fault(Exception):
    """The server did not give what was asked for."""


class Busy(Fault):
    """The server has too much to do; it may say for how many seconds."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("the server is busy")
        self.retry_after = retry_after


class Missing(Fault):
    """There is no such thing."""
