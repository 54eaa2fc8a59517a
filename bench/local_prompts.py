"""What extended prompts save on a local server: the prompt tokens that it evaluates in each step, and how long that takes.

One scripted task of twenty-one ordinary steps on the sample project (reads, searches, edits, tests, mistakes) is taken twice with
the same replies: with prompts that are extended as long as that pays, as by default, and with a new prompt in each step. Every
request of both is then sent in order to SmolLM2 behind llama.cpp (tests/scenarios/small_model.py; `make small-model` installs
it), with the body that the product sends and a reply of one token. The server reuses the unchanged beginning of the last prompt
and nothing else (n_cache_reuse = 0, no earlier prompts in memory); each arm has a server of its own. A step with a
prompt that the model can't hold in either arm is left out of both.

Tokens do not depend on the machine. Time is CPU time of the server, which has one thread. With `--count` nothing is evaluated:
the server counts the tokens, and those after the beginning that two prompts share are those that it would evaluate.

  .venv/bin/python bench/local_prompts.py [--runs 5]
  .venv/bin/python bench/local_prompts.py --count [--window 131072]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from afresh.app import compose
from afresh.app.demo import copy_sample
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.core.action import Action
from afresh.core.cache_rates import DEFAULT_CACHE_RATES, NO_CACHE, CacheRates
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.tokens import EstimatingCounter
from afresh.models.providers.openai_dialects import LLAMACPP
from afresh.models.providers.openai_request import make_chat_body
from afresh.testing.states import replace_in_parts
from afresh.verification.start_or_resume_task import prepare_task
from ceilings import check_books
from flat import step
from prefix import CHECK, MEASURES, PRICING, STORIES, VOLUME, Deed

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests" / "scenarios" / "small_model.py"
RESULTS = Path(__file__).with_name("results") / "local_prompts.json"
ARMS = {"extended": DEFAULT_CACHE_RATES, "rebuilt": NO_CACHE}
WINDOW = 32_768
"""Of the model for which prompts are made: what a local server has unless the user says otherwise."""
CONTEXT = 8_192
"""Of the model that evaluates them."""
DIALECT = replace(LLAMACPP, tools=False, schema=False)
"""SmolLM2's template knows no tools. A schema changes no token of the prompt."""
GOAL = f"{STORIES['fix_bug'][0]}. Then: {STORIES['implement_feature'][0]}"
LAST_LINE = "    return Size(*sorted((round(number * factor, 1) for number in numbers), reverse=True))\n"
Turn = tuple[str, list[Deed]]
MISTYPED: Turn = ("Only these tests.", [("run", {"command": "pytst -q tests/test_pricing.py"})])
NOT_FOUND: Turn = ("Say so.", [("edit", {"path": PRICING, "old": "rounded to kilograms", "new": "rounded up"})])
WRITTEN: Turn = ("Write it.", [("edit", {"path": MEASURES, "old": LAST_LINE, "new": LAST_LINE + VOLUME})])
FAILING: Turn = ("An edge.", [("run", {"command": "python -c \"import parcel; parcel.parse_weight('kg')\""})])
FIX, FEATURE = STORIES["fix_bug"][1][:-1], STORIES["implement_feature"][1][:-1]
STORY = [*FIX[:7], MISTYPED, NOT_FOUND, *FIX[7:], *FEATURE[:3], WRITTEN, *FEATURE[4:], FAILING]
"""A bug, then a feature, with an edit that is reverted and three steps that go wrong; it is not completed."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Of one prompt."""

    sent: int
    evaluated: int
    cpu_ms: float = 0.0


class Script:
    """Plays the story and keeps the requests."""

    name = "llamacpp:bench"

    def __init__(self, window: int) -> None:
        self.window, self.requests = window, list[Request]()

    def propose(self, request: Request, hear: Any = None) -> Reply:
        thought, deeds = STORY[len(self.requests)]
        self.requests.append(request)
        return Reply(thought, tuple(Action(tool, dict(args)) for tool, args in deeds))

    def weigh(self, request: Request) -> int:
        return 0


def record_requests(folder: Path, cache: CacheRates, steps: int, window: int = WINDOW) -> list[Request]:
    """The requests of a task that is played so far."""
    project = open_project(copy_sample(folder))
    task = add_task(
        project, TaskOrder(GOAL, "implement_feature", (CHECK,), model=f"mailbox:{folder / 'box'}", max_steps=len(STORY) + 9)
    )
    script = Script(window)
    agent = compose.build_runtime(project, task, compose.RunTerms(no_sandbox=True))
    agent = replace_in_parts(agent, model=script, cache=cache, native=True)
    state = prepare_task(project.store.load(task.task.id), "bench", agent)
    for _ in range(steps):
        state = step(state, agent)
    return script.requests


def make_body(request: Request) -> dict[str, Any]:
    return {**make_chat_body("smollm2", request, DIALECT, EstimatingCounter()), "max_tokens": 1}


class Server:
    """llama.cpp in a process of its own."""

    def __init__(self, address: str, process: int) -> None:
        self.address, self.process = address, process

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        with urlopen(HttpRequest(f"{self.address}{path}", json.dumps(body).encode(), headers)) as answer:
            return json.load(answer)

    def tokens(self, body: dict[str, Any]) -> list[int]:
        """The prompt, by its template and vocabulary."""
        text = self.post("/apply-template", body)["prompt"]
        return self.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})["tokens"]

    def evaluate(self, body: dict[str, Any]) -> Evaluation:
        before = self.cpu_ms()
        found = self.post("/v1/chat/completions", body)
        timings = found["timings"]
        return Evaluation(timings["prompt_n"] + timings["cache_n"], timings["prompt_n"], self.cpu_ms() - before)

    def cpu_ms(self) -> float:
        """Since it was started, in user mode and in the kernel."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve() -> Iterator[Server]:
    command = [sys.executable, str(SERVER), "--prefix"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin and process.stdout
        address = process.stdout.readline().strip()
        if not address:
            raise SystemExit("the small model can't be served: make small-model")
        yield Server(address, process.pid)
        process.stdin.close()


def count_shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts have in common at their beginning."""
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other))
    )


def count_evaluated(prompts: Sequence[Sequence[int]]) -> list[Evaluation]:
    """What a server evaluates that reuses what a prompt shares with the one before."""
    before: Sequence[Sequence[int]] = [[], *prompts]
    return [
        Evaluation(len(prompt), max(1, len(prompt) - count_shared(last, prompt)))
        for last, prompt in zip(before, prompts, strict=False)
    ]


def evaluate_arms(bodies: dict[str, list[dict[str, Any]]]) -> dict[str, list[Evaluation]]:
    """The arms take turns, so that what else the machine does concerns both."""
    found: dict[str, list[Evaluation]] = {arm: [] for arm in bodies}
    with ExitStack() as stack:
        servers = {arm: stack.enter_context(serve()) for arm in bodies}
        for number in range(len(bodies["extended"])):
            for arm, server in servers.items():
                found[arm].append(server.evaluate(bodies[arm][number]))
                print(f"{number + 1}, {arm}: {found[arm][-1]}", file=sys.stderr, flush=True)
    return found


def summed(run: Sequence[Evaluation]) -> dict[str, float]:
    """The first step is the same in both arms, and left out of the medians."""
    later = run[1:] or run
    return {
        "sent": sum(one.sent for one in run),
        "evaluated": sum(one.evaluated for one in run),
        "evaluated_median": statistics.median(one.evaluated for one in later),
        "cpu_s": round(sum(one.cpu_ms for one in run) / 1000, 1),
        "cpu_ms_median": round(statistics.median(one.cpu_ms for one in later)),
    }


def middle(runs: Sequence[Sequence[Evaluation]]) -> dict[str, float]:
    rows = [summed(run) for run in runs]
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def render_table(rows: dict[str, dict[str, float]]) -> str:
    names = [name for name, value in rows["extended"].items() if value]
    cells = {arm: [f"{row[name]:,}" for name in names] for arm, row in rows.items()}
    new = rows["rebuilt"]
    cells["ratio"] = [f"{rows['extended'][name] / new[name]:.2f}" if new[name] else "" for name in names]
    head = "| prompts | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names)
    return "\n".join([head, *(f"| {arm} | " + " | ".join(row) + " |" for arm, row in cells.items())])


def record_bodies(steps: int, window: int) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for arm, cache in ARMS.items():
        with TemporaryDirectory(prefix="afresh-local-", dir=ROOT) as folder:
            os.environ |= {f"XDG_{name}_HOME": f"{folder}/{name.lower()}" for name in ("CONFIG", "DATA", "CACHE")}
            found[arm] = [make_body(request) for request in record_requests(Path(folder) / "parcel", cache, steps, window)]
            check_books(Path(folder))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=len(STORY))
    parser.add_argument("--window", type=int, default=WINDOW, help="of the model that prompts are made for")
    parser.add_argument("--count", action="store_true", help="count tokens, and evaluate none")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    bodies = record_bodies(given.steps, given.window)
    with serve() as server:
        prompts = {arm: [server.tokens(body) for body in arms] for arm, arms in bodies.items()}
    fits = [all(len(prompts[arm][at]) < CONTEXT for arm in ARMS) for at in range(given.steps)]
    counted = {arm: count_evaluated([*compress(prompts[arm], fits)]) for arm in ARMS}
    sent = {arm: [*compress(bodies[arm], fits)] for arm in ARMS}
    taken = [counted] if given.count else [evaluate_arms(sent) for _ in range(given.runs)]
    runs = {arm: [one[arm] for one in taken] for arm in ARMS}
    rows = {arm: middle(runs[arm]) for arm in ARMS}
    left_out = [at + 1 for at, fit in enumerate(fits) if not fit]
    steps = {arm: [[asdict(one) for one in run] for run in runs[arm]] for arm in ARMS}
    told = {
        "n_cache_reuse": 0,
        "window": given.window,
        "left_out": left_out,
        "runs": 0 if given.count else given.runs,
        "arms": rows,
        "steps": steps,
    }
    given.out.write_text(json.dumps(told, indent=2) + "\n")
    print(render_table(rows))
    print(f"steps left out, since a prompt exceeds {CONTEXT:,} tokens: {left_out or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
