"""Share the free tokens of a prompt: each section up to its share, in a defined order, then those with more to show. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afresh.context.already_shown import FILE_SHOWING_SECTIONS, find_fully_shown_files
from afresh.context.excerpt_ranking import CORE_RANK
from afresh.context.render import render_section
from afresh.context.section import Allocation, AllocationTurn, SectionDraft, SectionPiece
from afresh.context.truncate_piece import MIN_PART_TOKENS, truncate_piece
from afresh.core.context_item import MapEntry
from afresh.core.prompt import Omission, Section, Tier
from afresh.core.template import SectionShare

STUB_RESERVE_DIVISOR = 8  # one in this many tokens is kept for lines that stand for what is left out


@dataclass(slots=True, eq=False)
class SectionAllocation(Allocation):
    """A section of pieces. What is taken is one of them, a part of one, or a stub for one."""

    draft: SectionDraft
    steady: bool = False
    """It takes them at once, whatever the others ask for."""
    taken: dict[SectionPiece, SectionPiece] = field(default_factory=dict[SectionPiece, SectionPiece])
    """The piece as drafted, and as it is shown."""
    rest: bool = False
    elsewhere: bool = False
    """Another section shows its pieces."""

    @property
    def turn(self) -> AllocationTurn:
        once = any(piece.once for piece in self.draft.pieces)
        return AllocationTurn.AFTER_OTHERS if once else AllocationTurn.WITH_OTHERS

    def due(self, room: int) -> int:
        return self.limit if self.steady else int(self.share.part * room)

    def wish(self, most: int) -> int:
        return min(most, self.limit, self.counter(render_section(self.draft, self.draft.pieces)) + 2)

    def hide_shown(self, pages: Sequence[Allocation], given: Sequence[str]) -> int:
        """Before it has taken anything: pieces whose sign another section shows."""
        if self.turn is AllocationTurn.AFTER_OTHERS:
            texts = [*given, *[section.text for other in pages if other is not self for section in other.sections]]
            pieces = tuple(piece for piece in self.draft.pieces if not any(piece.once in text for text in texts if piece.once))
            self.draft = replace(self.draft, pieces=pieces)
        return 0

    def abridge(self, paths: Collection[str]) -> int:
        """Of files that are shown whole the map says only that."""
        short = {
            piece: replace(piece, text=f"{piece.item.path} (shown whole)", item=None)
            for piece in self.draft.pieces
            if isinstance(piece.item, MapEntry) and piece.item.path in paths
        }
        if not short:
            return 0
        self.draft = replace(self.draft, pieces=tuple(short.get(piece, piece) for piece in self.draft.pieces))
        self.taken = {short.get(piece, piece): short.get(piece, taken) for piece, taken in self.taken.items()}
        return self.settle()

    def add_remarks(self, remarks: Mapping[str, str]) -> None:
        """Say more at the end of the pieces of these names that are shown whole; what that costs is not limited here."""
        said = {
            piece: replace(piece, text=piece.text + remarks[piece.what])
            for piece, shown in self.taken.items()
            if piece.what in remarks and shown is piece
        }
        self.draft = replace(self.draft, pieces=tuple(said.get(piece, piece) for piece in self.draft.pieces))
        self.taken = {said.get(piece, piece): said.get(piece, shown) for piece, shown in self.taken.items()}
        self.settle()

    @property
    def missing(self) -> list[SectionPiece]:
        return sorted((piece for piece in self.draft.pieces if piece not in self.taken), key=lambda piece: piece.rank)

    def cost(self, piece: SectionPiece) -> int:
        """With the headings that it brings along, if it is the first of its section or of its file."""
        heading = 0 if self.taken else self.counter(f"## {self.draft.title}\n") + 2
        group = 0 if not piece.group or any(held.group == piece.group for held in self.taken) else self.counter(piece.group) + 1
        return self.counter(piece.text) + 1 + heading + group

    def claim_asked(self, room: int) -> int:
        """What the last step asked for, whole or the part that fits, whatever the cap of the section."""
        before = self.spent
        for piece in sorted((piece for piece in self.draft.pieces if piece.asked), key=lambda piece: piece.rank):
            if self.taken.get(piece) is not piece:
                self.enlarge(piece, room - (self.spent - before))
        self.limit += self.spent - before
        return self.spent - before

    def enlarge(self, piece: SectionPiece, room: int) -> int:
        """The piece, or a larger part of it, in place of what is shown of it."""
        before, shown = self.spent, self.taken.pop(piece, None)
        self.spent -= self.cost(shown) if shown else 0
        free = room + before - self.spent
        if (cost := self.cost(piece)) <= free:
            self.show(piece, piece, cost)
        elif part := truncate_piece(piece, free - (cost - self.counter(piece.text)), self.counter) or shown:
            self.show(piece, part, self.cost(part))
        return self.spent - before

    def take(self, room: int, spare: bool = True) -> int:
        """Whole pieces by rank, as far as they fit; what that cost."""
        before = self.spent
        for piece in self.missing if spare else [piece for piece in self.missing if not piece.spare]:
            if (cost := self.cost(piece)) <= room - (self.spent - before):
                self.show(piece, piece, cost)
            elif self.draft.strict:
                break
        return self.spent - before

    def claim_urgent(self, room: int) -> int:
        """Excerpts that have the rank of the core."""
        before = self.spent
        for piece in [piece for piece in self.missing if piece.rank < CORE_RANK // 2]:
            if (cost := self.cost(piece)) <= self.within(room - (self.spent - before)):
                self.show(piece, piece, cost)
        return self.spent - before

    def take_part(self, room: int) -> int:
        """A part of the first piece that did not fit whole; pieces of a group (definitions) and lines of the map are whole or
        absent."""
        piece = next(iter(self.missing), None)
        if (
            piece is None
            or piece.spare
            or isinstance(piece.item, MapEntry)
            or (piece.group and self.taken)
            or room < MIN_PART_TOKENS
        ):
            return 0
        part = truncate_piece(piece, room - (self.cost(piece) - self.counter(piece.text)), self.counter)
        return self.show(piece, part, self.cost(part)) if part else 0

    def grow(self, room: int) -> int:
        """A larger part of what was cut first, now that there is more room."""
        cut = next((piece for piece, shown in self.taken.items() if shown is not piece and shown.text != piece.stub), None)
        return self.enlarge(cut, room) if cut else 0

    @property
    def stubs_cost(self) -> int:
        """Of the lines that stand for what is missing; neighbours share one."""
        absent = [piece.as_stub() for piece in self.draft.pieces if piece.stub and piece not in self.taken]
        return self.counter(render_section(self.draft, absent)) if absent else 0

    @property
    def marks_cost(self) -> int:
        bare = self.draft.rest and self.draft.trimmed
        return self.stubs_cost + (self.counter(self.draft.rest) + 1 if bare else 0)

    def add_stubs(self, room: int) -> int:
        before = self.spent
        unmarked = any(not piece.stub for piece in self.missing) or self.stubs_cost > room
        incomplete = unmarked or self.draft.trimmed
        if self.draft.rest and self.taken and incomplete and (cost := self.counter(self.draft.rest) + 1) <= room:
            self.rest, self.spent = True, self.spent + cost
        room -= self.spent - before
        if self.stubs_cost <= room:
            self.taken |= {piece: piece.as_stub() for piece in self.missing if piece.stub}
            self.settle()
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
        spent = self.take(room, spare=False)
        return spent + self.take_part(room - spent)

    def more(self, room: int) -> int:
        spent = self.grow(room)
        spent += self.take(room - spent)
        return spent + self.take_part(room - spent)

    def settle(self) -> int:
        whole = sum(section.tokens for section in self.sections)
        freed, self.spent = self.spent - whole, whole
        return freed

    @property
    def shown(self) -> list[SectionPiece]:
        return [self.taken[piece] for piece in self.draft.pieces if piece in self.taken]

    @property
    def listed(self) -> Sequence[SectionPiece]:
        return self.draft.pieces

    def is_cut(self, what: str) -> bool:
        return any(piece.what == what and self.taken.get(piece) is not piece for piece in self.draft.pieces)

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


def allocate_tokens(
    pages: Sequence[Allocation],
    shares: Sequence[SectionShare],
    room: int,
    asked: int,
    given: Sequence[str],
) -> None:
    """Fill the pages up to `room` tokens, and up to `asked` with what the last step asked for. `given` is what the prompt shows
    besides them: it need not be shown again."""
    claims = {share.section: at for at, share in enumerate(shares)}
    order, left = sorted(pages, key=lambda one: claims.get(one.name, len(claims))), room
    late = [one for one in order if one.turn is AllocationTurn.AFTER_OTHERS]
    early = [one for one in order if one not in late]
    due = {one: one.due(room) for one in pages}
    kept, held = _reserve_for_stubs(pages, room), sum(one.wish(due[one]) for one in late)
    for one in early:
        left -= one.claim_urgent(left - kept - held)
    for one in early:
        if one.turn is AllocationTurn.BESIDE_OTHERS:
            left += one.hide_shown(pages, given)
            kept = _reserve_for_stubs(pages, room)
        left -= one.claim(one.within(min(left - kept - held, due[one])))
    for one in sorted(early, key=lambda one: not one.unread):  # what was asked for comes before more of what was not
        left += one.hide_shown(pages, given) + one.settle()
        left -= one.more(one.within(left - kept - held))
    for one in late:
        left += one.hide_shown(pages, given)
        left -= one.claim(one.within(min(left - kept, due[one])))
    left += _shorten_fully_shown_files(pages)
    spent, kept = [one.spent for one in early], _reserve_for_stubs(pages, room)
    for one in (*late, *early):
        left += one.settle()
        left -= one.more(one.within(left - kept))
    if spent != [one.spent for one in early]:
        left += sum(one.hide_shown(pages, given) for one in early)
    left += _shorten_fully_shown_files(pages)
    left, kept = left + asked - room, _reserve_for_stubs(pages, room)
    for one in order:
        left -= one.claim_asked(left - kept) if asked > room and one.unread else 0
    left = min(left, max(kept, left - (asked - room)))
    for one in order:
        left -= one.add_stubs(one.within(left))


def _shorten_fully_shown_files(pages: Sequence[Allocation]) -> int:
    """Given back by the map of files that are shown whole."""
    listed = [piece.item for one in pages for piece in one.listed if isinstance(piece.item, MapEntry)]
    shown = [piece for one in pages if one.name in FILE_SHOWING_SECTIONS for piece in one.shown] if listed else []
    found = find_fully_shown_files(listed, shown)
    return sum(one.abridge(found) for one in pages) if found else 0


def _reserve_for_stubs(pages: Sequence[Allocation], room: int) -> int:
    """Kept for the lines that stand for what is left out so far."""
    return min(room // STUB_RESERVE_DIVISOR, sum(one.marks_cost for one in pages if one.limit))
