"""What the input of a demo agent names: the words of a person, and the file that they mean."""

import pathlib
import re


def words_said(given):
    """The words of a plain text, or of the newest message of a conversation; none for an object of our own."""
    if isinstance(given, dict) and given.get("messages"):
        given = given["messages"][-1].get("text", "")
    words = re.findall(r"[\w./-]+", given) if isinstance(given, str) else []
    return [word.rstrip(".") for word in words if word.rstrip(".")]


def is_ours(path):
    """Words can name anything; only what lies below this folder is looked at."""
    return path.resolve().is_relative_to(pathlib.Path.cwd())


def file_of(given):
    """The file of the input. Of plain words: the file that they name last, or else the README."""
    if isinstance(given, dict) and "file" in given:
        return pathlib.Path(given["file"])
    named = [pathlib.Path(word) for word in words_said(given)]
    return next((path for path in reversed(named) if path.is_file() and is_ours(path)), pathlib.Path("README.md"))
