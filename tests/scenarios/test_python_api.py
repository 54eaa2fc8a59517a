"""afresh as a library: the same task, journal and checks as with the command line."""

import contextlib
import re
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, Person, Step

import afresh
from afresh.core import progress_event as progress

pytestmark = pytest.mark.reported

ASK: Step = ("ask", {"question": "Multiply or shift?", "options": ["multiply: plain", "shift: fast"]})
PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_a_run_returns_what_the_command_line_shows(person: Person) -> None:
    seen: list[progress.ProgressEvent] = []
    result = afresh.run(
        "double is wrong", repo=person.repo, model=person.script([MEND], [COMPLETE]), type="fix_bug", checks=CHECK,
        no_sandbox=True, on_progress=seen.append,
    )  # fmt: skip
    shown = person.shown(result.task)
    assert result.verified and result.status == shown["status"] == "done" and result.reason == shown["outcome"]
    assert result.verdict and result.verdict.ruling == "PASS" and result.evidence and result.question is None
    assert result.summary.startswith("Multiply instead of adding") and result.changed == ("calc.py",)
    assert (result.branch, result.commit, result.steps) == (shown["branch"], shown["commit"], shown["step"])
    assert (result.cost.calls, result.cost.input_tokens) == (2, shown["cost"]["input"]) and result.cost.dollars == 0.0
    assert result.read_diff() == person.types("diff", result.task).out and "+    return x * 2" in result.read_diff()
    kinds = [type(event) for event in seen]
    assert kinds.index(progress.CallBegan) < kinds.index(progress.ActionBegan) < len(kinds)
    applied = afresh.apply(result)
    assert applied.status == "applied" and "x * 2" in (person.repo / "calc.py").read_text()
    with pytest.raises(afresh.errors.NotPossible, match="already applied"):
        afresh.apply(result.task, repo=person.repo)


def test_a_question_comes_back_as_data_and_its_answer_goes_on(person: Person) -> None:
    model = person.script([ASK], [MEND], [COMPLETE])
    asked = afresh.run("double is wrong", repo=person.repo, model=model, type="fix_bug", checks=[CHECK], no_sandbox=True)
    assert asked.question and asked.status == "blocked" and not asked.verified
    assert asked.question.text == "Multiply or shift?" and asked.question.asked_by == "model"
    assert [(one.number, one.name, one.means) for one in asked.question.options] == [
        (1, "multiply", "plain"),
        (2, "shift", "fast"),
    ]
    with pytest.raises(afresh.errors.NotPossible):
        afresh.apply(asked)
    done = afresh.resume(asked.task, answer="1", repo=person.repo, no_sandbox=True)
    assert done.verified and done.task == asked.task
    assert person.shown(done.task)["words"] == ["multiply: plain"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"chekcs": CHECK}, TypeError),
        ({"mode": "interactive"}, afresh.errors.BadInput),
        ({"max_steps": 0}, afresh.errors.BadInput),
        ({"type": "no_such_type"}, afresh.errors.BadInput),
        ({"model": ""}, afresh.errors.NeedsPerson),
    ],
)
def test_a_wrong_order_leaves_no_task(person: Person, options: dict[str, object], error: type[Exception]) -> None:
    given = {"repo": person.repo, "model": person.script([MEND]), "checks": CHECK} | options
    with pytest.raises(error):
        afresh.run("double is wrong", **given)  # pyright: ignore
    assert person.types("status", "--all").out.startswith("no tasks yet")


def test_the_lines_of_the_page_work(person: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    config = person.folder / "config" / "afresh"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f'model = "{person.script([ASK])}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parent))
    person.write(".afresh/config.toml", f'checks = ["{CHECK}"]\n')
    names: dict[str, object] = {}
    with contextlib.chdir(person.repo):
        for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            exec(compile(block, PAGE.name, "exec"), names)
    said = capsys.readouterr().out
    assert "blocked" in said and "the time is over" in said
