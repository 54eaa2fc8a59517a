"""Changes of a policy are small, checked, and touch nothing that is never cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.context.compaction.compact_prompt import COMPACTION_STRATEGIES, order_strategies
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.template import REQUIRED_SECTIONS
from afresh.errors import BadInput
from afresh.evolve.policy_change import (
    NUMBER_BOUNDS,
    PolicyChange,
    apply_changes,
    explain_protected_changes,
    list_differences,
    read_setting,
)


def change(field: str, after: object) -> PolicyChange:
    return PolicyChange(field, None, after)


@pytest.mark.parametrize("field", NUMBER_BOUNDS)
def test_every_field_that_can_be_tuned_exists_and_takes_its_bounds(field: str):
    for bound in NUMBER_BOUNDS[field]:
        made = apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, bound)])
        assert read_setting(made, field) == bound
        assert type(read_setting(made, field)) is type(read_setting(DEFAULT_CONTEXT_POLICY, field))
    with pytest.raises(BadInput):
        apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, NUMBER_BOUNDS[field][1] + 1)])


@pytest.mark.parametrize("section", REQUIRED_SECTIONS)
def test_a_required_section_has_no_cap(section: str):
    with pytest.raises(BadInput, match="never cut"):
        apply_changes(DEFAULT_CONTEXT_POLICY, [change(f"allocation.caps.{section}", 0.0)])


@pytest.mark.parametrize(
    ("field", "after"),
    [
        ("memory.max_error_lines", 0),
        ("version", 7),
        ("allocation.caps.nonsense", 0.5),
        ("allocation.caps.files", 1.5),
        ("history.ranking.weights.nonsense", 0.1),
        ("history.ranking.weights.line", 9.0),
        ("history.ranking.kinds.shouting Read", -1.0),
        ("history.ranking.kinds.output Read", 0.5),
        ("allocation.worth.chances.similar", (0.1, 0.2)),
        ("compaction.first", ("nonsense",)),
        ("lessons.max_lessons", True),
        ("lessons.max_lessons", "3"),
    ],
)
def test_what_may_not_be_tuned_is_refused(field: str, after: object):
    with pytest.raises(BadInput):
        apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, after)])


def test_a_row_is_set_replaced_and_taken_away_by_its_name():
    field = "allocation.worth.chances.similar"
    made = apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, (0.1, 0.05, 0.0))])
    assert read_setting(made, field) == (0.1, 0.05, 0.0)
    assert len(made.allocation.worth.chances) == len(DEFAULT_CONTEXT_POLICY.allocation.worth.chances)
    assert read_setting(apply_changes(made, [change(field, None)]), field) is None


def test_what_was_learnt_of_a_kind_of_passage_is_a_row_that_can_be_taken_away():
    field = "history.ranking.kinds.output Read"
    made = apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, -2.5)])
    assert made.history.ranking.kinds == (("output Read", -2.5),)
    assert apply_changes(made, [change(field, None)]).history == DEFAULT_CONTEXT_POLICY.history


def test_a_changed_policy_has_another_version_and_id():
    made = apply_changes(DEFAULT_CONTEXT_POLICY, [change("files.max_idle_steps", 9)])
    assert made.version == DEFAULT_CONTEXT_POLICY.version + 1 and made.id != DEFAULT_CONTEXT_POLICY.id


@given(st.dictionaries(st.sampled_from(sorted(NUMBER_BOUNDS)), st.floats(0, 1)))
def test_differences_are_exactly_what_was_changed(parts: dict[str, float]):
    wanted = dict[str, object]()
    for field, part in parts.items():
        low, high = NUMBER_BOUNDS[field]
        value = low + part * (high - low)
        whole = isinstance(read_setting(DEFAULT_CONTEXT_POLICY, field), int)
        wanted[field] = int(value) if whole else float(value)
    made = apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, value) for field, value in wanted.items()])
    found = {one.field: one.after for one in list_differences(DEFAULT_CONTEXT_POLICY, made)}
    assert found == {f: v for f, v in wanted.items() if v != read_setting(DEFAULT_CONTEXT_POLICY, f)}
    assert explain_protected_changes(DEFAULT_CONTEXT_POLICY, made) == []


def test_the_strategies_that_a_policy_names_are_tried_first():
    assert [one.name for one in order_strategies(("fewer_actions", "shorter_context"))][:2] == [
        "fewer_actions",
        "shorter_context",
    ]
    assert tuple(order_strategies(())) == COMPACTION_STRATEGIES


def test_a_policy_that_touches_protected_content_is_named():
    from dataclasses import replace

    memory = replace(DEFAULT_CONTEXT_POLICY.memory, max_error_lines=0)
    assert explain_protected_changes(DEFAULT_CONTEXT_POLICY, replace(DEFAULT_CONTEXT_POLICY, memory=memory))
    allocation = replace(DEFAULT_CONTEXT_POLICY.allocation, caps=(("task", 0.1),))
    assert explain_protected_changes(DEFAULT_CONTEXT_POLICY, replace(DEFAULT_CONTEXT_POLICY, allocation=allocation))
