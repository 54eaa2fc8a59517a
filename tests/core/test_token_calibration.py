"""What a provider reports is learnt, with a margin; what can't be true is not."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.event import CallRequested, ReplyReceived, TaskCreated
from afresh.core.prompt import CallAudit
from afresh.core.reply import Reply
from afresh.core.task import Task
from afresh.core.token_calibration import (
    DEFAULT_TOKENS_PER_PIECE,
    MAX_MODELS,
    MAX_RATIOS,
    MAX_TOKENS_PER_PIECE,
    MIN_TOKENS_PER_PIECE,
    CalibrationLoaded,
    TokenCalibration,
    add_sample,
    find_calibration,
)
from afresh.core.usage import Usage
from support.sample_journals import make_entries

reports = st.lists(st.integers(-10, 400_000), max_size=60)


def call(step: int, model: str, reported: int, counted: bool = True):
    audit = CallAudit(f"{step:064x}", 4_000, 2_312, (), (), reserve=1_000, model=model, pieces=2_000, framing=12)
    return [CallRequested(step, audit), ReplyReceived(step, Reply("", (), Usage(reported, 10), model, counted))]


def after(*events):
    return make_entries(None, [TaskCreated(Task(id="one", goal="goal")), *events])[1]


def test_before_the_first_report_the_default_stands() -> None:
    assert TokenCalibration("m").factor == DEFAULT_TOKENS_PER_PIECE == 1.15


def test_one_report_is_enough_and_a_higher_one_counts_at_once() -> None:
    state = after(*call(1, "m", 2_412))
    assert find_calibration(state.tokens.calibrations, "m").factor == 1.24, "2,400 of 2,000 pieces, and three in a hundred more"
    assert find_calibration(after(*call(1, "m", 2_412), *call(2, "m", 2_812)).tokens.calibrations, "m").factor == 1.45


def test_a_high_ratio_is_forgotten_after_a_while() -> None:
    told = [*call(1, "m", 3_012), *(event for step in range(2, MAX_RATIOS + 2) for event in call(step, "m", 2_012))]
    assert find_calibration(after(*told).tokens.calibrations, "m").factor == 1.03
    assert find_calibration(after(*told[:-2]).tokens.calibrations, "m").factor == 1.55


def test_each_model_has_a_history_of_its_own_and_the_last_few_are_kept() -> None:
    told = [event for number in range(MAX_MODELS + 2) for event in call(number + 1, f"m{number}", 2_012 + 200 * number)]
    state = after(*told)
    assert [meter.model for meter in state.tokens.calibrations] == [f"m{number}" for number in range(2, MAX_MODELS + 2)]
    assert (
        find_calibration(state.tokens.calibrations, "m5").factor == 1.55
        and find_calibration(state.tokens.calibrations, "m0").factor == DEFAULT_TOKENS_PER_PIECE
    )


def test_an_estimate_of_ours_does_not_teach() -> None:
    assert after(*call(1, "m", 2_412, counted=False)).tokens.calibrations == ()


def test_what_can_not_be_true_is_counted_and_not_believed() -> None:
    for mad in (0, -5, 900, 115_600):
        meter = add_sample(TokenCalibration("m", (1.2,), 1), 2_000, 12, mad)
        assert (meter.factor, meter.samples, meter.doubted) == (1.24, 1, 1)


def test_a_task_starts_from_what_was_learnt_elsewhere() -> None:
    state = after(CalibrationLoaded(TokenCalibration("m", (1.3,), 7)), *call(1, "m", 2_012))
    assert find_calibration(state.tokens.calibrations, "m") == TokenCalibration("m", (1.3, 1.0), 8)


@given(reports)
def test_the_factor_covers_all_believed_reports_and_stays_within_reason(told: list[int]) -> None:
    meter = TokenCalibration("m")
    for reported in told:
        meter = add_sample(meter, 2_000, 12, reported)
        assert MIN_TOKENS_PER_PIECE <= meter.factor <= MAX_TOKENS_PER_PIECE * 1.04 and len(meter.ratios) <= MAX_RATIOS
        assert all(ratio * 1.02 <= meter.factor for ratio in meter.ratios)
    assert meter.samples + meter.doubted == len(told)
