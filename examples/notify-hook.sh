#!/bin/sh
# A hook that tells your chat when a task asks or is over. In your own ~/.config/afresh/config.toml:
#   [hooks]
#   notify = "sh /path/to/notify-hook.sh"
# It runs as you, outside the sandbox. $1 is the message; the variables below say which task and how it stands.
address=${CHAT_WEBHOOK:-}
text="${AFRESH_STATUS:-} ${AFRESH_TASK:-}: ${AFRESH_TEXT:-$1}"
if [ -n "$address" ]; then
    python3 -c 'import json, sys; print(json.dumps({"text": sys.argv[1]}))' "$text" |
        curl --silent --show-error --max-time 20 --header "Content-Type: application/json" --data @- "$address"
else
    echo "$text" >>"${AFRESH_LOG:-$HOME/afresh-messages.txt}"
fi
