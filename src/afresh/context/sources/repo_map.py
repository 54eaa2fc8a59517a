"""Drafts of the sections that describe the project and its source tree."""

from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.prompt import Tier
from afresh.memory.gathered_context import GatheredContext


def draft_project_profile(memory: GatheredContext) -> SectionDraft:
    """What the project is; a line goes before it is cut."""
    lines = [line for note in memory.notes("fingerprint") for line in note.text.splitlines()]
    pieces = [SectionPiece(line, "lines of the fingerprint", number) for number, line in enumerate(lines)]
    return SectionDraft("fingerprint", "This project", Tier.PHASE, tuple(pieces))


def draft_repo_map(memory: GatheredContext) -> SectionDraft:
    entries = [entry for one in memory.repo_maps() for entry in one.entries]
    pieces = [SectionPiece(str(entry), "lines of the outline", number, item=entry) for number, entry in enumerate(entries)]
    return SectionDraft("outline", "Source tree", Tier.PHASE, tuple(pieces), "… more: `read` a folder")
