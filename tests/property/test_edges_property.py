"""Conformance against the rule written out plainly, over any vocabulary and any edges."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.edges import EdgeState, EffectTally, End, Liveness, Rulebook, Signatures, Triple, Triples
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary

NAMES = st.sampled_from(["a", "b", "c", "d", "A", " b"])
EDGE_NAMES = st.sampled_from(["x", "y", "X"])
MAYBE = st.one_of(st.none(), NAMES)

vocabularies = st.builds(
    Vocabulary,
    st.lists(st.builds(NodeType, NAMES, st.just(""), MAYBE), max_size=6).map(tuple),
    st.lists(st.builds(EdgeType, EDGE_NAMES, MAYBE, MAYBE), max_size=6).map(tuple),
)
ends = st.builds(
    End,
    MAYBE,
    st.sampled_from([Liveness.LIVE, Liveness.LIVE, Liveness.LIVE, Liveness.ARCHIVED, Liveness.MISSING]),
    st.booleans(),
    st.booleans(),
    st.none(),
    st.one_of(st.none(), st.none(), NAMES),
)
triples = st.lists(st.tuples(st.builds(Triple, EDGE_NAMES, ends, ends), st.integers(1, 5)), max_size=25).map(
    lambda rows: Triples(Counter(dict(rows)).items())
)


def plain(vocabulary: Vocabulary, name: str, source: str | None, target: str | None) -> str:
    """The rule as the format states it, definition by definition."""

    def key(label: str) -> str:
        return label.strip().lower()

    parents: dict[str, str | None] = {}
    for node in vocabulary.node_types:
        parents.setdefault(key(node.name), key(node.parent_type) if node.parent_type is not None else None)
    definitions = [e for e in vocabulary.edge_types if key(e.name) == key(name)]
    if not definitions:
        return "undeclared_type"
    if source is None or target is None:
        return "undetermined"
    best = "violating"
    for edge in definitions:
        grades = []
        for concrete, declared in ((source, edge.source_type), (target, edge.target_type)):
            if declared is None:
                grades.append("open")
            elif key(concrete) == key(declared):
                grades.append("exact")
            elif parents.get(key(concrete)) == key(declared):
                grades.append("parent")
            else:
                grades.append("no")
        if "no" in grades:
            continue
        grade = "undetermined" if "open" in grades else "parent" if "parent" in grades else "exact"
        order = ["violating", "undetermined", "parent", "exact"]
        best = max(best, grade, key=order.index)
    return best


@given(vocabularies, EDGE_NAMES, MAYBE, MAYBE)
def test_judge_is_the_plain_rule(vocabulary: Vocabulary, name: str, source: str | None, target: str | None) -> None:
    assert Signatures(vocabulary).judge(name, source, target).value == plain(vocabulary, name, source, target)


@given(triples, vocabularies, vocabularies, st.dictionaries(st.sampled_from("abcd"), NAMES, max_size=3))
@settings(max_examples=300)
def test_effect_is_the_difference_of_two_whole_counts(
    counted: Triples, vocabulary: Vocabulary, other: Vocabulary, moves: dict[str, str]
) -> None:
    before, after = Rulebook(Signatures(vocabulary)), Rulebook(Signatures(other))
    settled = counted.after(moves)
    effect = counted.effect(before, moves=moves, after=after)
    gain = settled.counts(after).conforming - counted.counts(before).conforming
    assert effect.gained - effect.broken == gain
    assert effect.still_violating <= settled.counts(after).violating
    assert settled.edges == counted.edges


@given(triples, vocabularies, vocabularies)
def test_effect_of_a_new_vocabulary_is_the_sum_over_all_edges(
    counted: Triples, vocabulary: Vocabulary, other: Vocabulary
) -> None:
    before, after = Rulebook(Signatures(vocabulary)), Rulebook(Signatures(other))
    tally = EffectTally()
    for triple, n in counted:
        changed = before.state(triple) is not after.state(triple.settled)
        if changed or triple.settled != triple:
            tally.add(before.state(triple), after.state(triple.settled), n)
    assert counted.effect(before, after=after) == tally.effect


@given(triples, vocabularies, st.sampled_from("abcd"))
def test_fit_equals_moving_and_counting(counted: Triples, vocabulary: Vocabulary, label: str) -> None:
    book = Rulebook(Signatures(vocabulary))
    chosen = [
        (t._replace(source=t.source._replace(after=None), target=t.target._replace(after=None)), n) for t, n in counted
    ]
    bare = Counter[Triple]()
    for t, n in chosen:
        bare[t] += n
    plain_triples = Triples(bare.items())
    for name, fit in plain_triples.fit_by_type(label, book).items():
        expected = total = 0
        for t, n in plain_triples:
            touched = [
                e for e in (t.source, t.target) if e.movable and e.type is not None and e.type.strip().lower() == label
            ]
            if not touched or not t.live:
                continue
            total += n
            moved = Triples([(t, n)]).after({label: name})
            expected += n * all(book.state(m).conforms for m, _ in moved)
        assert fit == (expected, total)


@given(triples, vocabularies)
def test_every_edge_is_in_one_state_and_one_cell(counted: Triples, vocabulary: Vocabulary) -> None:
    book = Rulebook(Signatures(vocabulary))
    counts = counted.counts(book)
    assert sum(counts.get(s) for s in EdgeState) == counts.edges == counted.edges
    assert sum(c.count for c in counted.matrix(book)) == counted.edges
    assert counts.dangling == counts.archived + counts.missing >= counts.half_live
