"""A person lets a task change tests, and sees what it changed with the verdict, in `show` and in the commit."""

from person import CHECK, MEND, Person, Step, Told

EASIER: Step = ("edit", {"path": "test_calc.py", "old": "assertEqual(double(2), 4)", "new": "assertGreater(double(2), 3)"})
COMPLETE: Step = ("complete", {"summary": "Multiply instead of adding"})
NO_SANDBOX = "--no-sandbox"


GOAL = "double is wrong. Adapt test_two so that it is less strict."
ORDERED = {"how": "ordered", "quote": "Adapt test_two so that it is less strict."}


def runs(
    person: Person, *replies: list[Step], goal: str = "double is wrong", more: tuple[str, ...] = (), review: dict | None = None
):
    return person.runs(person.script(*replies, review=review), NO_SANDBOX, *more, goal=goal)


def commit_message(person: Person) -> str:
    return person.git("log", "-1", "--format=%B", f"afresh/{person.shown()['task']['id']}")


def without_frame(told: Told) -> str:
    """Where lines of the frame are broken depends on the path of the check."""
    return " ".join(told.out.replace("│", " ").split())


def test_what_the_goal_asks_for_stands_first_in_verdict_show_commit_and_apply_and_its_review_is_paid(person: Person) -> None:
    told = runs(person, [MEND, EASIER], [COMPLETE], goal=GOAL, review=ORDERED)
    assert told.code == 0, told.words
    words = "ests changed as asked by “Adapt test_two so that it is less strict.”: test_calc.py: T::test_two was altered"
    assert f"PASS t{words}; " in without_frame(told) and f"PASS at step 2: t{words}" in person.types("show").words
    assert f"Verified: t{words}; " in " ".join(commit_message(person).split())
    assert f". T{words}." in person.types("apply").words
    assert "3 calls (1 review of changed tests)" in person.types("show").words
    kinds = {row["name"]: row["calls"] for row in person.types("spend", "--by", "kind", "--json").json["lines"]}
    assert kinds == {"work": 2, "review": 1}


def test_an_option_of_the_order_allows_a_path(person: Person) -> None:
    told = runs(person, [MEND, EASIER], [COMPLETE], more=("--allow-test-changes", "test_calc.py"))
    assert told.code == 0 and "tests changed as asked by --allow-test-changes" in without_frame(told)
    wrong = person.types("add", "x", "--check", CHECK, "--allow-test-changes", "tests/none.py")
    assert wrong.code == 2 and "no such file or folder in this repository: tests/none.py" in wrong.words
    assert len(person.types("status", "--json").json["tasks"]) == 1, "nothing was added"


def test_what_acts_unasked_changes_by_an_option_or_once_a_person_agrees_and_is_named(person: Person) -> None:
    hook, workflow = ("edit", {"path": ".envrc", "new": "x\n"}), ("edit", {"path": ".github/workflows/ci.yml", "new": "x\n"})
    asks: Step = ("ask", {"question": "May I add .envrc, which sets the path?"})
    runs(person, [hook], [asks], [MEND, hook, workflow], [COMPLETE], more=("--allow-test-changes", ".github/workflows/"))
    shown = person.shown()
    assert "acts unasked (a shell runs it when it enters the folder)" in person.types("context", "show", "--step", "2").words
    assert person.types("answer", shown["task"]["id"], "yes", "--resume", NO_SANDBOX).code == 0
    named = ".envrc (a shell runs it when it enters the folder), .github/workflows/ci.yml (a server runs it after a push)"
    assert f"changes what runs or is obeyed unasked: {named}" in " ".join(commit_message(person).split())


def test_without_leave_it_is_refused_asked_about_and_answered_by_the_command(person: Person) -> None:
    told = runs(person, [MEND, EASIER], [COMPLETE], [COMPLETE], [COMPLETE])
    assert told.code == 3 and "May it change them?" in told.words
    waiting = person.types("answer").words
    assert "1 allow these changes" in waiting and "2 put them back" in waiting
    task = person.shown()["task"]["id"]
    allowed = person.types("allow", task, "test_calc.py")
    assert allowed.code == 0 and f"{task} may change test_calc.py" in allowed.words and f"afresh resume {task}" in allowed.words
    resumed = person.types("resume", task, NO_SANDBOX)
    assert (
        resumed.code == 0
        and "tests changed as asked by --allow-test-changes: test_calc.py: T::test_two was altered" in resumed.words
    )
    prompt = person.types("context", "show", "--step", "4").out
    assert "without leave" not in prompt.partition("## Verification")[2].partition("##")[0], (
        "the refusal is gone after the answer"
    )
    assert "Existing tests you may change: test_calc.py" in prompt


def test_a_finished_task_and_a_wrong_path_are_refused(person: Person) -> None:
    runs(person, [MEND], [COMPLETE])
    task = person.shown()["task"]["id"]
    told = person.types("allow", task, "test_calc.py")
    assert told.code == 1 and "is finished: done" in told.words
    assert person.types("allow", person.adds("another"), "../elsewhere").code == 2


def test_an_answer_by_number_allows_and_the_model_was_told_before(person: Person) -> None:
    runs(person, [MEND, EASIER], [COMPLETE], [COMPLETE], [COMPLETE])
    task = person.shown()["task"]["id"]
    third = " ".join(person.types("context", "show", "--step", "3").out.split())
    assert "changed without leave: test_calc.py: T::test_two was altered. Put that back as it was" in third
    assert "(`read` @changes/test_calc.py shows it), or `ask`" in third
    assert person.types("answer", task, "1", "--resume", NO_SANDBOX).code == 0
    assert "allowed by you" in " ".join(commit_message(person).split())


def test_the_front_matter_of_an_instruction_file_allows_a_path_and_is_named_with_its_line(person: Person) -> None:
    person.write(".afresh/AGENT.md", "---\nallow_test_changes: [test_calc.py::T::test_two]\n---\nBe brief.\n")
    person.commit("instructions")
    told = runs(person, [MEND, EASIER], [COMPLETE])
    assert told.code == 0, told.words
    words = "tests changed as asked by “allow_test_changes” (.afresh/AGENT.md:2): test_calc.py: T::test_two was altered"
    assert words in " ".join(commit_message(person).split())


def test_words_of_instructions_are_read_by_the_reviewer_and_give_no_leave_without_proof(person: Person) -> None:
    person.write("AGENTS.md", "Be brief.\n\nWhen double changes, update test_two.\n")
    person.commit("instructions")
    told = runs(person, [MEND, EASIER], [COMPLETE], review={"how": "ordered", "quote": "When double changes, update test_two."})
    reason = person.shown()["verdict"]["reason"]
    assert (
        told.code != 0
        and "a test was changed that does not fail, as it was, with the new code: test_calc.py::T::test_two" in reason
    )
