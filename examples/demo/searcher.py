#!/usr/bin/env python3
"""Searches this repository for a word and shows where it stands.

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


def word_of(given):
    """The word of the input. Of plain words: the one in quotes, or else the last one."""
    if isinstance(given, dict) and given.get("messages"):
        given = given["messages"][-1].get("text", "")
    if isinstance(given, str):
        words = re.findall(r"[\"'`“]([^\"'`”]+)[\"'`”]", given) or re.findall(r"\w+", given)
        return words[-1] if words else ""
    return (given or {}).get("word", "")


def main():
    word = word_of(json.load(sys.stdin))
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
    answer = f"“{word}” stands in {where}."
    if found:
        first = found[0]
        answer += f" The first is line {first[1]} of `{first[0]}`."
    emit("agent.message", {"type": "text", "text": answer})
    print(json.dumps({"type": "result", "result": {"text": f"{where}.", "word": word, "lines": len(found), "files": len(files)}}))


main()
