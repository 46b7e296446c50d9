"""Loads exported training data with the package `datasets`, and checks that it has the form that TRL documents.

    python3 examples/load_training_data.py FOLDER…

Each FOLDER is one export: sft.jsonl, dpo.parquet or the like, with its manifest.json. Prints a line per export, and ends
with status 1 at the first thing that a trainer would stumble over.
"""

import hashlib
import json
import pathlib
import sys

import datasets

# Conversational formats of https://huggingface.co/docs/trl/dataset_formats: language modelling, preference with an
# explicit prompt, unpaired preference.
COLUMNS = {
    "sft": {"messages": list, "tools": list},
    "dpo": {"prompt": list, "chosen": list, "rejected": list, "tools": list},
    "kto": {"prompt": list, "completion": list, "label": bool, "tools": list},
}
# What a message has beside its role and its content, by who says it.
MORE = {"system": set(), "user": set(), "assistant": {"tool_calls"}, "tool": {"tool_call_id", "name"}}


def check(condition, what):
    if not condition:
        raise SystemExit(f"error: {what}")


def check_messages(messages, where):
    check(messages, f"{where} has no messages")
    called = set()
    for message in messages:
        check(message["role"] in MORE, f"{where} has the role {message['role']!r}")
        more = set(message) - {"role", "content"}
        check(more <= MORE[message["role"]], f"{where} has {sorted(message)} in a message of {message['role']}")
        check(isinstance(message["content"], str), f"{where} has content that is no text")
        for call in message.get("tool_calls", []):
            check(call["type"] == "function", f"{where} has a call of type {call['type']!r}")
            check(isinstance(call["function"]["name"], str), f"{where} has a call without a name")
            check(isinstance(call["function"]["arguments"], dict), f"{where} has arguments that are no object")
            called.add(call["id"])
        if message["role"] == "tool":
            check(message["tool_call_id"] in called, f"{where} has an answer to a call that is not there")


def check_tools(tools, where):
    for tool in tools:
        check(tool["type"] == "function" and tool["function"]["name"], f"{where} has the tool {tool}")


def check_row(row, columns, where):
    check(list(row) == list(columns), f"{where} has the columns {list(row)}")
    # Where the tools are not known there are none to check.
    check_tools(row["tools"] or [], f"{where}, tools")
    for column in columns.keys() - {"tools"}:
        check(isinstance(row[column], columns[column]), f"{where}, {column} is {type(row[column]).__name__}")
        if columns[column] is list:
            check_messages(row[column], f"{where}, {column}")
    if "messages" in row:
        check(row["messages"][-1]["role"] == "assistant", f"{where} does not end with an answer")
        return
    # TRL tells a prompt from its completion by who speaks: the person or a tool last, then the agent.
    check(row["prompt"][-1]["role"] in {"user", "tool"}, f"{where} has a prompt that ends with an answer")
    for column in set(row) - {"prompt", "label", "tools"}:
        check([message["role"] for message in row[column]] == ["assistant"], f"{where}, {column} is not one answer")


def load_file(folder, manifest, described):
    file = folder / described["name"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    check(digest == described["sha256"], f"{file} is not what its manifest describes")
    builder = "json" if manifest["fileFormat"] == "jsonl" else "parquet"
    cache = str(folder / ".cache")
    rows = datasets.load_dataset(builder, data_files=str(file), split="train", cache_dir=cache)
    columns = COLUMNS[manifest["format"]]
    check(rows.column_names == list(columns), f"{file} has the columns {rows.column_names}")
    check(len(rows) == described["rows"], f"{file} has {len(rows)} rows, the manifest says otherwise")
    for number, row in enumerate(rows):
        check_row(row, columns, f"{file}, row {number}")
    print(f"{described['name']}: {len(rows)} rows of {', '.join(columns)}")
    return [json.dumps(row, sort_keys=True) for row in rows]


def load(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    files = [described for described in manifest["files"] if described["rows"] > 0]
    rows = [row for described in files for row in load_file(folder, manifest, described)]
    check(len(rows) == manifest["counts"]["rows"] > 0, f"{folder} has {len(rows)} rows, the manifest says otherwise")
    return manifest["format"], rows


def main():
    datasets.disable_progress_bars()
    check(len(sys.argv) > 1, "name the folders of exports")
    seen = {}
    for name in sys.argv[1:]:
        kind, rows = load(pathlib.Path(name))
        check(seen.setdefault(kind, rows) == rows, f"{name} differs from another export of the same kind")


main()
