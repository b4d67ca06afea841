"""The founding proposals are what a curator adopts, and the format's description agrees with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from ct_tui.domain.manifest import SEED_TYPES
from ct_tui.domain.rulings import VERSION, Alias, Kind, Legalize, Repair, State, parse_body
from ct_tui.policy.shipped import founding_text, shipped_vocabulary

DESCRIPTION = (Path(__file__).parents[2] / "aliases" / "README.md").read_text(encoding="utf-8")


def proposals() -> list[dict[str, Any]]:
    found = YAML(typ="safe").load(founding_text())
    assert isinstance(found, list)
    return found


def test_the_five_founding_rulings_in_order() -> None:
    bodies = [parse_body(p["kind"], p) for p in proposals()]
    assert bodies[:3] == [Alias("agent", "role"), Alias("component", "service"), Alias("software", "document")]
    legalized = [b for b in bodies[3:] if isinstance(b, Legalize)]
    assert [b.type for b in legalized] == ["document", "process"]
    assert all(b.manifests == ("seed-family",) and b.parent_type is None and not b.edges for b in legalized)
    assert len(bodies) == 5


def test_they_are_unsigned_and_each_says_why() -> None:
    for proposal in proposals():
        body = parse_body(proposal["kind"], proposal)
        assert set(proposal) == {"v", "kind", "reason", *body.fields()}
        assert proposal["v"] == VERSION
        assert len(proposal["reason"]) > 80
    reasons = [p["reason"] for p in proposals()]
    assert len(set(reasons)) == len(reasons)


def test_every_alias_leads_to_a_type_that_is_declared_once_all_are_adopted() -> None:
    bodies = [parse_body(p["kind"], p) for p in proposals()]
    declared = set(SEED_TYPES) | {b.type for b in bodies if isinstance(b, Legalize)}
    for body in bodies:
        if isinstance(body, Alias):
            assert body.to_type in declared
            assert body.from_type not in shipped_vocabulary("schema-software-org")


def test_type_names_are_quoted_in_the_file() -> None:
    values = re.findall(r"^ *(?:- )?(?:from|to|type|kind): *(.*)$", founding_text(), re.MULTILINE)
    assert len(values) == 5 + 3 * 2 + 2
    assert all(re.fullmatch('"[a-z-]+"', value) for value in values)


def test_the_description_names_every_kind_field_repair_and_state() -> None:
    for kind in Kind:
        assert f"| `{kind.value}` |" in DESCRIPTION
    for repair in Repair:
        assert f"`{repair.value}`" in DESCRIPTION
    for state in State:
        assert f"| {state.value} |" in DESCRIPTION
    for name in ("v", "seq", "kind", "reason", "ruled_by", "ruled_at", "supersedes", "prev", "signature"):
        assert f"| `{name}` |" in DESCRIPTION
