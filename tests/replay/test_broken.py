"""Whatever is broken in a file: what is whole is read, the rest is named, and nothing but BadInput is raised."""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.errors import BadInput
from afresh.replay.read_runs import read_runs
from afresh.replay.run import RecordedRun, RecordedStep

RUNS = Path(__file__).parent / "runs"
LINES = ["claude_code.jsonl", "codex.jsonl", "codex_bare.jsonl"]
DOCUMENTS = {
    "mini_swe_agent.traj.json": "messages",
    "mini_swe_agent_2.traj.json": "messages",
}
FEW = settings(max_examples=settings.default.max_examples * 2 // 5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
scribble = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), max_size=30)


def read(content: bytes) -> list[RecordedRun]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run"
        file.write_bytes(content)
        return list(read_runs(file))


def steps(content: bytes) -> list[tuple[RecordedStep, ...]]:
    """The steps of each run; none if there is no run."""
    try:
        return [run.steps for run in read(content)]
    except BadInput:
        return []


def whole_items(text: str, key: str) -> list[tuple[int, Any]]:
    """The items of a document's list, each with the place where it ends."""
    at = text.index("[", text.index(f'"{key}"')) if key else 0
    found = []
    while (at := at + 1) and (character := text[at]) != "]":
        if not character.isspace() and character != ",":
            value, at = json.JSONDecoder().raw_decode(text, at)
            found.append((at, value))
            at -= 1
    return found


@pytest.mark.parametrize("name", LINES)
@given(data=st.data())
def test_lines_before_a_cut_lose_nothing_and_the_cut_is_named(name: str, data: st.DataObject):
    content = (RUNS / name).read_bytes()
    cut = data.draw(st.integers(0, len(content) - 1))
    before = content[: content.rfind(b"\n", 0, cut) + 1]
    line = content[len(before) : cut]
    if line == content[len(before) :].partition(b"\n")[0]:
        before, line = content[:cut], b""
    assert steps(content[:cut]) == steps(before)
    if line and steps(before):
        number = before.count(b"\n") + 1
        assert f"line {number}: " in str([run.problems for run in read(content[:cut])])


@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
def test_of_a_cut_document_the_whole_entries_are_read_and_the_cut_is_named(name: str, data: st.DataObject):
    text, key = (RUNS / name).read_text("utf-8"), DOCUMENTS[name]
    cut = data.draw(st.integers(0, len(text.rstrip()) - 1))
    kept = [value for end, value in whole_items(text, key) if end <= cut]
    found = steps(text[:cut].encode())
    if key:
        document = json.loads(text)
        kept = {key: kept, "info": document["info"], "history": document.get("history")}
    [expected] = steps(json.dumps(kept).encode()) or [()]
    assert (found[0] if found else ()) == expected
    if found:
        assert "not whole JSON" in str(read(text[:cut].encode())[0].problems)


@given(data=st.data())
def test_of_cut_neutral_runs_every_whole_step_is_read(data: st.DataObject):
    text = (RUNS / "neutral.jsonl").read_text("utf-8")
    cut = data.draw(st.integers(0, len(text)))
    lines = text.splitlines(keepends=True)
    starts = [0, len(lines[0])]
    expected = [
        sum(end + start <= cut for end, _ in whole_items(line, "steps")) for start, line in zip(starts, lines, strict=True)
    ]
    assert [len(found) for found in steps(text[:cut].encode())] == [count for count in expected if count]


@pytest.mark.parametrize("name", [*LINES, "neutral.jsonl"])
@given(junk=st.lists(st.tuples(st.integers(0, 10**6), values.map(json.dumps) | scribble), min_size=1, max_size=8))
def test_junk_between_the_lines_loses_no_step(name: str, junk: list[tuple[int, str]]):
    lines = (RUNS / name).read_text("utf-8").splitlines()
    for place, line in junk:
        lines.insert(place % (len(lines) + 1), line)
    assert steps("\n".join(lines).encode()) == steps((RUNS / name).read_bytes())


@pytest.mark.parametrize("name", [*LINES, *DOCUMENTS, "neutral.jsonl"])
@FEW
@given(damage=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=20))
def test_no_damage_to_the_bytes_raises_anything_but_bad_input(name: str, damage: list[tuple[int, int]]):
    content = bytearray((RUNS / name).read_bytes())
    for place, byte in damage:
        content[place % len(content)] = byte
    steps(bytes(content))


@pytest.mark.parametrize("name", [*LINES, *DOCUMENTS, "neutral.jsonl"])
@FEW
@given(data=st.data())
def test_no_value_of_another_type_raises_anything_but_bad_input(name: str, data: st.DataObject):
    text = (RUNS / name).read_text("utf-8")
    document = [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)
    for _ in range(data.draw(st.integers(1, 6))):
        replace_somewhere(document, data)
    steps(json.dumps(document).encode())


def replace_somewhere(value: Any, data: st.DataObject) -> None:
    """Walks down to some place in a JSON value and puts another value there."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(value[key], dict | list) and data.draw(st.integers(0, 3)):
            value = value[key]
            continue
        value[key] = data.draw(values)
        return


@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
def test_of_a_document_with_a_broken_place_the_whole_entries_before_it_are_read(name: str, data: st.DataObject):
    text, key = (RUNS / name).read_text("utf-8"), DOCUMENTS[name]
    items = whole_items(text, key)
    place = data.draw(st.sampled_from(items))
    kept = [value for end, value in items if end <= place[0]]
    found = steps((text[: place[0]] + "§" + text[place[0] :]).encode())
    document = {key: kept, "info": {}} if key else kept
    assert (found[0] if found else ()) == (steps(json.dumps(document).encode()) or [()])[0]


@given(data=st.data())
def test_a_cut_archive_gives_the_steps_before_the_cut_or_bad_input(data: st.DataObject):
    content = (RUNS / "codex.jsonl").read_bytes()
    packed = gzip.compress(content, mtime=0)
    cut = data.draw(st.integers(0, len(packed) - 1))
    [whole] = steps(content)
    for found in steps(packed[:cut]):
        assert [step.action for step in found[:-1]] == [step.action for step in whole[: len(found) - 1]]
