#!/usr/bin/env python3
"""A LangGraph graph whose interrupt() people answer: by the inbox, or with a link and without an account.

Run it for every session of the agent `buyer`:

    pip install -r examples/requirements.txt
    shiftbook work --agent buyer -- python3 examples/langgraph_interrupt.py

The input is {"item": "..."}. The node `ask` calls interrupt() with the fields of a form. The value becomes one line that
asks people, and the session waits. After the answer the command is run again with it in SHIFTBOOK_RESUME. The graph is
brought to its interrupt once more, and Command(resume=...) hands the answer over.

The checkpointer here is in memory, so the nodes before the question run again. A graph whose nodes must not, or that asks
more than once, needs a checkpointer with a database, and the session's id as its thread.
"""

import json
import os
import sys
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

DEFAULT_ITEM = "chairs"


class Purchase(TypedDict, total=False):
    item: str
    answer: dict
    text: str


def ask(state: Purchase) -> Purchase:
    """Stops the graph until someone answers."""
    answer = interrupt(
        {
            "message": f"Before I order {state['item']}: how many, and until when?",
            "gate": "none",
            "fields": [
                {"key": "count", "label": "How many?", "type": "integer", "minimum": 1, "maximum": 500, "required": True},
                {"key": "until", "label": "Until when?", "type": "date"},
                {"key": "color", "label": "Which color?", "type": "single_choice", "options": ["oak", "black", "white"]},
            ],
        }
    )
    return {"answer": answer}


def order(state: Purchase) -> Purchase:
    answer = state["answer"]
    if "count" not in answer:
        return {"text": f"I order no {state['item']}: {answer['outcome']}."}
    color = f" in {answer['color']}" if answer.get("color") else ""
    until = f" until {answer['until']}" if answer.get("until") else ""
    return {"text": f"An order of {answer['count']} {state['item']}{color}{until}."}


def build():
    graph = StateGraph(Purchase)
    graph.add_node("ask", ask)
    graph.add_node("order", order)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "order")
    graph.add_edge("order", END)
    return graph.compile(checkpointer=InMemorySaver())


def say(event: dict) -> None:
    print(json.dumps(event), flush=True)


def item_of(given: object) -> str:
    item = given.get("item") if isinstance(given, dict) else None
    return item if isinstance(item, str) and item.strip() else DEFAULT_ITEM


def main() -> None:
    resume = json.loads(os.environ.get("SHIFTBOOK_RESUME", "null"))
    thread = {"configurable": {"thread_id": os.environ.get("SHIFTBOOK_SESSION_ID", "local")}}
    graph = build()
    state = graph.invoke({"item": item_of(json.load(sys.stdin))}, thread)
    asked = state.get("__interrupt__", ())
    if asked and (resume is None or resume.get("requestId") is None):
        say({"type": "agent.message", "content": "I need a few answers before I order."})
        # The key makes a repeat of this run the same question.
        say({"type": "request_feedback", "idempotencyKey": "order", **asked[0].value})
        return
    if asked:
        # What people answer is data. A node with a model puts resume["block"] into its prompt, not the plain answer.
        answer = resume["answer"] if resume["outcome"] == "answered" else {"outcome": resume["outcome"]}
        state = graph.invoke(Command(resume=answer), thread)
    say({"type": "result", "result": {"text": state["text"], "answer": state["answer"]}})


if __name__ == "__main__":
    main()
