#!/bin/sh
# Checks that files are in place and fails at the first that is not: how a failure looks in the log.
#
# An agent for `shiftbook work --agent inspector -- sh examples/demo/inspector.sh`; its input is {"files": "a b c"}.
set -eu

pace=${DEMO_PACE_SECONDS:-0}

given=$(cat)

# The words of a plain text, or of the newest message of a conversation. What JSON escapes, such as quotes and line
# breaks, separates words.
said() {
    text=$(printf '%s\n' "$given" | sed -n 's/.*"text"[[:space:]]*:[[:space:]]*"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p')
    printf '%s' "${text:-$given}" | sed 's/\\[^u]/ /g; s/\\u[[:xdigit:]]\{4\}/ /g' | tr -c '[:alnum:]._/-' ' '
}

# The value of "files". Of plain words: those that look like names of files.
files=$(printf '%s\n' "$given" | sed -n 's/.*"files"[[:space:]]*:[[:space:]]*"\([^"\\]*\)".*/\1/p')
if [ -z "$files" ]; then
    for word in $(said); do
        case ${word%.} in
            /* | *..*) ;;
            *.* | */*) files="$files ${word%.}" ;;
        esac
    done
fi
if [ -z "$files" ]; then
    echo "Name the files to check, such as README.md and Cargo.toml."
    exit 0
fi
checked=0
for file in $files; do
    checked=$((checked + 1))
    printf '{"type":"agent.tool_call","content":[{"type":"tool-call","toolCallId":"check-%d","toolName":"check_file","input":{"file":"%s"}}]}\n' "$checked" "$file"
    sleep "$pace"
    if [ ! -s "$file" ]; then
        printf '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"check-%d","toolName":"check_file","output":{"type":"error-text","value":"not there, or empty"}}]}\n' "$checked"
        printf '%s is not there, or empty\n' "$file" >&2
        exit 1
    fi
    size=$(wc -c < "$file" | tr -d ' ')
    printf '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"check-%d","toolName":"check_file","output":{"type":"json","value":{"bytes":%d}}}]}\n' "$checked" "$size"
    sleep "$pace"
done
echo "In place: ${files# }."
printf '{"type":"result","result":{"text":"%d files are in place.","checked":%d}}\n' "$checked" "$checked"
