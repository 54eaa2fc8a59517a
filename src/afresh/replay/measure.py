"""A recorded run beside what afresh would have sent: tokens, and whether what the next action needed was there.

System text and tool schemas, which every agent sends, are left out on all sides. Time is linear in the run.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.replay.needed import ReferenceIndex
from afresh.replay.run import RecordedRun, RecordedStep, to_trajectory
from afresh.replay.window import CountTokens, render_step, build_sliding_windows

ContextBuilder = Callable[[Mapping[str, Any], int, CountTokens], Iterable[str]]
"""Given a trajectory, a budget and a counter: for each step all that the model would be sent before it."""


@dataclass(frozen=True, slots=True)
class NeededReference:
    """A name or line of the action really taken, and where the run had it last. `held` is ours, `windowed` the yardstick's."""

    kind: str
    text: str
    held: bool
    windowed: bool
    seen: int
    part: str
    age: int


@dataclass(frozen=True, slots=True)
class StepMeasurement:
    """One step, right before its action: the tokens that an accumulating agent, ours and the yardstick would send.

    Where one call made several steps, only the first of them is a `call`: the others were not paid for again.
    """

    number: int
    step: RecordedStep
    context: str
    theirs: int
    ours: int
    window: int
    needs: tuple[NeededReference, ...] = ()
    call: bool = True
    fits: bool = True

    @property
    def reported(self) -> int:
        return self.step.tokens

    @property
    def missing(self) -> tuple[NeededReference, ...]:
        return tuple(need for need in self.needs if not need.held)


def measure_run(run: RecordedRun, builder: ContextBuilder, budget: int, count: CountTokens) -> Iterable[StepMeasurement]:
    """One moment a step, in order. A context over the budget holds nothing: it would not have been sent."""
    seen, history = ReferenceIndex(run.task), count(run.task)
    built = builder(to_trajectory(run), budget, count)
    together = zip(run.steps, built, build_sliding_windows(run, budget, count), strict=True)
    for number, (step, context, yardstick) in enumerate(together, 1):
        ours, plain = count(context), count(yardstick)
        sent = context if ours <= budget else ""
        yield StepMeasurement(
            number=number,
            step=step,
            context=context,
            theirs=history + (count(step.said) if step.said else 0),
            ours=ours,
            window=plain,
            needs=tuple(
                NeededReference(
                    *thing, thing.text in sent, plain <= budget and thing.text in yardstick, *where, number - where.step
                )
                for thing, where in seen.needed(step)
            ),
            call=not step.same_call,
            fits=ours <= budget,
        )
        seen.note(number, step)
        history += count(render_step(step))
