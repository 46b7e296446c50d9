#!/usr/bin/env python3
"""A librarian: answers a question about a repository by listing, searching and reading its files.

Run it for every session of the agent `librarian`, from the root of the repository it is to read:

    pip install -r examples/requirements.txt
    shiftbook work --agent librarian -- python3 examples/langgraph_worker.py

The input is {"question": "..."}. The agent is a LangGraph graph: a chat model and its tools take turns until the model has
an answer. Each step is printed as one line of JSON, which `shiftbook work` appends to the session's log.

The tools are real. The model is a script, so that the example runs without a key and says the same every time; to use
a real one, put any LangChain chat model in the place of `ScriptedModel()`. Nothing else changes.
"""

import json
import os
import pathlib
import re
import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

ROOT = pathlib.Path.cwd().resolve()
DEFAULT_QUESTION = "How does a worker lose its lease?"
SKIPPED = {".git", "target", "node_modules", "__pycache__", ".venv", "venv"}
SEARCHED = (".rs", ".md", ".sql", ".py", ".sh")
PROSE = ("//", "#", "--", "* ", "- ")
FILE_BYTES_MAX = 1_000_000
FILES_MAX = 5_000
HITS_MAX = 20
READ_LINES_MAX = 40
STEPS_MAX = 12


# ---- tools ---------------------------------------------------------------------------------------------------


def text_files(suffixes: tuple[str, ...] = ()) -> list[pathlib.Path]:
    """The repository's files in a fixed order, without what tools put there and without links that lead out of it."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if (not suffixes or path.suffix in suffixes) and not path.is_symlink() and path.is_file():
                found.append(path)
    return found[:FILES_MAX]


def lines_of(path: pathlib.Path) -> list[str]:
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            return []
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


@tool
def list_files(suffix: str = "") -> str:
    """Lists folders with the number of their files, counting only files with this suffix (such as `.rs`) if one is given."""
    counts: dict[str, int] = {}
    for path in text_files((suffix,) if suffix else ()):
        folder = path.relative_to(ROOT).parent.as_posix()
        counts[folder] = counts.get(folder, 0) + 1
    return "\n".join(f"{count:4} {folder}" for folder, count in sorted(counts.items())) or "no files"


@tool
def search_files(words: str) -> str:
    """Finds lines that speak of these words; answers `path:line: text`, comments and prose with most of the words first."""
    wanted = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in words.split()]
    hits = []
    for path in text_files(SEARCHED):
        if path.is_relative_to(pathlib.Path(__file__).resolve().parent):
            # The question stands here too.
            continue
        for number, line in enumerate(lines_of(path), start=1):
            line = line.strip()
            count = sum(bool(word.search(line)) for word in wanted)
            if count > len(wanted) // 2:
                prose = path.suffix == ".md" or line.startswith(PROSE)
                hits.append((-count, not prose, path.as_posix(), number, line[:200]))
    hits.sort()
    lines = [f"{pathlib.Path(path).relative_to(ROOT).as_posix()}:{number}: {line}" for _, _, path, number, line in hits]
    return "\n".join(lines[:HITS_MAX]) or "nothing found"


@tool
def read_file(path: str, line: int = 1) -> str:
    """Reads up to 40 lines of a file around a line."""
    wanted = (ROOT / path).resolve()
    if not wanted.is_relative_to(ROOT):
        raise ValueError("only files of this repository can be read")
    lines = lines_of(wanted)
    if not lines:
        raise ValueError(f"{path} is not there, or is no text")
    first = max(1, line - READ_LINES_MAX // 4)
    shown = lines[first - 1 : first - 1 + READ_LINES_MAX]
    return "\n".join(f"{number:5} {text}" for number, text in enumerate(shown, start=first))


TOOLS = [list_files, search_files, read_file]


# ---- the model, scripted -------------------------------------------------------------------------------------

STOP_WORDS = set("a an and are as at be by can do does for from get gets give gives has have how in is it its make of on "
                 "one or put that the their this to was what when where which who why will with".split())


def keywords(question: str) -> list[str]:
    words = [word for word in re.findall(r"[a-z_]{2,}", question.lower()) if word not in STOP_WORDS]
    return list(dict.fromkeys(words)) or ["readme"]


def first_hits(found: str, count: int) -> list[tuple[str, int]]:
    """Path and line of the best hits, one per file."""
    hits: dict[str, int] = {}
    for path, line in re.findall(r"^([^\s:]+):(\d+): ", found, flags=re.MULTILINE):
        hits.setdefault(path, int(line))
    return list(hits.items())[:count]


class ScriptedModel(BaseChatModel):
    """Plays a model: looks around, searches, reads what it found, and answers from it."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "ScriptedModel":
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        said, calls = self._turn(turn, messages)
        message = AIMessage(
            content=said,
            tool_calls=[{"id": f"call_{turn}_{n}", "name": name, "args": args} for n, (name, args) in enumerate(calls)],
        )
        read = sum(len(str(m.content)) for m in messages) // 4
        written = len(json.dumps([said, calls])) // 4
        message.usage_metadata = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _turn(self, turn: int, messages: list[BaseMessage]) -> tuple[list[dict], list[tuple[str, dict]]]:
        question = next(str(m.content) for m in messages if isinstance(m, HumanMessage))
        results = [m for m in messages if isinstance(m, ToolMessage)]
        words = keywords(question)
        if turn == 0:
            thought = f"The question is about {', '.join(words)}. First I look at how this repository is laid out."
            return [think(thought)], [("list_files", {"suffix": ".rs"})]
        if turn == 1:
            # Narrow first, wide second: in parallel, so that one turn settles it.
            searches = [("search_files", {"words": " ".join(words)})]
            if len(words) > 2:
                searches.append(("search_files", {"words": " ".join(words[:2])}))
            return [think("Now I search for the words of the question."), say("Searching the sources.")], searches
        found = "\n".join(str(m.content) for m in results if m.name == "search_files")
        hits = first_hits(found, 3)
        if turn == 2 and hits:
            return [say("Reading what looks closest.")], [("read_file", {"path": path, "line": line}) for path, line in hits]
        if not hits:
            return [say(f"I found nothing in this repository about {', '.join(words)}.")], []
        places = [f"{path}:{number}: " for path, number in hits]
        quotes = [next(line for line in found.splitlines() if line.startswith(place)) for place in places]
        lines = "\n".join(f"- `{place[:-2]}` {quote.removeprefix(place)}" for place, quote in zip(places, quotes))
        return [say(f"**{question}**\n\nThis is where the repository speaks of it:\n\n{lines}")], []


def think(text: str) -> dict:
    return {"type": "reasoning", "reasoning": text}


def say(text: str) -> dict:
    return {"type": "text", "text": text}


# ---- the agent, and its steps as events ----------------------------------------------------------------------


def build_agent(model: BaseChatModel):
    thinker = model.bind_tools(TOOLS)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [thinker.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(TOOLS, handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def emit(kind: str, *parts: dict, **fields: Any) -> None:
    """One event: one line. Flushed, so that whoever watches sees it now."""
    content = {"content": list(parts)} if parts else {}
    print(json.dumps({"type": kind, **content, **fields}, ensure_ascii=False), flush=True)


def emit_model_message(message: AIMessage) -> None:
    """What a model said, whichever model: text, thoughts, tool calls."""
    blocks = [say(message.content)] if isinstance(message.content, str) else message.content
    for block in blocks:
        if isinstance(block, str):
            block = say(block)
        if block.get("type") == "text" and block["text"].strip():
            emit("agent.message", {"type": "text", "text": block["text"]})
        elif block.get("type") in ("reasoning", "thinking"):
            emit("agent.thinking", {"type": "reasoning", "text": block.get("reasoning") or block.get("thinking") or ""})
    for call in message.tool_calls:
        part = {"type": "tool-call", "toolCallId": call["id"], "toolName": call["name"], "input": call["args"]}
        emit("agent.tool_call", part)


def emit_tool_message(message: ToolMessage) -> None:
    kind = "error-text" if message.status == "error" else "text"
    output = {"type": kind, "value": str(message.content)}
    part = {"type": "tool-result", "toolCallId": message.tool_call_id, "toolName": message.name, "output": output}
    emit("agent.tool_result", part)


def main() -> None:
    given = json.load(sys.stdin)
    question = (given.get("question") if isinstance(given, dict) else None) or DEFAULT_QUESTION
    usage = {"inputTokens": 0, "outputTokens": 0}
    answer = None
    agent = build_agent(ScriptedModel())
    start = {"messages": [HumanMessage(question)]}
    for step in agent.stream(start, {"recursion_limit": STEPS_MAX}, stream_mode="updates"):
        for update in step.values():
            for message in update["messages"]:
                if isinstance(message, AIMessage):
                    emit_model_message(message)
                    answer = message.text if not message.tool_calls else None
                    if message.usage_metadata:
                        usage["inputTokens"] += message.usage_metadata["input_tokens"]
                        usage["outputTokens"] += message.usage_metadata["output_tokens"]
                elif isinstance(message, ToolMessage):
                    emit_tool_message(message)
    if not answer:
        sys.exit("the agent stopped without an answer")
    emit("result", result={"text": str(answer), "question": question}, usage=usage)


if __name__ == "__main__":
    main()
