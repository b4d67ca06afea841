"""How labels and names are compared: the one place for every comparison key.

The app is written in Rust; `str::trim` and `str::to_lowercase` decide what is the same label. Python's `strip`
also strips U+001C to U+001F, and `casefold` merges spellings that the app keeps apart, so neither is used.
"""

from __future__ import annotations

import re
import unicodedata

from ct_tui.domain.alphabetic import is_other_alphabetic

# Unicode's White_Space property, which Rust's trim follows.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


_ASCII_WORD = re.compile("[0-9a-z]+")


def trim(text: str) -> str:
    """Strip what Rust's `trim` strips, and nothing else."""
    return text.strip(WHITE_SPACE)


def label_key(label: str) -> str:
    """Comparison key of node and edge type names: trim, then Unicode lower case."""
    return trim(label).lower()


def merge_key(name: str) -> str:
    """Comparison key of entity names: letters and digits lower-cased one by one, runs of the rest one space.

    No normalisation takes place, so a decomposed accent is dropped; a name of punctuation only gives the empty key.
    """
    if name.isascii():
        return " ".join(_ASCII_WORD.findall(name.lower()))
    return " ".join(part for part in name.translate(_KEY_CHARS).split(" ") if part)


def is_blank(label: str | None) -> bool:
    """Whether a label counts as not supplied."""
    return label is None or not trim(label)


def skeleton(label: str) -> str:
    """A key under which look-alikes collide: NFKC, invisibles dropped, confusable letters folded to Latin."""
    return label_key(unicodedata.normalize("NFKC", label).translate(_LOOKS))


def scripts_of(text: str) -> frozenset[str]:
    """The scripts of the letters, by the first word of their Unicode names (LATIN, CYRILLIC, GREEK, …)."""
    names = (unicodedata.name(c, "") for c in text if c.isalpha())
    return frozenset(n.split(" ", 1)[0] for n in names if n)


def _is_alphanumeric(char: str) -> bool:
    """Rust's `char::is_alphanumeric`: the Alphabetic property or a number (Nd, Nl, No)."""
    return char.isalpha() or unicodedata.category(char) in {"Nd", "Nl", "No"} or is_other_alphabetic(char)


class _KeyChars(dict[int, str]):
    """For each character what stands for it in a merge key, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = found = char.lower() if _is_alphanumeric(char) else " "
        return found


class _Looks(dict[int, str]):
    """For each character what a reader takes it for: nothing for invisibles, the Latin letter for a confusable one."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        hidden = unicodedata.category(char) in {"Cf", "Cc", "Mn"} and char not in "\t\n\r"
        self[code] = found = "" if hidden else char.translate(_CONFUSABLES)
        return found


_KEY_CHARS = _KeyChars()
_LOOKS = _Looks()

# Letters of other scripts that a reader takes for a Latin one (a small, well-known subset of UTS 39).
_CONFUSABLES = str.maketrans(
    "аеорсухіјѕԁԛԝһӏкмтвнгАВЕКМНОРСТХІЈЅοανιρυκτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdqwhlkmtbhrABEKMHOPCTXIJSoavipuktxABEZHIKMNOPTYX",
)
