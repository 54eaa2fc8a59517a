"""What is kept of a call: every section to be read again, in few blocks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.cache_prefix import is_volatile_section
from afresh.context.rebuild_call import audit_call, rebuild_prompt, reference_sections
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.context_item import MapEntry, Note, RepoMap
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.prompt import WHOLE_BLOCK, CallAudit, Section, Tier
from afresh.core.state import State
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task
from afresh.core.template import SECTION_ORDER
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext, TraceCache
from afresh.ports.storage import JournalStore
from afresh.runtime import CallSettings

names = st.lists(st.sampled_from((*SECTION_ORDER, "system", "tools", "footer")), unique=True)


@given(names, st.data())
def test_every_section_of_a_call_is_read_again_and_those_that_change_with_each_step_are_one_block(drawn, data):
    sections = [Section(name, Tier.PHASE, data.draw(st.text(max_size=40)), 7) for name in drawn]
    refs, blocks = reference_sections(sections)
    archive = {block.id: block.text for block in blocks}
    assert [(ref.name, ref.text(archive.__getitem__), ref.tokens) for ref in refs] == [(s.name, s.text, 7) for s in sections]
    assert len({ref.block for ref in refs if is_volatile_section(ref.name)}) <= 1
    assert {ref.size for ref in refs if not is_volatile_section(ref.name)} <= {WHOLE_BLOCK}


def test_the_tools_and_the_system_text_keep_blocks_of_their_own():
    assert [name for name in ("system", "tools", "task", "files", "work", "last", "footer") if is_volatile_section(name)] == [
        "work",
        "last",
        "footer",
    ]


STATE = State(task=Task(id="t", goal="Fix parser.py"), work=WorkState(limit=60))
ITEMS = (
    Note("memory", "f1", "a fact of the parser"),
    RepoMap(tuple(MapEntry(f"src/module_{n}.py", 9) for n in range(9))),
)
NO_MAP = replace(DEFAULT_CONTEXT_POLICY, version=2, caps=(("outline", 0.0),))


def recorded_call(policy: ContextPolicy) -> tuple[str, CallAudit, dict[str, str]]:
    settings = CallSettings(template=load_template("fix_bug"), tools=TOOLS, counter=EstimatingCounter(), policy=policy)
    memory = GatheredContext(STATE, ITEMS, policy=policy)
    tools = select_offered_tools(settings.template.at(""), settings.tools)
    prompt = build_prompt(memory, settings.template, tools, 6_000, settings.counter)
    audit, blocks = audit_call(prompt, memory, settings, "a-model")
    return prompt.request.text, audit, {block.id: block.text for block in blocks}


class Archive(JournalStore):
    def __init__(self, held: dict[str, str]) -> None:
        self._held = held

    def read(self, id: str) -> str:
        return self._held[id]


@pytest.mark.parametrize("policy", [DEFAULT_CONTEXT_POLICY, NO_MAP], ids=lambda one: one.id)
def test_a_call_names_its_policy_and_is_rebuilt_by_it_or_as_another_would_have_built_it(policy):
    text, audit, held = recorded_call(policy)
    call = value_from_json(CallAudit, to_canonical_json(audit))
    assert call.policy == policy.id
    assert rebuild_prompt(STATE, call, Archive(held), TraceCache()).request.text == text
    for other in (DEFAULT_CONTEXT_POLICY, NO_MAP):
        again = rebuild_prompt(STATE, call, Archive(held), TraceCache(), other).request.text
        assert (again == text) is (other == policy)
