"""The shipped manifests hold the seed's facts and pass the engine's own checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ct_tui.domain.errors import PolicyError
from ct_tui.domain.manifest import SEED_TYPES, EdgeType, Vocabulary, read_vocabulary
from ct_tui.domain.names import label_key
from ct_tui.policy.shipped import SEED_MANIFESTS, shipped_manifest_json, shipped_vocabulary

ROOT = Path(__file__).parents[2]

NINE = ("person", "organization", "place", "event", "project", "action", "creativework", "review", "product")

WRITTEN = ("design_spec", "handoff", "procedure", "session_recap", "reference_doc")

SIGNATURES = {
    ("knows", "person", "person"),
    ("spouse", "person", "person"),
    ("parent", "person", "person"),
    ("worksFor", "person", "organization"),
    ("memberOf", "person", "organization"),
    ("homeLocation", "person", "place"),
    ("workLocation", "person", "place"),
    ("location", "event", "place"),
    ("location", "organization", "place"),
    ("containedInPlace", "place", "place"),
    ("subOrganization", "project", "project"),
    ("object", "action", "project"),
    ("agent", "action", "person"),
    ("attendee", "event", "person"),
    ("organizer", "event", "person"),
    ("organizer", "event", "organization"),
    ("author", "creativework", "person"),
    ("publisher", "creativework", "organization"),
    ("about", "creativework", "person"),
    ("about", "creativework", "organization"),
    ("about", "creativework", "place"),
    ("about", "creativework", "event"),
    ("itemReviewed", "review", "creativework"),
    ("itemReviewed", "review", "organization"),
    ("itemReviewed", "review", "place"),
    ("itemReviewed", "review", "event"),
    ("itemReviewed", "review", "product"),
    ("owns", "person", "product"),
    ("dependsOn", "software_application", "service"),
    ("specifies", "design_spec", "software_application"),
    ("specifies", "design_spec", "service"),
    ("documents", "procedure", "software_application"),
    ("documents", "procedure", "service"),
    ("handoffFor", "handoff", "software_application"),
    ("handoffFor", "handoff", "service"),
    ("supersedes", "creativework", "creativework"),
    ("hasRole", "person", "role"),
    ("operates", "role", "software_application"),
    ("provides", "organization", "service"),
    ("maintains", "person", "software_application"),
}


def signature(edge: EdgeType) -> tuple[str, str | None, str | None]:
    return edge.name, edge.source_type, edge.target_type


def test_software_org_declares_the_seed() -> None:
    found = shipped_vocabulary("schema-software-org")
    assert found.names == (*NINE, "software_application", "service", "role", *WRITTEN)
    assert set(found.names) == set(SEED_TYPES)
    assert {n.name: n.parent_type for n in found.node_types if n.parent_type} == dict.fromkeys(WRITTEN, "creativework")
    assert len(found.edge_types) == 40
    assert {signature(e) for e in found.edge_types} == SIGNATURES


def test_schema_org_declares_nine_types_and_the_edges_among_them() -> None:
    found = shipped_vocabulary("schema-org")
    assert found.names == NINE
    assert all(node.parent_type is None for node in found.node_types)
    among = {s for s in SIGNATURES if s[1] in NINE and s[2] in NINE}
    assert len(among) == 29
    assert len(found.edge_types) == 29
    assert {signature(e) for e in found.edge_types} == among


def test_schema_org_describes_its_edges_as_software_org_does() -> None:
    wide = {signature(e): e.description for e in shipped_vocabulary("schema-software-org").edge_types}
    for edge in shipped_vocabulary("schema-org").edge_types:
        assert edge.description == wide[signature(edge)]


def engine_faults(found: Vocabulary) -> list[str]:
    """What the wiki engine's validation would refuse about a manifest."""
    keys = [label_key(n.name) for n in found.node_types]
    parents = {label_key(n.name): n.parent_type and label_key(n.parent_type) for n in found.node_types}
    faults = [f"twice: {k}" for k in keys if keys.count(k) > 1]
    faults += [f"parent of {k}" for k, p in parents.items() if p and (p not in keys or p == k or parents[p])]
    faults += [f"ends of {e.name}" for e in found.edge_types if {e.source_type, e.target_type} - set(keys)]
    triples = [(label_key(e.name), e.source_type, e.target_type) for e in found.edge_types]
    faults += [f"twice: {t}" for t in triples if triples.count(t) > 1]
    spellings = {label_key(e.name): e.name for e in found.edge_types}
    return faults + [f"casing of {e.name}" for e in found.edge_types if spellings[label_key(e.name)] != e.name]


@pytest.mark.parametrize("name", SEED_MANIFESTS)
def test_the_engine_would_accept_it(name: str) -> None:
    assert engine_faults(shipped_vocabulary(name)) == []


@pytest.mark.parametrize("name", SEED_MANIFESTS)
def test_everything_is_described_once(name: str) -> None:
    found = shipped_vocabulary(name)
    nodes = [n.description for n in found.node_types]
    edges = [e.description for e in found.edge_types]
    assert all(len(text) > 60 for text in nodes)
    assert all(len(text) > 15 for text in edges)
    assert len(set(nodes)) == len(nodes)
    assert len(set(edges)) == len(edges)


@pytest.mark.parametrize("name", SEED_MANIFESTS)
def test_the_json_form_is_what_a_brain_keeps(name: str) -> None:
    text = shipped_manifest_json(name)
    assert "\n" not in text
    assert list(json.loads(text)) == ["node_types", "edge_types"]
    assert read_vocabulary(json.loads(text)) == shipped_vocabulary(name)


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(PolicyError) as caught:
        shipped_vocabulary("../aliases/founding")
    assert "schema-software-org and schema-org" in caught.value.remedy


def test_comments_explain_the_files() -> None:
    for name in SEED_MANIFESTS:
        lines = (ROOT / "ontology" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith(f"# {name}: ")
