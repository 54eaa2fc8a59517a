"""Is a run of the tests to be believed? Held against the run at the baseline, when no code was the task's."""

from collections.abc import Collection, Iterator

from afresh.core.verdict import EvidenceSource, TestEvidence, list_first_names

MAX_FOREIGN_TESTS = 200
"""With this many decorated tests at the baseline it is not known which others were."""


def find_doubt(was: TestEvidence, now: TestEvidence, exits: tuple[int, int], tests: Collection[str]) -> str:
    """Why the run proves nothing; empty if it may be believed. `exits` are those of the command, then and now; `tests` those of
    the baseline."""
    if was.source is not EvidenceSource.REPORT:
        return ""
    if now.source is not EvidenceSource.REPORT:
        return "ended without a report of its tests: their process was stopped or replaced, and what it printed proves nothing"
    return next(_list_doubts(was, now, exits, tests), "")


def _list_doubts(was: TestEvidence, now: TestEvidence, exits: tuple[int, int], tests: Collection[str]) -> Iterator[str]:
    if altered := set(now.altered) - set(was.altered):
        yield f"ran while functions of the test runner were replaced: {list_first_names(altered)}"
    if plugins := set(now.plugins) - set(was.plugins):
        yield f"ran with a new plugin in the test runner: {list_first_names(plugins)}"
    if was.plugins and (gone := set(was.plugins) - set(now.plugins)):
        yield f"ran without plugins or hooks that the test runner had: {list_first_names(gone)}"
    if now.denied and not was.denied:
        yield f"hid the errors of tests: {list_first_names(now.denied)}"
    replaced = (set(now.foreign) - set(was.foreign)) & set(tests)
    if replaced and len(was.foreign) < MAX_FOREIGN_TESTS:
        yield f"ran other code than the test files have: {list_first_names(replaced)}"
    if now.unfinished and not now.exit:
        yield f"collected tests that have no result: {list_first_names(now.unfinished)}"
    if now.exit and not exits[1] and (exits[0] or not was.exit):
        yield f"exits 0, though its test runner ended with {now.exit}"
