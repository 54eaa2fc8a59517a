"""A file, and below it `line:column  error  message  rule`: eslint and its like."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import Complaint
from afresh.engine.extract.reading import steady

FILE = re.compile(r"^\S.*\.\w{1,6}$")
LINE = re.compile(r"^\s+(\d+):\d+\s+(error|warning)\s+(\S.*)$")


def stylish(lines: Sequence[str]) -> Iterator[Complaint]:
    file = ""
    for number, line in enumerate(lines):
        if (match := LINE.match(line)) and file:
            message, gap, rule = match[3].rpartition("  ")
            said = f"{message.strip()} ({rule})" if gap and " " not in rule else match[3]
            yield Complaint(steady(f"{file}:{match[1]}"), f"{match[2]}: {said}", number, number, match[2])
        elif line:
            file = line if FILE.match(line) else ""
