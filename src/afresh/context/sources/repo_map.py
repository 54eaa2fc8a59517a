"""Drafts of the sections that describe the project and its source tree."""

from afresh.context.section import SectionDraft, SectionPiece, draft_always_section
from afresh.core.prompt import Tier
from afresh.memory.gathered_context import GatheredContext


def draft_project_profile(memory: GatheredContext) -> SectionDraft:
    return draft_always_section("fingerprint", "This project", [note.text for note in memory.notes("fingerprint")])


def draft_repo_map(memory: GatheredContext) -> SectionDraft:
    entries = [entry for one in memory.repo_maps() for entry in one.entries]
    pieces = [SectionPiece(str(entry), "lines of the outline", number, item=entry) for number, entry in enumerate(entries)]
    return SectionDraft("outline", "Source tree", Tier.PHASE, tuple(pieces), "… more: `read` a folder")
