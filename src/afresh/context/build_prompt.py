"""Choose what the model sees. Pure: the same memory, template, tools, ceiling and counter give the same bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.context.allocate import PARTLY_REASON, Page, allocate_tokens, list_compactions, share_out
from afresh.context.cache_prefix import find_break_offsets, find_section_position
from afresh.context.limit import AS_ORDERED, CRITICAL_SHARE, MIN_FREE_SHARE, Limit, fix_limit
from afresh.context.render import render_section
from afresh.context.section import SectionDraft
from afresh.context.sources.code_analysis import draft_analysis_sections, draft_suggestions
from afresh.context.sources.diff import draft_changes
from afresh.context.sources.excerpts import draft_excerpts
from afresh.context.sources.history import MAX_LIVE_TOKENS, WORK_SECTION, History, choose_history, is_live
from afresh.context.sources.instructions import draft_instructions
from afresh.context.sources.last_step import draft_last_step, list_hidden_reads
from afresh.context.sources.lessons import draft_lessons
from afresh.context.sources.memory_sections import (
    draft_archive_index,
    draft_decisions,
    draft_failed_approaches,
    draft_notes,
    draft_plan,
    draft_recalled_facts,
    draft_summary,
    list_step_outcomes,
)
from afresh.context.sources.repo_map import draft_project_profile, draft_repo_map
from afresh.context.sources.stall_warnings import render_stall_warnings
from afresh.context.sources.task_and_messages import draft_task
from afresh.context.sources.test_results import draft_failing_tests
from afresh.context.sources.verification_status import draft_cited_lines, draft_verification, explain_missing_baseline
from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION, Omission, Prompt, Request, Section, Tier, ToolExchange, ToolSchema
from afresh.core.redaction import REDACTED
from afresh.core.template import CallLayout, SectionShare, Template, find_share
from afresh.core.text import format_count
from afresh.core.tokens import TOOL_FRAMING_TOKENS, TokenCounter, render_tool_schemas
from afresh.core.truncate import find_longest_fitting
from afresh.errors import OverCeiling
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
    limit: Limit
    counter: TokenCounter
    spare: int = 0
    """Kept free: by so much an attempt before this one was over, since a whole may count for more than its parts."""
    granted: int | None = None
    """Tokens to think with, of a prompt that extends another: the same as in that. None if it is built anew."""

    @property
    def layout(self) -> CallLayout:
        return self.memory.policy.cap_layout(layout_for_next_call(self.memory.state, self.template))

    @property
    def thinking(self) -> int:
        phase = self.memory.state.phase
        return self.template.thinking_at(phase, self.limit.ordered) if self.granted is None else self.granted

    @property
    def reserve(self) -> int:
        return self.limit.reply + self.thinking

    @property
    def refused(self) -> str:
        """Tools that are offered in every call, and of no use in this one."""
        closed = self.layout.closed
        names = [tool.name for tool in self.tools if tool.name in closed]
        return f"Refused now: {', '.join(names)}." if names else ""


def make_prompt_inputs(memory: GatheredContext, settings: CallSettings, limit: Limit) -> PromptInputs:
    tools = select_offered_tools(layout_for_next_call(memory.state, settings.template), settings.tools)
    return PromptInputs(memory, settings.template, tools, limit, settings.counter)


@dataclass(frozen=True, slots=True)
class FilledSections:
    """The sections that may be cut, with what they show, and what they don't."""

    pages: Sequence[Page]
    left: tuple[Omission, ...]


def build_prompt(
    memory: GatheredContext,
    template: Template,
    tools: Sequence[ToolSchema],
    budget: int,
    counter: TokenCounter,
    reply: int | None = None,
) -> Prompt:
    """Under a limit that is not raised."""
    if reply is None:
        thinking = template.thinking_at(memory.state.phase, budget)
        reply = int((budget - thinking) * layout_for_next_call(memory.state, template).reserve)
    return build_from_inputs(PromptInputs(memory, template, tuple(tools), fix_limit(budget, reply), counter))


def build_from_inputs(terms: PromptInputs) -> Prompt:
    """Fixed sections first, then each section up to its share, then what is left to those with more to show; beyond what a prompt
    usually takes only what the last step asked for."""
    counter, limit, reserve = terms.counter, terms.limit, terms.reserve
    fixed = [_build_fixed_section("system", terms.layout.system, counter), build_tools_section(terms.tools, counter)]
    made = draft_sections(terms.memory)
    redacted = any(REDACTED in piece.text for draft in made for piece in draft.pieces)
    frame = counter(render_footer(terms, limit.usual - reserve, redacted)) + 2 + counter.framing
    always = [
        _build_fixed_section(draft.name, render_section(draft, draft.pieces), counter)
        for draft in made
        if draft.tier is Tier.ALWAYS
    ]
    people = [section for section in always if section.name in PEOPLE_SECTIONS]
    never = frame + sum(section.tokens for section in (*fixed, *people))
    if (short := reserve + never + MIN_STATUS_TOKENS - limit.highest) > 0:
        raise over_limit_error(limit.highest, reserve, [*fixed, *people], -short)
    status = sum(section.tokens for section in always) - sum(section.tokens for section in people)
    usual, reason = _find_usual_limit(limit, reserve + never, status)
    always, cut = shorten_status_sections(always, _share_for_status(usual - reserve - never), counter)
    never = frame + sum(section.tokens for section in (*fixed, *always))
    room, asked = usual - reserve - never - terms.spare, max(usual, limit.asked) - reserve - never - terms.spare
    filled = _fill_sections(terms, made, max(0, room), max(0, asked), [section.text for section in always])
    omissions = [
        *[Omission(one.name, piece.what, counter(piece.text), one.why_left) for one in made for piece in one.left],
        *cut,
        *filled.left,
    ]
    chosen = [section for one in filled.pages for section in one.sections]
    body = sorted((*always, *chosen), key=lambda section: find_section_position(section.name))
    footer, request = close_request(terms, body, redacted)
    used = counter.whole(request)
    extra = sum(one.spent for one in filled.pages) - room
    if chosen and (excess := used + reserve - (max(usual, limit.asked) if extra > 0 else usual)) > 0:
        return build_from_inputs(replace(terms, spare=terms.spare + excess))
    lately = f"{extra:,} tokens more for what was read or edited lately" if extra > 0 else ""
    reason = "; ".join(part for part in (reason, lately) if part)
    wanted = {draft.name for draft in made if draft.tier is Tier.DEMAND}
    unmet = sum(gone.tokens for gone in omissions if gone.section in wanted)
    prompt = Prompt(request, (*fixed, *body, footer), tuple(omissions), 0, used, unmet, list_compactions(filled.pages), reason)
    return settle_limit(prompt, limit, counter)


def _find_usual_limit(limit: Limit, taken: int, status: int) -> tuple[int, str]:
    """Up to where the prompt is filled, and why: more if what is never left out, with the status sections shortened to their
    share, leaves hardly anything."""
    never = taken + min(status, _share_for_status(limit.usual - taken))
    if never < CRITICAL_SHARE * limit.usual:
        return limit.usual, limit.reason
    needs = f"what is never left out takes {never:,} of {limit.usual:,} tokens"
    usual = min(limit.highest, int(never / (1 - MIN_FREE_SHARE)))
    return usual, "; ".join(part for part in (limit.reason, needs) if part)


HARNESS_SECTIONS = ("system", "tools", FOOTER_SECTION)


def settle_limit(prompt: Prompt, limit: Limit, counter: TokenCounter) -> Prompt:
    """The prompt on the lowest rung that holds it with its reply, by what is really sent, not by the sum of its parts.
    OverCeiling above the highest."""
    used, reserve = counter.whole(prompt.request), prompt.request.reserve
    if used + reserve > limit.highest:
        raise over_limit_error(limit.highest, reserve, prompt.sections, limit.highest - reserve - used)
    rung = limit.find_rung(used + reserve)
    return replace(
        prompt, tokens=used, budget=rung, reason=prompt.reason if rung > limit.ordered and prompt.reason else AS_ORDERED
    )


def over_limit_error(limit: int, reserve: int, sections: Sequence[Section], room: int) -> OverCeiling:
    """Names the largest part that the task has brought, as long as without it there would be room: system text and tools are
    nobody's to shorten."""
    never_cut = sorted((part for part in sections if part.tier is Tier.ALWAYS), key=lambda part: part.tokens, reverse=True)
    named = next((part for part in never_cut if part.name not in HARNESS_SECTIONS and part.tokens + room > 0), never_cut[0])
    evidence = f"section '{named.name}' needs {named.tokens:,} tokens, {max(0, named.tokens + room):,} are left"
    needed = int((limit - room) / (1 - MIN_FREE_SHARE))
    return OverCeiling(
        f"{evidence} under the limit of {limit:,} tokens a call ({reserve:,} of them for the reply), and it is never cut. "
        "Nothing was sent.",
        evidence,
        missing=needed - limit,
        needed=needed,
    )


PEOPLE_SECTIONS = ("instructions", "task")
"""What people wrote is shown whole; if it does not fit, nothing is sent."""
MAX_STATUS_SHARE = 0.6
"""Of what system text, tools and people's words leave, for the other sections that are never left out. With more they are cut,
the longest first: however much a task has changed, tried and decided, the prompt fits."""
MIN_STATUS_TOKENS = 200


def _share_for_status(room: int) -> int:
    return max(MIN_STATUS_TOKENS, int(MAX_STATUS_SHARE * room))


def shorten_status_sections(always: Sequence[Section], room: int, counter: TokenCounter) -> tuple[list[Section], list[Omission]]:
    """No status section gets more tokens than the others leave it."""
    status = [one for one in always if one.name not in PEOPLE_SECTIONS]
    shown, cut = {one.name: one for one in always}, list[Omission]()
    for section, most in zip(
        status, share_out([one.tokens for one in status], room, room // (2 * len(status) or 1)), strict=True
    ):
        if section.tokens > most:
            shown[section.name] = _build_fixed_section(section.name, cut_lines(section.text, most - 2, counter), counter)
            gone = section.tokens - shown[section.name].tokens
            cut.append(Omission(section.name, f"end of {section.name}", gone, PARTLY_REASON))
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
    terms: PromptInputs, made: Sequence[SectionDraft], room: int, asked: int, given: Sequence[str]
) -> FilledSections:
    """The sections that may be cut, in their order of claim: `room` tokens for all, `asked` with what the last step asked for.
    The history comes last: it shows only what they don't."""
    memory, shares, counter = terms.memory, terms.layout.shares, terms.counter
    claims = {share.section: place for place, share in enumerate(shares)}
    drafts = [draft for draft in made if draft.tier is not Tier.ALWAYS]
    pages = [_open_page(draft, shares, room, counter) for draft in drafts]
    pages.sort(key=lambda page: claims.get(page.name, len(claims)))
    share = find_share(shares, WORK_SECTION)
    most = int(share.cap * room) if share and share.tier is not Tier.NEVER else 0
    most = min(most, MAX_LIVE_TOKENS) if is_live(memory) else most
    outcomes = list_step_outcomes(memory, next((draft for draft in made if draft.name == "failed"), None))
    held = min(most, int(share.part * room)) if share and (outcomes or memory.trace.entries) else 0
    free = allocate_tokens(pages, room, asked, held)
    if last := next((page for page in pages if page.name == "last"), None):
        last.add_remarks(list_hidden_reads(memory, [piece for page in pages for piece in page.pieces]))
    left = [gone for page in pages for gone in page.omissions]
    if share and most:
        weights = weights_from_policy(terms.template.weights)
        history: History = choose_history(memory, outcomes, weights, min(most, free), counter, pages, given)
        page = Page(history.draft, share, min(most, free), counter)
        page.take(page.limit, parts=False)
        page.settle(page.limit)
        pages.append(page)
        left += history.list_omissions(page)
    return FilledSections(pages, tuple(left))


def compose_request(terms: PromptInputs, sections: Sequence[Section], turns: tuple[ToolExchange, ...] = ()) -> Request:
    """What is sent of the sections: those of the base as one message, the turns as they are, the footer last."""
    body = [section for section in sections if section.name not in SENT_APART]
    footer = next(section.text for section in sections if section.name == FOOTER_SECTION)
    message = join_sections(body)
    breaks = (*find_break_offsets(body, SECTION_SEPARATOR), len(message))
    return Request(terms.layout.system, message, terms.tools, terms.reserve, breaks, terms.thinking, turns, footer)


def close_request(
    terms: PromptInputs, sections: Sequence[Section], redacted: bool, turns: tuple[ToolExchange, ...] = (), look: str = ""
) -> tuple[Section, Request]:
    """The footer, which says how many tokens all that is sent takes, itself included, and the request with it."""

    def close(used: int) -> tuple[Section, Request]:
        text = "\n\n".join(part for part in (look, render_footer(terms, used, redacted)) if part)
        footer = _build_fixed_section(FOOTER_SECTION, text, terms.counter)
        return footer, compose_request(terms, [*sections, footer], turns)

    return close(terms.counter.whole(close(terms.limit.usual - terms.reserve)[1]))


def join_sections(sections: Sequence[Section]) -> str:
    return SECTION_SEPARATOR.join(section.text for section in sections)


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
        *render_stall_warnings(state),
    )
    return "\n".join(line for line in lines if line)


def _explain_age(terms: PromptInputs) -> str:
    """Of an extended prompt, how old its beginning is."""
    step = terms.memory.state.tokens.prompt.base
    said = f"The sections at the top are as of step {step}; after them come your replies since then, with results."
    return said if terms.granted is not None else ""


def draft_sections(memory: GatheredContext) -> tuple[SectionDraft, ...]:
    """Every section that has something to say."""
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
        draft_failed_approaches(memory),
        draft_excerpts(memory),
        draft_cited_lines(memory),
        draft_changes(memory),
        draft_suggestions(memory),
        draft_verification(memory),
        draft_failing_tests(memory),
        draft_plan(memory),
        draft_last_step(memory),
    ]
    return tuple(draft for draft in (*made, *draft_analysis_sections(memory)) if draft.pieces)


def _open_page(draft: SectionDraft, shares: Sequence[SectionShare], room: int, counter: TokenCounter) -> Page:
    """A section that the template does not name has no share of its own and takes what the others leave."""
    share = find_share(shares, draft.name) or SectionShare(draft.name, 0.0, tier=draft.tier)
    return Page(draft, share, 0 if share.tier is Tier.NEVER else int(share.cap * room), counter)
