"""The ladder: cheapest first, no more than it takes, every removal on record, and never what must stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_samples import excerpt, repo_map, text_of

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, draft_sections, select_offered_tools
from afresh.context.compaction.compact_prompt import COMPACTION_STRATEGIES, compact_sections, count_asked_tokens
from afresh.core.context_item import Note
from afresh.core.fact import Fact, FactKind
from afresh.core.line_region import Region
from afresh.core.prompt import Tier
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.template import SectionShare
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline, CheckRun
from afresh.memory.gathered_context import GatheredContext
from support.states import make_state

COUNTER = EstimatingCounter()
SHARES = load_template("fix_violation").at("change").shares


def state(**fields):
    return make_state(Task(id="t", goal="Mend parse_header", checks=(Check("pytest -q"),)), limit=60, **fields)


def shorter(memory, room=10**6, shares=SHARES):
    return compact_sections(draft_sections(memory), memory, shares, room, COUNTER)


def least(memory, shares=SHARES):
    """As if there were no room at all."""
    return shorter(memory, 0, shares)


def texts(result, section):
    return [piece.text for draft in result.drafts if draft.name == section for piece in draft.pieces]


def test_nothing_is_taken_out_while_all_has_room():
    memory = GatheredContext(state(), (repo_map("a.py\nb.py"), excerpt("c.py", 1, "x = 1\n" * 9, "f")))
    whole = sum(count_asked_tokens(draft, SHARES, COUNTER) for draft in draft_sections(memory))
    assert shorter(memory, whole) == shorter(memory) and not shorter(memory, whole).reports
    assert shorter(memory, whole - 1).reports


def test_the_outline_keeps_what_the_work_speaks_of_and_its_share():
    lines = [f"src/module_{n}.py (9 lines): something_{n}" for n in range(40)] + ["src/header.py (80 lines): parse_header"]
    memory = GatheredContext(state(), (repo_map("\n".join(lines)),))
    assert texts(least(memory, (SectionShare("outline", 0.5, tier=Tier.PHASE),)), "outline") == [lines[-1]]
    kept = texts(shorter(memory, 600, (SectionShare("outline", 0.5, tier=Tier.PHASE),)), "outline")
    assert kept[0] == lines[0] and kept[-1] == lines[-1] and 5 < len(kept) < 40
    assert sum(COUNTER(line) + 1 for line in kept) > 600 * 0.5 - 60


def test_violations_that_nobody_speaks_of_go_and_the_first_stays():
    found = [f"name_{n} a.py:{n} complexity 12 (no suggestion yet)" for n in range(5)] + ["parse_header h.py:3 complexity 14"]
    memory = GatheredContext(state(), (Note("violations", "", "\n".join(found)),))
    assert texts(least(memory), "suggestions")[:2] == [found[0], found[-1]]


LONG = "so it is, as was seen " * 12


def test_doubtful_and_old_notes_are_shortened_while_verified_facts_and_failures_stay():
    sure = [Fact(FactKind.NOTE, f"sure {n}", LONG, 0.9, step=n) for n in range(1, 6)]
    guess = Fact(FactKind.NOTE, "guess", LONG, 0.2, step=9)
    proven = Fact(FactKind.CHECK, "proven", "seen", 0.1, step=1)
    failed = Fact(FactKind.FAILED_APPROACH, "edit x", "broke y", 0.1, step=1)
    memory = GatheredContext(state(facts=(*sure, guess, proven, failed)))
    result = least(memory)
    known = texts(result, "known")
    assert [line[:7] for line in known if line.endswith("(`search` path=@notes)")] == ["- sure ", "- sure ", "- guess"]
    assert [line for line in known if LONG.strip() in line] == [f"- sure {n}: {LONG.strip()}" for n in (3, 4, 5)]
    assert "- proven: seen" in known
    assert "broke y" in texts(result, "failed")[0]
    (report,) = [one for one in result.reports if one.strategy == "confident_facts"]
    assert report.removed == ("note on guess", "note on sure 1", "note on sure 2") and report.tokens > 0


def test_a_doubtful_note_goes_before_an_old_one():
    """With room for all but one."""
    facts = [Fact(FactKind.NOTE, f"note {n}", LONG, 0.3 if n == 4 else 0.8, step=n) for n in range(1, 6)]
    memory = GatheredContext(state(facts=tuple(facts)))
    whole = sum(count_asked_tokens(draft, SHARES, COUNTER) for draft in draft_sections(memory))
    assert shorter(memory, whole - 1).reports[0].removed == ("note on note 4",)


def test_the_best_suggestions_stay():
    looks = [Note("suggestion", f"id{n}", f"extract {n}") for n in range(5)]
    memory = GatheredContext(state(), (Note("violations", "", "one a.py:1"), *looks))
    kept = texts(least(memory), "suggestions")
    assert [text for text in kept if "extract" in text] == ["- [id0] extract 0", "- [id1] extract 1"]


@pytest.mark.parametrize(
    ("path", "title", "region", "stays"),
    [
        ("a.py", "f", Region("a.py", 1, 9, 2), False),
        ("a.py", "f", Region("a.py", 1, 9, 2, changed=True), True),
        ("a.py", "f", Region("a.py", 5, 6, 19), True),
        ("a.py", "parse_header", Region("a.py", 1, 9, 2), True),
        ("plan_b.py", "f", Region("a.py", 1, 9, 2), True),
        ("a.py", "f", Region("a.py", 10, 19, 20, changed=True), False),
    ],
    ids=["far", "changed", "touched lately", "named", "file of the plan", "other lines of it"],
)
def test_a_definition_far_from_the_work_becomes_its_stub(path, title, region, stays):
    look = excerpt(path, 1, "1  value = compute(value)\n" * 9, title)
    memory = GatheredContext(state(step=20, regions=(region,), plan=(PlanItem("then plan_b.py"),)), (look,))
    (text,) = texts(least(memory), "files")
    assert (text == text_of(look)) is stays
    assert stays or text == f"     … 1-9 {title}"


def test_the_latest_of_the_earlier_steps_stay():
    recent = tuple(StepRecord(n, "", (), f"did {n}", True) for n in range(1, 7))
    assert texts(least(GatheredContext(state(recent=recent, step=6))), "earlier") == ["- step 4: did 4", "- step 5: did 5"]


words = st.text("abcdefgh ._\n", max_size=60)
looks = st.one_of(
    st.builds(
        Note,
        st.sampled_from(["outline", "violations", "suggestion", "test", "change"]),
        st.text("abc", min_size=1),
        words,
    ),
    st.builds(lambda path, at, text: excerpt(path, at, text, "f", last=at + 3), st.sampled_from("ab"), st.integers(1, 60), words),
)
facts = st.builds(Fact, st.sampled_from(FactKind), words, words, st.floats(0, 1), step=st.integers(1, 9))
regions = st.builds(Region, st.sampled_from("ab"), st.integers(1, 9), st.integers(9, 60), st.integers(1, 9), st.booleans())
records = st.builds(StepRecord, st.integers(1, 9), words, st.just(()), words, st.booleans())
memories = st.builds(
    GatheredContext,
    st.builds(
        make_state,
        task=st.builds(Task, id=st.just("t"), goal=words, checks=st.just((Check("pytest"),))),
        words=st.lists(words, max_size=2).map(tuple),
        facts=st.lists(facts, max_size=9).map(tuple),
        regions=st.lists(regions).map(tuple),
        plan=st.lists(st.builds(PlanItem, words, st.booleans()), max_size=3).map(tuple),
        recent=st.lists(records, max_size=6).map(tuple),
        step=st.integers(0, 9),
        baseline=st.just(Baseline((CheckRun("pytest", 0, passed=3),))),
    ),
    st.lists(looks, max_size=12).map(tuple),
)


@given(memories, st.integers(0, 900))
def test_whatever_is_asked_only_optional_pieces_go_and_each_is_reported(memory, room):
    before, result = draft_sections(memory), shorter(memory, room)
    fixed = [draft for draft in before if draft.tier is Tier.ALWAYS]
    assert [draft for draft in result.drafts if draft.tier is Tier.ALWAYS] == fixed
    shown = {(draft.name, piece.what, piece.text) for draft in result.drafts for piece in draft.pieces}
    told = {(gone.section, gone.what) for gone in result.omissions}
    for draft in before:
        for piece in draft.pieces:
            assert (draft.name, piece.what, piece.text) in shown or (draft.name, piece.what) in told
    assert sum(gone.tokens for gone in result.omissions) == sum(report.tokens for report in result.reports)
    assert {gone.reason for gone in result.omissions} == {f"compacted: {report.strategy}" for report in result.reports}
    order = [
        next(n for n, one in enumerate(COMPACTION_STRATEGIES) if (one.name, one.section) == (r.strategy, r.section))
        for r in result.reports
    ]
    assert order == sorted(order)


@given(memories, st.integers(0, 900))
def test_compacting_is_deterministic_and_compacting_again_changes_nothing(memory, room):
    once = shorter(memory, room)
    assert once == shorter(memory, room)
    again = compact_sections(once.drafts, memory, SHARES, room, COUNTER)
    assert again.drafts == once.drafts and not again.reports


def test_a_window_says_what_was_compacted_and_that_more_is_to_be_found():
    tree = "\n".join(f"src/module_{n}.py (9 lines): something_{n}" for n in range(60))
    source = excerpt("header.py", 1, "1  value = compute(value)\n" * 400, "parse_header")
    chosen = load_template("fix_violation")
    window = build_prompt(
        GatheredContext(state(), (repo_map(tree), source)),
        chosen,
        select_offered_tools(chosen.at(""), TOOLS),
        4_000,
        COUNTER,
    )
    (report,) = window.compactions
    assert (report.strategy, report.section) == ("trim_analysis", "outline") and report.removed[0].startswith(
        "lines of the outline ("
    )
    assert "… more: `read` a folder" in window.request.message
    assert ("outline", "compacted: trim_analysis") in {(gone.section, gone.reason) for gone in window.omissions}
