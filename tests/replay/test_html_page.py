"""Which contexts a page gets to show."""

from itertools import pairwise

from afresh.replay import html_page as albums
from afresh.replay.html_page import ContextSampler
from afresh.replay.measure_run import NeededReference, StepMeasurement
from afresh.replay.run import RecordedStep

MISS = NeededReference("name", "load_all", held=False, windowed=False, seen=1, part="action", age=1)


def moment(number: int, missing: int = 0, action: str = "ls") -> StepMeasurement:
    return StepMeasurement(
        number, RecordedStep("why", "bash", action, "out"), f"context {number}", 10, 5, 5, needs=(MISS,) * missing
    )


def test_a_short_run_is_kept_whole():
    album = ContextSampler()
    for number in range(1, 101):
        album.offer(0, moment(number))
    assert [picture.number for picture in album.pictures()] == list(range(1, 101))


def test_of_a_long_run_evenly_chosen_moments_are_kept():
    album = ContextSampler()
    for number in range(1, 5001):
        album.offer(0, moment(number))
    kept = [picture.number for picture in album.pictures()]
    assert albums.MAX_EVEN_SAMPLES // 2 <= len(kept) <= albums.MAX_EVEN_SAMPLES
    assert {after - before for before, after in pairwise(kept)} == {album.stride}


def test_many_short_runs_keep_one_moment_each_at_least():
    album = ContextSampler()
    for run in range(300):
        for number in (1, 2, 3):
            album.offer(run, moment(number))
    assert {(picture.run, picture.number) for picture in album.pictures()} >= {(run, 1) for run in range(300)}


def test_moments_with_something_missing_are_kept_and_the_worst_comes_first():
    album = ContextSampler()
    for number in range(1, 2001):
        album.offer(0, moment(number, missing={77: 1, 1234: 3}.get(number, 0)))
    assert [(picture.number, picture.missing) for picture in album.pictures() if picture.missing] == [(1234, 3), (77, 1)]


def test_what_has_no_room_is_left_out():
    album = ContextSampler(room=1000)
    for number in range(1, 101):
        album.offer(0, moment(number, missing=1))
    assert 0 < len(album.pictures()) < 20
    assert sum(len(picture.packed) for picture in album.pictures()) <= 1000


def test_a_picture_gives_back_its_texts_and_long_ones_are_shortened():
    album = ContextSampler()
    album.offer(0, moment(1, action="x" * 9_000))
    shown = album.pictures()[0].unpack()
    assert (shown["context"], shown["thought"], shown["tool"]) == ("context 1", "why", "bash")
    assert shown["action"].endswith("[… 1,000 more characters]")
