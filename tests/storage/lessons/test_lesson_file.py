"""Files of knowledge: what is written is read back, and what people write is used as far as it can be."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.config.yaml_reader import split_front_matter
from afresh.core.lesson import Lesson, LessonApproval, LessonStatus
from afresh.storage.lessons.lesson_file import (
    COUNTER_FIELDS,
    parse_lesson,
    render_lesson_file,
    set_front_matter_fields,
    to_yaml_scalar,
)

LINES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TEXTS = (
    st.sampled_from(["a: b", "yes", "null", "# x", "- y", "[1]", "2026-11-15", "it's", '"', "\u2028", "é: ", "~", " x "]) | LINES
)
IDS = st.from_regex(r"KO-[a-z0-9]{4,8}", fullmatch=True)
BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=80)
OBJECTS = st.builds(
    Lesson,
    id=IDS,
    title=TEXTS.filter(bool),
    tags=st.lists(TEXTS.filter(bool), unique=True, max_size=4).map(tuple),
    project=TEXTS,
    source=TEXTS,
    status=st.sampled_from(LessonStatus),
    by=st.sampled_from(LessonApproval),
    waits=TEXTS,
    created=TEXTS,
    approved=TEXTS,
    shown=st.integers(0, 99),
    unused=st.integers(0, 99),
    uses=st.integers(0, 10**9),
    successes=st.integers(0, 99),
    tokens_saved=st.none() | st.integers(),
    last_used=TEXTS,
    last_task=TEXTS,
    body=BODIES,
)
HEADS = st.lists(
    st.sampled_from(["uses: 3", "uses:", "uses: x # mine", "# a word", "title: x", "extra: [1, 2]", "usesmore: 1", ""])
)


@given(OBJECTS)
def test_what_is_written_is_read_back(one: Lesson) -> None:
    read = parse_lesson(render_lesson_file(one).encode(), "approved/KO-x.md", LessonStatus.APPROVED)
    assert read.knowledge == one and not read.notes


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"---\n{text}\n---\nbody".encode("utf-8", "ignore")))
def test_no_file_can_stop_a_run(data: bytes) -> None:
    read = parse_lesson(data, "drafts/KO-x.md", LessonStatus.DRAFT)
    assert read.knowledge or (read.notes and read.notes[0].line >= 1)


def test_front_matter_that_is_nested_too_deeply_is_told_and_ends_nothing() -> None:
    read = parse_lesson(f"---\ntitle: {'[' * 30_000}\n---\nbody".encode(), "drafts/KO-x.md", LessonStatus.DRAFT)
    assert "nested too deeply" in read.notes[0].what


@given(HEADS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]), TEXTS, st.integers(0, 10**6))
def test_only_the_lines_of_counters_are_written_again(head: list[str], end: str, mark: str, body: str, uses: int) -> None:
    text = mark + "".join(line + end for line in ["---", *head, "---"]) + body
    after = set_front_matter_fields(text, {"uses": str(uses)})
    counted, old, found = "uses:", split_front_matter(text), split_front_matter(after)
    assert old and found and (found.opening, found.closing, found.body) == (old.opening, old.closing, old.body)
    kept = [line for line in old.head.split(end) if not line.startswith(counted)]
    assert [line for line in found.head.split(end) if not line.startswith(counted)] == kept
    assert f"uses: {uses}" in found.head and ("# mine" in found.head) == ("# mine" in old.head)


@given(OBJECTS, st.integers(0, 10**6), st.none() | st.integers(-(10**6), 10**6))
def test_a_counted_object_is_the_same_object(one: Lesson, uses: int, saved: int | None) -> None:
    after = parse_lesson(
        set_front_matter_fields(
            render_lesson_file(one), {"uses": to_yaml_scalar(uses), "tokens_saved": to_yaml_scalar(saved)}
        ).encode(),
        "x",
        LessonStatus.DRAFT,
    ).knowledge
    assert after and (after.uses, after.tokens_saved, after.body, after.title) == (uses, saved, one.body, one.title)
    assert {"uses", "tokens_saved"} < set(COUNTER_FIELDS)


def test_a_note_by_hand_needs_no_front_matter() -> None:
    one = parse_lesson(b"# Use tabs\r\n\r\n## What worked\r\nTabs.\r\n", "approved/KO-tabs.md", LessonStatus.APPROVED).knowledge
    assert one and (one.id, one.title, one.status, one.by) == (
        "KO-tabs",
        "Use tabs",
        LessonStatus.APPROVED,
        LessonApproval.CONFIRMED,
    )
    assert "\r" not in one.body


def test_keys_that_nobody_knows_are_left_in_peace() -> None:
    read = parse_lesson(b"---\ntitle: x\nowner: {name: anna}\n---\nbody\n", "KO-x.md", LessonStatus.DRAFT)
    assert read.knowledge and read.knowledge.title == "x" and not read.notes


def test_a_value_that_makes_no_sense_is_told_with_its_line_and_the_rest_is_used() -> None:
    read = parse_lesson(b"---\ntitle: x\nuses: many\nstatus: fine\n---\n", "KO-x.md", LessonStatus.APPROVED)
    assert read.knowledge and (read.knowledge.uses, read.knowledge.status) == (0, LessonStatus.APPROVED)
    assert [str(note).partition(";")[0] for note in read.notes] == [
        "KO-x.md:4: status: 'fine' should be one of draft, approved, rejected, aged",
        "KO-x.md:3: uses: 'many' should be a whole number",
    ]


def test_broken_yaml_is_told_with_file_and_line() -> None:
    (note,) = parse_lesson(b"---\ntitle: x\ntags: [a, b\n---\nbody\n", "drafts/KO-x.md", LessonStatus.DRAFT).notes
    assert (note.file, note.line) == ("drafts/KO-x.md", 4) and "not YAML" in note.what
    (note,) = parse_lesson(b"---\ntitle: x\n", "drafts/KO-x.md", LessonStatus.DRAFT).notes
    assert "no end" in note.what
