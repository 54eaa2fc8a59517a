"""Every piece of a function that could be cut out, good or not."""

from collections.abc import Iterator

from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.blocks import find_blocks
from afresh.code.refactoring.call_stack import find_frame_sensitive_names
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.plan_extraction import plan_extraction
from afresh.code.refactoring.render_extraction import place_helper
from afresh.code.refactoring.suggest_extractions import NO_PROJECT, Cut, PlanState, apply_cut, make_suggestion
from afresh.code.refactoring.text_edits import is_sound_result


def list_cuts(source: PythonSource, function: PythonFunction) -> Iterator[tuple[str, str]]:
    """Yield each cut on its own: what it is and the program after it."""
    host, state = FunctionFlow(function, find_frame_sensitive_names(source, function, {})), PlanState(source, function)
    for block in find_blocks(function, source):
        extracted = plan_extraction(host, block)
        where = place_helper(extracted, source) if extracted else None
        after = apply_cut(state, Cut(extracted, where, 0.0), NO_PROJECT) if extracted and where else None
        if after and is_sound_result(source, after.source):
            suggestion = make_suggestion(source, function, after)
            changed = suggestion.applied(source.text)
            assert changed == after.source.text
            yield suggestion.head.replace("NAME", suggestion.names[0]), changed
