#!/bin/sh
# Runs one task and takes the result if your checks pass on it. For a terminal or a script; start it in your repository:
#   sh run-task.sh "parse_size must understand inches"
# Options of `afresh run` may follow the goal, for example: --type fix_violation --model offline
set -u
goal=${1:?"usage: run-task.sh GOAL [OPTION]..."}
shift
afresh run "$goal" "$@"
code=$?
case $code in
0) afresh diff --stat && afresh apply ;; # verified: one commit on your branch
3) afresh answer ;;                      # it has a question: the list says what to type
*) afresh show ;;                        # failed: verdict, evidence, what was undone
esac
exit $code
