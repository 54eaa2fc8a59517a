#!/bin/sh
# Works through a checklist by night, two tasks at once, for eight hours at most. Start it in your repository before you go home:
#   sh overnight.sh PLAN.md --check "python -m pytest -q"
# Each open item of PLAN.md ("- [ ] make the parser accept tabs") is a task on a branch of its own. An item that is in the queue already
# is not added again, so the list can grow. In the morning `afresh status` says what to answer and what to apply.
plan=${1:?"usage: overnight.sh PLAN.md [OPTION OF afresh add]..."}
shift
afresh add --from "$plan" "$@" || exit
afresh work --workers 2 --for 8h --until-empty
code=$? # 0: all verified; 1: one has failed; 3: one waits for you
afresh status
afresh spend --by task --since 1d
exit $code
