#!/usr/bin/env python3
"""Drafts a summary of a document, then hands the session to a person through the HTTP API.

An agent for `shiftbook work --agent editor -- python3 examples/demo/editor.py`. It yields its session as
waiting_human and leaves; whoever runs it sees that the session is not its own any more and lets it be.
"""

import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

from named import file_of

SENTENCES = 3
PACE_SECONDS = float(os.environ.get("DEMO_PACE_SECONDS", "0"))
SETTLE_SECONDS = 1.0
REQUEST_SECONDS_MAX = 30


def emit(kind, *parts):
    print(json.dumps({"type": kind, "content": list(parts)}), flush=True)
    time.sleep(PACE_SECONDS)


def post(path, body):
    """One request as this worker: the address, the token and the attempt come from the environment."""
    request = urllib.request.Request(
        f"{os.environ['SHIFTBOOK_URL'].rstrip('/')}/api/sessions/{os.environ['SHIFTBOOK_SESSION_ID']}/{path}",
        data=json.dumps({"attempt": int(os.environ["SHIFTBOOK_ATTEMPT"]), **body}).encode(),
        headers={"content-type": "application/json", "authorization": f"Bearer {os.environ['SHIFTBOOK_TOKEN']}"},
        method="POST",
    )
    try:
        urllib.request.urlopen(request, timeout=REQUEST_SECONDS_MAX).close()
    except urllib.error.HTTPError as refusal:
        sys.exit(f"{path} was refused: {refusal.code} {refusal.read().decode(errors='replace')}")


def first_sentences(markdown):
    """The opening of the running text: no headings, lists, code, pictures or tables."""
    without_code = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    prose = [line for line in without_code.splitlines() if line and not line.startswith(("#", "-", "*", "!", "|", ">", " ", "["))]
    return re.split(r"(?<=[.!?])\s+", " ".join(prose))[:SENTENCES]


def main():
    path = file_of(json.load(sys.stdin))
    call = {"toolCallId": "read", "toolName": "read_file"}
    emit("agent.tool_call", {"type": "tool-call", **call, "input": {"file": str(path)}})
    try:
        document = path.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"cannot read {path}: {error.strerror}")
    size = {"lines": document.count("\n"), "characters": len(document)}
    emit("agent.tool_result", {"type": "tool-result", **call, "output": {"type": "json", "value": size}})
    draft = " ".join(first_sentences(document))
    emit("agent.message", {"type": "text", "text": f"My draft for `{path}`:\n\n> {draft}"})
    # What was printed travels in batches of the worker; the log should hold it before the session is handed over.
    time.sleep(SETTLE_SECONDS)
    post("yield", {"status": "waiting_human", "detail": f"Is this a fair summary of {path}?"})


main()
