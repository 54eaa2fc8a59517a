"""A tree in memory, and a sandbox that answers from a table: enough to try a tool."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from afresh.domain.action import CommandRun
from afresh.errors import ModelMistake


class DictFiles:
    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("__", "/"): text for name, text in texts.items()}

    def read(self, path: str) -> str:
        if path not in self.texts:
            raise ModelMistake(f"no such file: {path}")
        return self.texts[path]

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text

    def paths(self) -> Sequence[str]:
        return sorted(self.texts)

    def stamps(self) -> Mapping[str, str]:
        return {path: sha256(self.texts[path].encode()).hexdigest() for path in self.paths()}


class TableSandbox:
    """Commands end as the table says; unknown ones with exit 127."""

    level = "table"

    def __init__(self, table: Mapping[str, tuple[int, str]]) -> None:
        self.table, self.ran = table, list[str]()

    def run(self, command: str, timeout: float) -> CommandRun:
        self.ran.append(command)
        exit, output = self.table.get(command, (127, f"sh: {command}: not found"))
        return CommandRun(command, exit, output)
