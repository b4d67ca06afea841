"""What a ruling must satisfy before anybody signs it, and what it would do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.domain.apart import APART, kept_apart
from ct_tui.domain.census import display
from ct_tui.domain.errors import BadInput
from ct_tui.domain.lint.registry import BY_ID
from ct_tui.domain.names import is_blank, label_key
from ct_tui.domain.queue import Impact, ItemKind
from ct_tui.domain.rulings import SEED_FAMILY, Alias, EdgeRepair, Except, Keep, Legalize, Merge, Retype, Revoke
from ct_tui.heal.edge_queue import check_repair
from ct_tui.heal.shields import shields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.domain.manifest import EdgeType, Vocabulary
    from ct_tui.domain.queue import QueueItem
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.situation import Situation
    from ct_tui.heal.survey import Survey


def check_rulings(
    db: Db,
    situation: Situation,
    bodies: Sequence[Body],
    supersedes: int | None = None,
    promised: Sequence[Body] = (),
) -> None:
    """Raise BadInput where one could not act or contradicts one in force; what one declares, the others may use.

    They may also use what `promised` would declare: rulings proposed together may be signed one after the other.
    """
    declared = situation.vocabulary
    nodes = [b.node for b in (*bodies, *promised) if isinstance(b, Legalize) and b.type not in declared]
    together = replace(declared, node_types=(*declared.node_types, *nodes))
    for body in bodies:
        _check(db, situation, together, body, supersedes)


def _check(db: Db, situation: Situation, vocabulary: Vocabulary, body: Body, supersedes: int | None) -> None:
    if supersedes is not None:
        _check_seq(situation, supersedes, "supersede")
    if isinstance(body, Alias):
        _check_alias(situation.vocabulary, vocabulary, body)
    elif isinstance(body, Legalize):
        _check_legalize(situation, vocabulary, body)
    elif isinstance(body, Retype):
        _check_retype(db, situation, vocabulary, body)
    elif isinstance(body, Keep):
        _check_keep(db, situation, body)
    elif isinstance(body, Revoke):
        _check_seq(situation, body.revokes, "revoke")
    elif isinstance(body, Merge):
        _check_merge(db, situation, body)
    elif isinstance(body, EdgeRepair):
        check_repair(db, situation, vocabulary, body)
    elif isinstance(body, Except):
        _check_exception(db, situation, body)
    _check_contradiction(situation, body, supersedes)


def retypes_of(db: Db, situation: Situation, to: str, entities: Sequence[str]) -> tuple[Retype, ...]:
    """One retype body for each present type of the entities; raises BadInput for an unknown id."""
    rows = _check_entities(db, situation, entities)
    by_type: dict[str, list[str]] = {}
    for entity, kind in rows.items():
        by_type.setdefault(kind, []).append(entity)
    spelled = situation.vocabulary.canonical(to) or to
    return tuple(Retype(tuple(ids), kind, spelled) for kind, ids in by_type.items())


def settlement(db: Db, situation: Situation, found: Survey, item: QueueItem, target: str) -> tuple[Body, ...]:
    """The rulings that answer a question with a declared type; raises BadInput where a type is no answer to it.

    A group of one name is answered by the id of the member that stays. A label that nobody declared becomes an alias.
    A degraded label needs the entities that it degraded besides, found through the ledger, since an alias speaks of a
    label that they no longer bear.
    """
    if item.kind is ItemKind.DUPLICATE:
        return (_merge_into(item, target),)
    alias = situation.acting.alias_for(item.label)
    known = alias is not None and label_key(alias.to_type) == label_key(target)
    spelled = situation.vocabulary.canonical(target) or target
    ruled = () if known else (Alias(item.label, spelled),)
    if item.kind in {ItemKind.UNDECLARED, ItemKind.PROPOSAL}:
        label = item.data.get("type") if item.kind is ItemKind.PROPOSAL else item.label
        if not isinstance(label, str) or is_blank(label):
            raise BadInput("the proposal names no type, so no alias can answer it")
        return (Alias(label, spelled),)
    if item.kind in {ItemKind.DEGRADED, ItemKind.GATE_SKIPPED, ItemKind.UNLABELED, ItemKind.BLANK}:
        group = found.groups.get((item.kind.slug, item.key))
        ids = list(group.ids) if group is not None else list(item.entities)
        if item.count > len(ids):
            raise BadInput(
                f"{item.count} entities are too many to name in one ruling, which holds {len(ids)}",
                "rule on the first of them, heal, and rule again",
            )
        retypes = tuple(r for r in retypes_of(db, situation, spelled, ids) if r.from_type != spelled)
        return (*ruled, *retypes) if item.kind is ItemKind.DEGRADED else retypes
    raise BadInput(
        f"a declared type is no answer to: {item.kind.value}", "the rulings that there are: ct-tui rule --help"
    )


def _merge_into(item: QueueItem, survivor: str) -> Merge:
    """The ruling that lets one member of a group stay."""
    if item.count > len(item.entities):
        raise BadInput(
            f"{item.count} entities are too many to name in one ruling", "merge them with: ct-tui rule merge"
        )
    if survivor not in item.entities:
        raise BadInput(
            f"{survivor!r} is no member of this group",
            f"answer with the id of the one that stays: {', '.join(item.entities[:10])}",
        )
    return Merge(survivor, tuple(one for one in item.entities if one != survivor))


def impact_of(situation: Situation, found: Survey, body: Body) -> Impact:
    """What a ruling would do to entities; the edges are added by who can count them."""
    if isinstance(body, Alias):
        return _label_impact(situation, found, body.from_type, moving=True)
    if isinstance(body, Legalize):
        return _label_impact(situation, found, body.type, moving=False)
    if isinstance(body, Retype):
        return Impact(len(body.entities), sample=body.entities[:5])
    if isinstance(body, Keep):
        return Impact(0, notes=("leaves the queue, stays in the census",))
    if isinstance(body, Except):
        return Impact(0, notes=_exception_notes(situation, body))
    if isinstance(body, Revoke):
        return Impact(0, notes=("stops acting from here on; what it did stays until undone",))
    return Impact(0)


def _exception_notes(situation: Situation, body: Except) -> tuple[str, ...]:
    """What an exception does: nothing to a row, only to what is asked of a human."""
    until = "for good" if body.until is None else f"until {body.until}"
    untrusted = ("nothing ruled acts until the table of rulings is mended",) if situation.table.distrust else ()
    if body.rule == APART:
        return (f"they are kept apart {until}: no heal and no merge joins them", *untrusted)
    what = "it counts" if len(body.focus) == 1 else f"{len(body.focus):,} findings count"
    return (f"{what} as excepted {until}; no row is written", *untrusted)


def _label_impact(situation: Situation, found: Survey, label: str, *, moving: bool) -> Impact:
    key = label_key(label)
    waiting = found.groups.get(("type", key))
    shielded = found.groups.get(("shielded", key))
    degraded = found.groups.get(("degraded", key))
    count = waiting.count if waiting else 0
    notes: list[str] = []
    if not moving and count:
        notes.append(f"{count} entities become declared as they are")
    if degraded is not None:
        notes.append(f"{degraded.count} entities that the gate degraded from {label} can be retyped too")
    if situation.table.distrust:
        notes.append("nothing ruled acts until the table of rulings is mended")
    return Impact(
        count if moving else 0,
        shielded.count if shielded else 0,
        tuple(waiting.ids[:5]) if waiting else (),
        notes=tuple(notes),
    )


def _check_alias(now: Vocabulary, vocabulary: Vocabulary, body: Alias) -> None:
    if is_blank(body.from_type) or is_blank(body.to_type):
        raise BadInput("an alias needs two type names, neither of them blank")
    if body.from_type in now or body.from_type in vocabulary:
        raise BadInput(
            f"{body.from_type!r} is already declared, and a declared type comes before an alias",
            "retype single entities instead",
        )
    _check_declared(vocabulary, body.to_type)


def _check_legalize(situation: Situation, vocabulary: Vocabulary, body: Legalize) -> None:
    if is_blank(body.type):
        raise BadInput("a type needs a name that is not blank")
    if is_blank(body.description):
        raise BadInput("a legalised type needs a description", "say what such an entity is, in one sentence")
    rows = situation.manifests.rows
    named = [r for key, r in rows.items() if key in body.manifests]
    if SEED_FAMILY in body.manifests:
        named += [r for r in rows.values() if r.vocabulary is not None and r.vocabulary.is_seed_family]
    for key in body.manifests:
        if key != SEED_FAMILY and key not in rows:
            raise BadInput(f"there is no manifest row {key!r}", f"rows: {', '.join(rows) or 'none'}")
    if not named:
        raise BadInput("no manifest row declares all 17 seed types", "name the rows with --manifest")
    vocabularies = [r.vocabulary for r in named if r.vocabulary is not None]
    if vocabularies and all(body.type in v for v in vocabularies):
        raise BadInput(f"{body.type!r} is already declared")
    if body.parent_type is not None:
        _check_parent(vocabulary, body)
    for edge in body.edges:
        _check_joins((vocabulary, *vocabularies), body, edge)


def _check_joins(vocabularies: Sequence[Vocabulary], body: Legalize, edge: EdgeType) -> None:
    """A signature that a type joins has the type at an end, and a type that some manifest declares at the other."""
    said = f"{edge.name} from {edge.source_type!r} to {edge.target_type!r}"
    ends = (edge.source_type or "", edge.target_type or "")
    if label_key(body.type) not in map(label_key, ends):
        raise BadInput(
            f"{said} does not join {body.type!r}", "widen the ontology by it instead: ct-tui rule edge widen"
        )
    for label in ends:
        if label_key(label) != label_key(body.type) and not any(label in v for v in vocabularies):
            raise BadInput(f"{said} cannot be declared: {label!r} is not declared", "legalise it first")


def _check_parent(vocabulary: Vocabulary, body: Legalize) -> None:
    parent = body.parent_type or ""
    if label_key(parent) == label_key(body.type):
        raise BadInput(f"{body.type!r} cannot be its own parent")
    _check_declared(vocabulary, parent)
    if vocabulary.parent_of(parent) is not None:
        raise BadInput(f"{parent!r} has a parent itself, and the engine allows one level")


def _check_retype(db: Db, situation: Situation, vocabulary: Vocabulary, body: Retype) -> None:
    _check_declared(vocabulary, body.to_type)
    rows = _check_entities(db, situation, body.entities)
    for entity, kind in rows.items():
        if label_key(kind) != label_key(body.from_type):
            raise BadInput(f"{entity} is {kind!r}, not {body.from_type!r}")
        if kind == vocabulary.canonical(body.to_type):
            raise BadInput(f"{entity} is {kind!r} already")
    for entity, why in shields(db, situation, body.entities).items():
        raise BadInput(f"{entity} is shielded: {why}", "lift the opt-out or the folder rule first")


def _check_keep(db: Db, situation: Situation, body: Keep) -> None:
    if body.until is not None and body.until < situation.today:
        raise BadInput(f"{body.until} is over already", "give a day from today on")
    if body.entities:
        _check_entities(db, situation, body.entities)
        return
    label = body.type or ""
    counts = readers.type_counts(db, situation.schema)
    known = any(isinstance(raw, str) and label_key(raw) == label_key(label) for raw, _ in counts)
    originals = (o.original_type for o in situation.state.origins.values())
    known = known or any(o is not None and label_key(o) == label_key(label) for o in originals)
    proposed = (p.type for p in readers.pending_proposals(db, situation.schema))
    known = known or any(p is not None and label_key(p) == label_key(label) for p in proposed)
    if not known:
        raise BadInput(f"nothing in this brain bears the type {label!r}", "see the types with: ct-tui census")
    if label in situation.vocabulary:
        raise BadInput(f"{label!r} is already declared, so there is nothing to keep")


def _check_seq(situation: Situation, seq: int, verb: str) -> None:
    entry = situation.table.get(seq)
    if entry is None:
        raise BadInput(f"there is no ruling #{seq} to {verb}", "list them with: ct-tui rule list")
    if entry.valid and situation.table.trusted and all(r.seq != seq for r in situation.table.valid()):
        raise BadInput(f"ruling #{seq} was revoked or superseded already")


def _check_contradiction(situation: Situation, body: Body, supersedes: int | None) -> None:
    subject = body.subject
    if not subject:
        return
    for ruling in situation.table.valid():
        if ruling.body.subject == subject and ruling.seq != supersedes:
            raise BadInput(
                f"ruling #{ruling.seq} already decides this label: {ruling.body}",
                f"replace it with --supersedes {ruling.seq}, or revoke it first",
            )


def _check_merge(db: Db, situation: Situation, body: Merge) -> None:
    if body.survivor in body.losers:
        raise BadInput(f"{body.survivor} cannot be merged into itself")
    _check_entities(db, situation, (body.survivor, *body.losers))
    pair = kept_apart(situation.acting, situation.today).pair_within((body.survivor, *body.losers))
    if pair is not None:
        raise BadInput(f"{' and '.join(sorted(pair))} are ruled to be different things", "revoke that ruling first")


def _check_exception(db: Db, situation: Situation, body: Except) -> None:
    if body.rule == APART:
        if len(set(body.focus)) < 2:
            raise BadInput("keeping things apart takes at least two entities")
        _check_entities(db, situation, body.focus)
    elif body.rule not in BY_ID or body.rule == "rule-failed":
        raise BadInput(f"{body.rule!r} is no rule that can be excepted", f"rules: {', '.join(BY_ID)}")
    _check_until(situation, body)


def _check_until(situation: Situation, body: Except) -> None:
    if body.until is not None and body.until < situation.today:
        raise BadInput(f"{body.until} is over already", "give a day from today on")


def _check_declared(vocabulary: Vocabulary, label: str) -> None:
    if label in vocabulary:
        return
    from rapidfuzz import fuzz, process

    near = process.extract(label_key(label), list(vocabulary.names), scorer=fuzz.ratio, limit=3, score_cutoff=75)
    hint = f"did you mean {', '.join(str(n[0]) for n in near)}?" if near else "see the types with: ct-tui ontology show"
    raise BadInput(f"{label!r} is not declared, so nothing can become one", hint)


def _check_entities(db: Db, situation: Situation, ids: Sequence[str]) -> dict[str, str]:
    """Present types of live entities by id; raises BadInput for one that is unknown or cannot be ruled on."""
    found: dict[str, str] = {}
    names = readers.live_by_ids(db, situation.schema, ids)
    rows = {display(r.id): r for r in names}
    for entity in ids:
        row = rows.get(entity)
        if row is None:
            raise BadInput(_absent(db, situation, entity), "ids are listed by: ct-tui census --ids --json")
        if not row.readable:
            raise BadInput(f"{entity} has an id, name or type that is not readable text, so it is never written")
        found[entity] = str(row.type)
    return found


def _absent(db: Db, situation: Situation, entity: str) -> str:
    survivor = situation.redirects.survivor(entity)
    if isinstance(survivor, str):
        return f"{entity} was merged into {survivor}"
    return (
        f"{entity} is archived"
        if readers.entity(db, situation.schema, entity) is not None
        else f"there is no entity {entity!r}"
    )
