"""Context: the tokens of each call, what they were paid, and which sections replies drew on."""

from starlette.responses import JSONResponse, Response

from afresh.app.inspect.measure_calls import list_call_prices, measure_growing_history, measure_task_yield
from afresh.app.inspect.read_steps import iterate_step_entries, read_step_page
from afresh.core.event import CallRequested
from afresh.core.task import TicketOrder, TicketQuery
from afresh.views.section_yield import is_sent_first, order_by_waste, scale_to_usage, sum_sent_sections, sum_without_system
from afresh.views.task_facts import describe_calibration, describe_largest_call, describe_limits
from afresh.web.pages.task import choose_window, load_task_head
from afresh.web.visit import PageRoute, Visit

CALLS_PER_CHART = 200
CALLS_PER_YIELD = 40
"""Most calls on a page: to measure one takes some milliseconds."""
MAX_TASKS_OFFERED = 30


def choose_task(visit: Visit) -> Response:
    """Lead to the task that was changed last, or offer the latest ones."""
    query = TicketQuery(parents=(), order=TicketOrder.TOUCHED, most=MAX_TASKS_OFFERED)
    begun = [ticket for ticket in visit.project.queue.tickets(query) if ticket.detail and ticket.detail.step]
    return visit.show("context_tasks.html", tickets=begun)


def show_context(visit: Visit) -> Response:
    head = load_task_head(visit, "context")
    state = head.state
    window = choose_window(visit, state, CALLS_PER_CHART)
    return visit.show(
        "context.html",
        head=head,
        window=window,
        limits=describe_limits(state),
        largest=describe_largest_call(state),
        calibration=describe_calibration(state),
        operations=sorted(state.tokens.tool_costs, key=lambda cost: -cost.tokens),
    )


def show_yield(visit: Visit) -> Response:
    """The part of the page that takes longer: it comes after the rest."""
    head = load_task_head(visit, "context")
    window = choose_window(visit, head.state, CALLS_PER_YIELD)
    task = head.state.task.id
    calls = measure_task_yield(visit.project, task, iterate_step_entries(visit.project, task, window.first, window.last))
    page = read_step_page(visit.project, task, window.first, window.last)
    counted = {step.step: step.reply.usage.input for step in page.steps if step.reply}
    sent = sum_sent_sections(scale_to_usage(calls, counted))
    return visit.show(
        "yield.html",
        window=window,
        calls=len(calls),
        sections=order_by_waste(sent),
        whole=sum(section.tokens for section in sent),
        rest=sum_without_system(sent),
        wasted=[section for section in order_by_waste(sent)[:1] if not is_sent_first(section.name)],
        is_sent_first=is_sent_first,
        compactions=[line for line in page.lines if line["kind"] == "compacted"],
        task=task,
    )


def send_calls(visit: Visit) -> Response:
    """The figures of the chart. A growing history can only be added up from the first step on."""
    head = load_task_head(visit, "context")
    window = choose_window(visit, head.state, CALLS_PER_CHART)
    task = head.state.task.id
    entries = list(iterate_step_entries(visit.project, task, window.first, window.last))
    prices = list_call_prices(visit.project, task, entries)
    ceilings = [entry.event.audit.budget for entry in entries if isinstance(entry.event, CallRequested)]
    grown = [size for size, _ in measure_growing_history(visit.project, entries)] if window.first == 1 else []
    sent, paid, costs = [price.sent for price in prices], [price.paid for price in prices], head.state.spending.costs
    return JSONResponse(
        {
            "steps": [price.step for price in prices],
            "sent": sent,
            "paid": paid if paid != sent and (costs.money or costs.unpriced) else [],
            "ceiling": ceilings,
            "accumulating": grown,
            "estimated": any(price.estimated for price in prices),
        }
    )


ROUTES = [
    PageRoute("/context", choose_task),
    PageRoute("/tasks/{task}/context", show_context),
    PageRoute("/tasks/{task}/context/yield", show_yield),
    PageRoute("/tasks/{task}/context/calls.json", send_calls),
]
