#!/bin/sh
# Opens a pull request for each verified result, and prints the figures of the week. For a nightly job; start it in your repository:
#   sh pull-request.sh            shows what would be pushed
#   sh pull-request.sh --push     pushes the branches and opens the pull requests with gh or glab
set -eu
ids='import json, sys; print(*(task["task"] for task in json.load(sys.stdin)["tasks"]))'
for task in $(afresh status --state done --json | python3 -c "$ids"); do
    echo "== $task"
    afresh pr "$task" "$@"
done
afresh spend --week
