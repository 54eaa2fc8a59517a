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


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
