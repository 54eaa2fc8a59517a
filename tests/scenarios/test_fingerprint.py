"""`afresh fingerprint`, and the checks of a task for which nobody names any: found, tried in the sandbox, kept."""

import json
import socket
import sys
from pathlib import Path

import pytest
from person import Person

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


def test_one_level_alone(person: Person) -> None:
    out = person.types("code", "profile", "--level", "type", "--type", "write_tests").out
    assert out.startswith("# type\nfor write_tests: ") and "# project" not in out


def test_a_command_is_tried_before_it_is_told(person: Person) -> None:
    told = person.types("code", "profile", "--json").json["tests"]
    assert (told[0]["command"], told[0]["tests"], told[0]["ran"]) == ("python -m pytest -q", 2, False)
    ran = person.types("code", "profile", "--try", "--json").json["tests"]
    assert (ran[0]["ran"], ran[0]["exit"], ran[0]["holds"]) == (True, 1, True), "they run, and one fails, as it should"


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


def test_no_check_is_better_than_one_that_finds_nothing(person: Person) -> None:
    (person.repo / "test_calc.py").unlink()
    person.write("test_nothing.py", "x = 1\n")
    assert "no check was given and none was found" in person.types("add", "x").err
    assert person.types("add", "x", "--no-check", "--json").json["checks"] == []


def test_tests_that_can_not_be_imported_are_still_the_tests(person: Person) -> None:
    person.write("calc.py", "def double(x:\n")
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


def test_what_is_tried_leaves_nothing_behind(person: Person) -> None:
    person.write("test_calc.py", "def test_a():\n    open('left', 'w')\n")
    before = person.belongings()
    person.types("code", "profile", "--try")
    assert person.belongings() == before and not list(person.state.glob("trial-*"))


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


def test_the_written_section_hides_no_rule_of_the_project(person: Person) -> None:
    person.write("AGENTS.md", "# Rules\nNever use print.\n")
    assert "wrote AGENTS.md" in person.types("code", "profile", "--write").words
    assert "Never use print." in person.types("instructions").words
    person.write(".afresh/AGENT.md", "Be kind.\n")
    for command in ("init", "instructions"):
        assert "AGENTS.md is not read: .afresh/AGENT.md goes before it" in person.types(command).words


def test_patterns_that_were_learnt_are_part_of_the_user_level(
    person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "afresh" / "patterns" / "approved"
    folder.mkdir(parents=True)
    (folder / "PT-1a2b3c4d-x.md").write_text(
        "---\ntitle: Close files before they are renamed\nuses: 3\n---\n## What worked\nClose.\n"
    )
    assert (
        "learnt in the user's projects: Close files before they are renamed"
        in person.types("code", "profile", "-l", "user").words
    )
