"""Recorded sessions in, a report out: reads, measures and prices one run after another."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from afresh.adapters.prices import listed, price_of
from afresh.domain.pieces import PIECES
from afresh.domain.price import Price
from afresh.domain.text import one_line
from afresh.engine.tokens import Counter
from afresh.errors import BadInput, NeedsPerson, OverCeiling
from afresh.replay.album import Album
from afresh.replay.measure import Builder, Moment, measure
from afresh.replay.money import bill
from afresh.replay.report import Loss, Measured, Report, losses, report_json, slim
from afresh.replay.run import Run, RunStep
from afresh.replay.totals import Recall, Total, total

__all__ = ["Loss", "Measured", "Recall", "Report", "Total", "losses", "report_json"]
"""What the views draw is named here: commands see the layers below only through this one."""

CACHED_SHARE = 0.1
"""What the large providers ask for a token from their cache, as a share of the full price; for a price given by hand."""

MEDIAN_EXCESS = 1.09
"""By how much the counter's pieces alone exceed the tokens of public vocabularies at the median; see engine/tokens.py."""

LONG = 4_000
MADE_BY = '<meta name="generator" content="afresh replay">'
PACKED = 4
"""How much smaller than its text a compressed recording is, roughly; only the progress bar believes it."""


class Progress(NamedTuple):
    """Between 0 and 1, and in words."""

    share: float
    words: str


Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """`price` is in dollars per million input tokens; 0 takes the model's own. `album` collects what a page shows."""

    budget: int = 4000
    price: float = 0.0
    album: Album | None = None


def new_album() -> Album:
    return Album()


def sample_session() -> Path:
    """A session that comes with the program."""
    from importlib.resources import files

    return Path(str(files("afresh").joinpath("sample_runs", "parcel.jsonl")))


def our_builder() -> Builder:
    """The product's own: memory and builder as in real work."""
    from afresh.replay.sent import contexts

    return contexts


def ceiling_count(text: str) -> int:
    """As the ceiling counts; but long texts, of which there are many and all different, are not remembered."""
    counter = Counter()
    return counter(text) if len(text) < LONG else int(len(PIECES.findall(text)) * counter.factor) + 1


def replay(files: Sequence[Path], wanted: Wanted, watch: Watch = lambda _: None) -> Report:
    """Broken files and runs are named in the report; it is an error only if nothing at all could be read."""
    runs: list[Measured] = []
    problems: list[str] = []
    builder, reader = our_builder(), _Reader(files, problems, watch)
    for run in reader:
        try:
            runs.append(_measured(run, len(runs), builder, wanted, reader.step))
        except OverCeiling as error:
            problems.append(f"{_name(run)}: {error}")
    if not runs:
        told = "\n    ".join(problems) or "the files are empty"
        raise BadInput(f"no recorded run could be read:\n    {told}", next=_known_formats(), safe="Nothing was written.")
    return Report(wanted.budget, tuple(runs), tuple(problems), _unpriced(runs, wanted.price))


class _Reader:
    """The runs of all files, one after another; keeps the progress."""

    def __init__(self, files: Sequence[Path], problems: list[str], watch: Watch) -> None:
        self.files, self.problems, self.watch = files, problems, watch
        self.sizes = [_size(path) for path in files]
        self.whole = max(1, sum(self.sizes))
        self.name, self.size = "", 0
        self.before, self.within, self.current = 0, 0.0, 0.0

    def __iter__(self) -> Iterator[Run]:
        for path, size in zip(self.files, self.sizes, strict=True):
            self.name, self.size, self.within, self.current = path.name, size, 0.0, 0.0
            self._tell("reading")
            yield from self._runs(path)
            self.before += size

    def _runs(self, path: Path) -> Iterator[Run]:
        from afresh.replay.read import Skipped, read_runs

        skipped: list[Skipped] = []
        try:
            for run in read_runs(path, skipped):
                self.problems.extend(f"{_name(run)}: {problem}" for problem in run.problems)
                self.current = sum(map(_length, run.steps)) / (PACKED if run.path.endswith(".gz") else 1)
                yield run
                self.within += self.current
        except NeedsPerson as error:
            self.problems.append(error.what)
        except OSError as error:
            self.problems.append(f"{path}: {error.strerror or error}")
        self.problems.extend(f"{one.path}: {one.why}" if one.path not in one.why else one.why for one in skipped)

    def step(self, done: int, of: int) -> None:
        self._tell(f"step {done:,} of {of:,}", self.current * done / of)

    def _tell(self, words: str, part: float = 0.0) -> None:
        share = (self.before + min(self.size, self.within + part)) / self.whole
        self.watch(Progress(min(1.0, share), f"{one_line(self.name, 40)}: {words}"))


def _measured(run: Run, index: int, builder: Builder, wanted: Wanted, step: Callable[[int, int], None]) -> Measured:
    moments: list[Moment] = []
    for moment in measure(run, builder, wanted.budget, ceiling_count):
        if wanted.album:
            wanted.album.offer(index, moment)
        moments.append(slim(moment))
        step(moment.number, len(run.steps))
    price = Price(wanted.price, wanted.price * CACHED_SHARE, "as given") if wanted.price else price_of(run.model)
    likely = 1 / (MEDIAN_EXCESS * Counter().factor)
    return Measured(
        replace(run, steps=()), tuple(moments), total(moments), price, bill(moments, price, likely) if price else None
    )


def _unpriced(runs: Iterable[Measured], given: float) -> str:
    models = sorted({one.run.model for one in runs if not one.price})
    if not models:
        return ""
    if not listed():
        return "there is no price list here (pip install 'afresh[prices]'); --price IN gives a price by hand"
    named = ", ".join(one_line(model, 40) or "no model named" for model in models[:4]) + (", …" if len(models) > 4 else "")
    return f"no price is known for: {named}; --price IN gives one, in dollars per million input tokens"


def write_page(path: Path, report: Report, album: Album) -> int:
    """Gives back the page's size in bytes. A file that this command has not made is not overwritten."""
    from afresh.replay.page import page

    text = page(report, album)
    try:
        if path.exists() and MADE_BY not in path.read_bytes()[:2000].decode("utf-8", "replace"):
            raise BadInput(f"{path} is there already, and is not a page of 'afresh replay'", next="Give another name to --html.")
        path.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"the page can't be written to {path}: {error.strerror}", next="Give another place to --html.") from error
    return len(text.encode())


def _name(run: Run) -> str:
    return f"{run.path} ({run.id})" if run.id and run.id not in run.path else run.path


def _length(step: RunStep) -> int:
    return len(step.said) + len(step.thought) + len(step.action) + len(step.observation)


def _size(path: Path) -> int:
    """Of a file, or of all files in a folder."""
    try:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in files)
    except OSError:
        return 0


def _known_formats() -> str:
    from afresh.replay.read import KNOWN

    return f"Understood are: {KNOWN}. 'afresh replay --sample' shows one."
