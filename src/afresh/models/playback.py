"""A model that answers as a journal says it was answered before, and refuses what was never asked."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from afresh.core.event import CallRequested, JournalEntry, ReplyReceived
from afresh.core.prompt import CallAudit, Request
from afresh.core.reply import Reply
from afresh.errors import BadInput, NeedsPerson
from afresh.models.reply_checks import REPLY_EXAMPLE, CountTokens, add_missing_usage, estimate_tokens, reply_from_json
from afresh.ports.model import ReplyListener, ignore_piece


class ScriptedModel:
    """`start` is the number of calls that the task has bought before, so that a restarted process goes on where it was."""

    def __init__(
        self,
        replies: Sequence[Reply | Mapping[str, Any]],
        start: int = 0,
        window: int = 200_000,
        count: CountTokens = estimate_tokens,
        name: str = "scripted",
    ) -> None:
        self.replies = tuple(reply if isinstance(reply, Reply) else reply_from_json(reply) for reply in replies)
        self.position, self.window, self.count, self.name = start, window, count, name
        self.requests: list[Request] = []
        """What it was asked, for tests."""

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        self.requests.append(request)
        if self.position >= len(self.replies):
            raise NeedsPerson(
                f"the script has {len(self.replies)} replies and this is call {self.position + 1} of the task",
                next="add replies to the script, or resume the task with another --model",
                safe="everything up to the last reply is kept",
            )
        self.position += 1
        return add_missing_usage(self.replies[self.position - 1], request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0


def read_script(path: Path) -> tuple[Reply, ...]:
    """Replies of a JSON lines file, one a line; empty lines don't count."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the script {path} can't be read: {error}", next="pass --model scripted:FILE with a JSON lines file"
        ) from None
    return tuple(_reply_from_line(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())


def _reply_from_line(line: str, place: str) -> Reply:
    try:
        return reply_from_json(json.loads(line))
    except ValueError as error:
        raise BadInput(f"{place} is not a reply: {error}", next=f"write one reply a line, such as {REPLY_EXAMPLE}") from None


RequestAndReply = tuple[CallRequested, Reply]


class RecordedModel:
    """`read` gives the text of a block, so that a refusal can name the sections that differ; `start` calls are behind us."""

    name = "recorded"

    def __init__(
        self,
        entries: Iterable[JournalEntry],
        read: Callable[[str], str] | None = None,
        start: int = 0,
        window: int = 200_000,
        count: CountTokens = estimate_tokens,
    ) -> None:
        self.calls, self.read, self.position, self.window, self.count = tuple(_pair_calls(entries)), read, start, window, count

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        place = self._find(request.hash)
        if place is None:
            raise NeedsPerson(
                f"this request was never recorded: {self._difference(request)}",
                next="compare the two with `afresh context diff`; other prompts, tools or code make other requests",
                safe="the recorded journal is only read",
            )
        self.position = place + 1
        return add_missing_usage(replace(self.calls[place][1], counted=False), request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0

    def _find(self, wanted: str) -> int | None:
        """The next call with this hash; failing that, any: the same question may be asked again after a crash."""
        places = [place for place, (asked, _) in enumerate(self.calls) if asked.audit.hash == wanted]
        return next((place for place in places if place >= self.position), places[-1] if places else None)

    def _difference(self, request: Request) -> str:
        if self.position >= len(self.calls):
            return f"the journal has {len(self.calls)} calls and this is one more"
        asked = self.calls[self.position][0]
        where = f"step {asked.step} was asked with hash {asked.audit.hash[:12]}, this is {request.hash[:12]}"
        if self.read is None:
            return where
        names = _list_changed_sections(asked.audit, request, self.read)
        if not names:
            return f"{where}; its sections are all there, so tools, reserve or order differ"
        return f"{where}; sections that differ: {', '.join(names)}"


def _pair_calls(entries: Iterable[JournalEntry]) -> Iterator[RequestAndReply]:
    asked: CallRequested | None = None
    for entry in entries:
        if isinstance(entry.event, CallRequested):
            asked = entry.event
        elif isinstance(entry.event, ReplyReceived) and asked is not None:
            yield asked, entry.event.reply
            asked = None


def _list_changed_sections(audit: CallAudit, request: Request, read: Callable[[str], str]) -> list[str]:
    sent = f"{request.system}\n{request.message}\n{request.text}"
    return [section.name for section in audit.sections if section.text(read) not in sent]
