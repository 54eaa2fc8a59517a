"""A person lets a task change tests, and sees what it changed with the verdict, in `show` and in the commit."""

from person import CHECK, MEND, Person, Step, Told

EASIER: Step = ("edit", {"path": "test_calc.py", "old": "assertEqual(double(2), 4)", "new": "assertGreater(double(2), 3)"})
COMPLETE: Step = ("complete", {"summary": "Multiply instead of adding"})
NO_SANDBOX = "--no-sandbox"


def runs(person: Person, *replies: list[Step], goal: str = "double is wrong", more: tuple[str, ...] = ()):
    return person.runs(person.script(*replies), NO_SANDBOX, *more, goal=goal)


def commit_message(person: Person) -> str:
    return person.git("log", "-1", "--format=%B", f"afresh/{person.shown()['task']['id']}")


def without_frame(told: Told) -> str:
    """Where lines of the frame are broken depends on the path of the check."""
    return " ".join(told.out.replace("│", " ").split())


def test_what_the_goal_asks_for_is_written_down_shown_and_in_the_commit(person: Person) -> None:
    goal = "double is wrong. Adapt test_two so that it is less strict."
    told = runs(person, [MEND, EASIER], [COMPLETE], goal=goal)
    assert told.code == 0, told.words
    licence = person.shown()["licence"]
    assert [(one["name"], one["quote"]) for one in licence] == [("test_two", "Adapt test_two so that it is less strict.")]
    shown = person.types("show").words
    assert "Tests it may change" in shown and "test_two (extend, alter, replace): “Adapt test_two so that" in shown
    words = "tests changed as asked by “Adapt test_two so that it is less strict.”: test_calc.py: T.test_two was altered"
    assert words in " ".join(commit_message(person).split()) and words in without_frame(told)
    assert "Existing tests you may change: test_two" in person.types("context", "show", "--step", "1").out


def test_an_option_of_the_order_allows_a_path(person: Person) -> None:
    told = runs(person, [MEND, EASIER], [COMPLETE], more=("--allow-test-changes", "test_calc.py"))
    assert told.code == 0 and "tests changed as asked by --allow-test-changes" in without_frame(told)
    wrong = person.types("add", "x", "--check", CHECK, "--allow-test-changes", "tests/none.py")
    assert wrong.code == 2 and "no such file or folder in this repository: tests/none.py" in wrong.words
    assert len(person.types("list", "--json").json) == 1, "nothing was added"


def test_what_acts_unasked_changes_by_an_option_or_once_a_person_agrees_and_is_named(person: Person) -> None:
    hook, workflow = ("edit", {"path": ".envrc", "new": "x\n"}), ("edit", {"path": ".github/workflows/ci.yml", "new": "x\n"})
    asks: Step = ("ask", {"question": "May I add .envrc, which sets the path?"})
    runs(person, [hook], [asks], [MEND, hook, workflow], [COMPLETE], more=("--allow-test-changes", ".github/workflows/"))
    shown = person.shown()
    assert "acts unasked (a shell runs it when it enters the folder)" in person.types("context", "show", "--step", "2").words
    assert person.types("answer", shown["task"]["id"], "yes", "--resume", NO_SANDBOX).code == 0
    named = ".envrc (a shell runs it when it enters the folder), .github/workflows/ci.yml (a server runs it after a push)"
    assert f"changes what runs or is obeyed unasked: {named}" in " ".join(commit_message(person).split())


def test_without_leave_it_is_put_back_asked_about_and_answered_by_the_command(person: Person) -> None:
    told = runs(person, [MEND, EASIER], [EASIER], [COMPLETE])
    assert told.code == 3 and "May it change them?" in told.words
    waiting = person.types("inbox").words
    assert "1 allow these changes" in waiting and "2 put them back" in waiting
    task = person.shown()["task"]["id"]
    assert person.shown()["kept"] == 1, "what was put back was not kept"
    allowed = person.types("allow", task, "test_calc.py")
    assert allowed.code == 0 and f"{task} may change test_calc.py" in allowed.words and f"afresh resume {task}" in allowed.words
    resumed = person.types("resume", task, NO_SANDBOX)
    assert resumed.code == 0 and "test_calc.py: T.test_two was altered" in resumed.words
    prompt = person.types("context", "show", "--step", "4").out
    assert "put back" not in prompt.partition("## Verification")[2].partition("##")[0], "the refusal is gone after the answer"
    assert "do not repeat" not in prompt


def test_a_finished_task_and_a_wrong_path_are_refused(person: Person) -> None:
    runs(person, [MEND], [COMPLETE])
    task = person.shown()["task"]["id"]
    told = person.types("allow", task, "test_calc.py")
    assert told.code == 1 and "is finished: done" in told.words
    assert person.types("allow", person.adds("another"), "../elsewhere").code == 2


def test_an_answer_by_number_allows_and_the_model_is_told_in_the_step_itself(person: Person) -> None:
    runs(person, [MEND, EASIER], [EASIER], [COMPLETE])
    task = person.shown()["task"]["id"]
    second = person.types("context", "show", "--step", "2").out
    assert "tests weakened and put back: test_calc.py: T.test_two was altered" in " ".join(second.split())
    assert person.types("answer", task, "1", "--resume", NO_SANDBOX).code == 0
    assert "allowed by you" in " ".join(commit_message(person).split())


def test_an_instruction_allows_what_it_asks_for_and_is_named_with_its_line(person: Person) -> None:
    person.write("AGENTS.md", "Be brief.\n\nWhen double changes, update test_two.\n")
    person.commit("instructions")
    told = runs(person, [MEND, EASIER], [COMPLETE])
    assert told.code == 0, told.words
    words = (
        "tests changed as asked by “When double changes, update test_two.” (AGENTS.md:3): test_calc.py: T.test_two was altered"
    )
    assert words in " ".join(commit_message(person).split())
    assert [(one["by"], one["source"]) for one in person.shown()["licence"]] == [("instructions", "AGENTS.md:3")]


def test_an_instruction_that_the_task_wrote_itself_allows_nothing(person: Person) -> None:
    own: Step = ("run", {"command": "echo 'Update test_two.' > AGENTS.md"})
    runs(person, [own], [MEND, EASIER], [COMPLETE])
    assert person.shown()["licence"] == []
