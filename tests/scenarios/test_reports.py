"""Tasks that end in a document: nothing else is changed, what it cites exists, and nobody claims that it is true."""

from dataclasses import replace
from pathlib import Path

import pytest
from person import Person
from verification_yard import PROJECT, Yard, make_yard

from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt
from afresh.context.sources.verification_status import gather_cited_lines
from afresh.core.context_item import Note
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Ruling
from afresh.memory.gathered_context import GatheredContext

PASS, FAIL = Ruling.PASS, Ruling.FAIL
GOOD = "# Review\nhalf divides by two at `sums.py:1`.\n"


def begun(root: Path, type: str, report: str, checks: tuple[str, ...] = ()) -> Yard:
    yard = make_yard(root, PROJECT, type=type, checks=checks)
    task = replace(yard.context.state.task, report=report)
    yard.context = replace(yard.context, state=replace(yard.context.state, task=task))
    yard.baseline()
    return yard


@pytest.fixture
def review(tmp_path: Path) -> Yard:
    return begun(tmp_path, "code_review", "REVIEW.md")


def test_a_report_that_cites_what_exists_passes_and_says_what_was_not_verified(review: Yard) -> None:
    review.folder.write("REVIEW.md", GOOD)
    verdict = review.grade()
    assert (verdict.ruling, verdict.final) == (PASS, True)
    assert verdict.reason == (
        "REVIEW.md: 1 citation, each leads to lines that exist; nothing else was changed. Whether it is true was not verified"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "REVIEW.md does not exist"),
        ("  \n", "REVIEW.md is empty"),
        ("All is well.\n", "cites no `path:line`"),
        ("See sums.py:900.\n", "cites what is not there: sums.py:900 (the file has"),
        ("See gone.py:1.\n", "gone.py:1 (no such file)"),
    ],
)
def test_a_report_that_is_missing_or_cites_nothing_that_exists_is_refused(review: Yard, text: str | None, why: str) -> None:
    if text is not None:
        review.folder.write("REVIEW.md", text)
    verdict = review.grade()
    assert verdict.ruling is FAIL and why in verdict.reason


def test_a_report_that_was_there_before_must_have_been_written_on(tmp_path: Path) -> None:
    yard = begun(tmp_path, "code_review", "sums.py")
    assert "sums.py is as it was before the task, or git ignores it" in yard.grade().reason


def test_after_a_step_the_same_is_told_and_nothing_is_undone(review: Yard) -> None:
    review.folder.write("REVIEW.md", "See sums.py:900.\n")
    verdict = review.step("REVIEW.md")
    assert verdict.ruling is PASS and verdict.reason.startswith("still to fix: REVIEW.md cites what is not there: sums.py:900")


def test_a_file_beside_the_report_is_put_back_and_refuses_completion(review: Yard) -> None:
    review.folder.write("REVIEW.md", GOOD)
    review.change("sums.py", "a / 2", "a * 0.5")
    step, final = review.step("REVIEW.md", "sums.py"), review.grade()
    assert (step.ruling, step.strays) == (PASS, ("sums.py",)) and "a code_review writes only REVIEW.md: sums.py" in step.reason
    assert (final.ruling, final.strays) == (FAIL, ("sums.py",))


def test_a_specification_may_speak_of_new_files_but_only_if_it_says_so(tmp_path: Path) -> None:
    spec = begun(tmp_path, "spec_design", "docs/cache.md")
    spec.folder.write("docs/cache.md", "Add `tests/test_cache.py` for `sums.py`.\n")
    refused = spec.grade()
    assert refused.ruling is FAIL and "tests/test_cache.py (no such file" in refused.reason
    spec.folder.write("docs/cache.md", "Add `tests/test_cache.py` (new) for `sums.py`.\n")
    assert spec.grade().ruling is PASS


def test_checks_that_the_user_gave_must_pass_as_well(tmp_path: Path) -> None:
    yard = begun(tmp_path, "discovery", "DISCOVERY.md", ("grep -q divides DISCOVERY.md",))
    yard.folder.write("DISCOVERY.md", "See sums.py:1.\n")
    refused = yard.grade()
    assert refused.ruling is FAIL and "must exit 0" in refused.reason
    yard.folder.write("DISCOVERY.md", GOOD)
    passed = yard.grade()
    assert passed.ruling is PASS and passed.reason.startswith("DISCOVERY.md: 1 citation") and "exit 0" in passed.reason


def test_a_review_from_the_command_line_to_a_commit_that_holds_only_the_review(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    before = person.belongings()
    meddle = [("edit", {"path": "calc.py", "new": "def double(x):\n    return 2 * x\n"})]
    loose = ("edit", {"path": "REVIEW.md", "new": "double adds two, calc.py:22\n"})
    mended = ("edit", {"path": "REVIEW.md", "old": "calc.py:22", "new": "`calc.py:2`"})
    litter = ("run", {"command": "echo x > out.txt"})
    finish = ("complete", {"summary": "Review of calc.py\n\nOne finding of high severity."})
    told = person.types(
        "run", "Review calc.py", "--type", "code_review", "--json",
        "--model", person.script([("read", {"path": "calc.py"}), litter], meddle, [loose, finish], [mended, finish]),
    )  # fmt: skip
    assert told.code == 0, told.words
    shown = person.shown()
    assert shown["task"]["report"] == "REVIEW.md" and shown["task"].get("checks", []) == []
    outcomes = [step["outcome"] for step in shown["recent"]]
    assert outcomes[0].endswith(": put back, since a code_review writes only REVIEW.md: out.txt")
    assert outcomes[1].endswith(": put back, since a code_review writes only REVIEW.md: calc.py")
    assert "not accepted: REVIEW.md cites what is not there: calc.py:22 (the file has 2 lines)" in outcomes[2]
    assert [change["path"] for change in told.json["changes"]] == ["REVIEW.md"]
    assert "Whether it is true was not verified" in told.json["reason"]
    assert person.git("show", "--stat", "--format=", told.json["commit"]).startswith("REVIEW.md")
    assert [fact["subject"] for fact in shown["facts"] if fact["kind"] == "failed_approach"] == ["changing calc.py"], (
        "what a command littered is no approach that failed"
    )
    assert person.types("context", "verify").code == 0
    assert person.belongings() == before


def test_what_a_report_cites_is_shown_beside_it_as_it_stands(review: Yard) -> None:
    first = PROJECT["sums.py"].splitlines()[0]
    review.folder.write("REVIEW.md", "half divides at `sums.py:1`, and `sums.py:1-2` again, not at sums.py:900 or gone.py:1.\n")
    found = list(gather_cited_lines(review.context.state, review.context.files))
    assert found == [Note("cited", "sums.py:1", first), Note("cited", "sums.py:1-2", first)]
    state = replace(review.context.state, workspace=replace(review.context.state.workspace, changed=("REVIEW.md",)))
    window = build_prompt(GatheredContext(state, tuple(found)), load_template("code_review"), (), 4_000, EstimatingCounter())
    assert f"sums.py:1  {first}\nsums.py:1-2  {first}" in window.request.message
