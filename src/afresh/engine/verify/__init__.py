"""Verification owned by the harness: a baseline, a look after every change, and the final grade."""

from afresh.engine.verify.baseline import blocker, take_baseline
from afresh.engine.verify.grade import grade
from afresh.engine.verify.report import NOT_JUDGED, demands
from afresh.engine.verify.step import verify_step
from afresh.engine.verify.summary import summary

__all__ = ["NOT_JUDGED", "blocker", "demands", "grade", "summary", "take_baseline", "verify_step"]
