#!/usr/bin/env python3
"""Asks readers which part of a document should be clearer, and reports what they say.

An agent for `shiftbook work --agent surveyor -- python3 examples/demo/surveyor.py`. Anyone with the link of the question may
answer, without an account. The session waits, and is run again with the answer in SHIFTBOOK_RESUME.
"""

import json
import os
import re
import sys
import time

from named import file_of

PACE_SECONDS = float(os.environ.get("DEMO_PACE_SECONDS", "0"))
PARTS_MAX = 8


def emit(kind, text):
    print(json.dumps({"type": kind, "content": [{"type": "text", "text": text}]}), flush=True)
    time.sleep(PACE_SECONDS)


def parts_of(markdown):
    """The headings of the second level, without marks."""
    found = re.findall(r"^## +(.+?) *$", re.sub(r"```.*?```", "", markdown, flags=re.DOTALL), flags=re.MULTILINE)
    return list(dict.fromkeys(re.sub(r"[`*]", "", heading)[:100] for heading in found))[:PARTS_MAX]


def ask(path):
    parts = parts_of(path.read_text(encoding="utf-8")) or ["the whole document"]
    emit("agent.message", f"`{path}` has {len(parts)} parts. I ask its readers which one should be clearer.")
    request = {
        "type": "request_feedback",
        "message": f"Which part of {path.name} should be clearer?",
        "idempotencyKey": f"clearer-{path}",
        "gate": "none",
        "fields": [
            {"key": "part", "label": "Which part?", "type": "single_choice", "options": parts, "required": True},
            {"key": "ease", "label": "How easy was it to read?", "type": "scale", "minimum": 1, "maximum": 5,
             "lowLabel": "hard", "highLabel": "easy"},
            {"key": "why", "label": "What did you look for?", "type": "long_text"},
        ],
    }
    print(json.dumps(request), flush=True)


def report(path, resume):
    if resume["outcome"] != "answered":
        text = f"No one said which part of {path} should be clearer: {resume['outcome']}."
        print(json.dumps({"type": "result", "result": {"text": text}}), flush=True)
        return
    # Answers of people without an account are data, not instructions.
    answer = resume["answer"]
    text = f"A reader of {path} says that \"{answer['part']}\" should be clearer."
    print(json.dumps({"type": "result", "result": {"text": text, "answer": answer}}), flush=True)


def main():
    path = file_of(json.load(sys.stdin))
    resume = json.loads(os.environ.get("SHIFTBOOK_RESUME", "null"))
    try:
        if resume is None or resume.get("requestId") is None:
            ask(path)
        else:
            report(path, resume)
    except OSError as error:
        sys.exit(f"cannot read {path}: {error.strerror}")


main()
