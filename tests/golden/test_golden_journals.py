"""Journals that were written before open, verify and go on: what is on disk depends on no name in the code."""

import json
import re
import shutil
from pathlib import Path

import pytest

from afresh.app.project import open_project
from afresh.context.rebuild_call import reassemble_request
from afresh.core.event import EVENT_CLASS_BY_TAG, CallRequested, JournalHead
from afresh.core.hash_chain import link_events, read_entry

HERE = Path(__file__).parent


def test_each_kind_of_entry_is_read_and_written_again_to_the_byte():
    head, seen = JournalHead(), list[str]()
    for line in (HERE / "every_kind.jsonl").read_text("utf-8").splitlines():
        stored = json.loads(line)
        entry = read_entry(stored["body"], head, stored["hash"])
        [again] = link_events(entry.task, head, entry.at, [entry.event])
        assert (again.body, again.hash) == (stored["body"], stored["hash"])
        head = JournalHead(entry.seq, entry.hash)
        seen.append(json.loads(stored["body"])["kind"])
    assert seen == list(EVENT_CLASS_BY_TAG), "make_golden.py writes them anew"


class Altered:
    """A store in which one word of every prompt was changed afterwards."""

    def __init__(self, store) -> None:
        self.store = store

    def read(self, block: str) -> str:
        return self.store.read(block).replace("calc", "call")


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from person import Person

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    one = Person(tmp_path)
    one.repo.mkdir()
    one.git("init", "-q", "-b", "main")
    one.write("calc.py", "def double(x):\n    return x + 2\n")
    one.commit()
    shutil.copytree(HERE / "story", tmp_path / "export")
    told = one.types("import", str(tmp_path / "export"))
    assert told.code == 0, told.words
    return one


def test_recorded_tasks_open_and_the_text_of_each_of_their_calls_is_what_was_sent(opened):
    tasks = [task["task"] for task in opened.types("status", "--json").json["tasks"]]
    assert len(tasks) == 2
    for task, calls in zip(sorted(tasks), (8, 4), strict=True):
        verified = opened.types("context", "verify", task, "--json")
        assert [call["intact"] for call in verified.json] == [True] * calls, "even if prompts are worded anew since"
        shown = opened.types("show", task)
        assert shown.code == 0 and re.search(r"step \d+", shown.words)
        store = open_project(opened.repo).store
        audits = [entry.event.audit for entry in store.journal(task) if isinstance(entry.event, CallRequested)]
        assert [reassemble_request(audit, store).hash for audit in audits] == [audit.hash for audit in audits]
        assert not any(reassemble_request(audit, Altered(store)).hash == audit.hash for audit in audits)
    assert "undone" in opened.types("show", "--decisions", sorted(tasks)[1]).words
