"""One thing that a compiler or linter does not like."""

import re
from dataclasses import dataclass

PATH_WITH_ENDING = r"[\w./\\+@~$\[\]-]+\.[A-Za-z]\w{0,9}"
"""A path with an ending. No pattern that holds it may look for it twice in a line: then the work would not be linear."""
SEVERITY_WORD = re.compile(r"^(?:fatal |internal |compiler )?(error|warning)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    place: str
    text: str
    first: int
    last: int
    severity: str = ""
    """error, warning, or nothing where it is only a finding."""

    @property
    def lenient(self) -> bool:
        return self.severity == "warning"


def severity_from_text(text: str) -> str:
    match = SEVERITY_WORD.match(text)
    return match[1].lower() if match else ""
