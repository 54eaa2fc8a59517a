"""Who gets the room in a window: each section up to its share, in a defined order, then whoever has more to say. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from afresh.context.already_shown import FILE_SHOWING_SECTIONS, collect_shown_lines, find_fully_shown_files
from afresh.context.render import render_section
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.sources.history import HistoryAllocation
from afresh.context.sources.last_step import THOUGHT_PIECE
from afresh.context.truncate_piece import truncate_piece
from afresh.core.context_item import MapEntry, StepLine
from afresh.core.context_policy import AllocationPolicy, ContextPolicy
from afresh.core.prompt import Omission, Section, Tier
from afresh.core.template import SectionShare
from afresh.core.tokens import TokenCounter


@dataclass(slots=True)
class SectionAllocation:
    """A section while it is being filled. What is taken is one of its pieces, a part of one, or a stub for one."""

    draft: SectionDraft
    counter: TokenCounter
    policy: ContextPolicy
    share: SectionShare
    limit: int
    """Tokens that it may take in all."""
    steady: bool = False
    """It takes them at once, whatever the others ask for."""
    taken: dict[SectionPiece, SectionPiece] = field(default_factory=dict[SectionPiece, SectionPiece])
    """The piece as drafted, and as it is shown."""
    spent: int = 0
    rest: bool = False
    elsewhere: bool = False
    """What it shows stands in another section."""

    def within(self, room: int) -> int:
        return min(room, self.limit - self.spent)

    def due(self, room: int) -> int:
        """What it may claim before the others had their turn."""
        return self.limit if self.steady else int(self.share.part * room)

    def wish(self, most: int) -> int:
        """What it would take of its share."""
        return min(most, self.limit, self.counter(render_section(self.draft, self.draft.pieces)) + 2)

    def spare(self, texts: Sequence[str]) -> None:
        """Leave off what stands in the window already under a sign that leads to it."""
        pieces = tuple(piece for piece in self.draft.pieces if not piece.once or not any(piece.once in text for text in texts))
        self.draft = replace(self.draft, pieces=pieces)

    def abridge(self, shown: Collection[str]) -> int:
        """Of files that stand whole in the window only that they do; what that frees."""
        short = {
            piece: replace(piece, text=f"{piece.item.path} (shown whole)", item=None)
            for piece in self.draft.pieces
            if isinstance(piece.item, MapEntry) and piece.item.path in shown
        }
        if not short:
            return 0
        self.draft = replace(self.draft, pieces=tuple(short.get(piece, piece) for piece in self.draft.pieces))
        self.taken = {short.get(piece, piece): short.get(piece, taken) for piece, taken in self.taken.items()}
        return self.settled()

    @property
    def missing(self) -> list[SectionPiece]:
        return sorted((piece for piece in self.draft.pieces if piece not in self.taken), key=lambda piece: piece.rank)

    def cost(self, piece: SectionPiece) -> int:
        """With the headings that it brings along, if it is the first of its section or of its file."""
        heading = 0 if self.taken else self.counter(f"## {self.draft.title}\n") + 2
        group = 0 if not piece.group or any(held.group == piece.group for held in self.taken) else self.counter(piece.group) + 1
        return self.counter(piece.text) + 1 + heading + group

    def take(self, room: int, spare: bool = True) -> int:
        """Whole pieces by rank, as far as they fit; what that cost."""
        before = self.spent
        for piece in self.missing if spare else [piece for piece in self.missing if not piece.spare]:
            if (cost := self.cost(piece)) <= room - (self.spent - before):
                self.show(piece, piece, cost)
            elif self.draft.strict:
                break
        return self.spent - before

    def take_part(self, room: int) -> int:
        """A part of the first piece that did not fit whole; pieces of a group (definitions) are shown whole or not at all."""
        piece = next(iter(self.missing), None)
        if (
            piece is None
            or piece.spare
            or (piece.group and self.taken)
            or room < self.policy.allocation.min_truncated_piece_tokens
        ):
            return 0
        part = truncate_piece(piece, room - (self.cost(piece) - self.counter(piece.text)), self.counter, self.policy.truncation)
        return self.show(piece, part, self.cost(part)) if part else 0

    def grow(self, room: int) -> int:
        """A larger part of what was cut, or all of it, now that there is more room."""
        for piece, shown in list(self.taken.items()):
            if shown is not piece and shown.text != piece.stub:
                del self.taken[piece]
                freed = self.cost(shown)
                self.spent -= freed
                if (whole := self.cost(piece)) <= room + freed:
                    return self.show(piece, piece, whole) - freed
                part = (
                    truncate_piece(piece, room + freed - (whole - self.counter(piece.text)), self.counter, self.policy.truncation)
                    or shown
                )
                return self.show(piece, part, self.cost(part)) - freed
        return 0

    @property
    def stubs_cost(self) -> int:
        """Of the lines that stand for what is missing; neighbours share one."""
        absent = [piece.as_stub() for piece in self.draft.pieces if piece.stub and piece not in self.taken]
        return self.counter(render_section(self.draft, absent)) if absent else 0

    @property
    def marks_cost(self) -> int:
        """Of all that may have to stand for what is missing."""
        bare = self.draft.rest and self.draft.trimmed
        return self.stubs_cost + (self.counter(self.draft.rest) + 1 if bare else 0)

    def add_stubs(self, room: int) -> int:
        """Where the pieces that are left out can be found."""
        before = self.spent
        unmarked = any(not piece.stub for piece in self.missing) or self.stubs_cost > room
        incomplete = unmarked or self.draft.trimmed
        if self.draft.rest and self.taken and incomplete and (cost := self.counter(self.draft.rest) + 1) <= room:
            self.rest, self.spent = True, self.spent + cost
        room -= self.spent - before
        if self.stubs_cost <= room:
            self.taken |= {piece: piece.as_stub() for piece in self.missing if piece.stub}
            self.settled()
            return self.spent - before
        for piece in self.missing:
            stub = piece.as_stub()
            if piece.stub and (cost := self.cost(stub)) <= room:
                room -= self.show(piece, stub, cost)
        return self.spent - before

    def show(self, piece: SectionPiece, shown: SectionPiece, cost: int) -> int:
        self.taken[piece] = shown
        self.spent += cost
        return cost

    def claim(self, room: int) -> int:
        """Up to its share."""
        spent = self.take(room, spare=False)
        return spent + self.take_part(room - spent)

    def more(self, room: int) -> int:
        """Of what all claims have left."""
        spent = self.grow(room)
        spent += self.take(room - spent)
        return spent + self.take_part(room - spent)

    def settled(self) -> int:
        """What its text costs less as a whole than piece by piece is given back."""
        whole = sum(section.tokens for section in self.sections)
        freed, self.spent = self.spent - whole, whole
        return freed

    @property
    def shown(self) -> list[SectionPiece]:
        """In the order of the page."""
        return [self.taken[piece] for piece in self.draft.pieces if piece in self.taken]

    @property
    def sections(self) -> list[Section]:
        if not self.taken or self.elsewhere:
            return []
        text = render_section(self.draft, self.shown) + (f"\n{self.draft.rest}" if self.rest else "")
        return [Section(self.draft.name, self.share.tier, text, self.counter(text) + 2)]

    @property
    def unread(self) -> int:
        return sum(self.counter(piece.text) for piece in self.draft.pieces if piece.asked and self.taken.get(piece) is not piece)

    @property
    def omissions(self) -> list[Omission]:
        """One line for all pieces of one name; what was cut is told apart."""
        gone: dict[tuple[str, str], int] = {}
        for piece in self.draft.pieces:
            shown = self.taken.get(piece)
            if shown is not piece:
                absent = "not shown in this phase" if self.share.tier is Tier.NEVER else "no room left"
                reason = "shown in part" if shown and shown.text != piece.stub else absent
                gone[piece.what, reason] = gone.get((piece.what, reason), 0) + self.counter(piece.text)
        return [Omission(self.draft.name, what, tokens, reason) for (what, reason), tokens in gone.items()]


Allocation = SectionAllocation | HistoryAllocation


def allocate_tokens(
    pages: Sequence[Allocation], shares: Sequence[SectionShare], room: int, given: Sequence[str], policy: AllocationPolicy
) -> None:
    """Fill the pages. `given` is what the window shows besides them: what stands there need not be shown again."""
    claims = {share.section: at for at, share in enumerate(shares)}
    order, left = sorted(pages, key=lambda one: claims.get(one.share.section, len(claims))), room
    kept = _reserve_for_stubs(pages, room, policy.stub_reserve_divisor)
    late = [one for one in order if isinstance(one, SectionAllocation) and any(piece.once for piece in one.draft.pieces)]
    early = [one for one in order if one not in late]
    held = sum(one.wish(one.due(room)) for one in late)
    for one in early:
        if isinstance(one, HistoryAllocation):
            one.covered, kept = (
                _collect_shown_elsewhere(pages, one, given),
                _reserve_for_stubs(pages, room, policy.stub_reserve_divisor),
            )
        left -= one.claim(one.within(min(left - kept - held, one.due(room))))
    for one in early:
        if isinstance(one, HistoryAllocation):
            one.covered = _collect_shown_elsewhere(pages, one, given)
        left += one.settled()
        left -= one.more(one.within(left - kept - held))
    for one in late:
        one.spare([*given, *[section.text for other in early for section in other.sections]])
        left -= one.claim(one.within(min(left - kept, one.due(room))))
    left += _shorten_fully_shown_files(pages)
    spent = [one.spent for one in early]
    for one in (*late, *[one for one in early if isinstance(one, SectionAllocation)]):
        left += one.settled()
        left -= one.more(one.within(left - kept))
    for one in early if spent != [one.spent for one in early] else ():
        if isinstance(one, HistoryAllocation):
            one.covered = _collect_shown_elsewhere(pages, one, given)
            left += one.spare()
    left += _shorten_fully_shown_files(pages)
    for one in order:
        left -= one.add_stubs(one.within(left))


def _shorten_fully_shown_files(pages: Sequence[Allocation]) -> int:
    """What it frees that files which stand whole need not be told of twice."""
    filled = [one for one in pages if isinstance(one, SectionAllocation)]
    listed = [piece.item for one in filled for piece in one.draft.pieces if isinstance(piece.item, MapEntry)]
    shown = [piece for one in filled if one.draft.name in FILE_SHOWING_SECTIONS for piece in one.shown] if listed else []
    found = find_fully_shown_files(listed, shown)
    return sum(one.abridge(found) for one in filled) if found else 0


def _reserve_for_stubs(pages: Sequence[Allocation], room: int, divisor: int) -> int:
    """What is kept for them: for what is shown by now none is needed."""
    return min(room // divisor, sum(one.marks_cost for one in pages if one.limit))


def _collect_shown_elsewhere(pages: Sequence[Allocation], work: HistoryAllocation, given: Sequence[str]) -> frozenset[str]:
    """What the work so far need not show: it stands elsewhere in the window."""
    filled = [one for one in pages if isinstance(one, SectionAllocation)]
    earlier = [piece.item for one in filled for piece in one.shown if isinstance(piece.item, StepLine)]
    return (
        collect_shown_lines(given, [(section, one.shown) for one in filled for section in one.sections])
        | _collect_last_step_lines(pages, work)
        | work.retold(earlier)
    )


def _collect_last_step_lines(pages: Sequence[Allocation], work: HistoryAllocation) -> frozenset[str]:
    """What the model thought and did in the last step, as far as its own section tells it."""
    last = next((one for one in pages if isinstance(one, SectionAllocation) and one.draft.name == "last"), None)
    if last is None or not last.omissions:
        return work.said_last(thought=True, deeds=True)
    cut = any(piece.what == THOUGHT_PIECE and last.taken.get(piece) is not piece for piece in last.draft.pieces)
    return work.said_last(thought=not cut, deeds=False) if last.taken else frozenset()
