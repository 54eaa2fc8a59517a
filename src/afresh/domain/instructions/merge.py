"""Instructions laid over each other, from general to special: deeper wins, part by part, where it holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.domain.instructions.source import Level, Part, Source


@dataclass(frozen=True, slots=True)
class Overruled:
    """A part that another one goes before; `where` is the folder in which it does, empty for everywhere."""

    file: str
    part: Part
    by: str
    line: int
    where: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    sources: tuple[Source, ...] = ()
    """From general to special, each with the parts that are left of it."""
    overruled: tuple[Overruled, ...] = ()


def merged(sources: Sequence[Source], paths: Sequence[str] = ()) -> Chain:
    """For work on these paths. What a folder says goes before the rest in that folder; where work goes on outside it too, both
    are kept, and the one that holds elsewhere is marked."""
    kept: list[Source] = []
    gone: list[Overruled] = []
    ordered = sorted(sources, key=lambda one: list(Level).index(one.level))
    for source in ordered:
        source = yielding(source, [other for other in kept if other.firm], gone)
        where = "" if all_inside(source.folder, paths) else source.folder
        kept = [laid_over(other, source, where, gone) for other in kept]
        kept.append(source)
    left = [tidied(source, before) for source, before in zip(kept, ordered, strict=True)]
    return Chain(tuple(source for source in left if source.parts), tuple(gone))


def all_inside(folder: str, paths: Sequence[str]) -> bool:
    return not folder or all(f"{path}/".startswith(f"{folder}/") for path in paths)


def yielding(source: Source, firm: Sequence[Source], gone: list[Overruled]) -> Source:
    """Without what a firm one has said already."""
    parts: list[Part] = []
    for part in source.parts:
        above = next(((other, said) for other in firm for said in other.parts if said.covers(part)), None)
        if above:
            gone.append(Overruled(source.file, part, above[0].file, above[1].first))
        else:
            parts.append(part)
    return replace(source, parts=tuple(parts))


def laid_over(under: Source, over: Source, where: str, gone: list[Overruled]) -> Source:
    """What is left of the one below."""
    if under.firm or not over.deeper(under) or not under.parts:
        return under
    if over.replaces:
        line = over.parts[0].first if over.parts else 1
        gone += [Overruled(under.file, part, over.file, line, where) for part in under.parts]
        return replace(under, elsewhere=(*under.elsewhere, where)) if where else replace(under, parts=())
    parts: list[Part] = []
    for part in under.parts:
        above = next((said for said in over.parts if said.covers(part)), None)
        if above:
            gone.append(Overruled(under.file, part, over.file, above.first, where))
        if not above or where:
            parts.append(replace(part, elsewhere=(*part.elsewhere, where)) if above else part)
    return replace(under, parts=tuple(parts))


def tidied(source: Source, before: Source) -> Source:
    """Without headings that stood above others of which nothing is left; one that stood for itself stays."""
    lost = {p for p in before.parts if p.bare and below(p, before.parts) and not below(p, source.parts)}
    return replace(source, parts=tuple(part for part in source.parts if part not in lost))


def below(heading: Part, parts: Sequence[Part]) -> bool:
    return any(not part.bare and part.path[: len(heading.path)] == heading.path for part in parts)
