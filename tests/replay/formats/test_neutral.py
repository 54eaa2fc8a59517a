from afresh.replay.read_runs import read_trajectories


def run(name: str, *actions: str) -> dict[str, object]:
    steps = [{"thought": "", "action": {"tool": "bash", "text": action}, "observation": ""} for action in actions]
    return {"id": name, "task": "t", "steps": steps}


def test_runs_are_read_line_by_line(entries_of):
    found = list(read_trajectories(entries_of([run("a", "ls"), run("b", "pwd", "ls")]), "runs.jsonl"))
    assert [(one.id, one.path, len(one.steps)) for one in found] == [("a", "runs.jsonl", 1), ("b", "runs.jsonl", 2)]


def test_lines_without_a_run_are_named_in_the_run_that_follows_or_in_the_last(entries_of):
    found = list(read_trajectories(entries_of([7, run("a", "ls"), {"id": "x"}, run("b", "ls"), [1]]), "runs.jsonl"))
    assert [one.problems for one in found] == [
        ("line 1: no run, left out",),
        ("line 3: no run, left out", "line 5: no run, left out"),
    ]


def test_a_long_run(shipped):
    found = shipped("neutral_long.jsonl")
    assert (len(found.steps), found.problems) == (30, ())
    assert found.steps[4].action.startswith('{"command": "cat > repro.py <<\'EOF\'\nimport sys\n')
