"""An editor drives afresh: a real client, a real process, real pipes."""

import asyncio
import os
from pathlib import Path

import pytest
from editor import Editor, start_editor
from own_loop import run_apart
from person import CHECK, MEND, Person, Step

from afresh.acp.session import TurnStop

pytestmark = [pytest.mark.journey, pytest.mark.reported]

PLAN: Step = ("plan", {"items": ["multiply", "check it"]})
ASK: Step = ("ask", {"question": "Multiply or shift?", "options": ["multiply: plain", "shift: fast"]})
RUN: Step = ("run", {"command": "echo printed by a command"})


def answer(text: str) -> Step:
    return ("complete", {"summary": text})


@pytest.mark.daily
def test_a_turn_shows_plan_calls_and_diffs_asks_and_is_applied(person: Person) -> None:
    script = person.script([PLAN, ASK], [RUN], [MEND], [answer("It multiplies now.")])

    async def talk() -> None:
        async with start_editor(person, "--check", CHECK, "--model", script) as editor:
            session = await editor.opens(person.repo)
            editor.answers = ["1"]
            assert await editor.says(session, "double is wrong") == "end_turn"
            check_turn(editor, person.repo)
            assert await editor.says(session, "/diff") == "end_turn" and "+    return x * 2" in editor.text()
            assert "x + 2" in (person.repo / "calc.py").read_text(), "nothing is in the checkout before /apply"
            await editor.says(session, "/apply")
            assert "The next message goes on from here." in editor.text()
            assert "x * 2" in (person.repo / "calc.py").read_text()
            editor.answers = ["own-words"]
            assert await editor.says(session, "now triple it") == "end_turn"
            assert editor.text().endswith("2. shift: fast"), "the question waits for the next message"

    run_apart(talk())
    first, second = person.types("status", "--json").json["tasks"]
    assert (first["status"], second["status"]) == ("applied", "blocked") and second["task"].endswith("01")
    assert person.shown(second["task"])["start"]["follows"] == first["task"]


def test_a_turn_can_be_stopped_and_goes_on_after_the_process_was_killed(person: Person) -> None:
    pipe = person.folder / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # never waits for a reader
    wait: Step = ("run", {"command": f"head -n1 {pipe}"})
    options = ("--check", CHECK, "--model", person.script([ASK], [wait, MEND], [answer("It multiplies now.")]))

    async def stop() -> str:
        async with start_editor(person, *options) as editor:
            session = await editor.opens(person.repo)
            editor.answers = ["never"]
            turn = asyncio.create_task(editor.says(session, "double is wrong"))
            await editor.waits_for(lambda: bool(editor.asked))
            assert "a turn is running" in await editor.is_refused(editor.says(session, "and triple?"))
            await editor.agent.cancel(session_id=session)
            assert await turn == "cancelled"
            turn = asyncio.create_task(editor.says(session, "1"))
            await editor.waits_for(lambda: f"run head -n1 {pipe}" in editor.calls())
            await editor.agent.cancel(session_id=session)
            assert [one.session_id for one in (await editor.agent.list_sessions(cwd=str(person.repo))).sessions] == [session]
            os.write(writer, b"go\n")
            assert await turn == "cancelled" and "edit calc.py" not in editor.calls(), "it stops between two actions"
            editor.process.kill()
            return session

    async def go_on(session: str) -> None:
        async with start_editor(person, *options) as editor:
            await editor.agent.load_session(cwd=str(person.repo), session_id=session, mcp_servers=[])
            assert editor.text("user_message_chunk") == "double is wrong\nmultiply: plain"
            assert "The last turn was interrupted." in editor.text() and "Multiply or shift?" in editor.text()
            turn = asyncio.create_task(editor.says(session, "/continue"))
            await editor.waits_for(lambda: f"run head -n1 {pipe}" in editor.calls())
            os.write(writer, b"go\n")
            assert await turn == "end_turn" and "It multiplies now." in editor.text()

    run_apart(go_on(run_apart(stop())))
    os.close(writer)
    (task,) = person.types("status", "--json").json["tasks"]
    assert task["status"] == "done"


def test_errors_say_what_to_do_and_a_supervised_turn_asks_before_each_phase(person: Person) -> None:
    script = person.script([MEND], [answer("It multiplies now.")])

    async def talk() -> None:
        async with start_editor(person, "--check", CHECK) as editor:
            assert "is not in a git repository" in await editor.is_refused(editor.opens(person.folder))
            assert "no such session" in await editor.is_refused(editor.says("gone", "double is wrong"))
            session = await editor.opens(person.repo)
            assert "`afresh setup` chooses one" in await editor.is_refused(editor.says(session, "double is wrong"))
            assert person.types("status", "--all").out.startswith("no tasks yet")
            await editor.says(session, "/nothing")
            assert "no such command: /nothing" in editor.text()
            await editor.agent.set_session_mode(session_id=session, mode_id="supervised")
            assert "no such mode" in await editor.is_refused(editor.agent.set_session_mode(session_id=session, mode_id="wild"))
            await editor.agent.set_config_option(config_id="model", session_id=session, value=script)
            editor.answers = ["1", "1"]
            assert await editor.says(session, "double is wrong") == "end_turn" and "It multiplies now." in editor.text()
            first, last = (title for title, _ in editor.asked)
            assert first.startswith("About to make the first change") and last.startswith("About to verify the result")
            await editor.says(session, "/undo")
            assert "Files still changed: none." in editor.text()

    run_apart(talk())


def check_turn(editor: Editor, repo: Path) -> None:
    commands = [update for update in editor.updates if update.session_update == "available_commands_update"]
    assert {"undo", "diff", "apply", "continue"} <= {one.name for one in commands[0].available_commands}
    plans = [update for update in editor.updates if update.session_update == "plan"]
    assert [(entry.content, entry.status) for entry in plans[0].entries] == [("multiply", "in_progress"), ("check it", "pending")]
    assert editor.asked == [
        (
            "Multiply or shift?",
            [("1", "multiply: plain"), ("2", "shift: fast"), ("own-words", "stop here; I answer in my own words")],
        )
    ]
    calls = editor.calls()
    edit, run = calls["edit calc.py"], calls["run echo printed by a command"]
    assert (edit["kind"], edit["status"], edit["locations"][0].path) == ("edit", "completed", str(repo / "calc.py"))
    (diff,) = edit["content"]
    assert (diff.path, diff.old_text) == (
        str(repo / "calc.py"),
        "def double(x):\n    return x + 2\n",
    ) and "x * 2" in diff.new_text
    assert run["kind"] == "execute" and "printed by a command" in run["content"][0].content.text
    shown = calls["Running every check"]["content"][0].content.text
    assert calls["Running every check"]["status"] == "completed" and shown.count(" passed") == 1, shown
    assert "It multiplies now." in editor.text() and "/apply merges it" in editor.text()


def test_a_stop_that_comes_while_a_question_is_sent_ends_it() -> None:
    stop, ended = TurnStop(), list[str]()
    stop.request()
    stop.end_question_by(lambda: ended.append("at once"))
    assert ended == ["at once"]
    later = TurnStop()
    later.end_question_by(lambda: ended.append("later"))
    assert ended == ["at once"]
    later.request()
    assert ended == ["at once", "later"]
