"""Asks a server through a transport."""

from collections.abc import Callable

Transport = Callable[[str], str]


class Client:
    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def get(self, path: str) -> str:
        return self.transport(path)
