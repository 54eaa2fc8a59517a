"""The inbox: questions that wait for a person, with their options and what they rest on."""

from starlette.responses import Response

from afresh.app.dialogue.answer_question import answer_question, list_open_questions
from afresh.app.orders.tasks import find_task
from afresh.app.service.start_worker import start_worker
from afresh.views.tasks import open_question_to_json
from afresh.web.visit import PageRoute, Visit

MAX_QUESTIONS_SHOWN = 20


def show_inbox(visit: Visit) -> Response:
    waiting = list_open_questions(visit.project, MAX_QUESTIONS_SHOWN)
    shown = [(state, open_question_to_json(state)) for state in waiting]
    return visit.show("inbox.html", shown=shown, hidden=max(0, visit.counts.questions - len(shown)))


def record_answer(visit: Visit) -> Response:
    """Record the words, or the option that was chosen; then let a worker go on, if the person wants that."""
    words = visit.form.get("words", "").strip() or visit.form.get("option", "")
    with visit.open_to_change() as project:
        task = find_task(project, visit.form.get("task", ""))
        is_over = answer_question(project, task, words).status.over
        goes_on = "resume" in visit.form and not is_over
        if goes_on:
            start_worker(project, task)
    if is_over:
        return visit.go(visit.link("tasks", task), "The task is done, with the work as it is.")
    if goes_on:
        return visit.go(visit.link("tasks", task), "Your answer is recorded, and a worker goes on with the task.")
    return visit.go(visit.link("inbox"), f"Your answer is recorded. `afresh work` or Resume goes on with {task}.")


ROUTES = [PageRoute("/inbox", show_inbox), PageRoute("/inbox", record_answer, "POST")]
