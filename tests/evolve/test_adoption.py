"""From a proposal to a policy in use and back, over journals in a real project."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from handed import COMPLETE, DOUBLE, TRIPLE, repository, write_script
from synthetic_month import Planted, add_month
from test_score_journal import PRICING
from test_score_journal import SCRIPT as PRICING_SCRIPT

from afresh.app.compose import RunTerms, run_task
from afresh.app.evolve import evolve_policy
from afresh.app.evolve.evolve_policy import NOTHING_TO_REPLAY, adopt_proposal, roll_back, to_event, try_proposals
from afresh.app.evolve.task_policy import choose_task_policy, load_policy_history, record_policy_events
from afresh.app.evolve.watch_policy import adopt_as_canary, evolve_if_due, review_policy, to_outcome
from afresh.app.inspect.inspect_calls import list_audits
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.app.settings import EvolveOptions
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.policy_history import BY_PERSON, PolicyOutcomeNoted
from afresh.errors import BadInput
from afresh.evolve.compare_scores import TOO_LITTLE
from afresh.evolve.find_proposals import Proposal
from afresh.evolve.policy_change import PolicyChange
from afresh.evolve.search_policy import search_policy

HARMLESS = Proposal("cap", "nobody uses it", (PolicyChange("caps.coverage", None, 0.0),))
CAP = Proposal("cap", "nobody uses it", (PolicyChange("caps.outline", None, 0.0),))
HIDDEN = ("files", "target", "last", "work", "outline")
HARMFUL = Proposal("cap", "a bad idea", tuple(PolicyChange(f"caps.{name}", None, 0.0) for name in HIDDEN))
SCRIPT = [[("read", {"path": "one.py"}), ("read", {"path": "two.py"})], [DOUBLE, TRIPLE], [COMPLETE]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    repository(tmp_path / "repo")
    made = open_project(tmp_path / "repo")
    yield made
    made.storage.close()


def adopt_proven(project: Project, one: Proposal, share: float) -> None:
    """As if a replay had shown that it is better."""
    record_policy_events(project, [replace(to_event(project, one), verdict="tokens fall", better=True)])
    adopt_as_canary(project, one.id, BY_PERSON, share)


def set_mode(project: Project, mode: str) -> Project:
    return replace(project, settings=replace(project.settings, evolve=EvolveOptions(mode)))  # type: ignore[arg-type]


def test_a_proposal_without_proof_is_refused_and_the_policy_stays(project: Project):
    record_policy_events(project, [to_event(project, CAP)])
    with pytest.raises(BadInput, match=r"not better beyond noise \(not tried"):
        adopt_proposal(project, CAP.id)
    assert [one.verdict for one in try_proposals(project, [CAP.id])] == [TOO_LITTLE]
    with pytest.raises(BadInput, match="not better beyond noise"):
        adopt_proposal(project, CAP.id)
    assert load_policy_history(project).stable == DEFAULT_CONTEXT_POLICY


def run_scripts(project: Project, folder: Path, count: int) -> None:
    write_script(folder / "script.jsonl", PRICING_SCRIPT)
    (project.paths.root / "pricing.py").write_text(PRICING)
    for words in (["add", "pricing.py"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "pricing"]):
        subprocess.run(["git", *words], cwd=project.paths.root, check=True)
    for _ in range(count):
        order = TaskOrder("the sign is wrong", "implement_feature", ("true",), model=f"scripted:{folder / 'script.jsonl'}")
        run_task(project, add_task(project, order).task.id, RunTerms(no_sandbox=True))


def test_proposals_that_harm_or_show_no_gain_in_replay_are_refused_and_a_harmless_one_loses_nothing(
    project: Project, tmp_path: Path
):
    longer = Proposal("digest", "read again", (PolicyChange("max_turn_tokens", 1_000, 2_000),), "run")
    run_scripts(project, tmp_path, 6)
    record_policy_events(project, [to_event(project, one) for one in (HARMFUL, HARMLESS, longer)])
    harmful, harmless, digest = try_proposals(project, [HARMFUL.id, HARMLESS.id, longer.id])
    assert harmful.verdict == "recall may fall" and not digest.better
    with pytest.raises(BadInput, match="recall may fall"):
        adopt_proposal(project, HARMFUL.id)
    with pytest.raises(BadInput, match="not better beyond noise"):
        adopt_proposal(project, longer.id)
    assert load_policy_history(project).adopted == ()
    assert harmless.verdict != "recall may fall"


def test_the_older_tasks_are_searched_for_what_saves_tokens_and_loses_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run_scripts(project, tmp_path, 4)
    monkeypatch.setattr(evolve_policy, "MIN_TASKS_SEARCHED", 2)
    searched = {"caps.files": (0.0,), "caps.work": (0.0,)}
    monkeypatch.setattr(evolve_policy, "search_policy", lambda policy, score: search_policy(policy, score, searched))
    (tuned,) = [one for one in try_proposals(project) if one.proposal.startswith("tuned")]
    assert [change["field"] for change in json.loads(tuned.changes)] == ["caps.work"]
    assert tuned.reason.startswith("best of 2 policies on 2 tasks: recall 100.0% → 100.0%")
    monkeypatch.setattr(evolve_policy, "MIN_TASKS_SEARCHED", 3)
    assert not any(one.proposal.startswith("tuned") for one in try_proposals(project))


def test_what_changes_no_policy_is_left_to_a_person(project: Project):
    tool = Proposal("shorten", "nobody calls it", subject="delegate")
    record_policy_events(project, [to_event(project, tool)])
    assert [one.verdict for one in try_proposals(project, [tool.id])] == [NOTHING_TO_REPLAY]
    with pytest.raises(BadInput, match="nothing of the policy changes"):
        adopt_proposal(project, tool.id)


def test_an_adopted_policy_is_used_rolled_back_and_off_means_the_built_in_one(project: Project):
    adopt_proven(project, CAP, 1.0)
    adopted = choose_task_policy(project, "t")
    assert adopted.caps == (("outline", 0.0),) and adopted.version == DEFAULT_CONTEXT_POLICY.version + 1
    assert choose_task_policy(set_mode(project, "off"), "t") == DEFAULT_CONTEXT_POLICY
    assert roll_back(project).policy == adopted
    assert choose_task_policy(project, "t") == DEFAULT_CONTEXT_POLICY
    with pytest.raises(BadInput, match="no policy is adopted"):
        roll_back(project)


def test_a_share_out_of_range_changes_nothing(project: Project):
    record_policy_events(project, [replace(to_event(project, CAP), verdict="tokens fall", better=True)])
    with pytest.raises(BadInput, match="at most 1"):
        adopt_as_canary(project, CAP.id, BY_PERSON, 1.5)
    assert load_policy_history(project).adopted == ()


def test_a_repository_cannot_set_how_policies_are_adopted(project: Project):
    (project.paths.folder).mkdir(exist_ok=True)
    (project.paths.folder / "config.toml").write_text('[evolve]\nmode = "auto"\n')
    with pytest.raises(BadInput, match="evolve can't be set in this file"):
        open_project(project.paths.root)


def test_each_call_names_the_policy_that_it_was_built_by(project: Project, tmp_path: Path):
    adopt_proven(project, CAP, 1.0)
    write_script(tmp_path / "script.jsonl", SCRIPT)
    order = TaskOrder(
        "double and triple are wrong", "implement_feature", ("true",), model=f"scripted:{tmp_path / 'script.jsonl'}"
    )
    task = add_task(project, order).task.id
    run_task(project, task, RunTerms(no_sandbox=True))
    policy = load_policy_history(project).stable
    assert {audit.policy for _, audit in list_audits(project, task)} == {policy.id}
    (outcome,) = load_policy_history(project).outcomes
    assert (outcome.task, outcome.policy, outcome.verified, outcome.steps) == (task, policy.id, True, 3)
    sections = {ref.name for _, audit in list_audits(project, task) for ref in audit.sections}
    assert "outline" not in sections and "files" in sections


def test_a_regression_after_adoption_is_rolled_back_and_its_sound_twin_is_kept(project: Project):
    add_outcomes(project, DEFAULT_CONTEXT_POLICY.id, 20, verified=18)
    adopt_proven(project, CAP, 0.5)
    canary = load_policy_history(project).canary
    assert canary
    add_outcomes(project, canary.id, 12, verified=11)
    assert review_policy(project) == "" and load_policy_history(project).canary
    adopt_proven(project, HARMFUL, 0.5)
    worse = load_policy_history(project).canary
    assert worse
    add_outcomes(project, worse.id, 12, verified=3)
    assert "rolled back: verified success" in review_policy(project)
    again = load_policy_history(project)
    assert again.latest and again.latest.id == canary.id
    assert [bool(one.ended) for one in again.adopted] == [False, True]


def add_outcomes(project: Project, policy: str, count: int, verified: int) -> None:
    root = str(project.paths.root)
    record_policy_events(
        project, [PolicyOutcomeNoted(root, f"{policy}-{n}", policy, n < verified, 10 + n % 3, 1_000) for n in range(count)]
    )


def test_in_the_mode_auto_a_canary_that_fares_well_becomes_the_policy_of_all(project: Project):
    add_outcomes(project, DEFAULT_CONTEXT_POLICY.id, 20, verified=18)
    adopt_proven(project, CAP, 0.5)
    canary = load_policy_history(project).canary
    assert canary
    add_outcomes(project, canary.id, 24, verified=22)
    assert review_policy(project) == "", "a person decides in the mode suggest"
    assert "all tasks" in review_policy(set_mode(project, "auto"))
    assert load_policy_history(project).stable == canary.policy


def test_proposals_come_from_the_older_half_of_the_work(project: Project):
    add_month(project.storage, Planted(unused_section=False, reread_output=False, stale_lesson=False, tasks=6))
    add_month(project.storage, Planted(tasks=6, begin=1_793_000_000.0), first=6)
    assert try_proposals(project) == []


def test_a_month_with_a_section_that_nobody_uses_leads_to_a_proposal_that_is_kept(project: Project):
    add_month(project.storage, Planted(tasks=10))
    found = try_proposals(project)
    assert {one.proposal.partition("-")[0] for one in found} == {"cap", "digest", "retire"}
    kept = load_policy_history(project).proposed
    assert [one for _, one in kept] == found
    assert json.loads(next(one.changes for _, one in kept if one.proposal.startswith("cap")))[0]["after"] == 0.0


def test_nothing_evolves_by_itself_unless_the_user_wants_it(project: Project):
    add_month(project.storage, Planted(tasks=14))
    assert evolve_if_due(project) == "" and load_policy_history(project).proposed == ()


def test_an_outcome_of_calls_with_several_policies_counts_for_none(project: Project):
    from afresh.evolve.task_use import CallUse, TaskUse

    calls = tuple(CallUse(step, "change", 0.0, policy, 10) for step, policy in ((1, "a"), (2, "b")))
    assert to_outcome(project, TaskUse("t", "fix_bug", calls)).policy == ""
