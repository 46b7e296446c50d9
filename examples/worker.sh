#!/bin/sh
# A whole agent with a POSIX shell and curl alone: it claims sessions, keeps its lease, appends events, and completes.
#
#     SHIFTBOOK_URL=http://127.0.0.1:4210 SHIFTBOOK_TOKEN=sbk_… sh examples/worker.sh [--once] [AGENT]
#
# It reports on the machine it runs on. `shiftbook work` does all of this for you and more; read this to see what goes over
# the wire, or to write the same in another language. Needs curl 7.76 or newer, awk, sed, od, iconv. No jq.
set -eu

url=${SHIFTBOOK_URL:-http://127.0.0.1:4210}
: "${SHIFTBOOK_TOKEN:?set SHIFTBOOK_TOKEN to an API token (shiftbook token add …)}"
once=
if [ "${1:-}" = --once ]; then once=yes; shift; fi
agent=${1:-host-reporter}
lease_seconds=30
scratch=$(mktemp)
session='' attempt='' heart='' tool='' lost=''

# POST $2 to $1 and print the answer. The token goes in through a file descriptor: arguments can be read by others on this machine.
# curl repeats what failed on the way or was refused as busy (408, 429, 5xx). That is safe here: every event carries an id
# of ours, and the other calls answer a repeat as they did the first time.
post() {
    printf 'header = "Authorization: Bearer %s"\n' "$SHIFTBOOK_TOKEN" |
        curl --config - --silent --show-error --fail-with-body --max-time 40 --retry 5 --retry-connrefused --retry-max-time 20 \
            --header 'Content-Type: application/json' --data-binary "$2" "$url/api/sessions/$1"
}

# The first value of key $1 at nesting depth $2 of the JSON on stdin. Looking at the depth keeps a key of the same name
# somewhere in the session's own data from being taken for it.
value_at() {
    awk -v key="$1" -v want="$2" '
        { text = text $0 }
        END {
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (inside) {
                    if (escaped) escaped = 0
                    else if (c == "\\") escaped = 1
                    else if (c == "\"") { inside = 0; last = substr(text, start, i - start) }
                } else if (c == "\"") { inside = 1; start = i + 1 }
                else if (c == "{" || c == "[") depth++
                else if (c == "}" || c == "]") depth--
                else if (c == ":" && depth == want && last == key) {
                    rest = substr(text, i + 1, 80)
                    match(rest, /^"[^"]*"|^[0-9]+/)
                    found = substr(rest, 1, RLENGTH)
                    gsub(/"/, "", found)
                    print found
                    exit
                }
            }
        }'
}

# Text on stdin as a JSON string.
quoted() {
    LC_ALL=C awk '
        BEGIN { printf "\"" }
        {
            gsub(/\\/, "\\\\&"); gsub(/"/, "\\\""); gsub(/\t/, "\\t"); gsub(/[[:cntrl:]]/, "")
            printf "%s%s", (NR > 1 ? "\\n" : ""), $0
        }
        END { printf "\"" }'
}

new_id() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n' |
        sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\)$/\1-\2-4\3-8\4-\5/'
}

# Append one event: type, then content as JSON.
append() {
    post "$session/events" "{\"attempt\":$attempt,\"events\":[{\"id\":\"$(new_id)\",\"type\":\"$1\",\"content\":$2}]}" > /dev/null
}

# Three heartbeats in the length of a lease. When one is refused, the session is not ours any more: stop working on it.
keep_lease() {
    trap 'kill "$nap" 2> /dev/null; exit 0' TERM
    while :; do
        sleep $((lease_seconds / 3)) & nap=$!
        wait "$nap"
        post "$session/heartbeat" "{\"attempt\":$attempt}" > /dev/null || { kill -USR1 $$; exit 1; }
    done
}

stop_heart() {
    if [ -n "$heart" ]; then kill "$heart" 2> /dev/null || :; wait "$heart" 2> /dev/null || :; heart=''; fi
}

# Whatever ends this script early gives the session back, so that another worker need not wait for the lease to run out.
give_back() {
    code=$?
    trap - EXIT
    stop_heart
    [ -z "$tool" ] || kill "$tool" 2> /dev/null || :
    rm -f "$scratch"
    if [ -n "$session" ] && [ -z "$lost" ]; then
        post "$session/release" "{\"attempt\":$attempt}" > /dev/null || :
        echo "released $session" >&2
    fi
    exit "$code"
}
trap give_back EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'lost=yes; echo "lost $session" >&2; exit 1' USR1

# One tool call: say what is about to run, run it, say what came out. The tool's name is $1, the rest is its command.
run_tool() {
    name=$1 call="$attempt-$1"
    shift
    input=$(printf '%s' "$*" | quoted)
    append agent.tool_call "[{\"type\":\"tool-call\",\"toolCallId\":\"$call\",\"toolName\":\"$name\",\"input\":{\"command\":$input}}]"
    kind=text
    # In the background, because a shell hears signals while it waits, and not while a command runs in the foreground.
    "$@" > "$scratch" 2>&1 & tool=$!
    wait "$tool" || kind=error-text
    tool=''
    output=$(head -c 20000 "$scratch" | iconv -c -f UTF-8 -t UTF-8 | quoted)
    append agent.tool_result "[{\"type\":\"tool-result\",\"toolCallId\":\"$call\",\"toolName\":\"$name\",\"output\":{\"type\":\"$kind\",\"value\":$output}}]"
}

echo "waiting for sessions of $agent at $url" >&2
while :; do
    # Waits up to 25 s for work. An answer without a session means that there was none: ask again. A stopping
    # server gives this answer at once, so the script sleeps for a second before it asks again.
    if ! claimed=$(post claim "{\"agentSlugs\":[\"$agent\"],\"max\":1,\"leaseSeconds\":$lease_seconds,\"waitSeconds\":25}"); then
        printf 'the claim was refused: %s\n' "$claimed" >&2
        exit 1
    fi
    attempt=$(printf '%s' "$claimed" | value_at attempt 3)
    if [ -z "$attempt" ]; then sleep 1; continue; fi
    session=$(printf '%s' "$claimed" | value_at id 4)
    echo "claimed $session (attempt $attempt)" >&2
    keep_lease & heart=$!

    append agent.message '[{"type":"text","text":"Looking at this machine."}]'
    run_tool system uname -srm
    run_tool disks df -h .
    run_tool tree ls -l
    report=$(uname -srm | quoted)
    append agent.message "[{\"type\":\"text\",\"text\":$report}]"

    stop_heart
    post "$session/complete" "{\"attempt\":$attempt,\"result\":{\"text\":$report}}" > /dev/null
    echo "completed $session" >&2
    session=''
    [ -z "$once" ] || exit 0
done
