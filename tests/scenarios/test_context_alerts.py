"""A person is told that prompts are large: while the task runs, and afterwards in `spend`; if they like, memory gives way."""

from dataclasses import replace

import pytest
from person import COMPLETE, MEND, Person

from afresh.app.spending.context_alarm import compact_after_large_calls
from afresh.config.templates.load_template import load_template
from afresh.core.context_alert import ContextThresholds


@pytest.fixture
def told_early(person: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    config = person.folder / "config" / "afresh" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[alerts]\ncall_tokens = 600\n")
    return person


def test_a_large_call_is_told_in_the_run_and_in_spend(told_early: Person):
    ran = told_early.runs(told_early.script([MEND], [COMPLETE]), "--quiet")
    assert ran.code == 0, ran.err
    assert ran.err.count("ALERT: a call of task") == 1 and "the alert is at 600" in ran.err
    assert "the alert is at 600" in " ".join(told_early.types("spend").out.split())
    [alert] = told_early.types("spend", "--json").json["context_alerts"]
    assert alert["task"].startswith("double-is-wrong") and "in step 1" in alert["words"]


def test_a_large_call_compacts_memory_only_if_the_user_wants_it():
    template = load_template("fix_bug")
    assert compact_after_large_calls(template, ContextThresholds(call_tokens=9_000)) == template
    assert compact_after_large_calls(template, ContextThresholds(call_tokens=0, compact=True)) == template
    wanted = ContextThresholds(call_tokens=9_000, compact=True)
    assert compact_after_large_calls(template, wanted).pruning.context == 9_000
    lower = replace(template, pruning=replace(template.pruning, context=7_000))
    assert compact_after_large_calls(lower, wanted).pruning.context == 7_000, "what the template says is not weakened"
