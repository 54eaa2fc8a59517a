"""Guards, each put out of action, and the test that then fails. `make mutants` tries every row."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from afresh.core.codec import get_decoder
from afresh.core.event import EVENT_CLASS_BY_TAG, ChangeKeptOrReverted, JournalEntry, JournalHead
from afresh.core.fact import FactScope
from afresh.core.ledger import SpendingTally
from afresh.core.project_facts import extract_facts
from afresh.core.spending import LimitScope


@dataclass(frozen=True)
class Twin:
    name: str
    """Modules below `afresh` and what is replaced in them, as `module:name`."""
    broken: Callable[[Any], Any]
    """Given the real thing, what stands in its place."""
    test: str
    """Below `tests`, with or without the case."""

    @property
    def node(self) -> str:
        return f"tests/{self.test}"

    def apply(self) -> None:
        for place in self.name.split():
            module, _, name = place.partition(":")
            owner: Any = import_module(f"afresh.{module}")
            *within, last = name.split(".")
            for part in within:
                owner = getattr(owner, part)
            setattr(owner, last, self.broken(getattr(owner, last)))


def answer(value: Any) -> Callable[[Any], Any]:
    return lambda whole: lambda *args, **named: value


def be(value: Any) -> Callable[[Any], Any]:
    return lambda whole: value


def believe_every_line(whole: Any) -> Any:
    def parse_entries(data: bytes, path: Path, task: str, extent: object) -> Iterator[JournalEntry]:
        for line in data.decode().splitlines():
            plain = json.loads(line)["entry"]
            event = get_decoder(EVENT_CLASS_BY_TAG[plain["kind"]])(plain["data"])
            yield JournalEntry(task, plain["seq"], plain["at"], event, line[9:-76], line[-66:-2])

    def find_chain(data: bytes) -> tuple[JournalHead, int]:
        lines = data.decode().splitlines()
        return JournalHead(len(lines), lines[-1][-66:-2] if lines else ""), len(data)

    return find_chain if whole.__name__ == "find_chain" else parse_entries


def forget_undone_changes(effects: Any) -> Any:
    keep_or_revert = effects[ChangeKeptOrReverted]

    def broken(event: Any, state: Any, at: Any) -> Any:
        return replace(keep_or_revert(event, state, at), verification=state.verification)

    return {**effects, ChangeKeptOrReverted: broken}


def forget_notebooks(rebuild: Any) -> Any:
    def broken(index: Any) -> None:
        index._notebooks = ()
        rebuild(index)

    return broken


UNDONE, EVIDENCE, LEAVE, NODE = (
    f"scenarios/{name}.py::test_" for name in ("test_undone_steps", "test_evidence", "test_leave", "test_languages")
)
OLD, REPORTS = (f"verification/{name}.py::test_" for name in ("test_regressions", "test_runner_reports"))
CONFINED = "sandbox/test_contract.py::TestLandlock::test_"
BOOKS = "storage.sql.ledger:SqlLedger."
LEDGER = "storage/contracts/test_ledger_contract.py::TestSqliteLedger::test_"
NOTES, FACTS = (f"storage/contracts/test_storage_contracts.py::TestSqlite{name}::test_" for name in ("Notebook", "FactIndex"))
READERS = "verification.checks:read_runner_reports verification.checks:read_printed_tests"
WEAKER = "verification.permission:find_changed_units verification.verify_step:find_court_changes"

ROWS: tuple[tuple[str, Callable[[Any], Any], str], ...] = (
    # the judge
    ("verification.verify_step:check_changed_files_compile", answer(None),
     "scenarios/test_verification.py::test_a_file_that_does_not_compile_fails_before_any_test"),
    ("verification.confirm_regressions:MAX_WHOLE_RUNS_AGAIN", be(0),
     f"{UNDONE}at_the_end_a_flaky_test_has_to_pass_once_in_a_run_of_all"),
    ("verification.confirm_regressions:MAX_TESTS_RUN_AGAIN", be(0),
     f"{UNDONE}a_test_that_fails_once_and_passes_alone_is_flaky_and_undoes_nothing"),
    ("verification.court_run:confirm_final_regressions",
     lambda whole: lambda *args: import_module("afresh.verification.confirm_regressions").confirm_step_regressions(*args[:5]),
     f"{UNDONE}a_test_that_another_breaks_each_time_is_no_flaky_test_at_the_end"),
    ("memory.failed_approaches:_count_signs", answer(0), f"{UNDONE}what_failed_is_remembered_whole_with_the_culprit_first"),
    ("memory.failed_approaches:MAX_ATTEMPTS_KEPT", be(1), f"{UNDONE}what_failed_is_remembered_whole_with_the_culprit_first"),
    ("verification.keep_or_revert:clear_kept_attempts", answer(()),
     f"{UNDONE}an_edit_that_is_kept_later_is_no_failed_approach_any_more"),
    ("core.reducer:EFFECTS", forget_undone_changes,
     f"{UNDONE}the_verdict_that_is_shown_is_that_of_the_tree"),
    ("verification.tampering:describe_steering_files", answer(""),
     "scenarios/test_allow.py::test_what_acts_unasked_changes_by_an_option_or_once_a_person_agrees_and_is_named"),
    ("verification.completion:add_new_tests_to_verdict",
     lambda whole: lambda context, tree, changes, judged, verdict: (verdict, ()),
     f"{EVIDENCE}a_new_test_that_passes_without_the_change_is_named_and_refuses_nothing"),
    ("verification.completion:find_baseline_blocker", answer(""), f"{EVIDENCE}a_task_without_any_check_is_never_a_pass"),
    ("verification.verify_step:note_open_items_and_network", lambda whole: lambda verdict, state, deeds: verdict,
     f"{EVIDENCE}a_pass_with_an_open_plan_names_it_in_verdict_summary_session_and_commit"),
    ("verification.witness:Work.list_wrong_versions", answer([]),
     "scenarios/test_cheats.py::test_what_no_check_notices_is_named[an assertion that anything meets]"),
    ("verification.witness:list_failing_assertions", answer(()),
     "scenarios/test_cheats.py::test_what_no_check_notices_is_named[one of two, in a handler]"),
    ("verification.witness:list_other_values", answer(()),
     "scenarios/test_cheats.py::test_what_no_check_notices_is_named[by its level of make]"),
    ("verification.witness:list_wrong_lines", answer(()),
     "scenarios/test_cheats.py::test_what_no_check_notices_is_named[a field that is not compared]"),
    ("verification.reviewer:is_quoted", lambda whole: lambda quote, texts: bool(quote),
     f"{LEAVE}an_answer_that_does_not_stand_gives_none_and_then_the_person_is_asked[words of nobody]"),
    ("verification.reviewer:MIN_QUOTE_CHARACTERS", be(1),
     f"{LEAVE}an_answer_that_does_not_stand_gives_none_and_then_the_person_is_asked[a few letters of the order]"),
    ("verification.proof:_has_failing", answer(True), f"{LEAVE}what_does_not_demand_anything_new_is_refused"),
    (READERS, answer(None), f"{NODE}a_broken_test_is_named_with_what_it_expected"),
    (READERS, answer(None), f"{NODE}a_new_test_may_fail"),
    (READERS, answer(None), f"{NODE}on_a_red_base_a_newly_broken_test_is_noticed"),
    (READERS, answer(None), f"{NODE}a_failing_test_is_shown_by_name_though_many_lines_follow_it"),
    ("verification.regressions:hidden_prefix_from_error", answer("nothing"),
     f"{NODE}a_file_that_can_not_be_loaded_breaks_the_tests_in_it"),
    ("verification.regressions:find_missing_tests", answer(frozenset()),
     "scenarios/test_grading.py::test_a_test_that_skips_itself_by_what_the_product_does_is_missed"),
    ("verification.verify_step:narrow_check", answer(None), f"{NODE}the_tests_of_a_change_are_run_and_named"),
    (f"{WEAKER} verification.regressions:find_missing_tests", answer(frozenset()),
     f"{NODE}a_test_that_is_switched_off_is_refused"),
    ("verification.regressions:_assume_all_named", lambda whole: lambda ran: ran.outcomes,
     f"{OLD}a_test_that_a_whole_output_does_not_name_has_not_run"),
    ("verification.regressions:_describe_hidden_failures", answer(""), f"{OLD}an_exit_of_zero_does_not_hide_a_test_that_fails"),
    ("verification.regressions:_lacks_runner_report", answer(False),
     f"{OLD}text_does_not_stand_in_for_the_report_that_a_runner_wrote_before"),
    ("verification.runner_reports:READERS", be({}), f"{REPORTS}a_failure_says_what_was_expected_and_where"),
    ("outputs.printed_tests:FORMATS verification.runner_reports:parse_tap",
     lambda whole: (lambda *_: ()) if callable(whole) else (), f"{REPORTS}the_text_of_a_runner_names_each_test"),
    ("context.sources.verification_status:_is_answered", answer(False),
     "context/sources/test_verification_status.py::test_of_a_refusal_that_a_person_has_answered_only_the_runs_are_left"),
    # what a model may do, and what it is told
    ("actions.built_in_policies:list_unasked_steering_files", answer(()),
     "scenarios/test_allow.py::test_what_acts_unasked_changes_by_an_option_or_once_a_person_agrees_and_is_named"),
    ("core.state:State.persons_goal", lambda whole: property(lambda state: state.topic),
     "scenarios/test_from_issue.py::test_only_the_persons_own_words_may_be_quoted_for_leave_whatever_an_issue_says"),
    ("app.project:remember_environment_secrets", answer(None),
     "scenarios/test_known_secrets.py::test_a_key_of_the_environment_is_kept_shown_and_sent_nowhere"),
    ("mcp_client.pinned_tools:ApprovedServer.holds", answer(True),
     "scenarios/test_mcp_client.py::test_a_tool_whose_description_changes_after_approval_is_not_offered_until_approved_again"),
    ("policy.human_supervision:find_phases_of_reply", lambda whole: lambda state, actions: whole(state, actions[:1])[:1],
     "scenarios/test_loops.py::test_with_green_checks_and_no_plan_it_pauses_before_the_first_change_and_before_done[one reply]"),
    ("policy.next_call:press_layout",
     lambda press: lambda layout, at, pace: press(layout, replace(at, workspace=replace(at.workspace, tried=False)), pace),
     "policy/test_phase_limits.py::test_whoever_made_changes_that_were_undone_may_look_for_the_cause"),
    ("evolve.detect_regression:LOOKS evolve.detect_regression:MAX_CHANCE",
     lambda whole: 0.05 if isinstance(whole, float) else tuple(range(2, 49, 2)),
     "evolve/test_policy_history.py::test_noise_alone_takes_hardly_any_policy_back"),
    ("code.refactoring.plan_extraction:calls_any_of", answer(False),
     "code/refactoring/test_behaviour_kept.py::test_a_call_that_names_its_line_is_kept_where_it_is"),
    # the sandbox
    ("sandbox.command_environment:list_mounted_environments sandbox.shown_environments:list_mounted_environments", answer(()),
     f"{CONFINED}environments_of_the_checkout_are_in_the_tree"),
    ("sandbox.bubblewrap:list_environment_mounts sandbox.shown_environments:_show_link",
     lambda whole: lambda *args: {} if whole.__name__ == "list_environment_mounts" else contextlib.nullcontext(),
     f"{CONFINED}what_the_tree_has_in_its_place_is_hidden_and_stays"),
    ("sandbox.shown_environments:remove_entry", answer(None), f"{CONFINED}nothing_of_an_environment_stays_in_the_tree"),
    ("sandbox.shown_environments:_identify", answer(()), f"{CONFINED}a_command_that_replaces_an_environment_does_not_succeed"),
    ("sandbox.shown_environments:_show_packages", lambda whole: lambda mounts, source, *rest: source,
     f"{CONFINED}caches_beside_packages_are_private_and_workspaces_are_those_of_the_tree"),
    ("sandbox.supervisor:list_mounted_environments", lambda whole: lambda mounts: (mounts.at,),
     f"{CONFINED}an_editable_install_leads_to_the_tree"),
    ("sandbox.process:hide_paths", lambda whole: lambda text, *rest: re.sub(r"/tmp/afresh-\w+/tmp", "/tmp", text),
     f"{CONFINED}a_path_that_it_prints_is_there_for_the_next_command"),
    # what is stored
    ("storage.renew_lease:find_lease_holder", lambda whole: lambda worker, expires, now: worker if expires > now else "",
     "storage/contracts/test_queue_contract.py::TestSqliteQueue::test_the_lease_of_a_process_that_lives_here_holds_whatever_the_clock_says"),
    ("storage.export.read_copy:parse_entries storage.export.copy_files:find_chain", believe_every_line,
     "storage/export/test_copy.py::test_a_changed_line_ends_what_is_believed_of_a_journal"),
    ("storage.sql.fact_words:RANK_SQL", lambda whole: whole.replace("about + about + body", "body + about - about"),
     "storage/postgres/test_fact_ranking.py::test_a_word_of_the_subject_counts_for_more"),
    ("storage.export.read_export:explain_foreign_event", answer(""),
     "scenarios/test_foreign_journals.py::test_names_that_are_no_objects_of_git_are_not_taken"),
    (f"{BOOKS}alerts", answer(["one"]), f"{LEDGER}an_empty_ledger_has_nothing_to_say"),
    (f"{BOOKS}settle", answer([]), f"{LEDGER}a_booked_call_counts_at_its_worst_and_a_paid_one_as_it_was"),
    (f"{BOOKS}settle", lambda whole: lambda self, number, payment, limits: whole(self, number, replace(payment, note=""), limits),
     f"{LEDGER}a_call_comes_back_as_it_was_written"),
    (f"{BOOKS}calls", lambda whole: lambda self, which: whole(self, replace(which, task="")),
     f"{LEDGER}calls_are_found_by_time_project_and_task"),
    (f"{BOOKS}book", lambda whole: lambda self, order: whole(self, replace(order, limits=())),
     f"{LEDGER}the_worst_of_a_call_must_fit_and_one_that_does_not_trips_the_limit_for_good"),
    (f"{BOOKS}tripped", lambda whole: lambda self, account=None: whole(self), f"{LEDGER}a_narrow_limit_stops_only_its_own"),
    (f"{BOOKS}book", lambda whole: lambda self, order: whole(self, replace(order, account=replace(order.account, at=0.0))),
     f"{LEDGER}days_and_months_are_counted_apart"),
    (f"{BOOKS}settle", lambda whole: lambda self, number, payment, limits: whole(self, number, payment, ()),
     f"{LEDGER}a_call_that_cost_more_than_expected_trips_what_it_broke"),
    (f"{BOOKS}tally", lambda whole: lambda self, *args: SpendingTally(whole(self, *args).total),
     f"{LEDGER}a_tally_knows_what_was_spent_before_a_reset"),
    (f"{BOOKS}reset", lambda whole: lambda self, account, scope: whole(self, account, LimitScope.TASK),
     f"{LEDGER}a_limit_that_tripped_yesterday_is_ended_by_a_reset_of_today"),
    (f"{BOOKS}cancel", answer(None), f"{LEDGER}a_cancelled_call_costs_nothing"),
    (f"{BOOKS}cancel", lambda whole: lambda self, number, note, refund=True: whole(self, number, note),
     f"{LEDGER}a_call_cancelled_without_a_refund_stays_at_its_worst_and_is_no_longer_open"),
    (f"{BOOKS}book",
     lambda whole: lambda self, order: whole(self, replace(order, account=replace(order.account, task=order.call.task))),
     f"{LEDGER}a_part_spends_what_its_whole_may"),
    (f"{BOOKS}enter", lambda whole: lambda self, made: whole(self, made[:1]),
     f"{LEDGER}what_was_never_booked_can_be_entered_and_counts"),
    (f"{BOOKS}settle", lambda whole: lambda self, *args: [*whole(self, *args)] * 2,
     f"{LEDGER}alerts_come_once_each_for_a_limit_and_a_period"),
    (f"{BOOKS}take_turn", lambda whole: lambda self, model, tokens, limits: whole(self, model, tokens, ()),
     f"{LEDGER}turns_under_a_rate_limit_are_shared_by_all_workers"),
    (f"{BOOKS}end_turn", answer(None),
     f"{LEDGER}a_turn_counts_the_tokens_that_were_used_and_one_that_was_not_taken_counts_nothing"),
    ("storage.sql.notebook:SqlNotebook.head", answer(JournalHead(1, "f" * 64)), f"{NOTES}a_new_notebook_is_empty"),
    ("storage.sql.notebook:SqlNotebook.entries", lambda whole: lambda self, *after: reversed([*whole(self, *after)]),
     f"{NOTES}what_was_appended_is_there_in_order_for_the_next_process"),
    ("storage.sql.notebook:SqlNotebook.entries", lambda whole: lambda self, *after: whole(self),
     f"{NOTES}reading_can_begin_after_any_entry"),
    ("storage.sql.notebook:SqlNotebook.extend",
     lambda whole: lambda self, entries: self.append([entry.event for entry in entries]),
     f"{NOTES}entries_from_elsewhere_come_in_as_they_are"),
    ("storage.sql.notebook:SqlNotebook.extend", answer(None),
     f"{NOTES}entries_that_do_not_continue_the_chain_are_a_conflict_and_nothing_is_written"),
    ("storage.sql.fact_words:fold_words", lambda whole: lambda text: text.split(),
     f"{FACTS}a_fact_is_found_by_part_of_an_identifier"),
    ("storage.sql.fact_index:list_newest_facts",
     lambda whole: lambda connection, question: whole(connection, replace(question, limit=99)),
     f"{FACTS}without_words_the_newest_come_first_and_no_more_than_asked_for"),
    ("storage.sql.facts:end_fact", answer(None),
     f"{FACTS}a_newer_fact_about_the_same_takes_the_older_ones_place_and_both_are_history"),
    ("storage.sql.facts:find_same_subject", answer([]), f"{FACTS}the_same_words_again_are_one_fact"),
    ("storage.sql.fact_index:build_conditions", answer(("", ())),
     f"{FACTS}a_task_sees_its_own_facts_and_the_projects_but_not_what_another_merely_observed"),
    ("storage.sql.facts:extract_facts", answer(()), f"{FACTS}words_of_persons_decisions_and_verified_checks_are_facts_too"),
    ("storage.sql.facts:apply_event", answer(None), f"{FACTS}what_was_observed_in_a_step_that_is_undone_no_longer_holds"),
    ("storage.sql.journal:SqlJournal.heads", answer({}),
     f"{FACTS}what_happened_while_nobody_looked_is_known_to_the_next_process"),
    ("storage.sql.notebook:SqlNotebook.entries", answer(()),
     f"{FACTS}what_another_process_writes_into_the_notebook_is_known_at_the_next_question"),
    ("storage.sql.facts:extract_facts",
     lambda whole: lambda entry: [(replace(fact, scope=FactScope.USER), by) for fact, by in extract_facts(entry)],
     f"{FACTS}only_rules_for_all_projects_come_out_of_the_users_notebook"),
    ("storage.sql.facts:list_edits", answer(()), f"{FACTS}a_correction_puts_a_persons_words_in_the_place_of_a_fact"),
    ("storage.sql.facts:is_fact_edited", answer(False), f"{FACTS}what_a_person_has_corrected_is_not_learnt_again"),
    ("storage.sql.facts:is_fact_edited", answer(False), f"{FACTS}what_is_forgotten_is_not_found_and_not_learnt_again"),
    ("storage.sql.fact_index:SqlFactIndex.rebuild", forget_notebooks, f"{FACTS}an_index_that_is_made_again_knows_the_same"),
)  # fmt: skip
TWINS = tuple(Twin(*row) for row in ROWS)
