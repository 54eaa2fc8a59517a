"""One thing that a compiler or linter does not like."""

import re
from dataclasses import dataclass

NAME = r"[\w./\\+@~$\[\]-]+\.[A-Za-z]\w{0,9}"
"""A path with an ending. No pattern that holds it may look for it twice in a line: then the work would not be linear."""
GRAVE = re.compile(r"^(?:fatal |internal |compiler )?(error|warning)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Complaint:
    place: str
    text: str
    first: int
    last: int
    severity: str = ""
    """error, warning, or nothing where it is only a finding."""

    @property
    def lenient(self) -> bool:
        return self.severity == "warning"


def severity(text: str) -> str:
    match = GRAVE.match(text)
    return match[1].lower() if match else ""
