"""Has TRL's own functions read exported training data. Needs no PyTorch, no model and no network.

    python3 -m venv venv
    venv/bin/pip install --no-deps --requirement xtask/trl/requirements.txt
    venv/bin/python examples/check_with_trl.py FOLDER…

Each FOLDER is one export with its manifest.json. TRL has to recognise every row as conversational, apply a chat template
to it with the row's tools, and unpair preferences. The text that it makes has to hold every message, call and tool of
the row. Ends with status 1 at the first row that it does not take. `cargo xtask test --only trl` runs it on exports of
a server.
"""

import json
import pathlib
import sys

import datasets
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from trl import data_utils

# What chat templates of models do, without a model: who speaks, what is said, which tools are called.
TEMPLATE = """{% if tools %}<tools>{{ tools | tojson }}
{% endif %}{% for message in messages %}<{{ message.role }}>{{ message.content or '' }}\
{% for call in message.tool_calls or [] %}<call>{{ call.function | tojson }}{% endfor %}
{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


COLUMNS = {"messages", "prompt", "chosen", "rejected", "completion"}


def tokenizer():
    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", chat_template=TEMPLATE)


def check(condition, what):
    if not condition:
        raise SystemExit(f"error: {what}")


def parts_of(row):
    """What has to be in the texts that TRL makes of a row."""
    for tool in row["tools"] or []:
        yield json.dumps(tool, ensure_ascii=False)
    for column in COLUMNS & set(row):
        for message in row[column]:
            yield message["content"]
            for call in message.get("tool_calls", []):
                yield json.dumps(call["function"], ensure_ascii=False)


def check_row(row, reader, where):
    check(data_utils.is_conversational(row), f"{where} is not conversational to TRL")
    applied = data_utils.maybe_apply_chat_template(row, reader, tools=row["tools"])
    texts = [value for name, value in applied.items() if name in COLUMNS | {"text"}]
    check(texts and all(isinstance(text, str) and text for text in texts), f"{where} becomes {applied}")
    for part in parts_of(row):
        check(part in "".join(texts), f"{where}: {part!r} is not in {texts}")
    if "label" in row:
        check(applied["label"] == row["label"], f"{where} loses its label")


def check_folder(folder, reader):
    manifest = json.loads((folder / "manifest.json").read_text())
    builder = "json" if manifest["fileFormat"] == "jsonl" else "parquet"
    seen = {"rows": 0, "tools": 0, "system prompts": 0, "calls": 0}
    for described in manifest["files"]:
        if described["rows"] == 0:
            continue
        file = folder / described["name"]
        rows = datasets.load_dataset(builder, data_files=str(file), split="train", cache_dir=str(folder / ".cache"))
        names = [column["name"] for column in manifest["columns"]]
        check(rows.column_names == names, f"{file} has the columns {rows.column_names}")
        for number, row in enumerate(rows):
            check_row(row, reader, f"{file}, row {number}")
            messages = [message for column in COLUMNS & set(row) for message in row[column]]
            seen["rows"] += 1
            seen["tools"] += len(row["tools"] or [])
            seen["system prompts"] += sum(message["role"] == "system" for message in messages)
            seen["calls"] += sum(len(message.get("tool_calls", [])) for message in messages)
        if manifest["format"] == "dpo":
            unpaired = data_utils.maybe_unpair_preference_dataset(rows)
            check(len(unpaired) == 2 * len(rows), f"{file} is not unpaired")
            for number, row in enumerate(unpaired):
                check_row(row, reader, f"{file}, unpaired row {number}")
    check(seen["rows"] > 0, f"{folder} has no rows")
    print(f"{folder.name}: TRL takes " + ", ".join(f"{count} {what}" for what, count in seen.items()))
    return seen


def main():
    datasets.disable_progress_bars()
    check(len(sys.argv) > 1, "name the folders of exports")
    reader = tokenizer()
    by_format = {}
    for name in sys.argv[1:]:
        seen = check_folder(pathlib.Path(name), reader)
        kind = pathlib.Path(name).name.split("-")[0]
        check(by_format.setdefault(kind, seen) == seen, f"{name} differs from another export of the same format")


main()
