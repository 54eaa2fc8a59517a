"""An export has numbers under afresh's own names, and nothing of the project; an import is a suggestion."""

import json
from pathlib import Path

import pytest

from afresh.context.measure_yield import SectionYield
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.policy_history import PolicyHistory, PolicyProposed
from afresh.errors import BadInput
from afresh.evolve.policy_change import PolicyChange
from afresh.evolve.prove_proposal import changes_to_json
from afresh.evolve.share_learnt import FORMAT, export_learnt, import_learnt
from afresh.evolve.task_use import CallUse, ItemUse, OperationUse, TaskUse, WastedStep
from afresh.evolve.use_report import UseReport, add_up_use

MARK = "zanzibarsecret"
CHANGE = PolicyChange("allocation.caps.outline", None, 0.1, f"seen in {MARK}.py")


def make_marked_report() -> UseReport:
    """Every text that a report can have bears the mark."""
    call = CallUse(
        1, f"phase-{MARK}", 1_790_000_000.0, f"3-{MARK}", 100,
        (SectionYield("files", 50.0, 20.0), SectionYield(MARK, 50.0, 20.0)), (ItemUse(MARK, 3, 1),),
    )  # fmt: skip
    operations = (OperationUse("run", 2, 40, 1), OperationUse(f"mcp.{MARK}", 1, 10))
    return add_up_use(
        [TaskUse(MARK, MARK, (call,), operations, (WastedStep(1, MARK),), ((MARK, False),), tool_schemas=((MARK, 70),))]
    )


def make_marked_history() -> PolicyHistory:
    event = PolicyProposed(f"/home/{MARK}", f"cap-{MARK}", f"because of {MARK}", changes_to_json([CHANGE]), MARK, "", MARK, True)
    return PolicyHistory(proposed=((1.0, event),))


def test_no_word_of_the_project_is_in_an_export():
    text = json.dumps(export_learnt(make_marked_report(), make_marked_history()))
    assert MARK not in text
    plain = json.loads(text)
    assert plain["sections"] == {"files": {"tokens": 50, "drawn_on": 0.4}}
    assert plain["operations"] == {"run": {"times": 2, "tokens": 40, "recalled": 1}}
    assert plain["changes"] == [{"setting": "allocation.caps.outline", "value": 0.1, "gains": []}]


def test_the_mark_would_be_found_if_reasons_were_exported():
    assert MARK in json.dumps([one.reason for _, one in make_marked_history().proposed])


def test_a_setting_with_a_name_of_the_project_is_not_exported():
    odd = changes_to_json([PolicyChange(f"allocation.caps.{MARK}", None, 0.1)])
    event = PolicyProposed("/p", "cap-1", "", odd, better=True)
    with pytest.raises(BadInput):
        export_learnt(make_marked_report(), PolicyHistory(proposed=((1.0, event),)))


def test_what_was_learnt_of_a_foreign_tool_is_not_exported():
    learnt = [PolicyChange(f"history.ranking.kinds.output {tool}", None, -2.0) for tool in ("run", f"mcp__{MARK}")]
    event = PolicyProposed("/p", "tuned-1", "", changes_to_json([*learnt, CHANGE]), better=True)
    found = export_learnt(make_marked_report(), PolicyHistory(proposed=((1.0, event),)))["changes"]
    assert [one["setting"] for one in found] == ["history.ranking.kinds.output run", CHANGE.field]


def test_what_was_not_proven_is_not_exported():
    event = PolicyProposed("/p", "cap-1", "", changes_to_json([CHANGE]))
    assert export_learnt(make_marked_report(), PolicyHistory(proposed=((1.0, event),)))["changes"] == []


def test_an_import_is_a_suggestion_that_is_not_proven():
    text = json.dumps(export_learnt(make_marked_report(), make_marked_history()))
    (one,) = import_learnt(text, DEFAULT_CONTEXT_POLICY)
    assert one.kind == "imported" and one.changes[0].after == 0.1 and one.changes[0].before is None


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, json.dumps({"format": FORMAT}), json.dumps({"format": FORMAT, "changes": ["x"]}),
        json.dumps({"format": FORMAT, "changes": [{"setting": "memory.max_error_lines", "value": 0}]}),
        json.dumps({"format": FORMAT, "changes": [{"setting": "allocation.caps.task", "value": 0}]}),
        json.dumps({"format": FORMAT, "changes": [{"setting": "files.max_idle_steps", "value": 10**9}]}),
        json.dumps({"format": FORMAT, "changes": [{"setting": "files.max_idle_steps", "value": float("nan")}]}),
        json.dumps({"format": FORMAT, "changes": [{"setting": "allocation.worth.chances." + "a" * 999, "value": [0, 0, 1]}]}),
        *(json.dumps({"format": FORMAT, "changes": [{"setting": "compaction.first", "value": value}]})
          for value in (None, 5, "", {}, [[]], [True], ["none such"])),
    ],
)  # fmt: skip
def test_a_damaged_or_hostile_file_is_refused(text: str, tmp_path: Path):
    with pytest.raises(BadInput):
        import_learnt(text, DEFAULT_CONTEXT_POLICY)
