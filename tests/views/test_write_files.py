import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import Project, in_memory, on_disk, projects
from view_folder import files

from afresh.core.text import escape_hidden
from afresh.errors import BadInput
from afresh.views.bounded_json import count_tokens
from afresh.views.write_files import ViewWriter, rebuild_view_files

slow = settings(
    max_examples=settings.default.max_examples // 2,
)


def written(folder: Path, project, stop=lambda number, path: None) -> Project:
    journals, complaints = in_memory(), []
    writer = ViewWriter(folder, journals.store, journals.queue, complaints.append)
    for number, (task, events) in enumerate(project):
        writer.saw(*journals.commit(task, events, at=1_700_000_000.0 + number))
        stop(number, folder)
    assert not complaints
    return journals


@slow
@given(projects())
def test_rebuilding_gives_the_visible_bytes_that_were_written_step_by_step(project) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journals = written(Path(folder), project)
        before = files(Path(folder))
        for name, data in before.items():
            assert escape_hidden(data.decode()) == data.decode(), name
        assert count_tokens(before["continuity.json"].decode()) < 2_000
        rebuild_view_files(journals.store, journals.queue, Path(folder))
        assert files(Path(folder)) == before


@slow
@given(projects(), st.data())
def test_a_log_torn_at_any_byte_is_whole_again_after_the_next_write(project, data) -> None:
    def tear(number: int, folder: Path) -> None:
        for log in (folder / "decisions").glob("*.jsonl"):
            log.write_bytes(log.read_bytes()[: data.draw(st.integers(0, log.stat().st_size))])

    with tempfile.TemporaryDirectory() as folder:
        journals = written(Path(folder), project, tear)
        writer = ViewWriter(Path(folder), journals.store, journals.queue)
        for task in journals.states:
            writer.saw(journals.store.load(task), ())
        mended = files(Path(folder))
        rebuild_view_files(journals.store, journals.queue, Path(folder))
        assert files(Path(folder)) == mended


def test_what_a_killed_writer_left_half_done_is_gone_after_a_rebuild(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / ".one.md.4711").write_text("half")
    project = in_memory()
    rebuild_view_files(project.store, project.queue, tmp_path)
    assert sorted(files(tmp_path)) == ["continuity.json", "continuity.lock"]


def test_a_rebuild_deletes_nothing_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.md").write_text("years of work")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "sessions").symlink_to(tmp_path / "home")
    project = on_disk(tmp_path)
    with pytest.raises(BadInput, match="symbolic link"):
        rebuild_view_files(project.store, project.queue, tmp_path / "state")
    assert (tmp_path / "home" / "thesis.md").read_text() == "years of work"
