"""How well a policy does on recorded runs: of the names and lines that the next action needed, how many the prompt held, and at
how many tokens. What does not depend on the policy is computed once for each run."""

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

from afresh.core.context_policy import ContextPolicy
from afresh.replay.build_contexts import build_context, make_foreign_counter, remember_steps
from afresh.replay.measure_run import LINE_KIND, CodeReference, ReferenceIndex
from afresh.replay.run import RecordedRun, run_from_trajectory, to_trajectory

CHARACTERS_PER_TOKEN = 4
MAX_RUNS_REMEMBERED = 128


@dataclass(frozen=True, slots=True)
class StepScore:
    tokens: int
    names: int = 0
    names_held: int = 0
    lines: int = 0
    lines_held: int = 0
    chosen: int = 0
    """Tokens of the sections that are a choice of the policy, where that is known."""
    drawn: float = 0.0
    """Of these, the tokens that the reply drew on."""


@dataclass(frozen=True, slots=True)
class RunScore:
    run: str
    steps: tuple[StepScore, ...]
    """Those whose action refers to anything at all, and those that do not: every call costs its tokens."""


@dataclass(frozen=True, slots=True)
class RunNeeds:
    """A run with what each of its actions needs: the same for every policy."""

    trajectory: Mapping[str, Any]
    needs: tuple[tuple[CodeReference, ...], ...]

    @property
    def name(self) -> str:
        return str(self.trajectory.get("id", ""))


def count_characters(text: str) -> int:
    """Tokens, roughly: four characters each."""
    return (len(text) + CHARACTERS_PER_TOKEN - 1) // CHARACTERS_PER_TOKEN


def find_run_needs(run: RecordedRun) -> RunNeeds:
    seen, needs = ReferenceIndex(run.task), list[tuple[CodeReference, ...]]()
    for number, step in enumerate(run.steps, 1):
        needs.append(tuple(thing for thing, _ in seen.needed(step)))
        seen.note(number, step)
    return RunNeeds(to_trajectory(run), tuple(needs))


def score_run(run: RunNeeds, policy: ContextPolicy, budget: int, every: int = 1) -> RunScore:
    """The score of each step, or of one in `every`, which is cheaper. A context over the budget holds nothing."""
    counter, found = make_foreign_counter(count_characters), list[StepScore]()
    remembered = remember_steps(run.trajectory, budget, count_characters, policy)
    for number, ((memory, _), needs) in enumerate(zip(remembered, run.needs, strict=True)):
        if number == 0 or number % every:
            continue
        text = build_context(memory, budget, counter).request.message
        tokens = count_characters(text)
        found.append(score_step(needs, text if tokens <= budget else "", tokens))
    return RunScore(run.name, tuple(found))


def score_step(needs: Sequence[CodeReference], text: str, tokens: int) -> StepScore:
    lines = [need.text for need in needs if need.kind == LINE_KIND]
    names = [need.text for need in needs if need.kind != LINE_KIND]
    return StepScore(tokens, len(names), sum(name in text for name in names), len(lines), sum(line in text for line in lines))


Scorer = Callable[[ContextPolicy, int], list[RunScore]]
"""Scores a policy, looking at one step in so many."""


@contextmanager
def open_scorer(runs: Sequence[RecordedRun], budget: int, workers: int = 1) -> Generator[Scorer]:
    """A scorer over these runs, in so many processes."""
    if workers <= 1 or len(runs) < 2:
        needs = [find_run_needs(run) for run in runs]
        yield lambda policy, every: [score_run(run, policy, budget, every) for run in needs]
        return
    order = sorted(range(len(runs)), key=lambda at: -len(runs[at].steps))
    plain = [to_trajectory(run) for run in runs]
    with ProcessPoolExecutor(workers, get_context("spawn"), _load_runs, (plain,)) as pool:

        def score_all(policy: ContextPolicy, every: int) -> list[RunScore]:
            made = pool.map(_score_loaded_run, order, *[[one] * len(order) for one in (policy, budget, every)])
            by_place = dict(zip(order, made, strict=True))
            return [by_place[place] for place in range(len(order))]

        yield score_all


_loaded: list[RecordedRun] = []


def _load_runs(plain: Sequence[Mapping[str, Any]]) -> None:
    _loaded[:] = [run_from_trajectory(one) for one in plain]


@lru_cache(maxsize=MAX_RUNS_REMEMBERED)
def _find_loaded_needs(place: int) -> RunNeeds:
    return find_run_needs(_loaded[place])


def _score_loaded_run(place: int, policy: ContextPolicy, budget: int, every: int) -> RunScore:
    return score_run(_find_loaded_needs(place), policy, budget, every)
