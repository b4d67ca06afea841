"""The planner: what heal would write, row by row, from one situation and one survey; and plans as files.

A saved plan carries no authority: `still_allowed` derives the changes again and names every row that moved.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ct_tui.brain import own
from ct_tui.domain.census import Disposition, display
from ct_tui.domain.errors import BadInput, StalePlan
from ct_tui.domain.json_text import BadJson, parse_object
from ct_tui.domain.plan import (
    Binding,
    ChangeKind,
    EdgeChange,
    EdgeChangeKind,
    EdgeEffect,
    EdgeRow,
    ManifestChange,
    Plan,
    RedirectChange,
    TypeChange,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.ensure import EnsurePlan
    from ct_tui.heal.situation import Situation
    from ct_tui.heal.survey import Survey

FORMAT = "ct-tui plan 1"


def make_plan(situation: Situation, found: Survey) -> Plan:
    """The plan of one heal run; it writes nothing and holds no connection."""
    manifests = tuple(_manifest_change(e) for e in situation.ensures if e.writes)
    counts = found.counts
    return Plan(
        binding=situation.binding,
        changes=tuple(found.changes),
        manifests=manifests,
        queued=counts[Disposition.QUEUE],
        report_only=counts[Disposition.REPORT_ONLY],
        shielded=counts[Disposition.SHIELDED],
        kept=counts[Disposition.KEPT],
        held=counts[Disposition.HELD],
        unreadable=counts[Disposition.UNREADABLE],
        legalized=tuple(dict.fromkeys(t for m in manifests for t in m.added_types)),
        unusable_manifests=situation.unusable,
        notes=tuple(p for e in situation.ensures for p in e.problems),
        made_at=situation.now,
    )


def make_undo_plan(db: Db, situation: Situation, run: int) -> Plan:
    """The inverse of one run, from our history; rows that changed since are named and refused."""
    schema = situation.schema
    rows = own.changes_of_run(db, run) if schema.has("ct_tui_type_change") else []
    if not _run_exists(db, situation, run):
        raise BadInput(f"there is no run {run}", "list the runs with: ct-tui runs")
    present = _present_types(db, [entity for entity, *_ in rows])
    changes: list[TypeChange] = []
    moved: list[str] = []
    why = f"undo of run {run}"
    for entity, old, new, ruling in rows:
        name, kind, archived = present.get(entity, ("", None, False))
        if kind != new or archived:
            found = "no longer there" if kind is None else "archived" if archived else f"now {kind!r}"
            moved.append(f"{entity}: expected {new!r}, {found}")
            continue
        changes.append(TypeChange(entity, name, new, old, ChangeKind.UNDO, ruling, why))
    return Plan(
        binding=replace(situation.binding),
        changes=tuple(changes),
        undoes=run,
        notes=tuple(f"changed since, left alone: {m}" for m in moved),
        made_at=situation.now,
    )


def still_allowed(plan: Plan, fresh: Plan, done: frozenset[str]) -> Plan:
    """The part of a saved plan that is still to be written; raises StalePlan with everything that moved.

    `done` holds the entities that a stopped run of this very plan has written already.
    """
    moved = _moved_frame(plan, fresh)
    allowed = {_key(change): change for change in fresh.changes}
    rest = [c for c in plan.changes if _key(c) in allowed]
    moved += [
        f"{c.entity}: {c.from_type} → {c.to_type} is no longer what the rules say"
        for c in plan.changes
        if _key(c) not in allowed and c.entity not in done
    ]
    manifests = {m.row: m for m in fresh.manifests}
    pending = [m for m in plan.manifests if manifests.get(m.row) == m]
    moved += [
        f"manifest {m.row}: the change is no longer what the rules say"
        for m in plan.manifests
        if manifests.get(m.row) != m and plan.binding.manifests.get(m.row) == fresh.binding.manifests.get(m.row)
    ]
    edges = {e.edge: e for e in fresh.edge_changes}
    repairs = [e for e in plan.edge_changes if edges.get(e.edge) == e]
    moved += [
        f"edge {e.edge}: the repair is no longer what the rules say"
        for e in plan.edge_changes
        if edges.get(e.edge) != e and e.edge not in done
    ]
    asked = {(m.entity, m.before, m.after, m.ruling) for m in fresh.merges}
    merges = [m for m in plan.merges if (m.entity, m.before, m.after, m.ruling) in asked]
    moved += [
        f"{m.entity}: its merge is no longer what the rules say"
        for m in plan.merges
        if m not in merges and m.entity not in done
    ]
    if moved:
        raise StalePlan(
            f"the plan no longer fits the brain: {_first_words(moved)}",
            "make a new plan and look at it again",
            tuple(moved),
        )
    return replace(
        plan,
        changes=tuple(rest),
        manifests=tuple(pending),
        edge_changes=tuple(repairs),
        merges=tuple(merges),
        _digest=[plan.digest],
    )


def done_by(db: Db, schema: Schema, plan: Plan) -> frozenset[str]:
    """The entities, edges and merged-away ids that earlier runs of this very plan have written."""
    if not schema.has("ct_tui_run"):
        return frozenset()
    rows = db.rows(
        "SELECT t.entity_id FROM ct_tui_type_change t JOIN ct_tui_run r ON r.id = t.run WHERE r.plan_digest = ?",
        (plan.digest,),
    )
    if plan.edge_changes and schema.has("ct_tui_edge_change"):
        rows += db.rows(
            "SELECT t.edge FROM ct_tui_edge_change t JOIN ct_tui_run r ON r.id = t.run WHERE r.plan_digest = ?",
            (plan.digest,),
        )
    if plan.merges and schema.has("ct_tui_merge"):
        rows += db.rows(
            "SELECT m.loser FROM ct_tui_merge m JOIN ct_tui_run r ON r.id = m.run WHERE r.plan_digest = ?",
            (plan.digest,),
        )
    return frozenset(display(i) for (i,) in rows)


def save_plan(plan: Plan, file: Path) -> None:
    """Write a plan as JSON; raises BadInput where the file cannot be written."""
    document = {"format": FORMAT, "digest": plan.digest, "made_at": plan.made_at, **_as_document(plan)}
    try:
        file.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}") from error


def load_plan(file: Path) -> Plan:
    """Read a saved plan; raises BadInput where it is no plan or was changed by hand."""
    try:
        document = parse_object(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    except BadJson as error:
        raise BadInput(f"{file} is not a plan: {error}") from error
    if document.get("format") != FORMAT:
        raise BadInput(f"{file} is not a plan of this program", "make one with: ct-tui plan --out FILE")
    try:
        plan = _from_document(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{file} is not a whole plan: {error}", "make a new one with: ct-tui plan --out FILE") from error
    if plan.digest != document.get("digest"):
        raise BadInput(f"{file} was changed after it was made", "make a new one with: ct-tui plan --out FILE")
    return plan


def plan_as_json(plan: Plan) -> dict[str, Any]:
    """The document that `plan --json` prints."""
    effect = plan.edges or EdgeEffect()
    return {
        "digest": plan.digest,
        "changes": [c.as_json() for c in plan.changes],
        "legalized": list(plan.legalized),
        "queued": plan.queued,
        "report_only": plan.report_only,
        "shielded": plan.shielded,
        "kept": plan.kept,
        "held": plan.held,
        "unreadable": plan.unreadable,
        "edges": {**effect.as_json(), "changes": [e.as_json() for e in plan.edge_changes]},
        "merges": [m.as_json() for m in plan.merges],
        "manifests": [m.as_json() for m in plan.manifests],
        "unusable_manifests": list(plan.unusable_manifests),
        "undoes": plan.undoes,
        "notes": list(plan.notes),
    }


def _manifest_change(ensure: EnsurePlan) -> ManifestChange:
    rulings = tuple(sorted({r.seq for r, _ in (*ensure.types, *ensure.edges)}))
    return ManifestChange(
        ensure.entity_id,
        ensure.old_raw,
        ensure.new_raw,
        tuple(node.name for _, node in ensure.types),
        tuple(f"{e.name}: {e.source_type} → {e.target_type}" for _, e in ensure.edges),
        ensure.fallback,
        rulings,
    )


def _moved_frame(plan: Plan, fresh: Plan) -> list[str]:
    """What the plan is bound to and is different now, in sentences."""
    old, new = plan.binding, fresh.binding
    moved: list[str] = []
    if old.brain != new.brain:
        moved.append(f"the plan was made on {old.brain}, not on {new.brain}")
    if old.schema_version != new.schema_version:
        moved.append(f"the schema version was {old.schema_version} and is {new.schema_version}")
    if old.policy != new.policy:
        moved.append("the ontology part of config.json changed")
    if (old.head_seq, old.head_hash) != (new.head_seq, new.head_hash):
        moved.append(f"the table of rulings ended at #{old.head_seq} and ends at #{new.head_seq}")
    ours = {m.row: m.after for m in plan.manifests}
    for row in sorted({*old.manifests, *new.manifests}):
        if old.manifests.get(row) != new.manifests.get(row) and not _written_by_us(row, ours, fresh):
            moved.append(f"the manifest {row} changed")
    return moved


def _written_by_us(row: str, ours: dict[str, str], fresh: Plan) -> bool:
    """Whether a manifest differs only because a stopped run of this plan has written it."""
    from ct_tui.heal.situation import fingerprint

    now = fresh.binding.manifests.get(row)
    return row in ours and now in {fingerprint(mode, ours[row]) for mode in ("strict", "emergent", "off")}


def _key(change: TypeChange) -> tuple[str, str, str, str, int | None]:
    return change.entity, change.from_type, change.to_type, change.kind.value, change.ruling


def _first_words(moved: list[str]) -> str:
    more = f", and {len(moved) - 1} more" if len(moved) > 1 else ""
    return moved[0] + more


def _run_exists(db: Db, situation: Situation, run: int) -> bool:
    if not situation.schema.has("ct_tui_run"):
        return False
    return bool(db.scalar("SELECT EXISTS (SELECT 1 FROM ct_tui_run WHERE id = ?)", (run,)))


def _present_types(db: Db, ids: list[str]) -> dict[str, tuple[str, str | None, bool]]:
    """Name, type and whether archived, by id."""
    db.fill_ids(ids)
    rows = db.rows(
        "SELECT e.id, e.name, e.entity_type, e.deleted_at FROM curated_entities e JOIN temp.ct_tui_ids i ON e.id = i.id"
    )
    return {
        i: (display(name), kind if isinstance(kind, str) else None, gone is not None) for i, name, kind, gone in rows
    }


def _as_document(plan: Plan) -> dict[str, Any]:
    return {
        "binding": {**asdict(plan.binding), "manifests": dict(plan.binding.manifests)},
        "changes": [c.as_json() for c in plan.changes],
        "manifests": [asdict(m) for m in plan.manifests],
        "edge_changes": [e.as_json() for e in plan.edge_changes],
        "merges": [m.as_json() for m in plan.merges],
        "counts": {
            "queued": plan.queued,
            "report_only": plan.report_only,
            "shielded": plan.shielded,
            "kept": plan.kept,
            "held": plan.held,
            "unreadable": plan.unreadable,
        },
        "legalized": list(plan.legalized),
        "unusable_manifests": list(plan.unusable_manifests),
        "edges": asdict(plan.edges) if plan.edges else None,
        "undoes": plan.undoes,
        "notes": list(plan.notes),
    }


def _from_document(document: dict[str, Any]) -> Plan:
    return Plan(
        binding=Binding(**document["binding"]),
        changes=tuple(_change(c) for c in document["changes"]),
        manifests=tuple(_manifest(m) for m in document["manifests"]),
        edge_changes=tuple(_edge_change(e) for e in document["edge_changes"]),
        merges=tuple(RedirectChange(**m) for m in document.get("merges", ())),
        queued=int(document["counts"]["queued"]),
        report_only=int(document["counts"]["report_only"]),
        shielded=int(document["counts"]["shielded"]),
        kept=int(document["counts"]["kept"]),
        held=int(document["counts"]["held"]),
        unreadable=int(document["counts"]["unreadable"]),
        legalized=tuple(document["legalized"]),
        unusable_manifests=tuple(document["unusable_manifests"]),
        edges=EdgeEffect(**document["edges"]) if document["edges"] else None,
        undoes=document["undoes"],
        notes=tuple(document["notes"]),
        made_at=int(document["made_at"]),
    )


def _change(row: dict[str, Any]) -> TypeChange:
    return TypeChange(
        row["entity"], row["name"], row["from"], row["to"], ChangeKind(row["kind"]), row["ruling"], row["why"]
    )


def _manifest(row: dict[str, Any]) -> ManifestChange:
    return ManifestChange(
        row["row"],
        row["before"],
        row["after"],
        tuple(row["added_types"]),
        tuple(row["added_edges"]),
        row["fallback"],
        tuple(row["rulings"]),
    )


def _edge_change(row: dict[str, Any]) -> EdgeChange:
    before, after = (EdgeRow(**row[k]) if row[k] else None for k in ("before", "after"))
    return EdgeChange(row["edge"], EdgeChangeKind(row["kind"]), before, after, row["ruling"], row["why"])
