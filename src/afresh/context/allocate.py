"""Share the tokens of a prompt among the pieces of its sections. Pure.

A piece has a cost, its text; a gain, its rank, the lower the more; and shorter forms, a part or a stub. First goes the little
that the work turns on; then each section takes by rank up to its share; then those with more to show take what is left, analysis
of code last; then, up to a limit of its own, what the last step has read or edited. What is not shown whole was compacted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afresh.context.excerpt_ranking import CORE_RANK
from afresh.context.render import render_section
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.truncate_piece import MIN_PART_TOKENS, truncate_piece
from afresh.core.context_item import MapEntry
from afresh.core.prompt import Omission, Section, SectionCompaction, Tier
from afresh.core.template import SectionShare
from afresh.core.tokens import TokenCounter

STUB_RESERVE_DIVISOR = 8  # one in this many tokens is kept for lines that stand for what is left out
NO_ROOM_REASON, PARTLY_REASON, HIDDEN_REASON = "no room left", "shown in part", "not shown in this phase"
COMPACTIONS = {
    "trim_analysis": ("outline", "history", "coverage", "callers", "similar", "tests"),
    "confident_facts": ("known", "memory", "summary"),
    "fewer_suggestions": ("suggestions",),
    "shorter_context": ("files", "target", "diff", "failing", "cited"),
    "fewer_actions": ("work", "last"),
}
"""What is given up first, by what that is called where a call is explained: analysis can be had again at any time."""
GIVEN_UP = {section: place for place, sections in enumerate(COMPACTIONS.values()) for section in sections}


@dataclass(slots=True, eq=False)
class Page:
    """A section while it is filled: of each piece what is shown of it."""

    draft: SectionDraft
    share: SectionShare
    limit: int
    """Tokens that it may take in all."""
    counter: TokenCounter
    shown: dict[SectionPiece, SectionPiece] = field(default_factory=dict[SectionPiece, SectionPiece])
    spent: int = 0
    rest: bool = False
    """It says at its end that there is more."""

    @property
    def name(self) -> str:
        return self.draft.name

    @property
    def pieces(self) -> list[SectionPiece]:
        """What is shown, in the order of the page."""
        return [self.shown[piece] for piece in self.draft.pieces if piece in self.shown]

    @property
    def unread(self) -> bool:
        """Whether something that the last step has looked at is not shown whole."""
        return any(piece.asked and self.shown.get(piece) is not piece for piece in self.draft.pieces)

    def is_cut(self, what: str) -> bool:
        return any(piece.what == what and self.shown.get(piece) is not piece for piece in self.draft.pieces)

    def cost(self, piece: SectionPiece) -> int:
        """With the headings that it brings along, if it is the first of its section or of its file."""
        heading = 0 if self.shown else self.counter(f"## {self.draft.title}\n") + 2
        group = 0 if not piece.group or any(one.group == piece.group for one in self.shown) else self.counter(piece.group) + 1
        return self.counter(piece.text) + 1 + heading + group

    def take(self, room: int, wanted: Callable[[SectionPiece], bool] = bool, parts: bool = True) -> int:
        """Wanted pieces by rank, whole as far as they fit; then a part of the first that did not. What that cost."""
        before, pieces = self.spent, sorted(filter(wanted, self.draft.pieces), key=lambda piece: piece.rank)
        for piece in pieces:
            if not self.show(piece, room - (self.spent - before)) and self.draft.strict:
                break
        first = next((piece for piece in pieces if self.shown.get(piece) is not piece), None)
        left = room - (self.spent - before)
        if parts and first and left >= MIN_PART_TOKENS and (wanted is is_asked or self.may_be_cut(first)):
            self.show(first, left, part=True)
        return self.spent - before

    def may_be_cut(self, piece: SectionPiece) -> bool:
        """A further piece of a file, and a line of the map, is whole or absent."""
        return piece in self.shown or not (isinstance(piece.item, MapEntry) or (piece.group and self.shown))

    def show(self, piece: SectionPiece, room: int, part: bool = False) -> bool:
        """The piece whole, or the largest part of it, in place of what is shown of it; False if it is not whole."""
        before = self.shown.get(piece)
        if before is piece:
            return True
        if before:
            del self.shown[piece]
            spent, self.spent = self.spent, self.spent - self.cost(before)
            room += spent - self.spent
        form = piece if (cost := self.cost(piece)) <= room else before
        if part and form is not piece:
            form = truncate_piece(piece, room - (cost - self.counter(piece.text)), self.counter) or before
        if form:
            self.spent += self.cost(form)
            self.shown[piece] = form
        return form is piece

    def settle(self, most: int | None = None) -> None:
        """The text as a whole costs less than its pieces; if it costs more than it may, the last of them go."""
        self.spent = self.measure()
        while most is not None and self.spent > most and self.shown:
            excess = self.spent - most
            for piece in sorted(self.shown, key=lambda piece: -piece.rank):
                excess -= self.counter(self.shown.pop(piece).text)
                if excess < 0:
                    break
            self.spent = self.measure()

    def measure(self) -> int:
        return sum(section.tokens for section in self.sections)

    @property
    def marks_cost(self) -> int:
        """Of the lines that may have to stand for what is missing; neighbours share one."""
        absent = [piece.as_stub() for piece in self.draft.pieces if piece.stub and piece not in self.shown]
        return self.counter(render_section(self.draft, absent)) if absent and self.limit else 0

    def add_stubs(self, room: int) -> int:
        before, missing = self.spent, [piece for piece in self.draft.pieces if piece not in self.shown]
        bare = any(not piece.stub for piece in missing) or self.marks_cost > room
        if self.draft.rest and self.shown and bare and (cost := self.counter(self.draft.rest) + 1) <= room:
            self.rest, self.spent = True, self.spent + cost
        if self.limit and self.marks_cost <= room - (self.spent - before):
            self.shown |= {piece: piece.as_stub() for piece in missing if piece.stub}
            self.settle()
        return self.spent - before

    def add_remarks(self, remarks: Mapping[str, str]) -> None:
        """Say more at the end of the pieces of these names that are shown whole; what that costs is not limited here."""
        said = {
            piece: replace(piece, text=piece.text + remarks[piece.what])
            for piece, form in self.shown.items()
            if piece.what in remarks and form is piece
        }
        self.draft = replace(self.draft, pieces=tuple(said.get(piece, piece) for piece in self.draft.pieces))
        self.shown = {said.get(piece, piece): said.get(piece, form) for piece, form in self.shown.items()}
        self.settle()

    @property
    def sections(self) -> list[Section]:
        if not self.shown:
            return []
        text = render_section(self.draft, self.pieces) + (f"\n{self.draft.rest}" if self.rest else "")
        return [Section(self.name, self.share.tier, text, self.counter(text) + 2)]

    @property
    def omissions(self) -> list[Omission]:
        """One line for all pieces of one name; what was cut is told apart."""
        gone: dict[tuple[str, str], int] = {}
        for piece in self.draft.pieces:
            form = self.shown.get(piece)
            if form is not piece:
                absent = HIDDEN_REASON if self.share.tier is Tier.NEVER else NO_ROOM_REASON
                reason = PARTLY_REASON if form and form.text != piece.stub else absent
                gone[piece.what, reason] = gone.get((piece.what, reason), 0) + self.counter(piece.text)
        return [Omission(self.name, what, tokens, reason) for (what, reason), tokens in gone.items()]


def is_asked(piece: SectionPiece) -> bool:
    return piece.asked


def is_core(piece: SectionPiece) -> bool:
    return piece.rank < CORE_RANK // 2


def allocate_tokens(pages: Sequence[Page], room: int, asked: int, held: int) -> int:
    """Fill the pages, which stand in their order of claim, up to `room` tokens, and up to `asked` with what the last step asked
    for. `held` are kept for what is drafted when it is known what these show; what that may take."""
    kept, left = _reserve_for_stubs(pages, room), room - held
    for page in pages:
        left -= page.take(min(left - kept, page.limit), is_core, parts=False)
    for page in pages:
        left -= page.take(min(left - kept, int(page.share.part * room), page.limit - page.spent))
    kept = _reserve_for_stubs(pages, room)
    for page in sorted(pages, key=lambda page: (not page.unread, -GIVEN_UP.get(page.name, len(COMPACTIONS)))):
        left += page.spent
        page.settle()
        left -= page.spent
        left -= page.take(min(left - kept, page.limit - page.spent))
    for page in pages if asked > room else ():
        taken = page.take(left + asked - room - kept, is_asked)
        page.limit, left = page.limit + taken, left - taken
    for page in pages:
        kept -= page.add_stubs(min(kept, page.limit - page.spent))
    return held + max(0, left - kept)


def _reserve_for_stubs(pages: Sequence[Page], room: int) -> int:
    """Kept for the lines that stand for what is left out so far."""
    return min(room // STUB_RESERVE_DIVISOR, sum(page.marks_cost for page in pages))


def list_compactions(pages: Sequence[Page]) -> tuple[SectionCompaction, ...]:
    """What had no room, section by section, what is given up first first."""
    found = list[SectionCompaction]()
    for name, sections in COMPACTIONS.items():
        for page in [page for page in pages if page.name in sections]:
            if gone := [one for one in page.omissions if one.reason != HIDDEN_REASON]:
                found.append(SectionCompaction(name, page.name, tuple(one.what for one in gone), sum(one.tokens for one in gone)))
    return tuple(found)


def share_out(sizes: Sequence[int], room: int, least: int = 0) -> list[int]:
    """For each text what it may have: as many as possible whole, the smallest first, but each after it at least so much."""
    caps, left = [0] * len(sizes), room
    for number, place in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__), 1):
        caps[place] = max(0, left - least * (len(sizes) - number))
        left -= min(sizes[place], caps[place])
    return caps
