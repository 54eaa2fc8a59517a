"""What a call was, so that it can be shown, explained, and built again to the byte."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from afresh.context.build_prompt import (
    SECTION_SEPARATOR,
    SENT_APART,
    PromptInputs,
    build_from_inputs,
    join_sections,
    select_offered_tools,
)
from afresh.context.cache_prefix import find_break_offsets, is_volatile_section
from afresh.context.extend_prompt import extend_prompt, reference_extension
from afresh.context.limit import choose_extension_limit, choose_limit, fix_limit
from afresh.core.archived_block import Block, block_from_text
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.context_item import Item, Note
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.event import CallRequested
from afresh.core.item_record import item_from_ref, ref_from_item, to_archived_text
from afresh.core.prompt import FOOTER_SECTION, TURN_SECTION, CallAudit, Prompt, Request, Section, SectionRef, ToolSchema
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.template import Template
from afresh.core.tokens import EstimatingCounter, count_request_pieces
from afresh.memory.gathered_context import GatheredContext, TraceCache, assemble_gathered_context
from afresh.memory.user_corrections import Corrections
from afresh.policy.next_call import layout_for_next_call
from afresh.ports.storage import JournalStore
from afresh.runtime import CallSettings

TEMPLATE_KIND = "template"
TOOLS_KIND = "tools"
CORRECTIONS_KIND = "edits"
POLICY_KIND = "policy"
SETTINGS_KINDS = (TEMPLATE_KIND, TOOLS_KIND, CORRECTIONS_KIND, POLICY_KIND)
"""Recorded as items, and not shown."""


@dataclass(frozen=True, slots=True)
class CallInputs:
    """What a recorded call was built from."""

    memory: GatheredContext
    template: Template
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True, slots=True)
class RebuiltCall:
    """One recorded call, built again from the journal."""

    step: int
    recorded: str
    hash: str
    archived: str
    """Hash of the archived text of its sections, put together as it was sent."""

    @property
    def same(self) -> bool:
        return self.recorded == self.hash

    @property
    def is_intact(self) -> bool:
        """Whether what is recorded is what was sent, even if this version would build it differently."""
        return self.recorded in (self.hash, self.archived)


def audit_call(
    window: Prompt, memory: GatheredContext, settings: CallSettings, model: str, model_window: int = 0
) -> tuple[CallAudit, tuple[Block, ...]]:
    """The record of a call, and the blocks it points to. Unchanged sections and looks are stored already and cost nothing."""
    items, kept = (*memory.items, *_collect_settings_items(memory, settings)), memory.state.tokens.prompt
    sections, texts = reference_extension(kept, window) if window.request.turns else reference_sections(window.sections)
    seen = [block_from_text(to_archived_text(item)) for item in items]
    call = CallAudit(
        hash=window.request.hash,
        budget=window.budget,
        tokens=window.tokens,
        sections=sections,
        looks=tuple([ref_from_item(item, block.id) for item, block in zip(items, seen, strict=True)]),
        omissions=window.omissions,
        reserve=window.request.reserve,
        counter=to_canonical_json(settings.counter),
        model=model,
        pieces=count_request_pieces(window.request),
        framing=settings.counter.around(window.request),
        unmet=window.unmet,
        compactions=window.compactions,
        thinking=window.request.thinking,
        policy=memory.policy.id,
        window=model_window,
    )
    return call, (*texts, *seen)


def reference_sections(sections: Sequence[Section]) -> tuple[tuple[SectionRef, ...], list[Block]]:
    """What stands before the last break has a block of its own. What follows is new in most steps and goes into one: the archive
    enters a block by its hash, at a place that no other of the step is near to, and that costs a page of the disk each."""
    moving = [section for section in sections if is_volatile_section(section.name)]
    together = block_from_text(join_sections(moving))
    starts = accumulate([len(section.text) + len(SECTION_SEPARATOR) for section in moving], initial=0)
    refs, own = list[SectionRef](), list[Block]()
    for one in sections:
        if is_volatile_section(one.name):
            refs.append(SectionRef(one.name, one.tier, together.id, one.tokens, next(starts), len(one.text)))
        else:
            own.append(block_from_text(one.text))
            refs.append(SectionRef(one.name, one.tier, own[-1].id, one.tokens))
    return tuple(refs), [*own, together]


def _collect_settings_items(memory: GatheredContext, settings: CallSettings) -> Iterator[Note]:
    """Template, tools, corrections and policy are input of the builder too, so they are recorded like the rest."""
    tools = select_offered_tools(layout_for_next_call(memory.state, settings.template), settings.tools)
    yield Note(TEMPLATE_KIND, settings.template.type, to_canonical_json(settings.template))
    yield Note(TOOLS_KIND, "", to_canonical_json(tools))
    if memory.corrections.edits:
        yield Note(CORRECTIONS_KIND, "", to_canonical_json(memory.corrections))
    if memory.policy != DEFAULT_CONTEXT_POLICY:
        yield Note(POLICY_KIND, memory.policy.id, to_canonical_json(memory.policy))


def rebuild_prompt(
    state: State, call: CallAudit, store: JournalStore, past: TraceCache, policy: ContextPolicy | None = None
) -> Prompt:
    """The prompt of a recorded call, from the state before it and what was gathered for it; or as `policy` would have built
    it."""
    return build_from_recorded(load_call_inputs(state, call, store, past, policy), call, store.read)


def build_from_recorded(inputs: CallInputs, call: CallAudit, read: Callable[[str], str]) -> Prompt:
    counter = value_from_json(EstimatingCounter, call.counter)
    state, template, window = inputs.memory.state, inputs.template, call.window
    if not window:
        limit = fix_limit(call.budget, call.reserve - call.thinking)
    elif call.is_extended:
        limit = choose_extension_limit(state, template, window, inputs.memory.policy)
    else:
        limit = choose_limit(state, template, window, call.model)
    again = PromptInputs(inputs.memory, template, inputs.tools, limit, counter)
    return extend_prompt(again, read) if call.is_extended else build_from_inputs(again)


def load_call_inputs(
    state: State, call: CallAudit, store: JournalStore, past: TraceCache, policy: ContextPolicy | None = None
) -> CallInputs:
    items = [item_from_ref(ref, store.read(ref.block)) for ref in call.looks]
    settings = {item.kind: item.text for item in items if isinstance(item, Note) and item.kind in SETTINGS_KINDS}
    corrections = value_from_json(Corrections, settings.get(CORRECTIONS_KIND, "{}"))
    recorded = value_from_json(ContextPolicy, settings.get(POLICY_KIND, "{}"))
    gathered: list[Item] = [item for item in items if item.kind not in SETTINGS_KINDS]
    memory = assemble_gathered_context(state, gathered, corrections, store.read, past, policy or recorded)
    return CallInputs(memory, value_from_json(Template, settings[TEMPLATE_KIND]), parse_tool_schemas(settings[TOOLS_KIND]))


def parse_tool_schemas(text: str) -> tuple[ToolSchema, ...]:
    return tuple(ToolSchema(**schema) for schema in json.loads(text))


def reassemble_request(call: CallAudit, store: JournalStore) -> Request:
    """The request of a recorded call from the archived text of its sections: it does not depend on how prompts are built
    today."""
    sections = [Section(ref.name, ref.tier, ref.text(store.read), ref.tokens) for ref in call.sections]
    texts = {section.name: section.text for section in sections}
    schemas = next((store.read(ref.block) for ref in call.looks if ref.kind == TOOLS_KIND), "[]")
    body = [section for section in sections if section.name not in SENT_APART]
    message, turns = join_sections(body), tuple(ref.turn(store.read) for ref in call.sections if ref.name == TURN_SECTION)
    breaks = (*find_break_offsets(body, SECTION_SEPARATOR), len(message))
    tools, footer = parse_tool_schemas(schemas), texts.get(FOOTER_SECTION, "")
    return Request(texts.get("system", ""), message, tools, call.reserve, breaks, call.thinking, turns, footer)


def rebuild_all_calls(task: str, store: JournalStore) -> Iterator[RebuiltCall]:
    """Every call of a task, built again."""
    state: State | None = None
    past = TraceCache()
    for entry in store.journal(task):
        if isinstance(entry.event, CallRequested) and state:
            call = entry.event.audit
            again = rebuild_prompt(state, call, store, past)
            archived = again.request if again.request.hash == call.hash else reassemble_request(call, store)
            yield RebuiltCall(entry.event.step, call.hash, again.request.hash, archived.hash)
        state = fold_entries(state, [entry])
