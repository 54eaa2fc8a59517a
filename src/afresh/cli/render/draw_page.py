"""Draws the blocks of a page for a terminal or a log of this width."""

from collections.abc import Iterator, Sequence

from afresh.cli.render.widgets import FIELD_GAP_COLUMNS, TAB, count_columns, cut_line, lay_out_fields, wrap_line
from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line
from afresh.views.page import Block, Box, Cut, Fields, Heading, Indented, Line, Rule, Span, Table, Tree

LEAST_COLUMNS = 8
"""A column with words is not made narrower."""
INDENT = 2


def draw_blocks(blocks: Sequence[Block], width: int, is_whole: bool = False) -> Iterator[Sequence[Span]]:
    """`is_whole`: no line is cut."""
    for block in blocks:
        yield from _draw_block(block, width, is_whole)


def _draw_block(block: Block, width: int, is_whole: bool) -> Iterator[Sequence[Span]]:
    match block:
        case Heading(text):
            yield from ([], *wrap_line([(escape_hidden(text), "bold")], width))
        case Rule(line):
            head = [("── ", "dim"), *to_spans(line), (" ", "")]
            yield [*head, ("─" * (width - sum(count_columns(text) for text, _ in head)), "dim")]
        case Cut(line):
            yield to_spans(line) if is_whole else _cut_to_width(to_spans(line), width)
        case Fields(rows):
            yield from lay_out_fields([((escape_hidden(name), "dim"), to_spans(value)) for name, value in rows], width)
        case Table():
            yield from _draw_table(block, width)
        case Tree():
            yield from _draw_tree(block, width)
        case Box(title, line, style):
            room, name = width - 4, to_one_line(title, width - 6)
            yield [("╭─ ", style), (name, "bold"), (f" {'─' * (width - 5 - count_columns(name))}╮", style)]
            for row in wrap_line(to_spans(line), room):
                blank = " " * (room - sum(count_columns(text) for text, _ in row))
                yield [("│ ", style), *row, (f"{blank} │", style)]
            yield [(f"╰{'─' * (width - 2)}╯", style)]
        case Indented(blocks):
            yield from ([(" " * INDENT, ""), *line] if line else line for line in draw_blocks(blocks, width - INDENT, is_whole))
        case _:
            yield from wrap_line(to_spans(block), width)


def _cut_to_width(line: Sequence[Span], width: int) -> Sequence[Span]:
    text = "".join(text for text, _ in line)
    end = min(len(text), width)
    while count_columns(text[:end]) > width - (end < len(text)):
        end -= 1
    return line if end == len(text) else [*cut_line(line, 0, end), ("…", "")]


def to_spans(line: Line) -> list[Span]:
    """Return spans with hidden characters made visible."""
    spans = [(line, "")] if isinstance(line, str) else line
    return [(escape_hidden(text).replace("\t", TAB), style) for text, style in spans]


def _draw_table(table: Table, width: int) -> Iterator[Sequence[Span]]:
    columns, rows = table.columns.split("|"), [[to_spans(cell) for cell in row] for row in table.rows]
    is_headed = any(columns)
    rows = [*([[[(name.lstrip(">"), "dim")] for name in columns]] if is_headed else []), *rows]
    widths = _fit_columns(columns, rows, width)
    for number, row in enumerate(rows):
        cells = [wrap_line(cell, widths[at]) for at, cell in enumerate(row)]
        for place in range(max(map(len, cells))):
            line: list[Span] = []
            for at, lines in enumerate(cells):
                part = lines[place] if place < len(lines) else []
                blank = [(" " * (widths[at] - sum(count_columns(text) for text, _ in part)), "")]
                line += [*blank, *part] if columns[at].startswith(">") else [*part, *blank]
                line.append((" " * FIELD_GAP_COLUMNS, ""))
            yield line
        if number == 0 and is_headed:
            yield [("─" * min(width, sum(widths) + FIELD_GAP_COLUMNS * (len(widths) - 1)), "dim")]
    yield from wrap_line([(table.caption, "dim")], width) if table.caption else ()


def _fit_columns(columns: Sequence[str], rows: Sequence[Sequence[list[Span]]], width: int) -> list[int]:
    """Return the widths of the columns; where there is no room for all, the widest with words get narrower."""
    texts = [["".join(text for text, _ in row[at]).split("\n") for row in rows] for at in range(len(columns))]
    widths = [max(count_columns(line) for lines in column for line in lines) for column in texts]
    wrapped = [at for at, name in enumerate(columns) if not name.startswith(">")]
    for _ in range(sum(widths) + FIELD_GAP_COLUMNS * (len(widths) - 1) - width if wrapped else 0):
        widest = max(wrapped, key=widths.__getitem__)
        widths[widest] = max(widths[widest] - 1, LEAST_COLUMNS)
    return widths


def _draw_tree(tree: Tree, width: int) -> Iterator[Sequence[Span]]:
    yield from wrap_line(to_spans(tree.line), width)
    for number, branch in enumerate(tree.below, 1):
        first, rest = ("└── ", "    ") if number == len(tree.below) else ("├── ", "│   ")
        for place, line in enumerate(_draw_tree(branch, width - len(first))):
            yield [(rest if place else first, "dim"), *line]
