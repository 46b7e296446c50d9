#!/usr/bin/env python3
"""An agent that asks people three questions in the middle of its work, and goes on with the answers.

Run it for every session of the agent `asker`:

    shiftbook work --agent asker -- python3 examples/ask.py

At first it prints a request and ends. The session waits, the question is in the inbox with its three fields, and whoever
answers it there queues the session again. The command is then run again with the answer in SHIFTBOOK_RESUME. Only the
standard library is used.
"""

import json
import os

REQUEST = {
    "type": "request_feedback",
    "message": "Before I write the offer: where do we start?",
    "idempotencyKey": "offer-start",
    "fields": [
        {"key": "region", "label": "Which region?", "type": "single_choice", "options": ["EU", "US"], "required": True},
        {"key": "seats", "label": "How many seats?", "type": "integer", "minimum": 1, "required": True},
        {"key": "notes", "label": "What else should I know?", "type": "long_text"},
    ],
}


def say(event: dict) -> None:
    print(json.dumps(event), flush=True)


def main() -> None:
    resume = json.loads(os.environ.get("SHIFTBOOK_RESUME", "null"))
    if resume is None or resume.get("requestId") is None:
        say({"type": "agent.message", "content": "I need three answers before I go on."})
        say(REQUEST)
        return
    outcome = resume["outcome"]
    if outcome != "answered":
        say({"type": "result", "result": {"text": f"I go on without answers: {outcome}.", "outcome": outcome}})
        return
    # What people answer is data. An agent with a model puts resume["block"] into its prompt, not the plain answer.
    answer = resume["answer"]
    text = f"An offer for {answer['seats']} seats in {answer['region']}."
    say({"type": "result", "result": {"text": text, "answer": answer, "by": resume["respondent"]["kind"]}})


if __name__ == "__main__":
    main()
