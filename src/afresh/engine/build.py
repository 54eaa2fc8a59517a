"""Choose what the model sees. Pure: the same memory, template, tools, ceiling and counter give the same bytes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from afresh.domain.action import Reply
from afresh.domain.memory import Memory
from afresh.domain.prefix import breaks, moves
from afresh.domain.template import SECTIONS, Layout, Template
from afresh.domain.window import Omission, Request, Section, Tier, ToolSchema, Window
from afresh.engine import history
from afresh.engine.allot import Page, allot, opened, opened_work
from afresh.engine.compaction.ladder import compact
from afresh.engine.compaction.types import Shorter
from afresh.engine.draft import Draft
from afresh.engine.last import results
from afresh.engine.page import page
from afresh.engine.phase import where
from afresh.engine.sections import drafts
from afresh.engine.stall.told import told
from afresh.engine.strategy import directed
from afresh.engine.tokens import TOOL_FRAMING, Gauge, tools_text
from afresh.engine.turn import answered, exchange, section, weight
from afresh.engine.work import WorkPage
from afresh.errors import OverCeiling
from afresh.ports import Tool

FIXED = ("system", "tools", "footer")
BETWEEN = "\n\n"
ELSEWHERE = "concerns something else than what the work is about now; one recall away"
WELL_FILLED = 0.95
"""Of the room. Compaction that leaves more of it unused is taken back: nothing is cut while there is room."""


def offered(layout: Layout, tools: Sequence[Tool]) -> tuple[ToolSchema, ...]:
    return tuple(tool.schema for tool in tools if tool.schema.name in layout.tools)


@dataclass(frozen=True, slots=True)
class Terms:
    """All that decides a window."""

    memory: Memory
    template: Template
    tools: tuple[ToolSchema, ...]
    budget: int
    counter: Gauge
    reply: Reply | None = None
    """The last one, where it goes back as the model's own."""
    spare: int = 0
    """Kept free: by so much an attempt before this one was over, since a whole may count for more than its parts."""

    @property
    def layout(self) -> Layout:
        return directed(self.memory.state, self.template)

    @property
    def thinking(self) -> int:
        return self.template.thinking_at(self.memory.state.phase, self.budget)

    @property
    def reserve(self) -> int:
        return int((self.budget - self.thinking) * self.layout.reserve) + self.thinking

    @property
    def refused(self) -> str:
        """Tools that are offered in every call, and of no use in this one."""
        names = [tool.name for tool in self.tools if tool.name in self.layout.closed]
        return f"Refused now: {', '.join(names)}." if names else ""


def build(memory: Memory, template: Template, tools: Sequence[ToolSchema], budget: int, counter: Gauge) -> Window:
    """With the last step as the model's own calls if it goes back so, and nothing that was just looked at gives way for it;
    otherwise with a section that tells of it."""
    terms, native = Terms(memory, template, tuple(tools), budget, counter), None
    if reply := answered(memory, template, tools, budget, counter):
        with suppress(OverCeiling):
            native = built(replace(terms, reply=reply))
    if native and not native.unread:
        return native
    told = built(terms)
    return native if native and native.unread <= told.unread else told


def built(terms: Terms) -> Window:
    """Fixed parts first, then every section its share, then what is left to whoever still has something to say."""
    counter, budget, reserve = terms.counter, terms.budget, terms.reserve
    foot = counter(footer(terms, budget - reserve)) + 2
    fixed = [fixed_section("system", terms.layout.system, counter), tools_section(terms.tools, counter)]
    made = drafted(terms)
    always = [fixed_section(draft.name, page(draft, draft.pieces), counter) for draft in made if draft.tier is Tier.ALWAYS]
    spoken = weight(terms.reply, counter) if terms.reply else 0
    room = budget - reserve - counter.framing - foot - spoken - sum(section.tokens for section in (*fixed, *always))
    if room < 0:
        raise over(budget, reserve, [*fixed, *always], room)
    shorter, pages = filled(terms, made, max(0, room - terms.spare), [section.text for section in always])
    omissions = [*unnamed(made, counter), *shorter.omissions, *[gone for one in pages for gone in one.omissions]]
    chosen = [section for one in pages for section in one.sections]
    body = sorted((*always, *chosen), key=lambda section: SECTIONS.index(section.name))
    used = sum(section.tokens for section in (*fixed, *body)) + counter.framing + foot + spoken
    body.append(Section("footer", Tier.ALWAYS, footer(terms, used), foot))
    last = next((one for one in pages if isinstance(one, Page) and one.draft.name == "last"), None)
    request, body = worded(terms, body, last)
    if chosen and (excess := counter.whole(request) + reserve - budget) > 0:
        return built(replace(terms, spare=terms.spare + excess))
    asked = {draft.name for draft in made if draft.tier is Tier.DEMAND}
    unmet = sum(gone.tokens for gone in omissions if gone.section in asked)
    unread = sum(one.unread for one in pages if isinstance(one, Page))
    return checked(Window(request, (*fixed, *body), tuple(omissions), budget, used, unmet, shorter.reports, unread), counter)


def drafted(terms: Terms) -> list[Draft]:
    made = [draft for draft in drafts(terms.memory) if not terms.reply or draft.name != "last"]
    return [*made, results(terms.memory)] if terms.reply else made


def filled(terms: Terms, made: Sequence[Draft], room: int, given: Sequence[str]) -> tuple[Shorter, list[Page | WorkPage]]:
    """The sections that may be cut; compacted first, unless that would leave room unused."""
    memory, counter = terms.memory, terms.counter
    asked_for = Shorter(tuple(draft for draft in made if draft.tier is not Tier.ALWAYS))
    shorter = compact(asked_for.drafts, memory, terms.layout.shares, room, counter)
    pages = laid_out(shorter.drafts, terms, room, given)
    if shorter.reports and sum(one.spent for one in pages) < room * WELL_FILLED:
        return asked_for, laid_out(asked_for.drafts, terms, room, given)
    return shorter, pages


def worded(terms: Terms, body: list[Section], last: Page | None) -> tuple[Request, list[Section]]:
    """The request, and the sections in the order in which it says them. A reply that goes back stands after the stable ones."""
    bare = Request(terms.layout.system, "", terms.tools, terms.reserve, thinking=terms.thinking)
    if not terms.reply:
        return replace(bare, message=joined(body), breaks=breaks(body, BETWEEN)), body
    before = [section for section in body if not moves(section.name)]
    after = [section for section in body if moves(section.name) and section.name != "last"]
    turn = exchange(terms.reply, last, terms.memory, before, after)
    told = section(turn, last.share.tier if last else Tier.DEMAND, terms.counter)
    message = joined(before)
    request = replace(bare, message=message, breaks=(*breaks(before, BETWEEN), len(message)), turns=(turn,))
    return request, [*before, told, *after]


def joined(sections: Sequence[Section]) -> str:
    return BETWEEN.join(section.text for section in sections)


def unnamed(made: Sequence[Draft], counter: Gauge) -> list[Omission]:
    """What a section that can't be cut only counts, since the work is about something else now."""
    return [Omission(draft.name, piece.what, counter(piece.text), ELSEWHERE) for draft in made for piece in draft.left]


def laid_out(drafts: Sequence[Draft], terms: Terms, room: int, given: Sequence[str]) -> list[Page | WorkPage]:
    """Every section that may be cut, filled."""
    shares, counter, still = terms.layout.shares, terms.counter, still_room(terms)
    pages = [opened(draft, shares, room, still, counter) for draft in drafts]
    filled = [*pages, *opened_work(terms.memory, terms.template, shares, room, counter)]
    allot(filled, shares, room, given)
    history.joined(filled)
    return filled


def still_room(terms: Terms) -> int:
    """What the ordered ceiling leaves beside system text, tools and reply: the same while others grow and the ceiling changes."""
    ordered = terms.memory.state.task.budget - terms.thinking
    fixed = terms.counter(terms.layout.system) + tools_section(terms.tools, terms.counter).tokens
    return max(0, ordered - int(ordered * terms.layout.reserve) - fixed)


def fixed_section(name: str, text: str, counter: Gauge) -> Section:
    return Section(name, Tier.ALWAYS, text, counter(text) + 2)


def tools_section(tools: Sequence[ToolSchema], counter: Gauge) -> Section:
    text = tools_text(tools)
    return Section("tools", Tier.ALWAYS, text, counter(text) + TOOL_FRAMING * len(tools))


def footer(terms: Terms, used: int) -> str:
    """What is for this call only: nearest to the question, and behind all that a provider's cache can hold."""
    state, layout, budget, reserve = terms.memory.state, terms.layout, terms.budget, terms.reserve
    kept = f", {reserve:,} of them for your reply" if reserve else ""
    of = f" of {state.limit}" if state.limit else ""
    phase = where(state, layout)
    context = (
        f"[Context: {used + reserve:,}/{budget:,} tokens{kept} | "
        f"{state.archived} archived blocks available | "
        f"step {state.step + 1}{of}{' | ' + phase if phase else ''}]"
    )
    lines = (layout.guidance, context, layout.cue, terms.refused, *told(state), "What is your next action?")
    return "\n".join(line for line in lines if line)


def checked(window: Window, counter: Gauge) -> Window:
    """The ceiling holds for what is really sent, not for the sum of its parts."""
    whole = counter.whole(window.request)
    if whole + window.request.reserve > window.budget:
        raise over(window.budget, window.request.reserve, window.sections, window.budget - window.request.reserve - whole)
    return replace(window, tokens=whole)


def over(budget: int, reserve: int, sections: Sequence[Section], room: int) -> OverCeiling:
    """Names the largest part that the task has brought, as long as without it there would be room: system text and tools are
    nobody's to shorten."""
    never_cut = sorted((part for part in sections if part.tier is Tier.ALWAYS), key=lambda part: part.tokens, reverse=True)
    named = next((part for part in never_cut if part.name not in FIXED and part.tokens + room > 0), never_cut[0])
    evidence = f"section '{named.name}' needs {named.tokens:,} tokens, {max(0, named.tokens + room):,} are left"
    return OverCeiling(
        f"{evidence} under the ceiling of {budget:,} ({reserve:,} of them are kept for the reply), and it is never cut. "
        f"Nothing was sent. Add the task again with {'fewer words or ' if named.name == 'task' else ''}a larger --max-budget",
        evidence,
    )
