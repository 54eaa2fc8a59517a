import re

from afresh.context.section import ListedFile, SectionDraft, SectionPiece
from afresh.core.prompt import Tier
from afresh.memory.gathered_context import GatheredContext


def draft_project_profile(memory: GatheredContext) -> SectionDraft:
    """What the project is; a line goes before it is cut."""
    lines = [line for look in memory.of("fingerprint") for line in look.text.splitlines()]
    pieces = [SectionPiece(line, "lines of the fingerprint", number) for number, line in enumerate(lines)]
    return SectionDraft("fingerprint", "This project", Tier.PHASE, tuple(pieces))


def draft_repo_map(memory: GatheredContext) -> SectionDraft:
    lines = [line for look in memory.of("outline") for line in look.text.splitlines()]
    pieces = [
        SectionPiece(line, "lines of the outline", number, listed=_parse_listed_file(line)) for number, line in enumerate(lines)
    ]
    return SectionDraft("outline", "Source tree", Tier.PHASE, tuple(pieces), "… more: `run` ls -R")


def _parse_listed_file(line: str) -> ListedFile | None:
    """The file that a line of the source tree tells of."""
    found = MAP_FILE_LINE.match(line)
    return ListedFile(found[1], int(found[2]), f"{found[1]} (shown whole)") if found else None


MAP_FILE_LINE = re.compile(r"^(\S+) \((\d+) lines\b", re.MULTILINE)
"""A file as the source tree tells of it."""
