import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from afresh.errors import BadInput
from afresh.replay.json_entries import JsonEntry, read_entries


def read(tmp_path: Path, content: str | bytes) -> list[JsonEntry]:
    file = tmp_path / "file"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_entries(file))


def values(tmp_path: Path, content: str | bytes) -> list[object]:
    return [entry.value for entry in read(tmp_path, content)]


@pytest.mark.parametrize(
    "content",
    [
        '{"a": 1}\n{"a": 2}\n',
        '{"a": 1}\r\n\r\n{"a": 2}',
        '[{"a": 1}, {"a": 2}]',
        '[\n{"a": 1},\n{"a": 2}\n]\n',
        json.dumps([{"a": 1}, {"a": 2}], indent=2),
        b"\xef\xbb\xbf" + b'{"a": 1}\n{"a": 2}\n',
        gzip.compress(b'{"a": 1}\n{"a": 2}\n', mtime=0),
        gzip.compress(b'{"a": 1}\n', mtime=0) + gzip.compress(b'{"a": 2}\n', mtime=0),
    ],
)
def test_lines_and_lists_give_the_same_values(tmp_path: Path, content: str | bytes):
    assert values(tmp_path, content) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("content", ['{"a": {"b": [1]}}', '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'])
def test_a_document_is_one_value(tmp_path: Path, content: str):
    assert read(tmp_path, content) == [JsonEntry("the document", {"a": {"b": [1]}})]


def test_places_are_line_numbers_of_the_file(tmp_path: Path):
    assert [entry.where for entry in read(tmp_path, "\n\n{}\n\nbroken\n{}")] == ["line 3", "line 5", "line 6"]


def test_a_broken_line_is_told_and_the_rest_is_read(tmp_path: Path):
    found = read(tmp_path, '{"a": 1}\n{"a": \n{"a": 3}\n')
    assert [entry.value for entry in found] == [{"a": 1}, None, {"a": 3}]
    assert found[1].problem == "not whole JSON (Expecting value)"


@pytest.mark.parametrize("first", ["{", "[", '{"a": ', "[1, ", "x", '"', "}"])
def test_a_broken_first_line_does_not_make_a_document(tmp_path: Path, first: str):
    found = read(tmp_path, f'{first}\n{{"a": 2}}\n{{"a": 3}}\n')
    assert [entry.value for entry in found if entry.value] == [{"a": 2}, {"a": 3}]


def test_a_cut_list_is_told(tmp_path: Path):
    (found,) = read(tmp_path, '[{"a": 1}, {"a": 2}, {"a"')
    assert found.value is None and found.problem == "not whole JSON (Expecting ':' delimiter)"


def test_bytes_that_are_not_utf8_are_replaced_and_told(tmp_path: Path):
    found = read(tmp_path, b'{"a": "\xff"}\n{"a": 2}')
    assert found[0] == JsonEntry("line 1", {"a": "\ufffd"}, "not UTF-8 (invalid start byte)")


def test_control_characters_in_strings_are_taken(tmp_path: Path):
    assert values(tmp_path, '{"a": "\t\x1b[1m"}\n{}') == [{"a": "\t\x1b[1m"}, {}]


@pytest.mark.parametrize("line", ["[" * 200_000, '{"a":' * 200_000, "9" * 5_000])
def test_what_no_parser_takes_is_told(tmp_path: Path, line: str):
    found = read(tmp_path, f'{{"a": 1}}\n{line}\n{{"a": 3}}')
    assert [entry.value for entry in found if entry.value] == [{"a": 1}, {"a": 3}]
    assert found[1].problem


def test_a_cut_archive_gives_what_comes_before_the_cut(tmp_path: Path):
    lines = "".join(json.dumps({"number": number, "noise": hash(str(number))}) + "\n" for number in range(20_000))
    packed = gzip.compress(lines.encode())
    found = read(tmp_path, packed[: len(packed) // 2])
    whole = [entry.value["number"] for entry in found if entry.value]
    assert whole == list(range(len(whole)))
    assert len(found) > 5_000
    assert found[-1].where == "the end"
    assert "can't be read" in found[-1].problem


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"\x7fELF\x02\x01\x00\x00", "is a binary file"),
        ("{}".encode("utf-16"), "is a binary file"),
        (b"\x1f\x8b nothing of that kind", "can't be read"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, what: str):
    with pytest.raises(BadInput, match=what):
        read(tmp_path, content)


@pytest.mark.skipif(find_spec("compression") is not None, reason="this Python unpacks zstd itself")
def test_a_file_packed_with_zstd_comes_with_the_way_to_unpack_it(tmp_path: Path):
    with pytest.raises(BadInput) as told:
        read(tmp_path, b"\x28\xb5\x2f\xfd\x04\x00")
    assert "zstd -d" in told.value.next
