"""A model that answers as a journal says it was answered before, and refuses what was never asked."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from afresh.adapters.models.replies import CountTokens, estimate_tokens, add_missing_usage
from afresh.domain.action import Reply
from afresh.domain.event import JournalEntry, ReplyReceived, CallRequested
from afresh.domain.window import CallAudit, Request
from afresh.errors import NeedsPerson
from afresh.ports import ReplyListener, ignore_piece

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
