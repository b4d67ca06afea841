"""The planner: what heal would write, row by row, from one situation and one survey.

A plan carries no authority: `still_allowed` compares it with a fresh one and names every row that moved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ct_tui.brain import own, readers
from ct_tui.domain.census import Disposition, display
from ct_tui.domain.changes import ChangeList
from ct_tui.domain.errors import BadInput, StalePlan
from ct_tui.domain.plan import ChangeKind, EdgeEffect, ManifestChange, Plan, TypeChange, gives_back
from ct_tui.domain.redirects import Redirects
from ct_tui.heal.situation import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.ensure import EnsurePlan
    from ct_tui.domain.history import RunRow
    from ct_tui.domain.plan import RedirectChange
    from ct_tui.heal.situation import Situation
    from ct_tui.heal.survey import Survey

T = TypeVar("T")


def make_plan(situation: Situation, found: Survey) -> Plan:
    """The plan of one heal run; it writes nothing and holds no connection."""
    modes = {key: row.mode for key, row in situation.state.manifests.rows.items()}
    manifests = tuple(_manifest_change(e, modes[e.entity_id]) for e in situation.ensures if e.writes)
    counts = found.counts
    return Plan(
        binding=situation.binding,
        changes=found.changes,
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


def make_undo_plan(db: Db, situation: Situation, run: int, merges: Sequence[RedirectChange] = ()) -> Plan:
    """The inverse of one run, from our history; rows that changed since are named and refused.

    `merges` are those of the run that are taken back as well: what they give back can bear its earlier type again.
    """
    written = readers.run_row(db, situation.schema, run)
    if written is None:
        raise BadInput(f"there is no run {run}", "list the runs with: ct-tui runs")
    rows = own.changes_of_run(db, run) if situation.schema.has("ct_tui_type_change") else []
    wrote: dict[str, tuple[str, str, int | None]] = {}
    for entity, old, new, ruling in rows:
        # A run that was stopped and went on may have met a row twice: what stood there first comes back.
        wrote[entity] = (wrote[entity][0] if entity in wrote else old, new, ruling)
    present = _present(db, situation, list(wrote), _while_types_are_written(situation, merges))
    changes = ChangeList()
    moved: list[str] = []
    for entity, (old, new, ruling) in wrote.items():
        name, kind, problem = present.get(entity, ("", None, "no longer there"))
        if problem or kind != new:
            moved.append(f"changed since, left alone: {entity}: expected {new!r}, {problem or f'now {kind!r}'}")
        elif old != new:
            changes.append(TypeChange(entity, name, new, old, ChangeKind.UNDO, ruling, f"undo of run {run}"))
    return Plan(
        binding=situation.binding,
        changes=changes.whole(),
        merges=tuple(merges),
        undoes=run,
        notes=(*moved, *_still_declared(written)),
        made_at=situation.now,
    )


def _while_types_are_written(situation: Situation, merges: Sequence[RedirectChange]) -> Redirects:
    """The redirects as they are when an undo writes types: with its merges written, where those come first."""
    if not gives_back(merges):
        return situation.redirects
    after = dict(situation.state.redirects)
    for merge in merges:
        if merge.after is None:
            after.pop(merge.entity, None)
        else:
            after[merge.entity] = merge.after
    return Redirects(after)


def _still_declared(run: RunRow) -> tuple[str, ...]:
    """What an undo leaves: a type that was declared stays so, since other rows may bear it by now."""
    names = ", ".join(run.legalized)
    return (f"declared by run {run.id} and left so: {names}",) if names else ()


def still_allowed(plan: Plan, fresh: Plan, done: frozenset[str]) -> Plan:
    """The part of a saved plan that is still to be written; raises StalePlan with everything that moved.

    `fresh` is the plan as it would be made now, and gives every row that is written; `done` holds the entities that a
    stopped run of this very plan has written already.
    """
    moved = _moved_frame(plan, fresh)
    changes, gone = _both(plan.changes, fresh.changes, _key)
    moved += [
        f"{c.entity}: {c.from_type} → {c.to_type} is no longer what the rules say" for c in gone if c.entity not in done
    ]
    manifests, left = _both(plan.manifests, fresh.manifests, lambda m: (m.row, m.before, m.after))
    # A row that changed since is named above, or was written by a stopped run of this plan.
    old, new = plan.binding.manifests, fresh.binding.manifests
    unmoved = [m.row for m in left if old.get(m.row) == new.get(m.row)]
    moved += [f"manifest {row}: the change is no longer what the rules say" for row in unmoved]
    repairs, lost = _both(plan.edge_changes, fresh.edge_changes, lambda e: (e.edge, e.before, e.after, e.ruling))
    moved += [f"edge {e.edge}: the repair is no longer what the rules say" for e in lost if e.edge not in done]
    merges, apart = _both(plan.merges, fresh.merges, lambda m: (m.entity, m.before, m.after, m.ruling))
    moved += [f"{m.entity}: its merge is no longer what the rules say" for m in apart if m.entity not in done]
    if moved:
        raise StalePlan(
            f"the plan no longer fits the brain: {_first_words(moved)}",
            "make a new plan and look at it again",
            tuple(moved),
        )
    return replace(
        plan,
        binding=fresh.binding,
        changes=changes,
        manifests=tuple(manifests),
        edge_changes=tuple(repairs),
        merges=tuple(merges),
        _digest=[plan.digest],
    )


def _both(planned: Sequence[T], fresh: Sequence[T], key: Callable[[T], Hashable]) -> tuple[Sequence[T], list[T]]:
    """The rows of a plan that a fresh one has too, each once and as the fresh one has it, and the others."""
    if planned == fresh:
        return fresh, []
    allowed = {key(row): row for row in fresh}
    asked = {key(row): row for row in planned}
    return tuple(allowed[k] for k in asked if k in allowed), [row for k, row in asked.items() if k not in allowed]


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


def closed_by(db: Db, schema: Schema, plan: Plan) -> bool:
    """Whether a run of this very plan came to its end."""
    if not schema.has("ct_tui_run"):
        return False
    statement = "SELECT EXISTS (SELECT 1 FROM ct_tui_run WHERE plan_digest = ? AND status = 'done')"
    return bool(db.scalar(statement, (plan.digest,)))


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


def _manifest_change(ensure: EnsurePlan, mode: str) -> ManifestChange:
    rulings = tuple(sorted({r.seq for r, _ in (*ensure.types, *ensure.edges)}))
    return ManifestChange(
        ensure.entity_id,
        ensure.old_raw,
        ensure.new_raw,
        tuple(node.name for _, node in ensure.types),
        tuple(f"{e.name}: {e.source_type} → {e.target_type}" for _, e in ensure.edges),
        ensure.fallback,
        rulings,
        mode,
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
    rows = sorted({*old.manifests, *new.manifests})
    differ = [row for row in rows if old.manifests.get(row) != new.manifests.get(row)]
    moved += [f"the manifest {row} changed" for row in differ if not _written_by_us(plan, row, new.manifests.get(row))]
    return moved


def _written_by_us(plan: Plan, row: str, now: str | None) -> bool:
    """Whether a manifest differs only because a stopped run of this plan has written it."""
    ours = [m for m in plan.manifests if m.row == row]
    return any(
        fingerprint(m.mode, m.before) == plan.binding.manifests.get(row) and fingerprint(m.mode, m.after) == now
        for m in ours
    )


def _key(change: TypeChange) -> tuple[str, str, str, str, int | None]:
    return change.entity, change.from_type, change.to_type, change.kind.value, change.ruling


def _first_words(moved: list[str]) -> str:
    more = f", and {len(moved) - 1} more" if len(moved) > 1 else ""
    return moved[0] + more


def _present(
    db: Db, situation: Situation, ids: list[str], redirects: Redirects
) -> dict[str, tuple[str, str | None, str]]:
    """Name, type and why it may not be written, by id."""
    db.fill_ids(ids)
    rows = db.rows(
        "SELECT e.id, e.name, e.entity_type, e.deleted_at FROM curated_entities e JOIN temp.ct_tui_ids i ON e.id = i.id"
    )
    return {
        i: (
            display(name),
            kind if isinstance(kind, str) else None,
            _untouchable(situation, redirects, i, archived=gone is not None),
        )
        for i, name, kind, gone in rows
    }


def _untouchable(situation: Situation, redirects: Redirects, entity: str, *, archived: bool) -> str:
    """Why an entity is not written whatever its type is, or an empty text."""
    if archived:
        return "archived"
    if entity in redirects:
        return "merged away"
    by = redirects.opted_out_by(entity, situation.state.opt_outs)
    return "" if by is None else "opted out"
