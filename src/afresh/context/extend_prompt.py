"""A prompt that is the last one with the last step appended as a turn. All that comes before the turn is the same to the byte, so
a provider's cache can serve it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256

from afresh.context.build_prompt import PromptInputs, close_request, settle_limit
from afresh.context.extend_or_rebuild import ExtensionCosts
from afresh.context.sources.diff import render_last_look
from afresh.context.sources.last_step import TURN_UNDONE_TEXT, list_edited_paths, render_results, shorten_actions
from afresh.context.sources.verification_status import name_long_commands, render_baseline, render_verdict
from afresh.core.archived_block import Block, block_from_text
from afresh.core.codec import to_canonical_json
from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION, Prompt, Request, Section, SectionRef, Tier, ToolExchange, render_turn
from afresh.core.redaction import REDACTED
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.prompt_state import PromptState
from afresh.core.tokens import TokenCounter
from afresh.memory.gathered_context import GatheredContext
from afresh.runtime import CallSettings

FIXED_SECTIONS = ("system", "tools")
MIN_STEPS_LEFT = 3
"""A task is expected to take as many steps more as it has taken, and no fewer than this."""


def find_obstacle(state: State, settings: CallSettings) -> str:
    """Why the last prompt can't be extended, as far as the state says; empty if it can."""
    kept, policy = state.tokens.prompt, settings.policy
    if not kept.sections:
        return "the first call"
    if kept.outdated:
        return kept.outdated
    if not policy.max_growth or settings.cache.read >= settings.cache.write:
        return "the model has no cheaper cache"
    returned, recent = state.work.returned_reply, state.memory.recent
    if kept.step != state.work.step or not recent or not returned or returned.step != kept.step:
        return "the last reply is too long to be repeated, or was not acted on"
    if len(returned.reply.actions) != len(recent[-1].observations):
        return "an action of the last reply was not carried out"
    signed = all(one.signature or one.redacted for one in returned.reply.thinking)
    return "" if not kept.thinking or (returned.reply.thinking and signed) else "the last reply came without signed thinking"


def estimate_costs(prompt: Prompt, state: State, bound: int, expired: bool) -> ExtensionCosts:
    """A new prompt is expected to be as long as the last one, and to show what the last step has brought."""
    kept, turn = state.tokens.prompt, prompt.sections[-2].tokens
    room = bound - prompt.request.reserve - prompt.tokens
    fixed = sum(section.tokens for section in prompt.sections if section.name in FIXED_SECTIONS)
    return ExtensionCosts(
        base=kept.base_tokens + turn, fixed=fixed, prefix=kept.tokens, turn=turn, room=room,
        steps_left=min(state.work.limit or state.work.step, max(MIN_STEPS_LEFT, state.work.step)), expired=expired,
    )  # fmt: skip


def name_prompt_terms(inputs: PromptInputs, model: str) -> str:
    """Stands for all that a prompt must share with the one that it extends, besides the text that is kept of it."""
    memory, thinking = inputs.memory, inputs.template.at(inputs.memory.state.phase).thinking
    said = (inputs.layout.system, inputs.tools, thinking, memory.policy.id, memory.corrections, model)
    return sha256("\n".join(map(to_canonical_json, said)).encode()).hexdigest()[:16]


def extend_prompt(inputs: PromptInputs, read: Callable[[str], str]) -> Prompt:
    """OverCeiling if it has no room. What the last step has brought is in the inputs; the rest is read as it was recorded."""
    counter, kept = inputs.counter, inputs.memory.state.tokens.prompt
    inputs = replace(inputs, granted=kept.thinking)
    sections = [Section(ref.name, ref.tier, ref.text(read), ref.tokens) for ref in kept.sections]
    turn = build_turn(inputs.memory, counter, [section.text for section in sections])
    sections.append(Section(TURN_SECTION, Tier.DEMAND, render_turn(turn), count_turn_tokens(turn, counter)))
    redacted = any(REDACTED in section.text for section in sections)
    turns = (*[ref.turn(read) for ref in kept.sections if ref.name == TURN_SECTION], turn)
    footer, request = close_request(inputs, sections, redacted, turns)
    if look := render_last_look(inputs.memory, inputs.limit.highest - inputs.reserve - counter.whole(request), counter):
        footer, request = close_request(inputs, sections, redacted, turns, look)
    sections.append(footer)
    return settle_limit(Prompt(request, tuple(sections), (), 0, 0, reason=inputs.limit.reason), inputs.limit, counter)


def build_turn(memory: GatheredContext, counter: TokenCounter, above: Sequence[str] = ()) -> ToolExchange:
    """The last step as the model's own reply, with a result for each action; then how the checks went, if they ran. `above`: what
    the prompt says before it."""
    state = memory.state
    step = state.memory.recent[-1]
    results = render_results(memory, counter)
    returned = state.work.returned_reply
    reply = replace(returned.reply, thought=step.thought) if returned else Reply(step.thought)
    reply = reply if state.tokens.prompt.thinking else replace(reply, thinking=())
    reply = replace(reply, actions=shorten_actions(reply.actions, step))
    return ToolExchange(reply, results, "\n\n".join(_list_turn_notes(memory, above)))


def _list_turn_notes(memory: GatheredContext, above: Sequence[str]) -> Sequence[str]:
    """What the harness made of the step."""
    state = memory.state
    verdict = state.verification.verdict if state.verification.verdict_step == state.work.step else None
    unseen = state.tokens.prompt.unseen
    ranges = [f"{one.path} {one.new_start}-{one.new_start + max(1, one.new_count) - 1}" for one in unseen]
    changed = [f"Changed by commands: lines {', '.join(ranges)}."] if ranges else []
    touched = dict.fromkeys((*list_edited_paths(state.memory.recent[-1]), *[one.path for one in unseen]))
    stale = [path for path in touched if any(_shows_lines(text, path) for text in above)]
    older = [f"Earlier messages show {', '.join(stale)} as before this reply's changes."] if stale else []
    undone = [] if state.memory.recent[-1].kept else [TURN_UNDONE_TEXT]
    said = ["\n".join([*undone, *render_verdict(state, verdict)])] if verdict else undone
    measured = state.verification.baseline_step == state.work.step
    before = [name_long_commands(line, state.task) for line in render_baseline(state) if measured]
    return [*changed, *older, *before, *said]


def _shows_lines(text: str, path: str) -> bool:
    """Whether it shows lines of the file: under a heading of its own, as a definition, or as what was read."""
    heads = [line.removeprefix(path) for line in text.splitlines() if line.startswith(path)]
    return any(not head or head.startswith(": lines ") or (head[:1] == ":" and "-" in head.partition(" ")[0]) for head in heads)


def count_turn_tokens(turn: ToolExchange, counter: TokenCounter) -> int:
    return counter.whole(Request("", "", (), 0, turns=(turn,))) - counter.framing


def reference_extension(kept: PromptState, window: Prompt) -> tuple[tuple[SectionRef, ...], list[Block]]:
    """The sections of an extended prompt: those that it keeps by their references, and the blocks of the two new ones."""
    turn, footer = window.sections[-2:]
    exchange, last = block_from_text(to_canonical_json(window.request.turns[-1])), block_from_text(footer.text)
    new = (
        SectionRef(TURN_SECTION, turn.tier, exchange.id, turn.tokens),
        SectionRef(FOOTER_SECTION, footer.tier, last.id, footer.tokens),
    )
    return (*kept.sections, *new), [exchange, last]
