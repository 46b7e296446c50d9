#!/usr/bin/env python3
"""Counts lines and open notes (TODO, XXX) in the files of a folder of this repository.

An agent for `shiftbook work --agent scout -- python3 examples/demo/scout.py`: its input arrives as JSON on
stdin, every JSON line it prints becomes an event of the session's log, and the `result` line is the result.
In a conversation the input is {"messages": [{"role": "user", "text": "…"}, …]}: plain words do as well.
"""

import json
import os
import pathlib
import re
import sys
import time

from named import is_ours, words_said

NOTE = re.compile(r"\b(TODO|XXX)\b")
FILE_BYTES_MAX = 1_000_000
FOLDERS_SKIPPED = {"target", "node_modules", ".git", "data"}
PACE_SECONDS = float(os.environ.get("DEMO_PACE_SECONDS", "0"))


def emit(kind, *parts):
    print(json.dumps({"type": kind, "content": list(parts)}), flush=True)
    time.sleep(PACE_SECONDS)


def text(words):
    return {"type": "text", "text": words}


def read(path):
    if path.stat().st_size > FILE_BYTES_MAX:
        return ""
    content = path.read_bytes()
    # Pictures and other files that are no text have no notes.
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")


def folder_of(given):
    """The folder of the input. Of plain words: the folder that they name last, or else all of this repository."""
    if isinstance(given, dict) and "folder" in given:
        return pathlib.Path(given["folder"])
    named = [pathlib.Path(word) for word in words_said(given)]
    return next((path for path in reversed(named) if path.is_dir() and is_ours(path)), pathlib.Path("."))


def main():
    folder = folder_of(json.load(sys.stdin))
    emit("agent.thinking", {"type": "reasoning", "text": f"I walk {folder} one part at a time and count as I go."})
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}")

    files = lines = notes = 0
    worst = []
    for number, part in enumerate(sorted(folder.iterdir()), start=1):
        if part.name in FOLDERS_SKIPPED:
            continue
        call = f"count-{number}"
        emit("agent.tool_call", {"type": "tool-call", "toolCallId": call, "toolName": "count_notes", "input": {"path": str(part)}})
        inside = [part] if part.is_file() else sorted(file for file in part.rglob("*") if file.is_file())
        texts = {str(file): read(file) for file in inside if not FOLDERS_SKIPPED & set(file.parts)}
        found = {file: len(NOTE.findall(content)) for file, content in texts.items() if NOTE.search(content)}
        output = {
            "files": len(texts),
            "lines": sum(content.count("\n") for content in texts.values()),
            "notes": sum(found.values()),
            "where": found,
        }
        emit(
            "agent.tool_result",
            {"type": "tool-result", "toolCallId": call, "toolName": "count_notes", "output": {"type": "json", "value": output}},
        )
        files += output["files"]
        lines += output["lines"]
        notes += output["notes"]
        worst += found.items()

    worst = sorted(worst, key=lambda entry: -entry[1])[:5]
    answer = [f"**{notes} open notes** in {lines} lines, {files} files, of `{folder}`."]
    answer += [f"- `{file}`: {count}" for file, count in worst]
    emit("agent.message", text("\n".join(answer)))
    result = {"text": answer[0], "files": files, "lines": lines, "notes": notes, "worst": dict(worst)}
    print(json.dumps({"type": "result", "result": result}))


main()
