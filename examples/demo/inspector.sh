#!/bin/sh
# Checks that files are in place and fails at the first that is not: how a failure looks in the log.
#
# An agent for `shiftbook work --agent inspector -- sh examples/demo/inspector.sh`; its input is {"files": "a b c"}.
set -eu

pace=${DEMO_PACE_SECONDS:-0}

files=$(sed -n 's/.*"files"[[:space:]]*:[[:space:]]*"\([^"\\]*\)".*/\1/p')
checked=0
for file in $files; do
    checked=$((checked + 1))
    printf '{"type":"agent.tool_call","content":[{"type":"tool-call","toolCallId":"check-%d","toolName":"check_file","input":{"file":"%s"}}]}\n' "$checked" "$file"
    sleep "$pace"
    if [ ! -s "$file" ]; then
        printf '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"check-%d","toolName":"check_file","output":{"type":"error-text","value":"not there, or empty"}}]}\n' "$checked"
        echo "$file is not there, or empty" >&2
        exit 1
    fi
    size=$(wc -c < "$file" | tr -d ' ')
    printf '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"check-%d","toolName":"check_file","output":{"type":"json","value":{"bytes":%d}}}]}\n' "$checked" "$size"
    sleep "$pace"
done
printf '{"type":"result","result":{"text":"%d files are in place.","checked":%d}}\n' "$checked" "$checked"
