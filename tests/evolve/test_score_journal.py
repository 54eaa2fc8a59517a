"""Recorded calls of a real run are built again under another policy, and a harmful one is found out."""

from itertools import pairwise
from pathlib import Path

import pytest
from handed import COMPLETE, repository, write_script
from test_prefix import played

from afresh.app.compose import RunTerms, run_task
from afresh.app.inspect.inspect_calls import list_audits
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.evolve.compare_scores import compare_scores
from afresh.evolve.policy_change import PolicyChange, apply_changes
from afresh.evolve.score_journal import load_recording, score_recordings

LINE = "    return compute_subtotal(basket) + shipping_fee"
PRICING = f"def compute_subtotal(basket):\n    return sum(basket)\n\n\ndef total_price(basket, shipping_fee):\n{LINE}\n"
SCRIPT = [
    [("read", {"path": "pricing.py"})],
    [("edit", {"path": "pricing.py", "old": LINE, "new": LINE.replace("+", "-")})],
    [COMPLETE],
]
BLIND = apply_changes(
    DEFAULT_CONTEXT_POLICY,
    [PolicyChange(f"caps.{name}", None, 0.0) for name in ("files", "target", "last", "work", "outline")],
)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    folder = tmp_path_factory.mktemp("journal")
    repository(folder / "repo", {"pricing.py": PRICING})
    write_script(folder / "script.jsonl", SCRIPT)
    project = open_project(folder / "repo")
    order = TaskOrder("the fee has the wrong sign", "implement_feature", ("true",), model=f"scripted:{folder / 'script.jsonl'}")
    task = add_task(project, order).task.id
    run_task(project, task, RunTerms(no_sandbox=True))
    return project, task


def test_under_its_own_policy_a_recorded_call_is_the_same_and_needs_are_held(worked: tuple[Project, str]):
    project, task = worked
    recording = load_recording(project.store.journal(task), project.store)
    assert [call.audit for call in recording.calls] == [audit for _, audit in list_audits(project, task)]
    own, same = (score_recordings([recording], policy, project.store)[0] for policy in (None, DEFAULT_CONTEXT_POLICY))
    assert own == same and [step.tokens for step in own.steps] == [call.audit.tokens for call in recording.calls]
    assert sum(step.names for step in own.steps) and all(0 <= step.drawn <= step.chosen for step in own.steps)


def test_a_policy_that_hides_what_the_replies_need_is_rejected(worked: tuple[Project, str]):
    project, task = worked
    recording = load_recording(project.store.journal(task), project.store)
    before, after = (score_recordings([recording], policy, project.store)[0] for policy in (DEFAULT_CONTEXT_POLICY, BLIND))
    found = compare_scores([before] * 5, [after] * 5, resamples=50)
    assert found.tokens.high < 0 and found.recall.high < 0
    assert not found.is_better and found.verdict == "recall may fall"


def test_what_is_never_cut_is_in_every_prompt_whatever_the_policy(worked: tuple[Project, str], tmp_path: Path):
    from dataclasses import replace

    from afresh.context.rebuild_call import build_from_recorded
    from afresh.core.template import REQUIRED_SECTIONS

    project, task = worked
    for call in load_recording(project.store.journal(task), project.store).calls:
        memory = replace(call.inputs.memory, policy=BLIND)
        prompt = build_from_recorded(replace(call.inputs, memory=memory), call.audit, project.store.read)
        kept = {ref.name: ref.text(project.store.read) for ref in call.audit.sections if ref.name in REQUIRED_SECTIONS}
        assert kept and kept == {one.name: one.text for one in prompt.sections if one.name in REQUIRED_SECTIONS}


SHORT_TURNS = apply_changes(DEFAULT_CONTEXT_POLICY, [PolicyChange("max_turn_tokens", 1_000, 200)])


def test_an_extended_prompt_is_replayed_with_all_its_turns(tmp_path: Path):
    store, _, _ = played(tmp_path)
    recording = load_recording(store.journal("t"), store)
    extended = [call.audit.is_extended for call in recording.calls]
    assert not extended[0] and sum(extended) >= 3
    own = score_recordings([recording], None, store)[0]
    assert [step.tokens for step in own.steps] == [call.audit.tokens for call in recording.calls]
    assert own == score_recordings([recording], DEFAULT_CONTEXT_POLICY, store)[0]


def test_what_a_shorter_turn_saves_is_saved_in_every_prompt_that_repeats_it(tmp_path: Path):
    store, _, _ = played(tmp_path)
    recording = load_recording(store.journal("t"), store)
    own, short = (score_recordings([recording], policy, store)[0].steps for policy in (None, SHORT_TURNS))
    saved = [before.tokens - after.tokens for before, after in zip(own, short, strict=True)]
    extended = [call.audit.is_extended for call in recording.calls]
    pairs = zip(pairwise(saved), extended[1:], strict=True)
    assert max(saved) > 1_000 and all(later >= earlier for (earlier, later), more in pairs if more)
