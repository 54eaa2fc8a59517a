"""Verification owned by the harness: a baseline, a look after every change, and the final grade."""

from afresh.engine.verify.baseline import find_baseline_blocker, run_baseline_checks
from afresh.engine.verify.grade import verify_completion
from afresh.engine.verify.report import DOCUMENT_CHECK_LIMITS, list_document_demands
from afresh.engine.verify.step import verify_step
from afresh.engine.verify.summary import summarise_check_run

__all__ = [
    "DOCUMENT_CHECK_LIMITS",
    "find_baseline_blocker",
    "list_document_demands",
    "verify_completion",
    "summarise_check_run",
    "run_baseline_checks",
    "verify_step",
]
