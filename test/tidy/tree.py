"""The sources of the project, for the tidy tests."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = ("server", "storage", "bench", "test")


def sources(*directories, suffixes=(".h", ".cc")):
    """Paths below the directories (relative to the root) with one of the suffixes, sorted."""
    found = []
    for directory in directories:
        base = ROOT / directory
        found += [p for p in base.rglob("*") if p.is_file() and p.suffix in suffixes]
    return sorted(found)


def name(path):
    return path.relative_to(ROOT).as_posix()


def includes(path):
    """What the file includes with quotes, with the number of the line."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'#include "([^"]+)"', line)
        if match:
            yield number, match.group(1)


def without_comments_and_strings(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
