"""A heading, and in the next lines ` --> path:line:column`: rustc, cargo, clippy, and ruff in full."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import NAME, Complaint, severity

ARROW = re.compile(rf"^\s*--> (?P<path>{NAME}):(?P<line>\d+)(?::\d+)?$")
HEADED = re.compile(r"^(?:[a-z][\w-]{2,40}(?:\[[\w-]+\])?: |[A-Z]{1,4}\d{2,5} )\S")
ASIDE = ("help: ", "note: ")
NEAR = 3
"""Lines that a heading may have before its arrow."""


def arrows(lines: Sequence[str]) -> Iterator[Complaint]:
    heading = -NEAR - 1
    for number, line in enumerate(lines):
        if HEADED.match(line):
            heading = number
        elif (match := ARROW.match(line)) and number - heading <= NEAR and not lines[heading].startswith(ASIDE):
            text = " ".join(part.strip() for part in lines[heading:number]).replace("[*] ", "", 1)
            yield Complaint(f"{match['path']}:{match['line']}", text, heading, number, severity(text))
            heading = -NEAR - 1
