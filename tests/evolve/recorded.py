"""Recorded runs made of a few names and lines, so that it is known what the next action needs."""

from afresh.replay.run import RecordedRun, RecordedStep


def make_run(name: str, steps: int = 9, width: int = 40) -> RecordedRun:
    """Each step prints many lines, and acts on a line of three steps before."""
    made = list[RecordedStep]()
    for number in range(steps):
        printed = "\n".join(f"value_{name}_{number}_{line} = compute_{number}(table_{line})" for line in range(width))
        back = max(0, number - 3)
        action = f"edit module_{name}_{back}.py\nvalue_{name}_{back}_1 = compute_{back}(table_1)"
        made.append(RecordedStep("look at the next one", "bash", action, printed))
    return RecordedRun(name, "tester", "m", "Make the tables right", tuple(made))


def make_runs(count: int) -> list[RecordedRun]:
    return [make_run(f"r{number}") for number in range(count)]
