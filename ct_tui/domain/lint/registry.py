"""Every rule of `lint`, worst first within each family: the one place for ids, severities, titles and reasons."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ct_tui.domain.lint.model import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

RULES: tuple[Rule, ...] = (
    Rule(
        "edge-type-undeclared",
        _ERROR,
        "Edge type outside the vocabulary",
        "A relation that nobody declared means something else to every reader; where none fits, none is written.",
    ),
    Rule(
        "edge-related-to",
        _ERROR,
        "“Related to” says nothing",
        "An edge that only says that two things have to do with each other can never be reasoned over.",
    ),
    Rule(
        "fact-window-inverted",
        _ERROR,
        "A fact ends before it begins",
        "Whoever asks what was true at a time gets a wrong answer, or none.",
    ),
    Rule(
        "fact-provenance",
        _ERROR,
        "A fact without a source",
        "A fact whose source cannot be opened can neither be checked nor withdrawn.",
    ),
    Rule(
        "fact-start-is-write-time",
        _WARNING,
        "The writing time stands as the beginning",
        "When something became true is seldom when it was written down; an unknown beginning stays unknown.",
    ),
    Rule(
        "fact-time-unit",
        _WARNING,
        "Seconds and milliseconds mixed up",
        "A time in the wrong unit lands decades away, and every comparison with it is wrong.",
    ),
    Rule(
        "fact-confidence",
        _WARNING,
        "Confidence that cannot be meant",
        "Certain is what the user typed word for word; everything else was read out of something and may be wrong.",
    ),
    Rule(
        "fact-compound",
        _INFO,
        "Several assertions in one fact",
        "One fact is one subject, one predicate, one object: only then can one part be corrected and the other kept.",
    ),
    Rule(
        "name-duplicate",
        _WARNING,
        "Several entities of one name",
        "What is known of one thing is spread over several, and each looks half empty.",
    ),
    Rule(
        "name-look-alike",
        _WARNING,
        "A name that looks like another",
        "Letters of another alphabet, invisible signs and two encodings of one accent split one thing into two.",
    ),
    Rule(
        "name-near",
        _INFO,
        "Names that may mean one thing",
        "One entity per spelling is how duplicates begin: a typing slip, an initial, a nickname.",
    ),
    Rule(
        "type-look-alike",
        _WARNING,
        "A type that looks like another",
        "The gate compares letters, not looks: a type with one foreign letter is a type of its own.",
    ),
    Rule(
        "type-variant",
        _WARNING,
        "A type in another spelling",
        "Casing and blanks are no difference in meaning; heal brings declared types to their declared spelling.",
    ),
    Rule(
        "ruling-dead",
        _WARNING,
        "An alias that never acts",
        "A declared type comes before an alias, so the ruling promises something that does not happen.",
    ),
    Rule(
        "ruling-chain",
        _WARNING,
        "An alias that leads to an alias",
        "Aliases are followed once; a chain stops in the middle.",
    ),
    Rule(
        "ruling-cycle",
        _WARNING,
        "Aliases that lead back to themselves",
        "Two rulings that contradict each other; neither acts.",
    ),
    Rule(
        "ruling-target-undeclared",
        _WARNING,
        "An alias to a type nobody declared",
        "Heal moves nothing to an undeclared type, so the ruling waits for ever.",
    ),
    Rule(
        "ruling-duplicate",
        _WARNING,
        "Two aliases for one label",
        "Only the first acts; the second is a decision that nobody sees.",
    ),
    Rule(
        "fallback-undeclared",
        _ERROR,
        "A fallback type that is not declared",
        "A strict manifest without a usable fallback holds every new entity, even one of a declared type.",
    ),
    Rule(
        "rule-failed",
        _ERROR,
        "A rule could not run",
        "What was not checked is not clean.",
    ),
)

BY_ID: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in RULES})


def severity_of(rule_id: str) -> Severity:
    """A rule's usual severity."""
    return BY_ID[rule_id].severity
