"""Runs a task from Python, answers its questions, and applies the result. In your repository:

python python_api.py "parse_size must understand inches" [MODEL]
"""

import sys

import afresh
from afresh.core import progress_event as progress


def show(event: progress.ProgressEvent) -> None:
    match event:
        case progress.CallBegan(model):
            print("asking", model)
        case progress.ActionBegan(action):
            print("doing", action.tool)
        case _:
            pass


def main(goal: str, model: str = "") -> int:
    try:
        result = afresh.run(goal, model=model or None, type="fix_bug", on_progress=show)
        while result.question:
            print(result.question.text, *(f"\n  {option.number} {option.name}" for option in result.question.options))
            result = afresh.resume(result, answer=input("> "))
    except afresh.errors.AfreshError as error:  # says what happened, and what to do next
        print(error.what, error.next, sep="\n")
        return 2
    print(result.status, result.reason, f"{result.cost.input_tokens:,} tokens")
    if result.verified:
        afresh.apply(result)  # until now your checkout was as before
    return not result.verified


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
