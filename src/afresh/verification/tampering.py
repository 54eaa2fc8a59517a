"""What a task may not leave behind unasked, since it acts without being called; and what it silences, which is named."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.steering_files import describe_steering_files, list_unasked_steering_files
from afresh.core.verdict import NoteKind, Ruling, Verdict
from afresh.ports.tool import ToolContext

_SILENCERS = re.compile(
    r"\b(?:ruff: ?)?noqa\b|\btype: ?ignore\b|\b(?:pyright|mypy): ?\w+|\b(?:pylint|rubocop): ?disable|\b[ej]slint-disable"
    r"|@ts-(?:ignore|nocheck|expect-error)|\b(?:nolint|NOLINT)\b|#!?\[allow\(|#\[ignore|@SuppressWarnings|@Disabled"
    r"|\bpragma: ?no cover|\b(?:istanbul|c8|v8) ignore|\bmark\.(?:skip|xfail)|\b(?:pytest|t)\.skip|\.skip\("
    r"|\bskip(?:If|Unless|Test)?\("
)
"""Remarks that keep a tool from saying what it finds, and marks that keep a test from running."""
_PROSE = re.compile(r"\.(?:md|rst|txt)$")


def refuse_tampering(context: ToolContext, changes: Sequence[Change], measure: int) -> Verdict | None:
    """The files are put back as they were; all else stays."""
    steering = list_unasked_steering_files([change.path for change in changes], context.state)
    told = describe_steering_files(steering, context.state.workspace.obeyed)
    if not steering:
        return None
    reason = f"what was not asked for and {told} is put back"
    return Verdict(Ruling.FAIL, reason, final=True, measure=measure, strays=tuple(steering))


def note_steering_changes(verdict: Verdict, changes: Sequence[Change], state: State) -> Verdict:
    """With what of the result acts unasked, since a person wanted it, and what it silences more than before."""
    acts = describe_steering_files([change.path for change in changes], state.workspace.obeyed)
    more = [name for change in changes if not _PROSE.search(change.path) for name in _list_more_silencers(change)]
    return verdict.add_note(NoteKind.STEERING, [acts] if acts else []).add_note(NoteKind.SILENCED, more)


def _list_more_silencers(change: Change) -> Iterator[str]:
    """Each kind of which the file has more now."""
    counts = Counter[str]()
    for line in change.patch.splitlines():
        if line[:1] in "+-" and line[:3] not in ("+++", "---"):
            counts.update({name: 1 if line[0] == "+" else -1 for name in _SILENCERS.findall(line)})
    yield from (f"`{name}` in {change.path}" for name, count in counts.items() if count > 0)
