import json

from click.testing import CliRunner

from afresh.cli.code import violations_command as command

TEXT = "def f(number):\n" + "".join(f"    if number == {n}:\n        return {n}\n" for n in range(12))


def run(tmp_path, monkeypatch, *arguments):
    monkeypatch.chdir(tmp_path)
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False).output


def test_a_person_sees_function_place_measure_and_cause(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text(TEXT)
    shown = run(tmp_path, monkeypatch)
    assert "f  m.py:1" in shown and "13 complexity" in shown and "12 × if" in shown
    assert "1 function is over a limit" in shown


def test_a_program_gets_the_same_as_json(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text(TEXT)
    told = json.loads(run(tmp_path, monkeypatch, "--json", "--no-offers"))
    assert told["number"] == 1 and told["violations"][0]["function"] == "f"
    assert {"code": "C901", "limit": 10, "name": "complexity", "value": 13} in told["violations"][0]["measures"]


def test_a_clean_tree_is_said_to_be_clean(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text("a = 1\n")
    assert "No function is over a complexity limit" in run(tmp_path, monkeypatch)
