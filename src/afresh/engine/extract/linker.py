"""What a linker does not find."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import Complaint

LINK = "link "
UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`'\"]?([^`'\"]+)")
LIBRARY = re.compile(r"\bld(?:\.\w+)?: (?:error: )?(?:cannot find|unable to find library) (-l\S+|\S+)")
MAC = re.compile(r'^\s+"_?([^"]+)", referenced from:$')


def unlinked(lines: Sequence[str]) -> Iterator[Complaint]:
    """By what is missing, not by the object file: that one is often made anew."""
    for number, line in enumerate(lines):
        if match := UNDEFINED.search(line):
            before = line[: match.start()].rstrip(" :").split()[-1:]
            used = before[0].partition(":")[0] if before else ""
            place = f" (used in {used})" if "." in used and not used.endswith((".o", "ld")) else ""
            yield Complaint(f"{LINK}{match[1].strip()}", f"error: undefined reference{place}", number, number, "error")
        elif match := MAC.match(line):
            yield Complaint(f"{LINK}{match[1]}", "error: undefined symbol", number, number, "error")
        elif match := LIBRARY.search(line):
            yield Complaint(f"{LINK}{match[1]}", "error: the linker cannot find it", number, number, "error")
