"""`afresh fingerprint`, and the checks of a task for which nobody names any: found, tried in the sandbox, kept."""

import json
import socket
import sys
from pathlib import Path

import pytest
from person import Person

pytestmark = pytest.mark.reported

WORKFLOW = "jobs:\n  a:\n    steps:\n      - run: {}\n"


@pytest.fixture(autouse=True)
def confined(requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    requires_sandbox()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")


def kept(person: Person) -> dict:
    return json.loads((person.state / "tests.json").read_text())


def test_the_levels_are_told_to_a_person_and_to_a_script(person: Person) -> None:
    plain = person.types("code", "profile", "--type", "fix_bug", "--for", "double is wrong")
    assert plain.code == 0 and "# project\nproject: the repository; Python" in plain.out
    assert "# type\nfor fix_bug: " in plain.out and "# task\nlikely about: calc.py\n" in plain.out
    told = person.types("code", "profile", "--json").json
    assert told["project"]["text"] in plain.out and told["tests"][0]["holds"]


def test_how_a_run_ended_is_told_only_of_the_files_that_it_ran_on(person: Person) -> None:
    assert "runs: 1 of 2 tests fails" in person.types("init").out
    before = kept(person)
    person.types("init")
    assert kept(person) == before, "nothing was changed, so nothing was tried"
    person.write("calc.py", "def double(x):\n    return 2 * x\n")
    assert "runs: 2 tests pass" in person.types("init").out
    person.commit()
    assert "runs: 2 tests pass" in person.types("init").out
    person.write("test_calc.py", "def test_red():\n    assert False\n")
    person.commit()
    assert not person.types("code", "profile", "--json").json["tests"][0]["ran"]
    assert "runs: 1 of 1 test fails" in person.types("init").out


def test_checks_of_the_settings_are_tried_too(person: Person) -> None:
    person.write(".afresh/config.toml", 'checks = ["python -m unittest -q", "no-such-program"]\n')
    told = person.types("init").words
    assert "checks: python -m unittest -q, no-such-program (runs: 1 of 2 tests fails)" in told
    assert "no-such-program: exit 127" in told


def test_a_task_gets_the_command_that_was_seen_to_find_tests(person: Person) -> None:
    person.write(".github/workflows/ci.yml", WORKFLOW.format("python -m pytest -q --no-such-option"))
    person.commit()
    assert person.types("add", "x", "--json").json["checks"] == ["python -m pytest -q"]


HOSTILE = "import os, pathlib, socket\n" + "".join(
    f"try:\n    {attempt}\nexcept OSError:\n    pass\n"
    for attempt in (
        "pathlib.Path('{repo}/calc.py').write_text('stolen')",
        "pathlib.Path('{repo}/.afresh/config.toml').write_text('checks = [\"true\"]')",
        "pathlib.Path('{home}/owned').write_text('x')",
        "socket.create_connection(('127.0.0.1', {port}), 1).close()",
    )
)


def test_a_hostile_repository_gets_nowhere(person: Person) -> None:
    """Its code runs when its tests are looked for: inside the sandbox, on a copy."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        text = HOSTILE.replace("{repo}", str(person.repo)).replace("{home}", str(person.folder))
        person.write("conftest.py", text.replace("{port}", str(server.getsockname()[1])))
        person.write("Makefile", "test:\n\ttouch ../made; pytest\n")
        person.write(".github/workflows/ci.yml", WORKFLOW.format(f"pytest && touch {person.folder}/ran"))
        person.commit()
        before = person.belongings()
        told = person.types("code", "profile", "--try", "--json").json["tests"]
        with pytest.raises(TimeoutError):
            server.accept()
    assert any(one["ran"] for one in told), told
    assert person.belongings() == before
    assert not [name for name in ("owned", "made", "ran") if (person.folder / name).exists()]
    assert {one["said"] for one in told if one["source"].startswith("Makefile")} == {"';' is more than a plain command"}


def test_without_a_sandbox_nothing_is_run_and_that_is_said(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    from afresh.app.orders import choose_checks as checks
    from afresh.errors import NoSandbox

    def none(*_, **__):
        raise NoSandbox("nothing holds", next="", safe="")

    monkeypatch.setattr(checks, "choose_sandbox", none)
    person.write("conftest.py", f"open({str(person.folder / 'ran')!r}, 'w')\n")
    assert "python -m pytest -q (not tried: no sandbox on this machine)" in person.types("init").out
    assert not (person.folder / "ran").exists()


def test_a_person_has_a_level_of_their_own_and_no_project_is_in_it(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    own = person.folder / "config" / "afresh"
    own.mkdir(parents=True)
    (own / "AGENT.md").write_text("- Prefer hypothesis.\n")
    person.types("memory", "add", "Never use black.", "--everywhere")
    person.types("memory", "add", "Canary of this project: use poetry.")
    person.write("AGENT.md", "- Canary: use tox.\n")
    told = person.types("code", "profile", "--level", "user").out
    assert "in the user's words: Prefer hypothesis; Never use black" in told
    assert "anary" not in told and "poetry" not in told and "tox" not in told


def test_the_project_level_is_written_into_a_section_of_its_own_and_renewed_there(person: Person) -> None:
    person.write(".afresh/AGENT.md", "Be kind.\n\n## Testing\nOne behaviour a test.\n")
    for _ in range(2):
        assert "wrote .afresh/AGENT.md" in person.types("code", "profile", "--write").words
    text = (person.repo / ".afresh/AGENT.md").read_text()
    assert text.startswith("Be kind.\n\n## Testing\nOne behaviour a test.\n\n## Project fingerprint (generated by afresh)\n")
    assert text.count("generated by afresh") == 1 and "Python" in text
    (person.repo / ".afresh/AGENT.md").write_text(text + "\n## Mine\nStays.\n")
    assert person.types("code", "profile", "--write").code == 0
    after = (person.repo / ".afresh/AGENT.md").read_text()
    assert after.endswith("\n\n## Mine\nStays.\n") and after.count("generated by afresh") == 1
