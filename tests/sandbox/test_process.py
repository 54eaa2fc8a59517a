"""Output is bounded, whatever comes."""

import tracemalloc
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from afresh.sandbox.process import OutputBuffer, hide_paths, make_repeatable


@given(st.lists(st.binary(max_size=300)), st.integers(2, 100))
def test_head_and_tail_stay_and_what_is_cut_is_counted(chunks: list[bytes], limit: int) -> None:
    output = OutputBuffer(limit)
    for chunk in chunks:
        output.add(chunk)
    whole, half = b"".join(chunks), limit // 2
    if len(whole) <= 2 * half:
        assert output.text() == whole.decode(errors="replace")
        return
    head, tail = whole[:half].decode(errors="replace"), whole[-half:].decode(errors="replace")
    assert output.text() == f"{head}\n[afresh: {len(whole) - 2 * half:,} bytes of output left out here]\n{tail}"


def test_a_gigabyte_is_taken_in_small_memory() -> None:
    output, chunk = OutputBuffer(1000), bytes(1 << 16)
    tracemalloc.start()
    try:
        for _ in range(1 << 14):
            output.add(chunk)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert len(output.text()) < 1200


TREES = (Path("/home/me/repo"), Path("/home/me/repo/.afresh/state/worktrees/T-1"))


def test_paths_in_the_tree_are_relative_to_it_and_others_stay() -> None:
    said = "E /home/me/repo/.afresh/state/worktrees/T-1/src/a.py:3; cd /home/me/repo; /home/me/repo/.venv/bin/x; '/home/me/repo/'"
    assert hide_paths(said, TREES) == "E src/a.py:3; cd .; .venv/bin/x; './'"
    for other in ("/home/me/repo2/a", "/home/me/repo-x", "/x/home/me/repository", "x/home/me/repo.old/a"):
        assert hide_paths(other, TREES) == other
    assert hide_paths("/tmp/afresh-q1w2/pytest-0/a", TREES, Path("/tmp/afresh-q1w2")) == "$TMPDIR/pytest-0/a"


def test_an_output_is_the_same_in_the_next_run() -> None:
    """Addresses of objects and durations of test runs differ each time; a duration that a program prints may be its result."""
    said = "<f at 0x7f88b2e19080>\n8 failed, 82 passed in {}\n===== 3 passed, 1 warning in {} =====\nRan 5 tests in 0.003s\n"
    first, second = said.format("0.16s", "61.50s (0:01:01)"), said.format("12.3s", "0.01s").replace("7f88b2e1", "0011aabb")
    assert make_repeatable(first, TREES) == make_repeatable(second, TREES)
    assert "82 passed in …s" in make_repeatable(first, TREES) and "Ran 5 tests in …s" in make_repeatable(first, TREES)
    for other in ("parsed 1,000 lines in 0.16s", "0x7f88b2e19080", "took 3 passed in 0.1s or so"):
        assert make_repeatable(other, TREES) == other
