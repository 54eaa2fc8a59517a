"""Gather what a prompt may show: the state, and items from the tree and the archive as they are now. Reads only."""

from dataclasses import replace

from afresh.context.redacted_files import RedactedFiles
from afresh.context.sources.diff import (
    find_latest_changes,
    find_reviewed_regions,
    gather_changed_files,
    gather_last_look,
    gather_review_diff,
    list_written_regions,
)
from afresh.context.sources.excerpts import (
    find_files_in_goal,
    gather_excerpts,
    gather_imports,
    select_file_regions,
    separate_overlapping_definitions,
)
from afresh.context.sources.instructions import gather_instructions
from afresh.context.sources.last_step import gather_last_outputs, gather_lines_read
from afresh.context.sources.lessons import gather_lessons
from afresh.context.sources.test_results import gather_failing_tests, gather_measured_coverage
from afresh.context.sources.verification_status import gather_cited_lines
from afresh.core.context_item import Item
from afresh.core.item_record import redact_item
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.memory.gathered_context import GatheredContext, assemble_gathered_context
from afresh.memory.recall_facts import recall_project_facts
from afresh.memory.user_corrections import Corrections, apply_corrections
from afresh.policy.phase_limits import is_last_look
from afresh.runtime import Runtime

MAX_LAST_LOOK_FILES = 40
"""With more changed files nobody reads the whole difference."""


def gather_context(state: State, runtime: Runtime) -> GatheredContext:
    files = RedactedFiles(runtime.files)
    changes = (
        runtime.workspace.changes(state.workspace.first_snapshot, state.workspace.snapshot) if state.workspace.changed else ()
    )
    latest = find_latest_changes(state, changes)
    edits = Corrections(tuple(runtime.knowledge.facts.edits()))
    named = select_file_regions(files, find_files_in_goal(state.topic, files))
    sections = _select_wanted_sections(state, runtime)
    compared = find_reviewed_regions(state, runtime.knowledge.git_history) if "diff" in sections else []
    seen = runtime.code.looks(state, files, sections, [*compared, *list_written_regions(latest)])
    counted = list(gather_measured_coverage(state, runtime.store.read)) if "coverage" in sections else []
    tests = [look.subject for look in seen if look.kind == "beside"]
    named += select_file_regions(files, tests, short_only=bool(state.workspace.changed))
    shown = (*named, *state.memory.regions)
    unread, begun = separate_overlapping_definitions(seen, shown)
    excerpts = list(gather_excerpts(state, files, changes, [*named, *begun], tests))
    items: list[Item] = [
        *gather_instructions(state, runtime),
        *[replace(look, text=edits.scrub(look.text)) for look in gather_lessons(state, runtime)],
        *unread,
        *gather_review_diff(state, runtime.knowledge.git_history, sections),
        *counted,
        *excerpts,
        *gather_imports(state, files, [*excerpts, *unread]),
        *gather_failing_tests(state, files),
        *(gather_cited_lines(state, files) if state.task.report else ()),
        *gather_changed_files(latest, changes),
        *gather_last_outputs(state, runtime, edits),
        *gather_lines_read(state, files),
        *recall_project_facts(state, runtime.knowledge.facts),
    ]
    redacted, traces = list(map(redact_item, items)), runtime.knowledge.traces
    return assemble_gathered_context(state, redacted, edits, runtime.store.read, traces, runtime.settings.policy)


def gather_last_step(state: State, runtime: Runtime) -> GatheredContext:
    """What the last step has brought: the lines that it read, as they are now, and its outputs; before `complete` all changes."""
    edits = Corrections(tuple(runtime.knowledge.facts.edits()))
    items: list[Item] = [*gather_lines_read(state, RedactedFiles(runtime.files)), *gather_last_outputs(state, runtime, edits)]
    if is_last_look(state) and len(state.workspace.changed) <= MAX_LAST_LOOK_FILES:
        items += gather_last_look(runtime.workspace.changes(state.workspace.first_snapshot, state.workspace.snapshot))
    return GatheredContext(
        apply_corrections(state, edits), tuple(map(redact_item, items)), corrections=edits, policy=runtime.settings.policy
    )


def _select_wanted_sections(state: State, runtime: Runtime) -> frozenset[str]:
    """Sections that the layout has a place for."""
    return frozenset(share.section for share in runtime.settings.template.at(state.phase).shares if share.tier is not Tier.NEVER)
