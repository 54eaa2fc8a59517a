"""Journals that an earlier afresh wrote open, verify and go on: what is on disk depends on no name in the code."""

import json
import re
import shutil
from pathlib import Path

import pytest

from afresh.app.project import open_project
from afresh.context.rebuild_call import rebuild_all_calls
from afresh.core.event import EVENT_CLASS_BY_TAG, JournalHead
from afresh.core.hash_chain import link_events, read_entry

HERE = Path(__file__).parent
KINDS_OF_8E5874A = """
Created Claimed Opened Baselined Requested Replied Acted Planned Asked Answered Decided Digested Verified Settled Finished Ended
Calibrated Breached Doubted Wanted Rebudgeted Checkpointed CompactionWanted Compacted Noted Corrected Forgotten Judged
Consulted Referred Worded Learnt Weighed Turned Attended Paused Spoke Undone HandedOut Marked Noticed Reserved
"""


def test_each_kind_of_entry_is_read_and_written_again_to_the_byte():
    head, seen = JournalHead(), list[str]()
    for line in (HERE / "every_kind.jsonl").read_text("utf-8").splitlines():
        stored = json.loads(line)
        entry = read_entry(stored["body"], head, stored["hash"])
        [again] = link_events(entry.task, head, entry.at, [entry.event])
        assert (again.body, again.hash) == (stored["body"], stored["hash"])
        head = JournalHead(entry.seq, entry.hash)
        seen.append(json.loads(stored["body"])["kind"])
    assert seen == KINDS_OF_8E5874A.split() and set(seen) <= set(EVENT_CLASS_BY_TAG)


class Altered:
    """A store in which one word of every prompt was changed afterwards."""

    def __init__(self, store) -> None:
        self.store = store

    def journal(self, task: str):
        return self.store.journal(task)

    def read(self, block: str) -> str:
        return self.store.read(block).replace("You are afresh", "You are somebody")


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
    tasks = [task["task"] for task in opened.types("list", "--json").json]
    assert len(tasks) == 2
    for task, calls in zip(sorted(tasks), (10, 5), strict=True):
        verified = opened.types("context", "verify", task, "--json")
        assert verified.code == 1 and [call["intact"] for call in verified.json] == [True] * calls, (
            "prompts are worded anew since"
        )
        shown = opened.types("show", task)
        assert shown.code == 0 and re.search(r"step \d+", shown.words)
        assert not any(call.is_intact for call in rebuild_all_calls(task, Altered(open_project(opened.repo).store)))
    assert "undone" in opened.types("decisions", sorted(tasks)[1]).words
