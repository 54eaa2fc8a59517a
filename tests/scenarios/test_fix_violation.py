"""A person has complexity lowered without any model."""

import os
import signal
import sys

import pytest
from person import Person

from afresh.code import batch_suggestions

pytestmark = pytest.mark.reported

CHECK = f"{sys.executable} -m unittest -v"
FLAT = "def {name}(number):\n    assert locals()\n" + "".join(f"    if number == {n}:\n        return {n}\n" for n in range(14))


CONDITIONS = {"f": "value > {n}", "g": "{n} < value", "h": "not value <= {n}"}
"""Each is written in another way: pieces that are alike are cut out together or not at all."""


def tangled(name: str, word: str, extra: str = "") -> str:
    """A function with a piece of its own under a comment."""
    condition = CONDITIONS.get(name, "value > {n}")
    checks = "".join(f"        if {condition.format(n=n)}:\n            seen.append({n})\n" for n in range(6))
    rest = "".join(f"    if value == {n}:\n        seen.append(-{n})\n" for n in range(5))
    return f"def {name}(value, seen):\n    # Add {word} values\n    if value:\n{checks}\n{rest}{extra}    return seen\n"


def make_tests(*names: str) -> str:
    lines = [f"    def test_{name}(self):\n        self.assertEqual({name}(3, []), [0, 1, 2, -3])\n" for name in names]
    return "import unittest\n\nfrom calc import *\n\n\nclass T(unittest.TestCase):\n" + "\n".join(lines)


def fix(person: Person, *more: str, goal: str = "Bring calc.py down to a complexity of 10"):
    return person.types("run", goal, "--type", "fix_violation", "--check", CHECK, *more)


def shown(person: Person):
    return person.types("show", "--json").json


@pytest.fixture
def busy(person: Person) -> Person:
    """Three functions, and one of the changes fails a test."""
    spied = "    import inspect\n    assert chr(95) not in inspect.getsource(g)\n"
    person.write("calc.py", "\n\n".join([tangled("f", "large"), tangled("g", "high", spied), tangled("h", "huge")]))
    person.write("other.py", tangled("outside", "small"))
    person.write("test_calc.py", make_tests("f", "g", "h"))
    person.commit()
    return person


@pytest.mark.journey
def test_the_users_model_is_not_called_unless_it_is_named(busy: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(busy.folder / "config"))
    config = busy.folder / "config/afresh/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('model = "mine"\n[models.mine]\nprovider = "vllm"\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    told = fix(busy)
    assert told.code == 0 and "no model was called" in told.words, told.words


def test_functions_are_changed_together_and_only_the_one_that_fails_is_undone(busy: Person) -> None:
    told = fix(busy)
    assert told.code == 0, told.words
    state = shown(busy)
    assert state["status"] == "done" and state["kept"] >= 1
    commit = busy.git("show", f"{state['branch']}:calc.py")
    assert commit != busy.git("show", "HEAD:calc.py") and "violations 3 → 1" in told.words
    assert "left alone" in told.words and "g calc.py" in told.words and "tried and undone" in told.words


@pytest.mark.journey
def test_the_result_lists_each_function_that_was_changed(busy: Person) -> None:
    told = fix(busy)
    message = busy.git("log", "-1", "--format=%B", shown(busy)["branch"])
    for name in ("f", "h"):
        assert f"- {name} calc.py: complexity 13 -> 6" in message and f"{name} calc.py: complexity 13 -> 6" in told.words
    assert "2 functions" in told.words and "g calc.py: complexity" not in message


def test_a_stop_is_not_lost_while_offers_are_computed(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.write("calc.py", FLAT.format(name="f"))
    person.write("test_calc.py", "")
    person.commit()

    def stop_and_explain(*_: object) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "no reason"

    monkeypatch.setattr(batch_suggestions, "explain_missing_suggestion", stop_and_explain)
    told = fix(person)
    assert told.code == 130 and "stopped by SIGTERM" in told.words
    monkeypatch.undo()
    assert person.types("resume").code == 0 and shown(person)["status"] == "unchanged"
    undone = person.types("undo")
    assert undone.code == 1 and "no kept change is left to undo" in undone.words and "`afresh undo" not in undone.words


def test_nothing_outside_the_scope_of_the_goal_is_changed(busy: Person) -> None:
    fix(busy)
    assert busy.git("diff", "--name-only", "HEAD", shown(busy)["branch"]) == "calc.py"


def test_nothing_to_offer_is_an_outcome_of_its_own(person: Person) -> None:
    person.write("calc.py", FLAT.format(name="f"))
    person.write("test_calc.py", "")
    person.commit()
    told = fix(person)
    assert told.code == 0
    assert "unchanged" in told.words and "nothing to offer: f calc.py:1 (complexity 15): " in told.words
    state = shown(person)
    assert state["status"] == "unchanged" and state["calls"] == 0
    assert "unchanged" in person.types("show").words and "unchanged" in person.types("status", "--all").words
    refused = person.types("apply")
    assert refused.code != 0 and "has changed nothing" in refused.words


def test_what_the_projects_settings_allow_is_left_alone(busy: Person) -> None:
    busy.write("pyproject.toml", "[tool.ruff.lint]\nmccabe = {max-complexity = 13}\n")
    busy.commit()
    assert "within the project's own limit of 13" in fix(busy).words and shown(busy)["status"] == "unchanged"


BRACKETED = "[tool.ruff.lint]\nselect = ['D103', 'ANN001']\n"


@pytest.mark.parametrize(("setting", "status"), [("", "unchanged"), ("linters = false\n", "done")])
def test_a_change_that_the_projects_linter_refuses_is_undone_unless_linters_are_off(
    person: Person, setting: str, status: str
) -> None:
    """A new function without types is a finding more."""
    person.write("calc.py", tangled("f", "large"))
    person.write("test_calc.py", make_tests("f"))
    person.write("pyproject.toml", BRACKETED)
    if setting:
        person.write(".afresh/config.toml", setting)
    person.commit()
    told = fix(person)
    assert (told.code, shown(person)["status"]) == (0, status), told.words
    assert ("also checked: ruff (3 findings now)" in told.words) is (not setting)
    if not setting:
        assert "tried and undone: ruff: " in told.words and "ANN001" in told.words
