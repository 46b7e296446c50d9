"""Has TRL's own functions read exported training data. Needs no PyTorch and no model.

    python3 -m venv venv
    venv/bin/pip install datasets transformers jinja2
    venv/bin/pip install --no-deps trl accelerate
    venv/bin/python examples/check_with_trl.py FOLDER…

Each FOLDER is one export with its manifest.json. TRL has to recognise every row as conversational, apply a chat template
to it, and unpair preferences. Ends with status 1 at the first row that it does not take. Checked with TRL 1.16.
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


def tokenizer():
    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", chat_template=TEMPLATE)


def check(condition, what):
    if not condition:
        raise SystemExit(f"error: {what}")


def check_row(row, reader, where):
    check(data_utils.is_conversational(row), f"{where} is not conversational to TRL")
    applied = data_utils.apply_chat_template(row, reader)
    texts = [value for name, value in applied.items() if name in ("text", "prompt", "chosen", "rejected", "completion")]
    check(texts and all(isinstance(text, str) and text for text in texts), f"{where} becomes {applied}")
    if "label" in row:
        check(applied["label"] == row["label"], f"{where} loses its label")


def check_folder(folder, reader):
    manifest = json.loads((folder / "manifest.json").read_text())
    builder = "json" if manifest["fileFormat"] == "jsonl" else "parquet"
    for described in manifest["files"]:
        if described["rows"] == 0:
            continue
        file = folder / described["name"]
        rows = datasets.load_dataset(builder, data_files=str(file), split="train", cache_dir=str(folder / ".cache"))
        for number, row in enumerate(rows):
            check_row(row, reader, f"{file}, row {number}")
        if manifest["format"] == "dpo":
            unpaired = data_utils.maybe_unpair_preference_dataset(rows)
            check(len(unpaired) == 2 * len(rows), f"{file} is not unpaired")
        print(f"{described['name']}: TRL takes {len(rows)} rows")


def main():
    datasets.disable_progress_bars()
    check(len(sys.argv) > 1, "name the folders of exports")
    reader = tokenizer()
    for name in sys.argv[1:]:
        check_folder(pathlib.Path(name), reader)


main()
