"""What a linker does not find."""

import re
from collections.abc import Iterator, Sequence

from afresh.engine.extract.complaint import Diagnostic

LINK_SUBJECT_PREFIX = "link "
UNDEFINED_REFERENCE = re.compile(r"undefined (?:reference to|symbol:) [`'\"]?([^`'\"]+)")
MISSING_LIBRARY = re.compile(r"\bld(?:\.\w+)?: (?:error: )?(?:cannot find|unable to find library) (-l\S+|\S+)")
MACOS_UNDEFINED_SYMBOL = re.compile(r'^\s+"_?([^"]+)", referenced from:$')


def parse_linker_errors(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """By what is missing, not by the object file: that one is often made anew."""
    for number, line in enumerate(lines):
        if match := UNDEFINED_REFERENCE.search(line):
            before = line[: match.start()].rstrip(" :").split()[-1:]
            used = before[0].partition(":")[0] if before else ""
            place = f" (used in {used})" if "." in used and not used.endswith((".o", "ld")) else ""
            yield Diagnostic(
                f"{LINK_SUBJECT_PREFIX}{match[1].strip()}", f"error: undefined reference{place}", number, number, "error"
            )
        elif match := MACOS_UNDEFINED_SYMBOL.match(line):
            yield Diagnostic(f"{LINK_SUBJECT_PREFIX}{match[1]}", "error: undefined symbol", number, number, "error")
        elif match := MISSING_LIBRARY.search(line):
            yield Diagnostic(f"{LINK_SUBJECT_PREFIX}{match[1]}", "error: the linker cannot find it", number, number, "error")
