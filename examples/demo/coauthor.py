#!/usr/bin/env python3
"""Writes about a document on a canvas, while people watch and write there too.

An agent for `shiftbook work --agent coauthor -- python3 examples/demo/coauthor.py`. Its input is
{"canvasId": "…", "file": "README.md"}. Each line of the type `state.patch` that it prints changes the canvas. It writes
only in blocks of its own, so what people write meanwhile stays. Without a canvas it lists the headings of the document.
"""

import json
import os
import re
import sys
import time
import urllib.request

from named import file_of

SENTENCES = 3
HEADINGS_MAX = 8
WORDS_IN_A_PATCH = 4
PACE_SECONDS = float(os.environ.get("DEMO_PACE_SECONDS", "0"))
REQUEST_SECONDS_MAX = 30


def emit(line, pause=1.0):
    print(json.dumps(line), flush=True)
    time.sleep(PACE_SECONDS * pause)


def say(words):
    emit({"type": "agent.message", "content": [{"type": "text", "text": words}]})


class Canvas:
    """The canvas at the version at which this agent read it. Its own patches do not conflict with each other."""

    def __init__(self, canvas_id):
        self.id = canvas_id
        request = urllib.request.Request(
            f"{os.environ['SHIFTBOOK_URL'].rstrip('/')}/api/canvases/{canvas_id}",
            headers={"authorization": f"Bearer {os.environ['SHIFTBOOK_TOKEN']}"},
        )
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS_MAX) as answer:
            found = json.load(answer)
        self.base = found["version"]
        blocks = found["document"].get("blocks", {})
        # Keys of the order grow by a letter at the end, so each block comes after those that are there.
        self.order = max((block.get("order", "") for block in blocks.values()), default="") or "a0"
        self.made = 0
        self.session = os.environ["SHIFTBOOK_SESSION_ID"]

    def patch(self, *ops):
        self.made += 1
        line = {"type": "state.patch", "canvasId": self.id, "opId": f"{self.session}:{self.made}"}
        emit({**line, "base": self.base, "ops": list(ops)}, pause=0.4)

    def add(self, name, block):
        self.order += "V"
        name = f"{name}-{self.session}"
        self.patch({"op": "add", "path": f"/blocks/{name}", "value": {**block, "order": self.order}})
        return f"/blocks/{name}"

    def replace(self, path, value):
        self.patch({"op": "replace", "path": path, "value": value})


def first_sentences(markdown):
    """The opening of the running text: no headings, lists, code, pictures or tables."""
    without_code = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    prose = [line for line in without_code.splitlines() if line and not line.startswith(("#", "-", "*", "!", "|", ">", " ", "["))]
    return " ".join(re.split(r"(?<=[.!?])\s+", " ".join(prose))[:SENTENCES])


def headings_of(markdown):
    without_code = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    return re.findall(r"^##+ (.+)$", without_code, flags=re.MULTILINE)[:HEADINGS_MAX]


def write(canvas, path, markdown):
    canvas.add("title", {"type": "heading", "text": f"About {path}"})
    summary = canvas.add("summary", {"type": "text", "heading": "Summary", "text": ""})
    words = first_sentences(markdown).split()
    for end in range(WORDS_IN_A_PATCH, len(words) + WORDS_IN_A_PATCH, WORDS_IN_A_PATCH):
        canvas.replace(f"{summary}/text", " ".join(words[:end]))
    headings = headings_of(markdown)
    items = {f"i{n}": {"text": text, "done": False, "order": f"a{n}"} for n, text in enumerate(headings)}
    parts = canvas.add("parts", {"type": "checklist", "heading": "Parts that I read", "items": items})
    for item in items:
        canvas.replace(f"{parts}/items/{item}/done", True)
    return len(headings)


def main():
    given = json.load(sys.stdin)
    path = file_of(given)
    try:
        markdown = path.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"cannot read {path}: {error.strerror}")
    if not (isinstance(given, dict) and given.get("canvasId")):
        say(f"The headings of `{path}`: {', '.join(headings_of(markdown)) or 'none'}.")
        return
    canvas = Canvas(given["canvasId"])
    say(f"I write about `{path}` on the canvas.")
    parts = write(canvas, path, markdown)
    say(f"Done: {canvas.made} changes, and {parts} parts of the document are ticked.")
    emit({"type": "result", "result": {"changes": canvas.made, "parts": parts}})


main()
