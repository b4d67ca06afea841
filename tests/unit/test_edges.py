"""Judging and counting edges: the rules of endpoint conformance, one table at a time."""

from __future__ import annotations

import pytest

from ct_tui.domain.edges import EdgeCounts, EdgeState, End, Liveness, Rulebook, Signatures, Triple, Triples, known_type
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary, read_vocabulary
from ct_tui.domain.plan import EdgeEffect

NODES = (
    NodeType("person"),
    NodeType("organization"),
    NodeType("role"),
    NodeType("service"),
    NodeType("creativework"),
    NodeType("design_spec", parent_type="creativework"),
    NodeType("handoff", parent_type="creativework"),
    NodeType("draft", parent_type="design_spec"),
)
VOCABULARY = Vocabulary(
    NODES,
    (
        EdgeType("knows", "person", "person"),
        EdgeType("worksFor", "person", "organization"),
        EdgeType("hasRole", "person", "role"),
        EdgeType("author", "creativework", "person"),
        EdgeType("supersedes", "creativework", "creativework"),
        EdgeType("specifies", "design_spec", "service"),
        EdgeType("about", "creativework", "person"),
        EdgeType("about", "design_spec", "service"),
        EdgeType("mentions"),
        EdgeType("needs", "person", None),
    ),
    "person",
)
BOOK = Rulebook(Signatures(VOCABULARY))


def triple(source: str | None, edge_type: str, target: str | None) -> Triple:
    return Triple(edge_type, End(source), End(target))


@pytest.mark.parametrize(
    ("source", "edge_type", "target", "state"),
    [
        ("person", "knows", "person", EdgeState.EXACT),
        (" Person ", "KNOWS", "pERSON", EdgeState.EXACT),
        ("design_spec", "author", "person", EdgeState.PARENT),
        ("design_spec", "supersedes", "handoff", EdgeState.PARENT),
        ("creativework", "supersedes", "handoff", EdgeState.PARENT),
        ("handoff", "supersedes", "creativework", EdgeState.PARENT),
        ("creativework", "supersedes", "creativework", EdgeState.EXACT),
        # One hop and no more: a draft is a design_spec, and no creativework.
        ("draft", "specifies", "service", EdgeState.PARENT),
        ("draft", "author", "person", EdgeState.VIOLATING),
        # The parent does not satisfy a signature of its child.
        ("creativework", "specifies", "service", EdgeState.VIOLATING),
        ("person", "hasRole", "agent", EdgeState.VIOLATING),
        ("agent", "hasRole", "agent", EdgeState.VIOLATING),
        # Several definitions of one name: any of them will do.
        ("handoff", "about", "person", EdgeState.PARENT),
        ("design_spec", "about", "service", EdgeState.EXACT),
        ("handoff", "about", "service", EdgeState.VIOLATING),
        (None, "knows", "person", EdgeState.UNDETERMINED),
        ("person", "knows", None, EdgeState.UNDETERMINED),
        ("person", "related_to", "person", EdgeState.UNDECLARED),
        (None, "related_to", None, EdgeState.UNDECLARED),
        # Definitions without ends decide nothing; with one end they can still be contradicted by it.
        ("person", "mentions", "service", EdgeState.UNDETERMINED),
        ("person", "needs", "service", EdgeState.UNDETERMINED),
        ("service", "needs", "person", EdgeState.VIOLATING),
    ],
)
def test_judge(source: str | None, edge_type: str, target: str | None, state: EdgeState) -> None:
    assert BOOK.state(triple(source, edge_type, target)) is state


def test_names_are_compared_as_the_app_compares_them() -> None:
    signatures = Signatures(Vocabulary((NodeType("Straße"),), (EdgeType("Kennt", "Straße", "STRAẞE"),)))
    assert signatures.judge("kENNT\u00a0", "STRAßE", "straße") is EdgeState.EXACT
    assert signatures.judge("kennt", "strasse", "straße") is EdgeState.VIOLATING
    assert signatures.judge("kennt", "straße\x1f", "straße") is EdgeState.VIOLATING


def test_bare_string_and_broken_manifest_entries() -> None:
    vocabulary = read_vocabulary(
        {
            "node_types": ["person", {"type": "role"}, {"type": " "}, 3],
            "edge_types": ["knows", {"type": "hasRole", "source_type": "", "target_type": "role"}, {"type": ""}, None],
        }
    )
    signatures = Signatures(vocabulary)
    assert signatures.edge_names == ("knows", "hasRole")
    assert signatures.judge("Knows", "person", "role") is EdgeState.UNDETERMINED
    assert signatures.judge("hasRole", "person", "role") is EdgeState.UNDETERMINED
    assert signatures.judge("hasRole", "person", "person") is EdgeState.VIOLATING
    assert Signatures(Vocabulary()).judge("knows", "person", "person") is EdgeState.UNDECLARED


@pytest.mark.parametrize("raw", [None, "", "  ", b"\xff", "a\0b", 3])
def test_unreadable_types_are_unknown(raw: object) -> None:
    assert known_type(raw) is None  # type: ignore[arg-type]


def test_every_state_has_a_sign_and_a_word_of_its_own() -> None:
    assert len({s.sign for s in EdgeState}) == len({s.word for s in EdgeState}) == len(EdgeState)
    assert all(len(s.sign) == 1 for s in EdgeState)


def test_counts_by_state_with_what_is_not_live_and_what_is_spared() -> None:
    gone, missing = End(None, Liveness.ARCHIVED), End(None, Liveness.MISSING)
    spared = End("agent", shielded=True)
    counted = Triples(
        [
            (triple("person", "knows", "person"), 5),
            (triple("design_spec", "author", "person"), 2),
            (triple("person", "hasRole", "agent"), 7),
            (Triple("hasRole", End("person"), spared), 3),
            (triple("person", "related_to", "person"), 4),
            (triple(None, "knows", "person"), 1),
            (Triple("knows", End("person"), gone), 6),
            (Triple("related_to", missing, gone), 8),
            (Triple("knows", End("person"), missing), 9),
        ],
        loops=2,
    )
    assert counted.edges == 45
    assert counted.counts(BOOK) == EdgeCounts(
        edges=45,
        exact=5,
        parent=2,
        violating=10,
        undetermined=1,
        undeclared_type=4,
        dangling=23,
        half_live=15,
        archived=6,
        missing=17,
        shielded=3,
        shielded_violating=3,
        loops=2,
    )


def test_matrix_joins_what_reads_alike_and_keeps_spellings_apart() -> None:
    counted = Triples(
        [
            (triple("person", "knows", "person"), 5),
            (triple("Person", "knows", "person"), 1),
            (triple("person", "hasRole", "agent"), 7),
            (Triple("hasRole", End("person"), End("agent", shielded=True)), 3),
        ]
    )
    rows = [c.as_json() for c in counted.matrix(BOOK)]
    assert [(r["source_type"], r["edge_type"], r["target_type"], r["count"], r["state"]) for r in rows] == [
        ("person", "hasRole", "agent", 10, "violating"),
        ("Person", "knows", "person", 1, "exact"),
        ("person", "knows", "person", 5, "exact"),
    ]
    assert counted.matrix(BOOK)[0].shielded == 3


AGENTS = Triples(
    [
        (triple("person", "hasRole", "agent"), 7),
        (triple("agent", "knows", "person"), 3),
        (triple("agent", "knows", "agent"), 2),
        (triple("person", "knows", "person"), 11),
        (Triple("hasRole", End("person"), End("agent", shielded=True)), 1),
        (Triple("hasRole", End("person"), End("agent", entity=False)), 1),
        (Triple("hasRole", End("person"), End(None, Liveness.MISSING)), 1),
    ]
)


def test_what_if_a_type_moved_touches_only_what_a_ruling_reaches() -> None:
    assert AGENTS.effect(BOOK, moves={"agent": "role"}) == EdgeEffect(gained=7, broken=0, still_violating=7)
    assert AGENTS.effect(BOOK, moves={"agent": "person"}) == EdgeEffect(gained=5, broken=0, still_violating=9)
    assert AGENTS.effect(BOOK, moves={"person": "role"}) == EdgeEffect(gained=0, broken=11, still_violating=12)
    assert AGENTS.effect(BOOK) == EdgeEffect()


def test_after_gives_what_a_count_after_the_move_would_give() -> None:
    moved = AGENTS.after({"agent": "role"})
    assert moved.edges == AGENTS.edges
    counts = moved.counts(BOOK)
    assert (counts.exact, counts.violating, counts.dangling) == (18, 7, 1)


def test_single_entities_move_by_their_mark() -> None:
    counted = Triples(
        [
            (Triple("hasRole", End("person"), End("agent", after="role")), 4),
            (triple("person", "hasRole", "agent"), 3),
            (Triple("knows", End("agent", after="role"), End("agent", after="person")), 1),
        ]
    )
    assert counted.effect(BOOK) == EdgeEffect(gained=4, broken=0, still_violating=1)
    assert counted.after().counts(BOOK).exact == 4


def test_what_if_a_signature_or_a_parent_were_declared() -> None:
    counted = Triples(
        [
            (triple("document", "author", "person"), 5),
            (triple("document", "supersedes", "document"), 6),
            (triple("document", "links", "person"), 2),
            (triple("person", "knows", "person"), 9),
        ]
    )
    nodes = (*NODES, NodeType("document"))
    widened = Vocabulary(nodes, (*VOCABULARY.edge_types, EdgeType("author", "document", "person")))
    declared = Vocabulary(nodes, (*VOCABULARY.edge_types, EdgeType("links", "document", "person")))
    child = Vocabulary((*NODES, NodeType("document", parent_type="creativework")), VOCABULARY.edge_types)
    narrowed = Vocabulary(nodes, tuple(e for e in VOCABULARY.edge_types if e.name != "knows"))
    assert counted.effect(BOOK, after=Rulebook(Signatures(widened))) == EdgeEffect(gained=5)
    assert counted.effect(BOOK, after=Rulebook(Signatures(declared))) == EdgeEffect(gained=2)
    assert counted.effect(BOOK, after=Rulebook(Signatures(child))) == EdgeEffect(gained=11)
    assert counted.effect(BOOK, after=Rulebook(Signatures(narrowed))) == EdgeEffect(broken=9)


def test_fit_counts_the_edges_that_each_type_would_satisfy() -> None:
    fits = AGENTS.fit_by_type("Agent", BOOK)
    assert fits["role"] == (7, 12)
    assert fits["person"] == (5, 12)
    assert fits["service"] == (0, 12)
    works = Triples([(triple("thing", "author", "person"), 2), (triple("thing", "supersedes", "handoff"), 3)])
    assert works.fit_by_type("thing", BOOK)["design_spec"] == (5, 5)
    assert works.fit_by_type("thing", BOOK)["draft"] == (0, 5)


def test_fit_of_chosen_entities_ignores_what_type_they_have() -> None:
    counted = Triples(
        [
            (Triple("hasRole", End("person"), End("concept", after="?")), 4),
            (Triple("hasRole", End("person"), End("concept")), 9),
        ]
    )
    assert counted.fit_of_marked(BOOK)["role"] == (4, 4)


def test_an_own_manifest_row_judges_the_edges_of_its_entity() -> None:
    own = Signatures(Vocabulary(NODES, (EdgeType("knows", "agent", "person"),)))
    book = Rulebook(BOOK.main, {"ent_own": own})
    mine = End("agent", row="ent_own")
    assert book.state(Triple("knows", mine, End("person"))) is EdgeState.EXACT
    assert book.state(Triple("knows", End("agent"), End("person"))) is EdgeState.VIOLATING
    assert book.state(Triple("knows", End("agent"), End("person", row="ent_own"))) is EdgeState.EXACT
    assert book.state(Triple("knows", End("agent"), End("person", row="ent_other"))) is EdgeState.VIOLATING


def test_single_edges_can_be_taken_out_and_put_in() -> None:
    old, new = triple("person", "hasRole", "agent"), triple("agent", "hasRole", "person")
    changed = AGENTS.changed([old, old], [new])
    assert changed.edges == AGENTS.edges - 1
    assert dict(changed)[old] == 5
    assert dict(changed)[new] == 1
