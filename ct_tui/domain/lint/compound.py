"""`fact-compound`: several assertions in one fact, found with a small and careful grammar of English.

One fact is one subject, one predicate, one object. A fact is called compound only where the text shows a second
predicate, by one of three signs:

1. two sentences, each with a finite verb of the closed list below and at least three words, where the second does not
   merely cite ("It is mentioned in note 4.");
2. a conjunction that is followed at once, or after a pronoun or an adverb, by a finite verb of that list: "… and works
   for …", "…, but she lives in …", "… while he owns …", where a verb of the list stands before the conjunction too;
3. two or more lines of a list.

The list holds third-person forms that are hardly ever nouns, so "salt and pepper", "search and ranking", "Research and
Development", "Ann and Bob work at X" and "between 2 and 3" are no signs. Objects that are merely enumerated ("speaks
German and French") are left alone: whether they are one assertion is a matter of taste. Texts in other languages than
English are not judged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ct_tui.domain.census import display
from ct_tui.domain.lint.model import FactRow, Finding, Kind, Severity, focus

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LENGTH = 20_000
"""Only so much of a body is read; what is longer is a document and no fact."""

_VERB = (
    r"(?:is|are|was|were|has|had|does|did|will|became|becomes|began|begins|belongs|bought|brings|brought|built|came|chose"
    r"|comes|consists|contains|costs|decided|decides|depends|died|employs|exists|gave|gets|gives|goes|got|grew|grows"
    r"|hates|holds|includes|joined|joins|keeps|kept|knew|knows|leads|learned|learns|leaves|led|left|likes|lived|lives"
    r"|lost|loves|made|maintains|makes|manages|married|means|meets|met|moved|moves|needs|operates|owned|owns|prefers"
    r"|provides|publishes|ran|reads|received|receives|requires|runs|said|says|sells|serves|sold|speaks|started|starts"
    r"|stopped|stops|studied|studies|supports|teaches|tells|thinks|told|took|uses|wants|went|works|worked|writes|wrote)"
)
_VERB_WORD = re.compile(rf"\b{_VERB}\b")
_SECOND_VERB = re.compile(
    rf"[,; ] ?\b(?:and|but|while|whereas|although)\s+"
    rf"(?:(?:he|she|it|they|also|now|then|later|currently|previously|still|once|that)\s+){{0,2}}{_VERB}\b"
)
# A full stop ends a sentence only before a capital letter, and not after an initial, a number or a usual abbreviation.
_SENTENCE_END = re.compile(r"(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bvs)(?<!\bNo)[.!?]\s+(?=[A-Z])|;\s+")
_LIST_LINE = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+\S", re.MULTILINE)
_CITING = re.compile(r"\b(?:is|was|are|were) (?:also )?(?:mentioned|noted|recorded|described|discussed|cited|quoted)\b")
_HINTS = ("and", "but", "while", "whereas", "although", ". ", "! ", "? ", "; ", "\n", "\t")
_QUOTED = re.compile(r"[\"“„][^\"”“]{0,2000}[\"”]|`[^`]{0,2000}`")


def fact_compound(fact: FactRow) -> Iterator[Finding]:
    """`fact-compound`: the body of one fact makes more than one assertion."""
    body = fact.body
    if not isinstance(body, str):
        return
    why = why_compound(body)
    if why is not None:
        fix = "write each assertion as a fact of its own"
        where, path = focus(Kind.FACT, fact.id), "llm_wiki_entries.body"
        value = body if len(body) <= 200 else body[:200] + "…"
        yield Finding("fact-compound", Severity.INFO, where, path, value, why, fix, display(fact.entity_id))


def why_compound(text: str) -> str | None:
    """The sign by which a text makes several assertions, as a sentence, or None."""
    text = text[:MAX_LENGTH]
    if not any(hint in text for hint in _HINTS):
        return None
    if len(_LIST_LINE.findall(text)) > 1:
        return "it is a list of several lines"
    # What is quoted is one object however much it says.
    plain = " ".join(_QUOTED.sub("“…”", text).split())
    second = _SECOND_VERB.search(plain)
    if second is not None and _VERB_WORD.search(plain, 0, second.start()):
        return f"a second assertion begins at “{second.group().strip(' ,;')}”"
    stating = [s for s in _SENTENCE_END.split(plain) if _states(s)]
    if len(stating) > 1:
        return f"it has {len(stating)} sentences that each state something"
    return None


def _states(sentence: str) -> bool:
    return len(sentence.split()) > 2 and bool(_VERB_WORD.search(sentence)) and not _CITING.search(sentence)
