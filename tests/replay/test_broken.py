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
DOCUMENTS = ["mini_swe_agent.traj.json", "mini_swe_agent_2.traj.json"]
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
def test_a_cut_document_is_refused_with_the_reason(name: str):
    content = (RUNS / name).read_bytes()
    with pytest.raises(BadInput, match="not whole JSON"):
        read(content[: len(content) // 2])


@given(data=st.data())
def test_a_cut_archive_gives_the_steps_before_the_cut_or_bad_input(data: st.DataObject):
    content = (RUNS / "codex.jsonl").read_bytes()
    packed = gzip.compress(content, mtime=0)
    cut = data.draw(st.integers(0, len(packed) - 1))
    [whole] = steps(content)
    for found in steps(packed[:cut]):
        assert [step.action for step in found[:-1]] == [step.action for step in whole[: len(found) - 1]]
