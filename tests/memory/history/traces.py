"""Memories of steps that never were, for tests of what is chosen from them."""

from collections.abc import Sequence

from hypothesis import strategies as st

from afresh.core.archived_block import block_id_from_text
from afresh.core.step_history import Passage, PassageVoice
from afresh.memory.history.names import find_file_names
from afresh.memory.history.trace import Trace, build_trace

Said = tuple[int, PassageVoice, str]
"""Step, voice and text."""

POOL = [
    "first_name", "src/parcel/pricing.py is where it stands", "billable.grams = grams // 1000 + 1", "    return first_name",
    "plain words and", "FAILED tests/test_pricing.py::test_two - assert 3 == 2", "Tracking.state is", "```", "",
    "12345 12346 12347 12348 12349 12350", "nothing but words that are long enough to be told",
    "x = first_name(second_name, third_name)", "def second_name(one, two, three):",
    *[f"value_{number} stands in src/module_{number % 4}.py with many_{number % 7}" for number in range(30)],
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(POOL), min_size=1, max_size=9).map("\n".join)
SPOKEN = st.lists(st.tuples(st.integers(1, 30), st.sampled_from(PassageVoice), TEXTS), max_size=12)


def passages(spoken: Sequence[Said]) -> tuple[tuple[Passage, ...], dict[str, str]]:
    """In order of their steps, none twice, with the archive that holds their texts."""
    archive = {block_id_from_text(text): text for _, _, text in spoken}
    ordered = sorted(spoken, key=lambda one: one[0])
    made = [
        Passage(step, voice, block_id_from_text(text), len(text), about=find_file_names(text)) for step, voice, text in ordered
    ]
    return tuple(dict.fromkeys(made)), archive


def traced(spoken: Sequence[Said]) -> Trace:
    held, archive = passages(spoken)
    return build_trace(held, archive.__getitem__)
