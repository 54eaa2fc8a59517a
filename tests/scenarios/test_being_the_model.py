"""A program and a person behind the mailbox."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from person import Person

PROGRAM = Path(__file__).parents[2] / "examples" / "mailbox_model.py"


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


def test_the_example_is_a_model(person: Person) -> None:
    box = person.folder / "box"
    model = subprocess.Popen([sys.executable, PROGRAM, box])
    try:
        told = person.runs(f"mailbox:{box}?timeout=100", "--json")
    finally:
        model.kill()
        model.wait()
    assert told.json["status"] == "blocked", told.err
    assert person.shown()["question"] == "May I change calc.py?"
    assert not list(box.glob("*.problem.txt"))


def test_a_reply_that_comes_after_the_time_is_taken_by_resume(person: Person) -> None:
    box = person.folder / "box"
    late = person.runs(f"mailbox:{box}?timeout=0.2", "--json")
    assert late.code == 4 and "stays open" in late.error["what"] and "afresh resume" in late.error["next"]
    (waiting,) = person.types("mailbox", str(box), "--list", "--json").json
    assert waiting["number"] == 1 and not waiting["waited"] and "calc.py" in person.types("mailbox", str(box)).out
    wrong = person.types("mailbox", str(box), "ask", "questions=Which?")
    assert wrong.code == 2 and "unknown argument questions" in wrong.err and "nothing was posted" in wrong.err
    assert person.types("mailbox", str(box), "ask", "question=Which?", "-t", "unclear").code == 0
    assert person.types("resume", "--json").json["status"] == "blocked" and person.shown()["question"] == "Which?"
    assert person.types("mailbox", str(box), "--list").out == "No open requests.\n"
    over = person.types("mailbox", str(box), "--wait", "5", "--json")
    assert over.code == 2 and over.error["what"].endswith("is blocked: asks: Which?") and "`afresh answer " in over.error["next"]
    assert "no open requests" in person.types("mailbox", str(box)).err, "an end is told once"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("edit", "path=a.py", "new=@missing.txt"), "can't be read"),
        (("read", "path"), "invalid argument"),
        (("read", "path=a.py", "start=x"), "start: should be integer"),
        (("--request", "nobody", "read", "path=a.py"), "no open request"),
    ],
)
def test_what_is_typed_wrongly_is_refused(box: Path, person: Person, words: tuple[str, ...], problem: str) -> None:
    told = person.types("mailbox", str(box), *words)
    assert told.code == 2 and problem in told.err and not list(box.glob("*.reply.json"))


@pytest.mark.parametrize(("typed", "kept"), [("@@x", "@x"), ("a=b", "a=b"), ("@text", "of a file\n"), ("3", "3")])
def test_texts_are_taken_as_they_are_typed(box: Path, person: Person, typed: str, kept: str) -> None:
    (person.folder / "text").write_text("of a file\n")
    typed = f"@{person.folder}/text" if typed == "@text" else typed
    assert person.types("mailbox", str(box), "edit", "path=a.py", f"new={typed}").code == 0
    (reply,) = box.glob("*.reply.json")
    assert json.loads(reply.read_text())["actions"][0]["args"] == {"path": "a.py", "new": kept}


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """With one open request, which offers the real tools."""
    from afresh.actions.tools.registry import TOOLS
    from afresh.errors import TryAgain
    from afresh.models.mailbox import MailboxModel, MailboxTimeouts
    from support.model_contract import make_sample_request

    with pytest.raises(TryAgain):
        MailboxModel(tmp_path / "box", patience=MailboxTimeouts(reply=0.01), task="t-1").propose(
            make_sample_request(tools=tuple(tool.schema for tool in TOOLS))
        )
    return tmp_path / "box"
