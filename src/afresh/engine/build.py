"""Choose what the model sees. Pure: the same memory, template, tools, ceiling and counter give the same bytes."""

import json
from collections.abc import Mapping, Sequence

from afresh.domain.codec import encode
from afresh.domain.memory import Memory
from afresh.domain.template import Template
from afresh.domain.window import Omission, Request, Section, Tier, ToolSchema, Window
from afresh.engine.sections import Draft, Piece, drafts
from afresh.engine.tokens import FRAMING, Counter
from afresh.errors import OverCeiling
from afresh.ports import Tool

TOOL_FRAMING, FOOTER, SMALLEST_CUT, STUBS = 6, 50, 60, 80


def offered(template: Template, tools: Sequence[Tool]) -> tuple[ToolSchema, ...]:
    return tuple(tool.schema for tool in tools if tool.schema.name in template.tools)


def build(memory: Memory, template: Template, tools: Sequence[ToolSchema], budget: int, counter: Counter) -> Window:
    """Fixed parts first, then every section its share, then what is left to whoever still has something to say."""
    reserve = int(budget * template.reserve)
    fixed = [fixed_section("system", template.system, counter), tools_section(tools, counter)]
    made = drafts(memory)
    always = [fixed_section(draft.name, page(draft, draft.pieces), counter) for draft in made if draft.tier is Tier.ALWAYS]
    room = budget - reserve - FRAMING - FOOTER - sum(section.tokens for section in (*fixed, *always))
    if room < 0:
        raise over(budget, reserve, [*fixed, *always], room)
    chosen, omissions = allot([draft for draft in made if draft.tier is not Tier.ALWAYS], template.shares, room, counter)
    by_name = {section.name: section for section in (*always, *chosen)}
    body = [by_name[draft.name] for draft in made if draft.name in by_name]
    used = sum(section.tokens for section in (*fixed, *body)) + FRAMING + FOOTER
    body.append(Section("footer", Tier.ALWAYS, footer(memory, used, budget, reserve), FOOTER))
    request = Request(template.system, "\n\n".join(section.text for section in body), tuple(tools), reserve)
    return checked(Window(request, (*fixed, *body), tuple(omissions), budget, used), counter)


def allot(
    made: Sequence[Draft], shares: Mapping[str, float], room: int, counter: Counter
) -> tuple[list[Section], list[Omission]]:  # fmt: skip
    """In the template's order: each section up to its share; then what is left, whole pieces first, then parts of pieces."""
    claims = list(shares)
    order = sorted(made, key=lambda draft: claims.index(draft.name) if draft.name in shares else len(claims))
    taken: dict[str, list[Piece]] = {draft.name: [] for draft in made}
    left = room
    for draft in order:
        left -= take(draft, taken[draft.name], min(left, int(shares.get(draft.name, 0.0) * room)), counter)
    for draft in order:
        left -= take(draft, taken[draft.name], left - stubs_cost(made, taken, counter), counter)
    left -= add_stubs(made, taken, left, counter)
    cuts = cut_to_fit(order, taken, left, counter)
    sections = [shown(draft, taken[draft.name], counter) for draft in made if taken[draft.name]]
    return sections, [gone for draft in made for gone in left_out(draft, taken[draft.name], cuts.get(draft.name), counter)]


def stubs(draft: Draft, taken: Sequence[Piece]) -> list[Piece]:
    """What stands for the pieces that are left out, newest first: where to find them."""
    gone = [piece for piece in by_rank(draft) if piece not in taken]
    rest = [Piece(draft.rest, "rest")] if draft.rest and taken and gone else []
    return [*rest, *(Piece(piece.stub, piece.what, piece.rank) for piece in gone if piece.stub)]


def stubs_cost(made: Sequence[Draft], taken: dict[str, list[Piece]], counter: Counter) -> int:
    return min(STUBS, sum(counter(stub.text) + 1 for draft in made for stub in stubs(draft, taken[draft.name])))


def add_stubs(made: Sequence[Draft], taken: dict[str, list[Piece]], left: int, counter: Counter) -> int:
    spent = 0
    for draft in made:
        for stub in stubs(draft, taken[draft.name]):
            cost = counter(stub.text) + 1 + heading_cost(draft, taken[draft.name], counter)
            if spent + cost <= left:
                taken[draft.name].append(stub)
                spent += cost
    return spent


def cut_to_fit(order: Sequence[Draft], taken: dict[str, list[Piece]], left: int, counter: Counter) -> dict[str, Piece]:
    """Show a part of the first piece of each section that did not fit whole; the pieces that were cut."""
    cuts: dict[str, Piece] = {}
    for draft in order:
        held = {(piece.what, piece.rank) for piece in taken[draft.name]}
        piece = next((piece for piece in by_rank(draft) if (piece.what, piece.rank) not in held), None)
        room = left - heading_cost(draft, taken[draft.name], counter) - 1
        if piece and room > SMALLEST_CUT and (shorter := cut(piece, room, counter)):
            left = room - counter(shorter.text)
            taken[draft.name].append(shorter)
            cuts[draft.name] = piece
    return cuts


def take(draft: Draft, taken: list[Piece], room: int, counter: Counter) -> int:
    """Take pieces by rank as far as they fit; what that cost."""
    spent = 0
    for piece in by_rank(draft):
        cost = counter(piece.text) + 1 + heading_cost(draft, taken, counter)
        if piece not in taken and spent + cost <= room:
            taken.append(piece)
            spent += cost
    return spent


def heading_cost(draft: Draft, taken: Sequence[Piece], counter: Counter) -> int:
    return 0 if taken else counter(f"## {draft.title}\n") + 2


def by_rank(draft: Draft) -> list[Piece]:
    return sorted(draft.pieces, key=lambda piece: piece.rank)


def cut(piece: Piece, room: int, counter: Counter) -> Piece | None:
    """Head and tail at whole lines, saying what is missing and where it is; nothing if too little would be left."""
    lines = piece.text.splitlines()
    low, high, best = 2, len(lines) - 1, None
    while low <= high:
        keep = (low + high) // 2
        head = keep - keep // 3
        hint = f"[… {len(lines) - keep} of {len(lines)} lines cut{': ' + piece.source if piece.source else ''}]"
        text = "\n".join([*lines[:head], hint, *lines[len(lines) - (keep - head) :]])
        if counter(text) <= room:
            best, low = Piece(text, piece.what, piece.rank, piece.source), keep + 1
        else:
            high = keep - 1
    return best


def shown(draft: Draft, taken: Sequence[Piece], counter: Counter) -> Section:
    """The pieces in the order of the page; a cut one or a stub stands where the whole one would."""
    place = {(piece.what, piece.rank): number for number, piece in enumerate(draft.pieces)}
    order = sorted(taken, key=lambda piece: place.get((piece.what, piece.rank), len(place)))
    text = page(draft, order)
    return Section(draft.name, draft.tier, text, counter(text) + 2)


def page(draft: Draft, pieces: Sequence[Piece]) -> str:
    return f"## {draft.title}\n" + "\n".join(piece.text for piece in pieces)


def left_out(draft: Draft, taken: Sequence[Piece], whole: Piece | None, counter: Counter) -> list[Omission]:
    """One line for all pieces of one name; what was cut down is told apart."""
    gone: dict[str, int] = {}
    for piece in draft.pieces:
        if piece not in taken and piece is not whole:
            gone[piece.what] = gone.get(piece.what, 0) + counter(piece.text)
    cut_down = [Omission(draft.name, whole.what, counter(whole.text), "shown in part")] if whole else []
    return [*(Omission(draft.name, what, tokens, "no room left") for what, tokens in gone.items()), *cut_down]


def fixed_section(name: str, text: str, counter: Counter) -> Section:
    return Section(name, Tier.ALWAYS, text, counter(text) + 2)


def tools_section(tools: Sequence[ToolSchema], counter: Counter) -> Section:
    text = json.dumps(encode(tuple(tools)), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Section("tools", Tier.ALWAYS, text, counter(text) + TOOL_FRAMING * len(tools))


def footer(memory: Memory, used: int, budget: int, reserve: int) -> str:
    state = memory.state
    return (
        f"[Context: {used + reserve:,}/{budget:,} tokens, {reserve:,} of them for your reply | "
        f"{state.archived} archived blocks available | "
        f"step {state.step + 1} of {state.limit}]\nWhat is your next action?"
    )


def checked(window: Window, counter: Counter) -> Window:
    """The ceiling holds for what is really sent, not for the sum of its parts."""
    whole = counter(window.request.system) + counter(window.request.message) + window.sections[1].tokens + FRAMING
    if whole + window.request.reserve > window.budget:
        raise over(window.budget, window.request.reserve, window.sections, window.budget - window.request.reserve - whole)
    return window


def over(budget: int, reserve: int, sections: Sequence[Section], room: int) -> OverCeiling:
    largest = max(sections, key=lambda section: section.tokens)
    return OverCeiling(
        f"the ceiling of {budget:,} tokens ({reserve:,} of them kept for the reply) is {-room:,} too small for what must be in; "
        f"the largest part is '{largest.name}' with {largest.tokens:,} tokens. Nothing was sent. "
        f"Shorten it, or give the task a larger ceiling with --budget"
    )
