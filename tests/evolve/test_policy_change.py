"""Changes of a policy are small, checked, and touch nothing that is never cut."""

import pytest

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.template import REQUIRED_SECTIONS
from afresh.errors import BadInput
from afresh.evolve.policy_change import (
    NUMBER_BOUNDS,
    PolicyChange,
    apply_changes,
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
        apply_changes(DEFAULT_CONTEXT_POLICY, [change(f"caps.{section}", 0.0)])


@pytest.mark.parametrize(
    ("field", "after"),
    [
        ("memory.max_error_lines", 0),
        ("version", 7),
        ("caps.nonsense", 0.5),
        ("caps.files", 1.5),
        ("max_output_characters", True),
        ("max_output_characters", "600"),
        ("max_output_characters", float("nan")),
    ],
)
def test_what_may_not_be_tuned_is_refused(field: str, after: object):
    with pytest.raises(BadInput):
        apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, after)])


def test_a_row_is_set_replaced_and_taken_away_by_its_name():
    field, other = "caps.similar", "caps.outline"
    made = apply_changes(DEFAULT_CONTEXT_POLICY, [change(field, 0.1), change(other, 0.2), change(field, 0.05)])
    assert read_setting(made, field) == 0.05 and read_setting(made, other) == 0.2
    assert read_setting(apply_changes(made, [change(field, None)]), field) is None


def test_a_changed_policy_has_another_version_and_id():
    made = apply_changes(DEFAULT_CONTEXT_POLICY, [change("max_output_characters", 900)])
    assert made.version == DEFAULT_CONTEXT_POLICY.version + 1 and made.id != DEFAULT_CONTEXT_POLICY.id
