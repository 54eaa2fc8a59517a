import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

import afresh
from afresh.errors import BadInput
from afresh.replay.read_runs import RUN_FORMATS, read_runs
from afresh.replay.run import RecordedRun

RUNS = Path(__file__).parent / "runs"
AGENTS = {
    "claude_code.jsonl": "Claude Code",
    "codex.jsonl": "Codex",
    "codex_bare.jsonl": "Codex",
    "mini_swe_agent.traj.json": "mini-swe-agent",
    "mini_swe_agent_2.traj.json": "mini-swe-agent",
}


def steps(path: Path) -> list[tuple[object, ...]]:
    return [run.steps for run in read_runs(path)]


@pytest.mark.parametrize("name", AGENTS)
def test_the_format_is_told_by_what_is_in_a_file_not_by_its_name(tmp_path: Path, name: str):
    copy = Path(shutil.copy(RUNS / name, tmp_path / "notes.txt"))
    assert [run.agent for run in read_runs(copy)] == [AGENTS[name]]
    assert steps(copy) == steps(RUNS / name)


@pytest.mark.parametrize("file", sorted(RUNS.iterdir()), ids=lambda file: file.name)
def test_packed_or_as_a_list_or_on_one_line_it_is_the_same_run(tmp_path: Path, file: Path):
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert steps(packed) == steps(file)
    text = file.read_text("utf-8")
    value = [json.loads(line) for line in text.splitlines()] if file.suffix == ".jsonl" else json.loads(text)
    for indent in (None, 1):
        other = tmp_path / "other"
        other.write_text(json.dumps(value, indent=indent))
        assert steps(other) == steps(file)


def test_the_session_for_the_demo_is_shipped_and_reads_well():
    [run] = read_runs(Path(afresh.__file__).parent / "sample_runs" / "parcel.jsonl")
    assert (run.agent, run.problems) == ("Claude Code", ())
    assert len(run.steps) > 40
    assert sum(bool(step.said) for step in run.steps) >= 3
    sizes = [step.tokens for step in run.steps]
    assert sizes == sorted(sizes)
    assert sizes[0] > 10_000
    assert any("Traceback" in step.observation or "AssertionError" in step.observation for step in run.steps)


def test_a_folder_is_walked_in_order_and_what_is_no_run_is_named(tmp_path: Path):
    for name in ("d", "b", "c"):
        (tmp_path / name).mkdir()
        shutil.copy(RUNS / "mini_swe_agent.traj.json", tmp_path / name / f"run-{name}.json")
    shutil.copy(RUNS / "codex.jsonl", tmp_path / "a.jsonl")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "b" / "preds.json").write_text('{"mill-7": {"model_patch": ""}}')
    (tmp_path / "b" / "log.txt").write_text("INFO all is well\n" * 3_000)
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    skipped: list[str] = []
    assert [Path(run.path).stem for run in read_runs(tmp_path, skipped)] == ["a", "run-b", "run-c", "run-d"]
    assert {os.path.relpath(path, tmp_path): why for path, _, why in (one.partition(" ") for one in skipped)} == {
        "empty.jsonl": "is empty",
        "picture.png": "is a binary file",
        "b/preds.json": "is not a recorded session in a known format",
        "b/log.txt": "is not a recorded session in a known format: not whole JSON (Expecting value)",
    }


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"name": "a package", "version": "1.0"}', "not a recorded session in a known format"),
        ("[1, 2, 3]", "not a recorded session in a known format"),
        ('{"steps": "three", "task": "x"}', "not a recorded session in a known format"),
        ("Dear diary,\ntoday nothing happened.\n", "not a recorded session in a known format"),
        ('"just words"', "not a recorded session in a known format"),
        ('{"type": "summary", "summary": "x", "leafUuid": "y"}\n{}', "contains no readable step"),
        ('{"id": "a", "task": "b", "steps": []}', "contains no readable step"),
        ('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]', "contains no readable step"),
    ],
)
def test_a_foreign_file_is_refused_with_its_path_and_the_formats_known(tmp_path: Path, content: str, what: str):
    file = tmp_path / "strange.json"
    file.write_text(content)
    with pytest.raises(BadInput, match=what) as told:
        list(read_runs(file))
    assert str(file) in told.value.what
    assert told.value.safe
    if "known format" in what:
        assert all(form.name in told.value.next for form in RUN_FORMATS)


def test_a_place_that_is_not_there_or_no_file_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for name, what in (("nowhere", "does not exist"), ("pipe", "neither a file nor a folder")):
        with pytest.raises(BadInput, match=what):
            list(read_runs(tmp_path / name))


def test_a_folder_without_a_run_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "notes.md").write_text("nothing here")
    with pytest.raises(BadInput, match="though 1 files are there"):
        list(read_runs(tmp_path))


def test_runs_come_as_they_are_read(tmp_path: Path):
    line = (RUNS / "neutral.jsonl").read_text("utf-8").splitlines()[0]
    (tmp_path / "runs.jsonl").write_text(f"{line}\n" * 3 + '{"cut": ')
    runs = read_runs(tmp_path / "runs.jsonl")
    assert isinstance(next(runs), RecordedRun)
    assert next(runs).problems == ()
    assert next(runs).problems == ("line 4: not whole JSON (Expecting value)",)


def test_an_observation_of_ten_megabytes_is_read(tmp_path: Path):
    output = "all work and no play\n" * 500_000
    session = [
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "message": {"id": "1", "content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "a", "content": output}]}},
    ]
    (tmp_path / "large.jsonl").write_text("\n".join(map(json.dumps, session)))
    [run] = read_runs(tmp_path / "large.jsonl")
    assert run.steps[0].observation == output
