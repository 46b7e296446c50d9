#!/usr/bin/env python3
"""Searches this repository for a word and shows where it is used.

An agent for `shiftbook work --agent searcher -- python3 examples/demo/searcher.py`; see scout.py for how it talks.
"""

import json
import os
import pathlib
import re
import sys
import time

ENDINGS = {".rs", ".md", ".sql", ".css", ".ts", ".py", ".sh", ".toml"}
FOLDERS_SKIPPED = {"target", "node_modules", ".git", "data"}
LINES_SHOWN_MAX = 20
QUOTED = re.compile(r"[\"`“]([^\"`“”]+)[\"`”]|(?<!\w)'([^']+)'(?!\w)")
# Words of a request that are not what it looks for.
COMMON = set(
    "a an and any are can could do does find for have hello help here hey hi how i in is it look me of or please search"
    " thank thanks that the there this to use used we what where which who why with word words you".split()
)
OFFER = "I search this repository for one word. Put the word in quotes, such as “lease”."
PACE_SECONDS = float(os.environ.get("DEMO_PACE_SECONDS", "0"))


def emit(kind, *parts):
    print(json.dumps({"type": kind, "content": list(parts)}), flush=True)
    time.sleep(PACE_SECONDS)


def counted(count, noun):
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def readable_files():
    for folder, below, names in os.walk("."):
        below[:] = sorted(name for name in below if name not in FOLDERS_SKIPPED)
        for name in sorted(names):
            if pathlib.Path(name).suffix in ENDINGS:
                yield pathlib.Path(folder, name)


def lines_with(word):
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    for path in readable_files():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if pattern.search(line):
                yield path, number, line.strip()[:160]


def word_said(text):
    """The word of plain words: the last one in quotes, or else the last one that is not common; none is possible."""
    quoted = [one or other for one, other in QUOTED.findall(text)]
    words = quoted or [word for word in re.findall(r"\w+(?:['’]\w+)*", text) if word.lower() not in COMMON]
    return next((word for word in reversed(words) if re.search(r"\w", word)), None)


def main():
    given = json.load(sys.stdin)
    if isinstance(given, dict) and given.get("messages"):
        given = given["messages"][-1].get("text", "")
    if isinstance(given, str):
        word = word_said(given)
        if not word:
            emit("agent.message", {"type": "text", "text": OFFER})
            return
    else:
        word = (given or {}).get("word", "")
    if not word:
        sys.exit("the input needs a word, as in {\"word\": \"lease\"}")
    emit("agent.thinking", {"type": "reasoning", "text": f"A whole-word search for “{word}” says more than its parts."})
    emit("agent.tool_call", {"type": "tool-call", "toolCallId": "search", "toolName": "search", "input": {"word": word}})
    found = list(lines_with(word))
    shown = [f"{path}:{number}: {line}" for path, number, line in found[:LINES_SHOWN_MAX]]
    output = {"type": "json", "value": {"lines": len(found), "shown": shown}}
    emit("agent.tool_result", {"type": "tool-result", "toolCallId": "search", "toolName": "search", "output": output})

    files = {str(path) for path, _, _ in found}
    where = f"{counted(len(found), 'line')} of {counted(len(files), 'file')}"
    answer = f"“{word}” is in {where}."
    if found:
        first = found[0]
        answer += f" The first is line {first[1]} of `{first[0]}`."
    emit("agent.message", {"type": "text", "text": answer})
    print(json.dumps({"type": "result", "result": {"text": f"{where}.", "word": word, "lines": len(found), "files": len(files)}}))


main()
