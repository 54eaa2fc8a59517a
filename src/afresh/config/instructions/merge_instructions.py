"""Instructions laid over each other, from general to special: deeper wins, part by part, where it holds."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.instructions import InstructionChain, InstructionFile, InstructionLevel, InstructionPart, OverruledPart


def merge_instructions(sources: Sequence[InstructionFile], paths: Sequence[str] = ()) -> InstructionChain:
    """For work on these paths. What a folder says goes before the rest in that folder; where work goes on outside it too, both
    are kept, and the one that holds elsewhere is marked."""
    kept: list[InstructionFile] = []
    gone: list[OverruledPart] = []
    ordered = sorted(sources, key=lambda instruction_file: list(InstructionLevel).index(instruction_file.level))
    for source in ordered:
        source = drop_overruled_by_firm(source, [other for other in kept if other.firm], gone)
        everywhere = not source.folder or all(f"{path}/".startswith(f"{source.folder}/") for path in paths)
        where = "" if everywhere else source.folder
        kept = [overlay_instructions(other, source, where, gone) for other in kept]
        kept.append(source)
    left = [drop_empty_headings(source, before) for source, before in zip(kept, ordered, strict=True)]
    return InstructionChain(tuple(source for source in left if source.parts), tuple(gone))


def drop_overruled_by_firm(
    source: InstructionFile, firm: Sequence[InstructionFile], gone: list[OverruledPart]
) -> InstructionFile:
    """The file without parts that a firm file has."""
    parts: list[InstructionPart] = []
    for part in source.parts:
        above = next(
            ((other, instruction_part) for other in firm for instruction_part in other.parts if instruction_part.covers(part)),
            None,
        )
        if above:
            gone.append(OverruledPart(source.file, part, above[0].file, above[1].first))
        else:
            parts.append(part)
    return replace(source, parts=tuple(parts))


def overlay_instructions(under: InstructionFile, over: InstructionFile, where: str, gone: list[OverruledPart]) -> InstructionFile:
    """The lower file without the parts that the upper one replaces."""
    if under.firm or not over.deeper(under) or not under.parts:
        return under
    if over.replaces:
        line = over.parts[0].first if over.parts else 1
        gone += [OverruledPart(under.file, part, over.file, line, where) for part in under.parts if not part.constraint]
        kept = tuple(part for part in under.parts if part.constraint)
        return replace(under, elsewhere=(*under.elsewhere, where)) if where else replace(under, parts=kept)
    parts: list[InstructionPart] = []
    for part in under.parts:
        above = next((instruction_part for instruction_part in over.parts if instruction_part.covers(part)), None)
        if above:
            gone.append(OverruledPart(under.file, part, over.file, above.first, where))
        if not above or where:
            parts.append(replace(part, elsewhere=(*part.elsewhere, where)) if above else part)
    return replace(under, parts=tuple(parts))


def drop_empty_headings(source: InstructionFile, before: InstructionFile) -> InstructionFile:
    """The file without headings whose parts were all overruled; a heading that never had parts stays."""
    lost = {p for p in before.parts if p.bare and has_parts_below(p, before.parts) and not has_parts_below(p, source.parts)}
    return replace(source, parts=tuple(part for part in source.parts if part not in lost))


def has_parts_below(heading: InstructionPart, parts: Sequence[InstructionPart]) -> bool:
    return any(not part.bare and part.path[: len(heading.path)] == heading.path for part in parts)
