"""Output is bounded, whatever comes."""

import tracemalloc
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from afresh.sandbox.process import OutputBuffer, hide_paths


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
    assert hide_paths("/tmp/afresh-q1w2/pytest-0/a", TREES, Path("/tmp/afresh-q1w2")) == "/tmp/pytest-0/a"
