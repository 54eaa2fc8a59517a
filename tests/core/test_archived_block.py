from afresh.core.archived_block import (
    MAX_INDEX_LINES,
    BlockIndexLine,
    apply_new_lines,
    block_id_from_text,
    move_old_lines,
    read_whole_index,
)


def make_line(step: int, name: str = "") -> BlockIndexLine:
    return BlockIndexLine(block_id_from_text(name or f"output {step}"), "run", f"command {step}", 10, "exit 0", step)


def grow(steps: range, index: tuple[BlockIndexLine, ...], archive: dict[str, str]) -> tuple[BlockIndexLine, ...]:
    for step in steps:
        page, blocks = move_old_lines(index, [make_line(step)], step)
        archive.update({block.id: block.text for block in blocks})
        index = apply_new_lines(index, (*page, make_line(step)))
    return index


def test_each_line_of_the_index_can_be_listed_whatever_the_number_of_steps():
    archive: dict[str, str] = {}
    index = grow(range(1, 501), (), archive)
    assert len(index) <= MAX_INDEX_LINES
    listed = read_whole_index(index, archive.__getitem__)
    assert [line.split()[2] for line in listed] == [str(step) for step in range(500, 0, -1)]


def test_a_page_holds_a_few_lines_so_that_no_step_writes_all_of_them():
    archive: dict[str, str] = {}
    grow(range(1, 501), (), archive)
    assert max(len(text.splitlines()) for text in archive.values()) <= MAX_INDEX_LINES


def test_what_is_printed_again_has_one_line_in_a_state():
    index = apply_new_lines((make_line(1, "same"), make_line(2)), (make_line(3, "same"),))
    assert [line.step for line in index] == [2, 3]


def test_more_new_lines_than_a_state_holds_are_listed_too():
    new = [make_line(1, f"part {number}") for number in range(MAX_INDEX_LINES + 9)]
    page, blocks = move_old_lines((), new, 1)
    index = apply_new_lines((), (*page, *new))
    assert len(read_whole_index(index, {block.id: block.text for block in blocks}.__getitem__)) == MAX_INDEX_LINES + 9
