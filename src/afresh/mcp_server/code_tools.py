"""Tools that answer questions about tasks and code. They change nothing."""

from collections.abc import Iterator, Sequence
from itertools import islice

from afresh.actions.tools.function_tool import make_tool_schema
from afresh.app.code.explore_code import SymbolUsers, build_code_map, find_existing_symbols, find_symbol_users, open_checkout_code
from afresh.app.code.violations import Violation, list_violations
from afresh.app.queue.read_tasks import find_next_ticket
from afresh.code.search_hit import MatchQuality, SymbolMatches, SymbolUse, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.core.truncate import list_first, to_one_line
from afresh.errors import BadInput
from afresh.mcp_server.served_tool import ClientCall, ServedTool
from afresh.views.task_facts import find_ticket_state

DEFAULT_MAP_TOKENS = 1_500
MAX_MAP_TOKENS = 3_000
MAX_SYMBOLS = 15
MAX_USES = 60
MAX_VIOLATIONS = 30
LINE_CHARACTERS = 160
KIND_NAMES = tuple(kind.value for kind in SymbolKind)


def show_next_task(call: ClientCall) -> str:
    ticket = find_next_ticket(call.project.queue)
    if ticket is None:
        return "No task is ready."
    task = call.project.store.load(ticket.task).task
    checks = [f"check, must exit 0: {check.command}" for check in task.checks]
    head = f"{task.id} ({task.type}, {find_ticket_state(ticket)}, priority {ticket.priority})"
    return "\n".join([head, f"goal: {task.goal}", *checks, f"Not claimed. `afresh resume {task.id}` has afresh work on it."])


def map_code(call: ClientCall) -> str:
    tokens = call.number("tokens", DEFAULT_MAP_TOKENS, MAX_MAP_TOKENS)
    code_map = build_code_map(call.project.paths.root, call.text("about"), tokens)
    return f"{code_map.text}\n[{len(code_map.files):,} of {code_map.known:,} code files]"


def find_symbol(call: ClientCall) -> str:
    kind = call.text("kind")
    if kind and kind not in KIND_NAMES:
        raise BadInput(f"no such kind: {kind!r}", next=f"use one of {', '.join(KIND_NAMES)}")
    kinds = [SymbolKind(kind)] if kind else []
    return render_matches(find_existing_symbols(open_checkout_code(call.project), call.text("symbol"), kinds, MAX_SYMBOLS))


def list_callers(call: ClientCall) -> str:
    used = find_symbol_users(open_checkout_code(call.project), call.text("symbol"))
    if isinstance(used, SymbolMatches):
        return f"Not exactly one symbol. Ask for one of these as path:NAME:\n{render_matches(used)}"
    return "\n".join([render_place(used.place), *render_uses(used)])


def list_complex_functions(call: ClientCall) -> str:
    root, path = call.project.paths.root, call.text("path")
    if path and not (root / path).resolve().is_relative_to(root.resolve()):
        raise BadInput(f"{path!r} is outside of the repository", next="give a path relative to its root")
    violations = list_violations(root, [path] if path else [], offers=False)
    lines = [render_violation(violation) for violation in islice(violations, call.number("limit", 10, MAX_VIOLATIONS))]
    return "\n".join(lines) or "No function is over a limit."


def render_violation(violation: Violation) -> str:
    over = ", ".join(f"{each.name} {each.value} (limit {each.limit})" for each in violation.measures)
    return f"{violation.path}:{violation.line} {violation.function}: {over}"


def render_matches(matches: SymbolMatches) -> str:
    exact = matches.match in (MatchQuality.EXACT, MatchQuality.SPELLING)
    head = [] if exact else ["No symbol has that name. Similar ones:"]
    more = [f"… {matches.more:,} more"] if matches.more else []
    return "\n".join([*head, *map(render_place, matches.places), *more])


def render_place(place: SymbolPlace) -> str:
    symbol = place.symbol
    doc = f"  # {to_one_line(symbol.doc, LINE_CHARACTERS)}" if symbol.doc else ""
    return f"{place.path}:{symbol.line}-{symbol.end} {symbol.kind} {symbol.name}: {to_one_line(symbol.signature, 240)}{doc}"


def render_uses(used: SymbolUsers) -> Iterator[str]:
    calls = [use for use in used.callers if use.kind is not UseKind.IMPORT]
    groups = {
        "Uses": [use for use in calls if use.sure and use.path not in used.tests],
        "Uses in tests": [use for use in calls if use.sure and use.path in used.tests],
        "Same name only, may be another": [use for use in calls if not use.sure],
    }
    for title, uses in groups.items():
        yield from [f"{title}: {len(uses)}", *list_first([render_use(use) for use in uses], MAX_USES)] if uses else []
    if not calls:
        yield "No uses in this repository."
    yield from describe_relatives("Extends", used.above)
    yield from describe_relatives("Extended or overridden by", used.below)
    if used.callers.unread:
        yield f"{used.callers.unread:,} more files mention it and were not searched."


def render_use(use: SymbolUse) -> str:
    within = f" in {use.within}" if use.within else ""
    return f"{use.path}:{use.line}{within}: {to_one_line(use.text, LINE_CHARACTERS)}"


def describe_relatives(title: str, places: Sequence[SymbolPlace]) -> list[str]:
    return [f"{title}: {', '.join(f'{place.symbol.name} ({place})' for place in places[:MAX_SYMBOLS])}"] if places else []


CODE_TOOLS = (
    ServedTool(
        make_tool_schema(
            "next_task",
            "The next task in the user's queue: id, goal, checks. It is not reserved for you: ask the user before you do it.",
        ),
        show_next_task,
    ),
    ServedTool(
        make_tool_schema(
            "map",
            "The files and symbols that matter most for a task or question, with line numbers: where to start reading.",
            ("about", "tokens"),
            about="The task or question, in words; without it an overview of the repository.",
            tokens=("integer", "Size of the answer: default 1500, at most 3000."),
        ),
        map_code,
    ),
    ServedTool(
        make_tool_schema(
            "find",
            "Where a function, class or constant is defined: path, lines, signature. Faster and surer than a text search.",
            ("kind",),
            symbol="NAME, Class.method, a part of a name, or several words of it.",
            kind="class, interface, function, method or constant.",
        ),
        find_symbol,
    ),
    ServedTool(
        make_tool_schema(
            "who_calls",
            "Every use of a function, method or class, with its line; and its base and sub classes. Call it before you change "
            "a signature or delete something.",
            symbol="NAME, Class.method or path:NAME.",
        ),
        list_callers,
    ),
    ServedTool(
        make_tool_schema(
            "violations",
            "Python functions over the project's complexity limits, the worst first.",
            ("path", "limit"),
            path="File or folder in the repository; without it all.",
            limit=("integer", "Default 10, at most 30."),
        ),
        list_complex_functions,
    ),
)
