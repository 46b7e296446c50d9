#!/bin/sh
# Lists the headings of a Markdown file, with nothing but a POSIX shell, sed and awk.
#
# An agent for `shiftbook work --agent outliner -- sh examples/demo/outliner.sh`: its input arrives as JSON on
# stdin, every JSON line it prints becomes an event, any other line a message. Everything is printed with printf: the echo of
# some shells turns \n inside of JSON into line breaks, which tears the line apart.
set -eu

pace=${DEMO_PACE_SECONDS:-0}

given=$(cat)

# The words of a plain text, or of the newest message of a conversation. What JSON escapes, such as quotes and line
# breaks, separates words.
said() {
    text=$(printf '%s\n' "$given" | sed -n 's/.*"text"[[:space:]]*:[[:space:]]*"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p')
    printf '%s' "${text:-$given}" | sed 's/\\[^u]/ /g; s/\\u[[:xdigit:]]\{4\}/ /g' | tr -c '[:alnum:]._/-' ' '
}

# The value of "file"; names with quotes in them are beyond this example. Of plain words: the file that they name first.
file=$(printf '%s\n' "$given" | sed -n 's/.*"file"[[:space:]]*:[[:space:]]*"\([^"\\]*\)".*/\1/p')
if [ -z "$file" ]; then
    for word in $(said); do
        case $word in /* | *..*) continue ;; esac
        if [ -f "${word%.}" ]; then
            file=${word%.}
            break
        fi
    done
fi
file=${file:-README.md}

printf '{"type":"agent.tool_call","content":[{"type":"tool-call","toolCallId":"outline","toolName":"outline","input":{"file":"%s"}}]}\n' "$file"
sleep "$pace"
if [ ! -r "$file" ]; then
    printf 'cannot read %s\n' "$file" >&2
    exit 1
fi

# Prints one JSON string of all headings, indented by their level, and their number behind it.
outline=$(awk '
    /^```/ { inside = !inside }
    !inside && /^#+ / {
        level = index($0, " ") - 1
        title = substr($0, level + 2)
        gsub(/\\/, "\\\\", title); gsub(/"/, "\\\"", title); gsub(/[[:cntrl:]]/, " ", title)
        indent = ""
        for (i = 1; i < level; i++) indent = indent "  "
        lines = lines indent "- " title "\\n"
        count++
    }
    END { printf "%s\n%d\n", lines, count }
' "$file")
count=$(printf '%s\n' "$outline" | tail -n 1)
lines=$(printf '%s\n' "$outline" | head -n 1)

printf '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"outline","toolName":"outline","output":{"type":"text","value":"%s"}}]}\n' "$lines"
sleep "$pace"
printf '%s has %s headings.\n' "$file" "$count"
sleep "$pace"
printf '{"type":"result","result":{"text":"%d headings.","file":"%s","headings":%d}}\n' "$count" "$file" "$count"
