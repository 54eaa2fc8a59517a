"""What a command prints: head and tail in bounded memory, the task's tree named the same on every machine."""

import re
from collections.abc import Iterable
from pathlib import Path


class OutputBuffer:
    """Takes any amount of bytes, keeps at most about `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:
            self._shorten()

    def _shorten(self) -> None:
        surplus = len(self._tail) - self._half
        if surplus > 0:
            del self._tail[:surplus]
            self._cut += surplus

    def text(self) -> str:
        self._shorten()
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        if not self._cut:
            return (self._head + self._tail).decode(errors="replace")
        return f"{head}\n[afresh: {self._cut:,} bytes of output left out here]\n{tail}"


def hide_paths(text: str, trees: Iterable[Path], temporary: Path | None = None) -> str:
    """The text with paths in the task's tree relative to it and the private temporary folder as /tmp.

    Where a tree lies differs between machines, levels of the sandbox and tasks; what a model is shown must not.
    """
    for tree in sorted({str(tree) for tree in trees}, key=len, reverse=True):
        path = rf"(?<![\w.-]){re.escape(tree)}"
        text = re.sub(rf"{path}/+(?=[\w.@+~-])", "", text)
        text = re.sub(rf"{path}(?![\w.-])", ".", text)
    return text.replace(str(temporary), "/tmp") if temporary else text
