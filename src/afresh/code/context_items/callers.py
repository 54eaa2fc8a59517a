"""Section `callers`: where names of the task are, and who uses the targets."""

from collections.abc import Iterator

from afresh.code.context_items.named_places import gather_named_places
from afresh.code.context_items.target_definitions import CHANGED_BY_TASK, TargetDefinition
from afresh.code.context_items.work_focus import MAX_LINE_CHARACTERS, WorkFocus
from afresh.code.graph import calls
from afresh.code.graph.calls_by_name import find_callees_by_name
from afresh.code.search_hit import SymbolUse, UseKind
from afresh.core.context_item import Note
from afresh.core.truncate import list_first, to_one_line

MAX_TARGETS = 4
MAX_CALLER_LINES = 8
MAX_CALLEES = 8


def gather_callers(scene: WorkFocus) -> Iterator[Note]:
    yield from gather_named_places(scene)
    for target in select_caller_targets(scene):
        found = [one for one in calls.find_callers_cached(scene.code, target.place) if one.kind is not UseKind.IMPORT]
        inner = [one for one in found if not scene.code.is_test(one.path)]
        tests = len({(one.path, one.within) for one in found if scene.code.is_test(one.path)})
        if found:
            lines = [*render_callers(inner), *render_test_count(tests, inner)]
            what = "callers" if any(one.kind is not UseKind.PASSED for one in found) else "uses"
            yield Note("callers", f"{what} of {target.symbol.name}", "\n".join(lines))
        if called := render_callees(scene, target):
            yield Note("callers", f"what {target.symbol.name} calls", called)


def render_callees(scene: WorkFocus, target: TargetDefinition) -> str:
    """Return the functions of the tree that a target calls, where they are not shown yet. In Python the target's source and its
    imports tell as much."""
    if scene.code.reading(target.path).language == "python":
        return ""
    found = [one.target for one in find_callees_by_name(scene.code, target.place)]
    unseen = [one for one in found if not scene.seen(one.path, one.symbol.line, one.symbol.end)]
    return "\n".join(
        list_first([f"{one}: {to_one_line(one.symbol.signature, MAX_LINE_CHARACTERS)}" for one in unseen], MAX_CALLEES)
    )


def select_caller_targets(scene: WorkFocus) -> list[TargetDefinition]:
    """Return the targets that the task is about; once something is changed, what is changed."""
    sure = [one for one in scene.functions if one.is_sure]
    return [one for one in sure if not scene.state.workspace.changed or one.why == CHANGED_BY_TASK][:MAX_TARGETS]


def render_callers(found: list[SymbolUse]) -> list[str]:
    return list_first(
        [f"{one.path}:{one.line} in {one.within or 'the file'}{render_remarks(one)}" for one in found], MAX_CALLER_LINES
    )


def render_remarks(one: SymbolUse) -> str:
    remarks = (*(["no call"] if one.kind is UseKind.PASSED else []), *([] if one.sure else ["by name"]))
    return f" ({', '.join(remarks)})" if remarks else ""


def render_test_count(tests: int, inner: list[SymbolUse]) -> list[str]:
    """Return a line with how many tests call the target, and whether only tests do."""
    if not tests:
        return []
    return [f"{'and' if inner else 'only'} {tests} test{'s' if tests > 1 else ''}"]
