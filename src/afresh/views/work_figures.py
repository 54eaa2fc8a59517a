"""How tasks came to their end: the share that needed one context, and how often taking up a task again worked."""

from typing import Any

from afresh.core.states.queue_state import WorkFigures


def work_figures_to_json(figures: WorkFigures) -> dict[str, Any]:
    """Shares are None while there is nothing to count."""
    return {
        "finished": figures.finished,
        "in_one_context": figures.in_one_context,
        "one_context_share": _share(figures.in_one_context, figures.finished),
        "resumes": figures.resumes,
        "resumed": figures.resumed,
        "resume_success_rate": _share(figures.resumed, figures.resumes),
    }


def describe_work_figures(figures: WorkFigures) -> list[str]:
    """Return a sentence for each figure that is known."""
    lines = list[str]()
    if figures.finished:
        share = figures.in_one_context / figures.finished
        lines.append(
            f"{figures.in_one_context:,} of {figures.finished:,} finished tasks needed fewer than two contexts ({share:.0%})"
        )
    if figures.resumes:
        share = figures.resumed / figures.resumes
        lines.append(f"{figures.resumed:,} of {figures.resumes:,} resumes led to a finished step or task ({share:.0%})")
    return lines


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
