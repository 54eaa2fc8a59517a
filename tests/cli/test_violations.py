import json
import shlex
import subprocess
import sys
from pathlib import Path

import yaml
from click.testing import CliRunner

from afresh.app.code.violations import ComplexityMeasure, Violation
from afresh.cli.main import root_command
from afresh.cli.render.annotations import render_github_annotation

TEXT = "def f(number):\n" + "".join("\n" * (n == 3) + f"    if number == {n}:\n        return {n}\n" for n in range(12))


def run(tmp_path, monkeypatch, *arguments):
    monkeypatch.chdir(tmp_path)
    return CliRunner().invoke(root_command, ["code", "violations", *arguments], catch_exceptions=False).output


def test_a_person_sees_function_place_measure_and_cause(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text(TEXT)
    shown = run(tmp_path, monkeypatch)
    assert "f  m.py:1" in shown and "13 complexity" in shown and "12 × if" in shown
    assert "1 function is over a limit" in shown


def test_a_program_gets_the_same_as_json(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text(TEXT)
    told = json.loads(run(tmp_path, monkeypatch, "--json"))
    assert told["number"] == 1 and told["violations"][0]["function"] == "f"
    assert {"code": "C901", "limit": 10, "name": "complexity", "value": 13} in told["violations"][0]["measures"]


def test_a_clean_tree_is_said_to_be_clean(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text("a = 1\n")
    assert "No function is over a complexity limit" in run(tmp_path, monkeypatch)


def test_a_workflow_gets_an_annotation_for_each_function(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text(TEXT)
    [line] = run(tmp_path, monkeypatch, "--format", "github", "--fail-over", "9").splitlines()
    head, _, message = line.removeprefix("::warning ").partition("::")
    assert head == "file=m.py,line=1,title=C901 PLR0911"
    assert message == "f: complexity 13 (limit 10), returns 12 (limit 6)"
    assert "extract 18 lines of f in m.py" in run(tmp_path, monkeypatch, "--format", "github")
    (tmp_path / "m.py").write_text(TEXT.replace("number):\n", "number):\n    assert locals()\n"))
    assert "no fix available" in run(tmp_path, monkeypatch, "--format", "github")


def test_what_an_annotation_may_not_contain_is_escaped():
    one = Violation("a,b:c%.py", 3, "f", (ComplexityMeasure("C901", "complexity", 13, 10),), {}, 1, 13, why_not="50 %\nor so")
    line = render_github_annotation(one)
    assert line.startswith("::warning file=a%2Cb%3Ac%25.py,line=3,title=C901::") and line.endswith(": 50 %25%0Aor so")


def test_code_scanning_gets_sarif(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text(TEXT)
    told = json.loads(run(tmp_path, monkeypatch, "--format", "sarif"))
    assert told["version"] == "2.1.0" and told["$schema"].endswith("sarif-2.1.0.json")
    [scan] = told["runs"]
    [result] = scan["results"]
    rule = scan["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "C901" and result["level"] == "warning" and result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "m.py" and place["region"] == {"startLine": 1}
    (tmp_path / "m.py").write_text("")
    assert json.loads(run(tmp_path, monkeypatch, "--format", "sarif"))["runs"][0]["results"] == []


def test_the_pre_commit_hook_fails_for_a_function_over_the_limit_only(tmp_path):
    [hook] = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    program, *arguments = shlex.split(hook["entry"])
    assert hook["id"] == "afresh-violations" and program == "afresh"
    (tmp_path / "bad.py").write_text(TEXT)
    (tmp_path / "good.py").write_text("a = 1\n")
    command = [sys.executable, "-m", "afresh.cli.main", *arguments]
    ends = {name: subprocess.run([*command, name], cwd=tmp_path, capture_output=True) for name in ("bad.py", "good.py")}
    assert {name: done.returncode for name, done in ends.items()} == {"bad.py": 1, "good.py": 0}
    assert b"13 complexity" in ends["bad.py"].stdout
