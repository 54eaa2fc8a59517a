"""The task's files as a prompt may show them. Tools work on the files themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from afresh.core.redaction import redact_secrets
from afresh.errors import Broken
from afresh.ports.workspace import FileTree


@dataclass(frozen=True, slots=True)
class RedactedFiles:
    """A FileTree for reading: a key that spans several lines is seen as a whole here, and in an excerpt no more."""

    files: FileTree
    kept: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]], compare=False)
    """The stamps, once they were asked for: while a prompt is gathered nothing changes the tree, and to list a large one takes
    seconds."""

    def read(self, path: str) -> str:
        return redact_secrets(self.files.read(path))

    def write(self, path: str, text: str) -> None:
        raise Broken("what was redacted must not be written back")

    def paths(self) -> Sequence[str]:
        return tuple(self.stamps())

    def stamps(self) -> Mapping[str, str]:
        if "stamps" not in self.kept:
            self.kept["stamps"] = self.files.stamps()
        return self.kept["stamps"]
