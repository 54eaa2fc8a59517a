"""At the command line: a run that gets nowhere by the user's own thresholds ends in the inbox with the evidence."""

import pytest
from person import COMPLETE, MEND, Person

from afresh.app.settings import RepositorySettings, Settings
from afresh.config.settings_file import read_settings_file
from afresh.core.states.progress_state import StallThresholds
from afresh.errors import BadInput

LOOK = [("run", {"command": "cat test_calc.py"})]


def test_it_stops_by_the_users_thresholds_with_the_evidence_and_an_answer_lets_it_go_on(
    person: Person, requires_sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    requires_sandbox()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    config = person.folder / "config/afresh/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[no_progress]\nrepeats = [0, 0, 2]\n")
    told = person.runs(person.script(LOOK, LOOK, [MEND], [COMPLETE]), "--json")
    assert told.code == 3 and (told.json["status"], told.json["steps"]) == ("blocked", 2)
    (waiting,) = person.types("answer", "--json").json
    assert "The task is stuck: steps 1 and 2" in waiting["question"] and [one["option"] for one in waiting["options"]] == [
        "go on",
        "another way",
    ]
    assert "no progress (" in person.types("show", "--decisions").words and "stopped" in person.types("show", "--decisions").words
    assert person.types("answer", "2", "--resume", "--json").json["status"] == "done"
    assert person.types("context", "verify").code == 0


def test_the_table_sets_what_it_names_and_leaves_the_rest(tmp_path) -> None:
    (tmp_path / "config.toml").write_text("[no_progress]\nrepeats = [9]\nidle_tokens = []\nforget = 2\n")
    read = read_settings_file(tmp_path / "config.toml", Settings)["no_progress"]
    assert read == StallThresholds(repeats=(9,), idle_tokens=(), forget=2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[no_progress]\nrepeats = 3\n", "no_progress.repeats should be a list of whole numbers"),
        ("[no_progress]\nrepeats = [-1]\n", "no_progress.repeats should be a list of whole numbers"),
        ("[no_progress]\nrepeats = [true]\n", "no_progress.repeats should be a list of whole numbers"),
        ("[no_progress]\nlooping = [1]\n", "no_progress: unknown setting looping"),
    ],
)
def test_what_is_no_threshold_is_refused(tmp_path, text: str, why: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(BadInput, match=why):
        read_settings_file(tmp_path / "config.toml", Settings)


def test_a_repository_can_not_set_them(tmp_path) -> None:
    (tmp_path / "config.toml").write_text("[no_progress]\nrepeats = []\n")
    with pytest.raises(BadInput, match="no_progress can't be set in this file"):
        read_settings_file(tmp_path / "config.toml", RepositorySettings)
