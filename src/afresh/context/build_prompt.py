"""Choose what the model sees. Pure: the same memory, template, tools, ceiling and counter give the same bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.context.allocate import SectionAllocation, allocate_tokens
from afresh.context.cache_prefix import find_break_offsets
from afresh.context.compaction.compact_prompt import compact_sections
from afresh.context.compaction.strategies import CompactedDrafts
from afresh.context.render import render_section
from afresh.context.section import Allocation, SectionDraft
from afresh.context.sources.code_analysis import draft_analysis_sections, draft_suggestions
from afresh.context.sources.diff import draft_changes
from afresh.context.sources.excerpts import draft_excerpts
from afresh.context.sources.history import HistoryAllocation
from afresh.context.sources.instructions import draft_instructions
from afresh.context.sources.last_step import draft_last_step, list_hidden_reads
from afresh.context.sources.lessons import draft_lessons
from afresh.context.sources.memory_sections import (
    draft_archive_index,
    draft_decisions,
    draft_earlier_steps,
    draft_failed_approaches,
    draft_notes,
    draft_plan,
    draft_recalled_facts,
    draft_summary,
)
from afresh.context.sources.repo_map import draft_project_profile, draft_repo_map
from afresh.context.sources.stall_warnings import render_stall_warnings
from afresh.context.sources.task_and_messages import draft_task
from afresh.context.sources.test_results import draft_failing_tests
from afresh.context.sources.verification_status import draft_cited_lines, draft_verification, explain_missing_baseline
from afresh.context.token_ceiling import enforce_ceiling, over_ceiling_error
from afresh.context.worth import drop_unworthy_pieces
from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION, Omission, Prompt, Request, Section, Tier, ToolExchange, ToolSchema
from afresh.core.redaction import REDACTED
from afresh.core.template import CallLayout, SectionShare, Template, find_share
from afresh.core.text import format_count
from afresh.core.tokens import TOOL_FRAMING_TOKENS, TokenCounter, render_tool_schemas
from afresh.core.truncate import find_longest_fitting
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.score import weights_from_policy
from afresh.policy.next_call import layout_for_next_call
from afresh.policy.phase_limits import describe_phase_position
from afresh.ports.tool import Tool
from afresh.runtime import CallSettings

SECTION_SEPARATOR = "\n\n"
SENT_APART = ("system", "tools", TURN_SECTION, FOOTER_SECTION)
"""Sections that are not part of the message."""

HIDDEN_SECRET_HINT = f"{REDACTED} hides a secret: keep it in `old` and `new` of an edit, and the secret stays."


def select_offered_tools(layout: CallLayout, tools: Sequence[Tool]) -> tuple[ToolSchema, ...]:
    return tuple(tool.schema for tool in tools if tool.schema.name in layout.tools)


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """All that decides a window."""

    memory: GatheredContext
    template: Template
    tools: tuple[ToolSchema, ...]
    budget: int
    counter: TokenCounter
    spare: int = 0
    """Kept free: by so much an attempt before this one was over, since a whole may count for more than its parts."""
    granted: int | None = None
    """Tokens to think with, of a prompt that extends another: the same as in that. None if it is built anew."""

    @property
    def layout(self) -> CallLayout:
        return self.memory.policy.allocation.cap_layout(layout_for_next_call(self.memory.state, self.template))

    @property
    def thinking(self) -> int:
        return self.template.thinking_at(self.memory.state.phase, self.budget) if self.granted is None else self.granted

    @property
    def reserve(self) -> int:
        return (self.layout.reply or int((self.budget - self.thinking) * self.layout.reserve)) + self.thinking

    @property
    def refused(self) -> str:
        """Tools that are offered in every call, and of no use in this one."""
        closed = self.layout.closed
        names = [tool.name for tool in self.tools if tool.name in closed]
        return f"Refused now: {', '.join(names)}." if names else ""


def make_prompt_inputs(memory: GatheredContext, settings: CallSettings, budget: int) -> PromptInputs:
    tools = select_offered_tools(layout_for_next_call(memory.state, settings.template), settings.tools)
    return PromptInputs(memory, settings.template, tools, budget, settings.counter)


@dataclass(frozen=True, slots=True)
class FilledSections:
    """The sections that may be cut, each with what it shows."""

    plain: Sequence[SectionAllocation]
    history: HistoryAllocation | None

    @property
    def pages(self) -> list[Allocation]:
        return [*self.plain, *([self.history] if self.history else [])]

    def find(self, name: str) -> SectionAllocation | None:
        return next((one for one in self.plain if one.name == name), None)


def build_prompt(
    memory: GatheredContext, template: Template, tools: Sequence[ToolSchema], budget: int, counter: TokenCounter
) -> Prompt:
    return build_from_inputs(PromptInputs(memory, template, tuple(tools), budget, counter))


def build_from_inputs(terms: PromptInputs) -> Prompt:
    """Fixed parts first, then every section its share, then what is left to whoever still has something to say."""
    counter, budget, reserve, order = terms.counter, terms.budget, terms.reserve, terms.memory.policy.order
    fixed = [_build_fixed_section("system", terms.layout.system, counter), build_tools_section(terms.tools, counter)]
    made = [drop_unworthy_pieces(draft, counter, terms.memory.policy) for draft in draft_sections(terms.memory)]
    redacted = any(REDACTED in piece.text for draft in made for piece in draft.pieces)
    foot = counter(render_footer(terms, budget - reserve, redacted)) + 2
    always = [
        _build_fixed_section(draft.name, render_section(draft, draft.pieces), counter)
        for draft in made
        if draft.tier is Tier.ALWAYS
    ]
    left = budget - reserve - counter.framing - foot - sum(section.tokens for section in fixed)
    people = [section for section in always if section.name in PEOPLE_SECTIONS]
    left -= sum(section.tokens for section in people)
    if left < MIN_STATUS_TOKENS:
        raise over_ceiling_error(budget, reserve, [*fixed, *people], left - MIN_STATUS_TOKENS)
    always, cut = shorten_status_sections(always, max(MIN_STATUS_TOKENS, int(MAX_STATUS_SHARE * left)), counter)
    room = left - sum(section.tokens for section in always if section.name not in PEOPLE_SECTIONS)
    shorter, filled = _fill_sections(terms, made, max(0, room - terms.spare), [section.text for section in always])
    omissions = [
        *[Omission(one.name, piece.what, counter(piece.text), one.why_left) for one in made for piece in one.left],
        *cut,
        *shorter.omissions,
        *[gone for one in filled.pages for gone in one.omissions],
    ]
    chosen = [section for one in filled.pages for section in one.sections]
    body = sorted((*always, *chosen), key=lambda section: order.position(section.name))
    unread = sum(one.unread for one in filled.pages)
    footer, request = close_request(terms, body, redacted)
    used = counter.whole(request)
    if chosen and (excess := used + reserve - budget) > 0:
        return build_from_inputs(replace(terms, spare=terms.spare + excess))
    asked = {draft.name for draft in made if draft.tier is Tier.DEMAND}
    unmet = sum(gone.tokens for gone in omissions if gone.section in asked)
    return enforce_ceiling(
        Prompt(request, (*fixed, *body, footer), tuple(omissions), budget, used, unmet, shorter.reports, unread), counter
    )


PEOPLE_SECTIONS = ("instructions", "task")
"""What people wrote is shown whole; if it does not fit, nothing is sent."""
MAX_STATUS_SHARE = 0.6
"""Of what system text, tools and people's words leave, for the other sections that are never left out. With more they are cut,
the longest first: however much a task has changed, tried and decided, the prompt fits."""
MIN_STATUS_TOKENS = 200


def shorten_status_sections(always: Sequence[Section], room: int, counter: TokenCounter) -> tuple[list[Section], list[Omission]]:
    """No status section gets more tokens than the others leave it."""
    status = sorted((one for one in always if one.name not in PEOPLE_SECTIONS), key=lambda one: one.tokens)
    shown, cut = {one.name: one for one in always}, list[Omission]()
    for place, section in enumerate(status):
        most = room // (len(status) - place)
        if section.tokens > most:
            shown[section.name] = _build_fixed_section(section.name, cut_lines(section.text, most - 2, counter), counter)
            gone = section.tokens - shown[section.name].tokens
            cut.append(Omission(section.name, f"end of {section.name}", gone, "shown in part"))
        room -= shown[section.name].tokens
    return list(shown.values()), cut


def cut_lines(text: str, room: int, counter: TokenCounter) -> str:
    """Its first lines as far as they fit, the last of them cut, and how many lines are left out."""
    lines = text.split("\n")

    def render(characters: int) -> str:
        kept = text[:characters].split("\n")
        more = len(lines) - len(kept)
        return "\n".join([*kept[:-1], kept[-1] + "…", *([f"… {format_count(more, 'more line')}"] if more else [])])

    return find_longest_fitting(render, 0, len(text), lambda shorter: counter(shorter) <= room) or lines[0]


def _fill_sections(
    terms: PromptInputs, made: Sequence[SectionDraft], room: int, given: Sequence[str]
) -> tuple[CompactedDrafts, FilledSections]:
    """The sections that may be cut; compacted first, unless that would leave room unused."""
    memory, counter = terms.memory, terms.counter
    asked_for = CompactedDrafts(tuple(draft for draft in made if draft.tier is not Tier.ALWAYS))
    shorter = compact_sections(asked_for.drafts, memory, terms.layout.shares, room, counter)
    filled = _lay_out_sections(shorter.drafts, terms, room, given)
    if shorter.reports and sum(one.spent for one in filled.pages) < room * memory.policy.allocation.min_filled_share:
        return asked_for, _lay_out_sections(asked_for.drafts, terms, room, given)
    return shorter, filled


def compose_request(terms: PromptInputs, sections: Sequence[Section], turns: tuple[ToolExchange, ...] = ()) -> Request:
    """What is sent of the sections: those of the base as one message, the turns as they are, the footer last."""
    body = [section for section in sections if section.name not in SENT_APART]
    footer = next(section.text for section in sections if section.name == FOOTER_SECTION)
    message, order = join_sections(body), terms.memory.policy.order
    breaks = (*find_break_offsets(body, SECTION_SEPARATOR, order), len(message))
    return Request(terms.layout.system, message, terms.tools, terms.reserve, breaks, terms.thinking, turns, footer)


def close_request(
    terms: PromptInputs, sections: Sequence[Section], redacted: bool, turns: tuple[ToolExchange, ...] = (), look: str = ""
) -> tuple[Section, Request]:
    """The footer, which says how many tokens all that is sent takes, itself included, and the request with it."""

    def close(used: int) -> tuple[Section, Request]:
        text = "\n\n".join(part for part in (look, render_footer(terms, used, redacted)) if part)
        footer = _build_fixed_section(FOOTER_SECTION, text, terms.counter)
        return footer, compose_request(terms, [*sections, footer], turns)

    return close(terms.counter.whole(close(terms.budget - terms.reserve)[1]))


def join_sections(sections: Sequence[Section]) -> str:
    return SECTION_SEPARATOR.join(section.text for section in sections)


def _lay_out_sections(drafts: Sequence[SectionDraft], terms: PromptInputs, room: int, given: Sequence[str]) -> FilledSections:
    shares, still = terms.layout.shares, _compute_stable_room(terms)
    plain = [_open_section(draft, shares, terms, room, still) for draft in drafts]
    filled = FilledSections(plain, _open_history_section(terms, shares, room))
    raised = max(0, terms.budget - terms.memory.state.task.budget)
    allocate_tokens(filled.pages, shares, room, raised, given, terms.memory.policy.allocation)
    if filled.history and (earlier := filled.find("earlier")):
        earlier.elsewhere = filled.history.merge_outcomes(earlier.shown)
    if last := filled.find("last"):
        last.add_remarks(list_hidden_reads(terms.memory, [piece for one in plain for piece in one.shown]))
    return filled


def _compute_stable_room(terms: PromptInputs) -> int:
    """What the ordered ceiling leaves beside system text, tools and reply: the same while others grow and the ceiling changes."""
    ordered = terms.memory.state.task.budget - terms.thinking
    fixed = terms.counter(terms.layout.system) + build_tools_section(terms.tools, terms.counter).tokens
    return max(0, ordered - int(ordered * terms.layout.reserve) - fixed)


def _build_fixed_section(name: str, text: str, counter: TokenCounter) -> Section:
    return Section(name, Tier.ALWAYS, text, counter(text) + 2)


def build_tools_section(tools: Sequence[ToolSchema], counter: TokenCounter) -> Section:
    text = render_tool_schemas(tools)
    return Section("tools", Tier.ALWAYS, text, counter(text) + TOOL_FRAMING_TOKENS * len(tools))


def render_footer(terms: PromptInputs, used: int, redacted: bool = False) -> str:
    """What is for this call only: nearest to the question, and behind all that a provider's cache can hold. `redacted`: the
    prompt may show the mark for a secret."""
    state, layout = terms.memory.state, terms.layout
    of = f" of {state.work.limit}" if state.work.limit else ""
    phase = describe_phase_position(state, layout)
    archived = f"{format_count(state.memory.archived, 'archived output')}: `read` @index | " if state.memory.archived else ""
    kept = f", your reply at most {terms.reserve:,}" if terms.reserve else ""
    context = f"[Context: {used:,} tokens{kept} | {archived}step {state.work.step + 1}{of}{' | ' + phase if phase else ''}]"
    lines = (
        layout.guidance,
        context,
        _explain_age(terms),
        explain_missing_baseline(state),
        HIDDEN_SECRET_HINT if redacted else "",
        layout.cue,
        terms.refused,
        *render_stall_warnings(state, terms.memory.policy.reports),
        "What is your next action?",
    )
    return "\n".join(line for line in lines if line)


def _explain_age(terms: PromptInputs) -> str:
    """Of an extended prompt, how old its beginning is."""
    step = terms.memory.state.tokens.prompt.base
    said = f"The sections at the top are as of step {step}; after them come your replies since then, with results."
    return said if terms.granted is not None else ""


def draft_sections(memory: GatheredContext) -> tuple[SectionDraft, ...]:
    """Every section that has something to say."""
    tried = draft_failed_approaches(memory)
    made = [
        draft_instructions(memory),
        draft_project_profile(memory),
        draft_task(memory),
        draft_lessons(memory),
        draft_repo_map(memory),
        draft_summary(memory),
        draft_archive_index(memory),
        draft_notes(memory),
        draft_recalled_facts(memory),
        draft_decisions(memory),
        tried,
        draft_excerpts(memory),
        draft_cited_lines(memory),
        draft_changes(memory),
        draft_suggestions(memory),
        draft_verification(memory),
        draft_failing_tests(memory),
        draft_plan(memory),
        draft_earlier_steps(memory, tried),
        draft_last_step(memory),
    ]
    return tuple(draft for draft in (*made, *draft_analysis_sections(memory)) if draft.pieces)


def _open_section(
    draft: SectionDraft, shares: Sequence[SectionShare], terms: PromptInputs, room: int, still: int
) -> SectionAllocation:
    """A section that the template does not name has no share of its own and takes what the others leave. One that stands before
    the first break has its share of `still`, room that is the same in every call, and no more: if it grew and shrank with the
    others, no call would begin as the one before it."""
    policy = terms.memory.policy
    share = find_share(shares, draft.name) or SectionShare(draft.name, 0.0, tier=draft.tier)
    steady = policy.order.position(draft.name) <= policy.order.break_positions[0]
    most = int(share.part * still) if steady else int(share.cap * room)
    return SectionAllocation(terms.counter, share, 0 if share.tier is Tier.NEVER else most, draft, policy, steady)


def _open_history_section(terms: PromptInputs, shares: Sequence[SectionShare], room: int) -> HistoryAllocation | None:
    """The section of earlier steps, where the template has a place for it."""
    memory, share = terms.memory, find_share(shares, "work")
    if not share or not memory.trace.entries:
        return None
    limit = 0 if share.tier is Tier.NEVER else int(share.cap * room)
    return HistoryAllocation(terms.counter, share, limit, memory, weights_from_policy(terms.template.weights))
