"""Rules on type names: one spelling each, and none that only looks like another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.census import RawText, TypeStatus, readable, status_of
from ct_tui.domain.lint.model import Finding, Focus, Kind, Severity, listed
from ct_tui.domain.names import label_key, skeleton, trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ct_tui.domain.manifest import Manifests, Vocabulary

PATH = "curated_entities.entity_type"

TypeCounts = tuple[tuple[RawText, int], ...]
"""The distinct types of the live entities as they stand, with how many bear each."""


def type_variant(counts: TypeCounts, vocabulary: Vocabulary) -> Iterator[Finding]:
    """`type-variant`: a type that differs from its declared, or most frequent, spelling in casing or blanks only."""
    frequent = _most_frequent(counts)
    for raw, count in counts:
        if not isinstance(raw, str) or not readable(raw) or not trim(raw):
            continue
        declared = vocabulary.canonical(raw)
        if status_of(raw, vocabulary) is TypeStatus.VARIANT:
            message = f"{_entities(count)} {_bear(count)} “{raw}”, and the declared spelling is “{declared}”"
            yield _warn("type-variant", raw, message, "heal brings them to the declared spelling")
        elif declared is None and frequent[label_key(raw)] != raw:
            usual = frequent[label_key(raw)]
            message = f"{_entities(count)} {_bear(count)} “{raw}”, and more are spelled “{usual}”"
            yield _warn("type-variant", raw, message, "one ruling on the label covers both spellings")


def type_look_alike(counts: TypeCounts, vocabulary: Vocabulary) -> Iterator[Finding]:
    """`type-look-alike`: another label whose letters look the same (other alphabets, invisible signs, encodings)."""
    by_look: dict[str, list[str]] = {}
    for name in dict.fromkeys([*vocabulary.names, *_readable(counts)]):
        by_look.setdefault(skeleton(name), []).append(name)
    for raw, count in counts:
        if not isinstance(raw, str) or not readable(raw) or not trim(raw) or raw in vocabulary:
            continue
        twins = [n for n in by_look[skeleton(raw)] if label_key(n) != label_key(raw)]
        # Of undeclared twins the plain one is the word itself; of none is plain, both are named.
        plain = [n for n in twins if n in vocabulary or label_key(n) == skeleton(n)]
        if plain or (twins and label_key(raw) != skeleton(raw)):
            message = (
                f"{_entities(count)} {_bear(count)} “{raw}”, which looks like “{listed(plain or twins)}” and is not"
            )
            yield _warn("type-look-alike", raw, message, "rule on it as an alias of the type it was meant to be")


def fallback_undeclared(manifests: Manifests) -> Iterator[Finding]:
    """`fallback-undeclared`: a manifest names a fallback type that it does not declare."""
    for row in manifests.rows.values():
        vocabulary = row.vocabulary
        if vocabulary is None or vocabulary.fallback is None or vocabulary.fallback_declared:
            continue
        yield Finding(
            "fallback-undeclared",
            Severity.ERROR,
            Focus(Kind.MANIFEST, row.entity_id),
            "llm_wiki_entity_manifests.manifest_json.fallback_node_type",
            vocabulary.fallback,
            f"the fallback of {row.entity_id} is “{vocabulary.fallback}”, which it does not declare",
            f"set it to one of {listed(vocabulary.names)}" if vocabulary.names else "declare node types first",
        )


def _most_frequent(counts: TypeCounts) -> Mapping[str, str]:
    """The commonest spelling of each label."""
    found: dict[str, tuple[int, str]] = {}
    for raw, count in counts:
        if isinstance(raw, str):
            best = found.get(label_key(raw))
            if best is None or (count, best[1]) > (best[0], raw):
                found[label_key(raw)] = (count, raw)
    return {key: spelling for key, (_, spelling) in found.items()}


def _readable(counts: TypeCounts) -> Iterable[str]:
    return (raw for raw, _ in counts if isinstance(raw, str) and readable(raw) and trim(raw))


def _entities(count: int) -> str:
    return "1 entity" if count == 1 else f"{count:,} entities"


def _bear(count: int) -> str:
    return "bears" if count == 1 else "bear"


def _warn(rule: str, raw: str, message: str, fix: str) -> Finding:
    return Finding(rule, Severity.WARNING, Focus(Kind.TYPE, raw), PATH, raw, message, fix)
