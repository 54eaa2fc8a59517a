"""The bench of prompts on a local server: both arms get the same replies, and what is evaluated is what was not sent before."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))
sys.path.append(str(Path(__file__).parents[1] / "scenarios"))

from small_model import CONTEXT, missing

import local_prompts
from local_prompts import ARMS, STORY, Evaluation, count_evaluated, make_body, middle, record_requests, render_table

STEPS, WINDOW = 3, 200_000


def test_the_arms_differ_only_in_how_prompts_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    found = {arm: record_requests(tmp_path / arm, cache, STEPS, WINDOW) for arm, cache in ARMS.items()}
    assert make_body(found["extended"][0]) == make_body(found["rebuilt"][0])
    before, after = (make_body(one)["messages"] for one in found["extended"][-2:])
    assert after[: len(before) - 1] == before[:-1], "the last message ends with a footer, which is not kept"
    assert all(len(one.turns) <= 1 for one in found["rebuilt"]) and len(found["extended"][-1].turns) == STEPS - 1
    assert all(make_body(one)["max_tokens"] == 1 and "tools" not in make_body(one) for one in found["extended"])


def test_there_are_some_twenty_steps_and_mistakes_among_them() -> None:
    assert 20 <= len(STORY) <= 24
    assert all(one in STORY for one in (local_prompts.MISTYPED, local_prompts.NOT_FOUND, local_prompts.FAILING))


def test_a_server_evaluates_what_follows_the_shared_beginning() -> None:
    prompts = [[1, 2, 3], [1, 2, 4, 5], [1, 2, 4, 5]]
    assert count_evaluated(prompts) == [Evaluation(3, 3), Evaluation(4, 2), Evaluation(4, 1)], "the last token is never reused"


def test_the_table_has_the_middle_of_the_runs_and_the_ratio_of_the_arms() -> None:
    runs = [[Evaluation(100, 100, 9.0), Evaluation(100, new, new * 10.0)] for new in (20, 10, 90)]
    rows = {"extended": middle(runs), "rebuilt": middle([[Evaluation(100, 100, 9.0), Evaluation(100, 40, 400.0)]])}
    assert rows["extended"]["evaluated"] == 120 and rows["extended"]["evaluated_median"] == 20
    assert render_table(rows).splitlines()[-1] == "| ratio | 1.00 | 0.86 | 0.50 | 0.50 | 0.50 |"
    counted = middle([[Evaluation(100, 100)]])
    assert "cpu" not in render_table({"extended": counted, "rebuilt": counted}), "nothing was evaluated"


@pytest.mark.small_model
@pytest.mark.skipif(bool(missing()), reason=f"{', '.join(missing())}: make small-model")
def test_the_server_says_what_it_evaluated_and_it_is_what_was_counted() -> None:
    assert local_prompts.CONTEXT == CONTEXT
    first = {"model": "smollm2", "max_tokens": 1, "messages": [{"role": "user", "content": "one two three four five six seven"}]}
    turns = [{"role": "assistant", "content": "eight"}, {"role": "user", "content": "nine"}]
    bodies = [first, first | {"messages": [*first["messages"], *turns]}]
    with local_prompts.serve() as server:
        counted = count_evaluated([server.tokens(body) for body in bodies])
        found = [server.evaluate(body) for body in bodies]
    assert [(one.sent, one.evaluated) for one in found] == [(one.sent, one.evaluated) for one in counted]
    assert all(one.cpu_ms >= 0 for one in found) and found[1].evaluated < found[1].sent
