"""What is kept of a call: every section to be read again, in few blocks."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.context.cache_prefix import is_volatile_section
from afresh.context.rebuild_call import reference_sections
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.prompt import WHOLE_BLOCK, Section, SectionRef, Tier
from afresh.core.template import SECTION_ORDER

names = st.lists(st.sampled_from((*SECTION_ORDER, "system", "tools", "footer")), unique=True)


@given(names, st.data())
def test_every_section_of_a_call_is_read_again_and_those_that_change_with_each_step_are_one_block(drawn, data):
    sections = [Section(name, Tier.PHASE, data.draw(st.text(max_size=40)), 7) for name in drawn]
    refs, blocks = reference_sections(sections)
    archive = {block.id: block.text for block in blocks}
    assert [(ref.name, ref.text(archive.__getitem__), ref.tokens) for ref in refs] == [(s.name, s.text, 7) for s in sections]
    assert len({ref.block for ref in refs if is_volatile_section(ref.name)}) <= 1
    assert {ref.size for ref in refs if not is_volatile_section(ref.name)} <= {WHOLE_BLOCK}


def test_a_section_recorded_before_they_were_put_together_is_its_block():
    ref = value_from_json(SectionRef, to_canonical_json({"name": "last", "tier": 2, "block": "ab", "tokens": 5}))
    assert ref.text({"ab": "the whole of it"}.__getitem__) == "the whole of it"


def test_the_tools_and_the_system_text_keep_blocks_of_their_own():
    assert [name for name in ("system", "tools", "task", "files", "work", "last", "footer") if is_volatile_section(name)] == [
        "work",
        "last",
        "footer",
    ]
