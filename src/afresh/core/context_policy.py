"""What decides, besides the template, which of the gathered items a prompt shows: shares, caps, ranks, thresholds."""

from dataclasses import replace
from functools import cache
from hashlib import sha256

from afresh.core.codec import to_canonical_json
from afresh.core.fast_dataclass import dataclass
from afresh.core.template import CACHE_BREAK_SECTIONS, REQUIRED_SECTIONS, SECTION_ORDER, CallLayout
from afresh.core.worth_policy import WorthPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionOrder:
    names: tuple[str, ...] = SECTION_ORDER
    breaks: tuple[str, ...] = CACHE_BREAK_SECTIONS
    """A provider's cache may hold a prompt up to the end of these sections."""

    def position(self, name: str) -> int:
        """The footer comes last."""
        return self.names.index(name) if name in self.names else len(self.names)

    @property
    def break_positions(self) -> tuple[int, ...]:
        return tuple([self.names.index(name) for name in self.breaks])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionPolicy:
    """When the previous prompt is kept and the last step appended to it, instead of building a new one."""

    max_growth: float = 3.0
    """An extended prompt may have so many times the tokens that a rebuilt one may have; 0: prompts are never extended."""
    max_turn_tokens: int = 1_000
    """Of one output in a turn: a longer one is cut."""
    max_read_tokens: int = 6_000
    """Of the lines that one turn has read: they were asked for."""
    max_stale_share: float = 0.25
    """Of the kept prompt: with more of it out of date it is rebuilt."""
    max_forecast_steps: int = 10
    """The costs of so many further steps are compared, if so many are expected."""
    min_read_rate: float = 0.15
    """What a cached token counts at least in that comparison: what is sent again takes time and attention, however cheap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationPolicy:
    """How sections share the free tokens of a prompt."""

    min_truncated_piece_tokens: int = 60
    """A part of a piece with fewer tokens is not shown."""
    stub_reserve_divisor: int = 8
    """One in this many tokens is kept for lines that stand for what is left out."""
    min_filled_share: float = 0.95
    """Compaction that leaves more than the rest unused is taken back."""
    sections_reduced_under_pressure: tuple[str, ...] = (
        "history", "coverage", "callers", "similar", "outline",
    )  # fmt: skip
    """They come last and get what the others leave; `search` finds what they show."""
    extension: ExtensionPolicy = ExtensionPolicy()
    worth: WorthPolicy = WorthPolicy()
    caps: tuple[tuple[str, float], ...] = ()
    """Of these sections the part that they never exceed, instead of the template's."""

    def cap_layout(self, layout: CallLayout) -> CallLayout:
        """The template's layout under these caps. What no template may cut or hide has none."""
        caps = {name: part for name, part in self.caps if name not in REQUIRED_SECTIONS}
        shares = [share.limit_to(caps.get(share.section)) for share in layout.shares]
        return replace(layout, shares=tuple(shares)) if caps else layout


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationPolicy:
    """Which lines stay of a piece that does not fit whole."""

    opening_lines: int = 3
    """Lines at the beginning that say what it is."""
    neighbour_weight: float = 0.5
    """What a line counts for that is next to one that matters."""
    docstring_weight: float = 0.2
    """What a line of a docstring counts for, beside one of code."""
    max_unmarked_gap_characters: int = 100
    """A shorter gap is shown instead of being marked."""
    min_truncated_characters: int = 120
    """Of head and tail together, and of what is cut."""
    min_code_lines: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveHistoryPolicy:
    """Of work in a tree that can be searched and read again."""

    max_tokens: int = 800
    """For lines of earlier steps."""
    max_filled_gap_characters: int = 80
    """A shorter gap between rows is shown instead of being marked: results of a script are of little use one by one."""
    max_output_characters: int = 400
    """Of a longer output no line is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPolicy:
    """The lines of earlier steps. The weights of their scores are in the template."""

    min_history_tokens: int = 60
    """With fewer nothing is selected."""
    reselect_divisor: int = 8
    """One in this many tokens more make another selection worth while."""
    max_filled_gap_characters: int = 16
    """A shorter gap between rows is shown instead of being marked."""
    min_output_characters_for_id: int = 80
    """A shorter output says little more than how its action ended."""
    live: LiveHistoryPolicy = LiveHistoryPolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptPolicy:
    """Ranks of excerpts, the lowest is shown first, and how many lines each rank protects."""

    step_rank: int = 1_000
    """For each step since it was touched."""
    unmentioned_rank: int = 8_000
    protected_rank: int = -(10**9)
    """What is being worked on."""
    next_tests_rank: int = -2 * 10**9
    last_touched_rank: int = -(10**10)
    """What the last step has read or written: without it the model would ask for it again."""
    core_rank: int = -(10**11)
    """The little that the work turns on."""
    max_protected_lines: int = 80
    max_core_lines: int = 20
    """Of the protected ones."""
    keeps_last_edit: bool = True
    """Lines that were edited last are protected before all others."""
    max_next_test_lines: int = 48
    last_read_rank: int = -25 * 10**9
    """Besides, for what the last step has read: it is for the next change, and what was edited is done."""
    max_unused_read_steps: int = 3
    """Lines that were read so lately are kept before others, as long as their file was not changed since: they are as good as
    asked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePolicy:
    """Which parts of files are gathered. A call that is rebuilt under another policy has what was gathered for it."""

    max_named_files: int = 3
    """Files that the goal names, shown without being asked for."""
    max_short_file_lines: int = 120
    """Such a file is gathered whole."""
    prose_beginning_lines: int = 0
    max_import_scan_lines: int = 60
    min_split_lines: int = 6
    """A shorter part of a definition is not split off."""
    lines_around_change: int = 3
    max_rounding_lines: int = 3
    """Lines that complete a definition, beside those that were read."""
    max_filled_gap_lines: int = 2
    """A shorter gap between lines is shown instead of being marked."""
    max_idle_steps: int = 8
    """Lines that no step has come back to for so long are left out, unless the work speaks of them."""
    max_import_lines: int = 30
    """More imports of the file in work are not shown."""
    max_failing_test_sources: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPolicy:
    """What is shown of notes, decisions and earlier steps."""

    ceiling_tokens_per_item: int = 650
    """For each decision, and each failed approach, that is shown in full."""
    current_focus_weight: int = 3
    """How much more a word counts that the current step is about."""
    max_named_headings: int = 12
    min_confidence: float = 0.8
    max_observed_facts: int = 8
    max_stale_steps: int = 8
    """What was observed so long ago, and before the last change, is left out."""
    max_decision_characters: int = 300
    max_step_line_characters: int = 150
    max_earlier_question_characters: int = 240
    min_listed_output_characters: int = 300
    """A shorter output is not listed among the archived ones; `read` @index lists all."""
    max_archive_lines: int = 8
    max_error_lines: int = 4
    """Errors that outputs said and that still hold: so many lines are never left out; others, and other observations, may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPolicy:
    """What is shown of the facts of other tasks, and of older steps of this one."""

    max_own_facts: int = 8
    max_foreign_facts: int = 4
    min_shared_words: int = 2
    """With what the work is about: one is chance."""
    max_fact_characters: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonPolicy:
    max_lessons: int = 3
    ceiling_share: float = 0.08
    first_share: float = 0.6
    """Of the lessons' tokens, for the first if there are others."""
    min_lesson_tokens: int = 30
    """A shorter part of a lesson says too little."""
    max_line_characters: int = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLimits:
    """What stays of a section that is compacted."""

    min_mentioned_name_characters: int = 4
    """Shorter words are in every sentence."""
    min_notes: int = 3
    min_suggestions: int = 2
    recent_excerpt_steps: int = 3
    min_earlier_steps: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPolicy:
    """What is shown of checks, diffs, outputs and warnings."""

    max_failures_per_check: int = 3
    max_flaky_names: int = 6
    max_missing_lines_characters: int = 80
    max_cited_characters: int = 90
    max_diff_lines: int = 400
    """Of one file."""
    max_commits: int = 6
    max_output_characters: int = 12_000
    """Of one output of the last step."""
    max_listed_changes: int = 2
    max_warnings: int = 2
    max_evidence_characters: int = 220


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPolicy:
    version: int = 1
    order: SectionOrder = SectionOrder()
    allocation: AllocationPolicy = AllocationPolicy()
    truncation: TruncationPolicy = TruncationPolicy()
    history: HistoryPolicy = HistoryPolicy()
    excerpts: ExcerptPolicy = ExcerptPolicy()
    files: FilePolicy = FilePolicy()
    memory: MemoryPolicy = MemoryPolicy()
    recall: RecallPolicy = RecallPolicy()
    lessons: LessonPolicy = LessonPolicy()
    compaction: CompactionLimits = CompactionLimits()
    reports: ReportPolicy = ReportPolicy()

    @property
    def id(self) -> str:
        """Its version and the beginning of its hash, as calls are recorded with it."""
        return name_context_policy(self)


@cache
def name_context_policy(policy: ContextPolicy) -> str:
    return f"{policy.version}-{sha256(to_canonical_json(policy).encode()).hexdigest()[:8]}"


DEFAULT_CONTEXT_POLICY = ContextPolicy()
