"""Replays recorded sessions of other agents: reads, measures and prices them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from afresh.context.limit import compute_extension_bound
from afresh.core.cache_rates import CacheRates
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.tokens import TOKEN_PIECE_PATTERN, EstimatingCounter
from afresh.core.truncate import join_first, to_one_line
from afresh.errors import BadInput, NeedsPerson, OverCeiling, suggest_reinstall
from afresh.replay.html_page import ContextSampler
from afresh.replay.measure_run import ContextBuilder, StepMeasurement, measure_run
from afresh.replay.report import ReplayReport, RunMeasurement, count_paid_tokens, drop_texts, estimate_input_cost, sum_steps
from afresh.replay.run import RecordedRun
from afresh.spending.price_list import Price, derive_cache_rates, find_price, has_price_list

"""Re-exported for the views: commands import the layers below only through this module."""

CACHED_PRICE_SHARE = 0.1
"""Price of a cached token as a share of the full price, as large providers charge; used with --price."""

MEDIAN_COUNT_EXCESS = 1.09
"""Median ratio between our token count and public tokenizers; see core/tokens.py."""

LONG_TEXT_CHARACTERS = 4_000
PAGE_GENERATOR_TAG = '<meta name="generator" content="afresh replay">'
COMPRESSION_RATIO = 4
"""Rough compression ratio of recordings; only the progress bar uses it."""


class ReplayProgress(NamedTuple):
    """A fraction between 0 and 1, and a text."""

    share: float
    words: str


ReplayProgressCallback = Callable[[ReplayProgress], None]


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """`price` is in dollars per million input tokens; 0 uses the model's price. `album` collects the content of the HTML page."""

    budget: int = 4000
    price: float = 0.0
    album: ContextSampler | None = None

    @property
    def bound(self) -> int:
        """How long a prompt may become that is kept and extended."""
        return compute_extension_bound(self.budget, DEFAULT_CONTEXT_POLICY)


def make_album() -> ContextSampler:
    return ContextSampler()


def find_sample_session() -> Path:
    """Return the session that is shipped with the program."""
    from importlib.resources import files

    return Path(str(files("afresh").joinpath("sample_runs", "parcel.jsonl")))


def load_replay_builder(rates: CacheRates) -> ContextBuilder:
    """Return the memory and the prompts of real runs: one is kept and extended as long as that is cheaper than a new one."""
    from functools import partial

    from afresh.replay.extend_contexts import extend_contexts

    return partial(extend_contexts, rates=rates)


def count_ceiling_tokens(text: str) -> int:
    """Count tokens as the ceiling does, without caching long texts: they are many and all different."""
    counter = EstimatingCounter()
    return counter(text) if len(text) < LONG_TEXT_CHARACTERS else int(len(TOKEN_PIECE_PATTERN.findall(text)) * counter.factor) + 1


def replay_sessions(files: Sequence[Path], wanted: ReplayRequest, watch: ReplayProgressCallback = lambda _: None) -> ReplayReport:
    """Replay all files. Broken files and runs are listed in the report; it is an error only if nothing could be read."""
    runs: list[RunMeasurement] = []
    problems: list[str] = []
    reader = _SessionReader(files, problems, watch)
    for run in reader:
        try:
            runs.append(_measure_session(run, len(runs), wanted, reader.step))
        except OverCeiling as error:
            problems.append(f"{_describe_run(run)}: {error}")
    if not runs:
        text = "\n    ".join(problems) or "the files are empty"
        raise BadInput(f"no recorded session could be read:\n    {text}", next=_list_known_formats(), safe="Nothing was written.")
    return ReplayReport(wanted.budget, wanted.bound, tuple(runs), tuple(problems), _explain_missing_prices(runs))


class _SessionReader:
    """Reads the runs of all files in order and reports progress."""

    def __init__(self, files: Sequence[Path], problems: list[str], watch: ReplayProgressCallback) -> None:
        self.files, self.problems, self.watch = files, problems, watch
        self.sizes = [_count_bytes(path) for path in files]
        self.whole = max(1, sum(self.sizes))
        self.name, self.size = "", 0
        self.before, self.within, self.current = 0, 0.0, 0.0

    def __iter__(self) -> Iterator[RecordedRun]:
        for path, size in zip(self.files, self.sizes, strict=True):
            self.name, self.size, self.within, self.current = path.name, size, 0.0, 0.0
            self._tell("reading")
            yield from self._runs(path)
            self.before += size

    def _runs(self, path: Path) -> Iterator[RecordedRun]:
        from afresh.replay.read_runs import read_runs

        skipped: list[str] = []
        try:
            for run in read_runs(path, skipped):
                self.problems.extend(f"{_describe_run(run)}: {problem}" for problem in run.problems)
                self.current = sum(
                    len(recorded_step.said)
                    + len(recorded_step.thought)
                    + len(recorded_step.action)
                    + len(recorded_step.observation)
                    for recorded_step in run.steps
                ) / (COMPRESSION_RATIO if run.path.endswith(".gz") else 1)
                yield run
                self.within += self.current
        except NeedsPerson as error:
            self.problems.append(error.what)
        except OSError as error:
            self.problems.append(f"{path}: {error.strerror or error}")
        self.problems.extend(skipped)

    def step(self, done: int, of: int) -> None:
        self._tell(f"step {done:,} of {of:,}", self.current * done / of)

    def _tell(self, words: str, part: float = 0.0) -> None:
        share = (self.before + min(self.size, self.within + part)) / self.whole
        self.watch(ReplayProgress(min(1.0, share), f"{to_one_line(self.name, 40)}: {words}"))


def _measure_session(run: RecordedRun, index: int, wanted: ReplayRequest, step: Callable[[int, int], None]) -> RunMeasurement:
    price = Price(wanted.price, wanted.price * CACHED_PRICE_SHARE, "as given") if wanted.price else find_price(run.model)
    rates = derive_cache_rates(run.model, None if wanted.price else price)
    builder, moments = load_replay_builder(rates), list[StepMeasurement]()
    for moment in measure_run(run, builder, wanted.budget, wanted.bound, count_ceiling_tokens):
        if wanted.album:
            wanted.album.offer(index, moment)
        moments.append(drop_texts(moment))
        step(moment.number, len(run.steps))
    likely = 1 / (MEDIAN_COUNT_EXCESS * EstimatingCounter().factor)
    return RunMeasurement(
        replace(run, steps=()),
        tuple(moments),
        sum_steps(moments),
        price,
        estimate_input_cost(moments, price, likely) if price else None,
        count_paid_tokens(moments, rates),
    )


def _explain_missing_prices(runs: Iterable[RunMeasurement]) -> str:
    models = sorted({run.run.model for run in runs if not run.price})
    if not models:
        return ""
    if not has_price_list():
        return f"no price list installed ({suggest_reinstall()}); set a price with --price"
    named = join_first([to_one_line(model, 40) or "no model named" for model in models], 4)
    return f"no price known for {named}; set one with --price (dollars per million input tokens)"


def render_replay_page(report: ReplayReport, album: ContextSampler) -> str:
    from afresh.replay.html_page import render_page

    return render_page(report, album)


def write_replay_page(path: Path, report: ReplayReport, album: ContextSampler) -> int:
    """Write the HTML page and return its size in bytes. Refuses to overwrite files that this command did not create."""
    text = render_replay_page(report, album)
    try:
        if path.exists() and PAGE_GENERATOR_TAG not in path.read_bytes()[:2000].decode("utf-8", "replace"):
            raise BadInput(f"{path} exists and was not written by 'afresh replay'", next="Choose another file name for --html.")
        path.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(
            f"the page can't be written to {path}: {error.strerror}", next="Choose another path for --html."
        ) from error
    return len(text.encode())


def _describe_run(run: RecordedRun) -> str:
    return f"{run.path} ({run.id})" if run.id and run.id not in run.path else run.path


def _count_bytes(path: Path) -> int:
    """Return the size of a file or of all files in a folder."""
    try:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in files)
    except OSError:
        return 0


def _list_known_formats() -> str:
    from afresh.replay.read_runs import KNOWN_FORMATS_TEXT

    return f"Known formats: {KNOWN_FORMATS_TEXT}. 'afresh replay --sample' shows an example."
