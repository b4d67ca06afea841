"""What the policy view says of each part of the policy: what it is, what it decides, and whom it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.holds import EmptyNodeTypes, FallbackNotDeclared, NoFallback
from ct_tui.domain.ladder import Verdict
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.domain.policy import Mode
from ct_tui.domain.visible import cell_width, visible
from ct_tui.tui.papers import heading
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, moment, number, right, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ct_tui.domain.census import Drift
    from ct_tui.domain.holds import Hold
    from ct_tui.domain.ladder import Decision
    from ct_tui.domain.plan import Plan
    from ct_tui.domain.policy import Policy, Problem, Tie
    from ct_tui.heal.coverage import Coverage
    from ct_tui.heal.ontology_show import FolderView, ManifestView, OptOutView
    from ct_tui.heal.policy_desk import PolicySheet, Preview
    from ct_tui.tui.text import Line, Piece

    Lines = Iterator[Line]

VERDICTS = {
    Verdict.GATE: ("●", "ok", "gated"),
    Verdict.OFF: ("○", "dim", "off"),
    Verdict.OPT_OUT: ("◇", "dim", "opted out"),
    Verdict.HELD: ("‖", "warn", "held"),
}
"""Sign, ink and word of what the ladder decides."""

MEANING = {
    Verdict.GATE: "the vocabulary decides: a declared type is taken, any other is ruled on",
    Verdict.OFF: "no gate runs: labels are written as they come, and heal never retypes here",
    Verdict.OPT_OUT: "no gate runs for this entity, and heal never retypes it",
    Verdict.HELD: "nothing is minted or retyped here until it is mended",
}
GLYPHS = {Verdict.GATE: "─", Verdict.OFF: "░", Verdict.OPT_OUT: "▒", Verdict.HELD: "█"}


def verdict_words(verdict: Verdict) -> Line:
    """What the ladder decides, as a sign and a word."""
    sign, ink, word = VERDICTS[verdict]
    return (drawn(sign, ink), blank(1), drawn(word, ink))


def mode_words(mode: Mode | str | None) -> Line:
    """A mode as a sign and a word."""
    if mode == Mode.STRICT:
        return (say("● strict", "ok"),)
    if mode == Mode.OFF:
        return (say("○ off", "dim"),)
    if mode is None:
        return (say("– not set", "faint"),)
    return (say("○ ", "dim"), data(mode, "dim"))


def verdict_counts(coverage: Coverage) -> Line:
    """The live entities by what the ladder decides for them."""
    pieces: Line = NOTHING
    for verdict in (Verdict.GATE, Verdict.HELD, Verdict.OFF, Verdict.OPT_OUT):
        n = coverage.verdicts[verdict]
        sign, ink, word = VERDICTS[verdict]
        pieces += (
            drawn(sign, ink),
            blank(1),
            number(n, "strong" if n else "faint"),
            blank(1),
            drawn(word, "dim"),
            blank(3),
        )
    return pieces


def verdict_bar(coverage: Coverage, width: int) -> Line:
    """All live entities as one bar, each verdict in its own pattern."""
    present = [(v, coverage.verdicts[v]) for v in GLYPHS if coverage.verdicts[v]]
    total = coverage.live
    if not total or width < len(present):
        return NOTHING
    cells = {v: max(1, round(n * width / total)) for v, n in present}
    biggest = max(cells, key=lambda v: cells[v])
    cells[biggest] = max(1, cells[biggest] + width - sum(cells.values()))
    return tuple(drawn(GLYPHS[v] * size, VERDICTS[v][1]) for v, size in cells.items())


def policy_state(policy: Policy) -> Line:
    """Whether the config is whole, in a sign and words."""
    if policy.degraded:
        return (say("! config.json is degraded: what cannot be read holds", "bad"),)
    if policy.ties:
        return (say("≠ config.json is ambiguous: keys contradict each other", "bad"),)
    return (say("✓ config.json is whole", "ok"),)


def decision_lines(decision: Decision, *, mended: bool = False) -> Lines:
    """The ladder's way to its decision, rung by rung; `mended` says that heal takes the hold away."""
    yield heading("What the ladder decides", verdict_words(decision.verdict))
    steps = [(step.rung, step.why) for step in decision.trace]
    if decision.hold is not None:
        steps[-1] = (steps[-1][0], decision.hold.message)
    steps = list(dict.fromkeys(steps))
    for at, (rung, why) in enumerate(steps):
        knot = "╰─ " if at == len(steps) - 1 else "├─ "
        yield (blank(2), drawn(knot, "faint"), say("rung ", "dim"), data(rung, "dim"), blank(1), data(why))
    yield (blank(5), drawn(MEANING[decision.verdict], "dim"))
    if decision.hold is not None:
        yield from _remedy(decision.hold, mended=mended)
    yield NOTHING


def _remedy(hold: Hold, *, mended: bool) -> Lines:
    """What takes a hold away, by the keys of this view where it can be done here."""
    if mended:
        yield (say("     ✓ heal mends it: the plan (P) gives that manifest a fallback", "ok"),)
    if isinstance(hold, (NoFallback, FallbackNotDeclared)):
        yield (say("     → ", "key"), say("f on that manifest's row chooses a fallback"))
    elif not isinstance(hold, EmptyNodeTypes) or not mended:
        yield (say("     → ", "key"), data(hold.remedy))


def path_words(path: str, width: int) -> Piece:
    """A folder in at most `width` cells: where it does not fit, its last parts."""
    shown = visible(path)
    if cell_width(shown) <= width:
        return data(path, "type")
    kept: list[str] = []
    for part in reversed(shown.split("/")):
        if cell_width("/".join([part, *kept])) > width - 2:
            break
        kept.insert(0, part)
    return data("…/" + "/".join(kept) if kept else shown, "type", width)


def default_paper(sheet: PolicySheet) -> Lines:
    """The host default."""
    policy = sheet.view.policy
    yield (say("Host default", "title"), blank(2), say("ingest.ontology_default", "dim"))
    yield mode_words(policy.default)
    yield NOTHING
    yield (
        say("It decides for whatever no folder decides: sources outside all folders below, and entities without any."),
    )
    if policy.degraded.default_dropped:
        yield (say("! Its value in config.json cannot be read.", "bad"),)
    yield NOTHING
    coverage = sheet.coverage
    if policy.paths_matter:
        yield from _covers(coverage.uncovered, "with a source that no folder decides")
        yield from _covers(coverage.pathless, "without any source")
    else:
        # Sources are not looked up where they decide nothing, so nothing is said of how many have one.
        yield from _covers(coverage.uncovered + coverage.pathless, "that no folder decides: none has a mode")
    yield NOTHING
    yield from decision_lines(sheet.host, mended=TIER_FACT in sheet.mended)
    yield from keys_lines("s strict", "o off", "u take back")


def schema_paper(sheet: PolicySheet) -> Lines:
    """The schema that the app seeds a brain with."""
    policy = sheet.view.policy
    yield (say("Schema", "title"), blank(2), say("ontology.schema", "dim"))
    yield (data(policy.schema, "type") if policy.schema else say("– not set", "faint"),)
    yield NOTHING
    if policy.schema_unparseable:
        yield (say("! The ontology block of config.json cannot be read, so what it meant is unknown.", "bad"),)
    yield (say("The app seeds the manifests of a new brain from it. It is changed in the app."),)
    if policy.default is not None:
        yield (say("The host default is set, so the schema takes no part in what is decided.", "dim"),)
    elif policy.schema == "off":
        yield (say("It is off, and no default is set: whatever no folder decides is off.", "warn"),)
    yield NOTHING
    yield (say("watermark ", "dim"), data(policy.watermark, "faint"))


def folder_paper(folder: FolderView, sheet: PolicySheet, ties: Mapping[str, Tie]) -> Lines:
    """A folder of the vault."""
    yield (data(folder.key, "title"), blank(2), say("ingest.folder_ontology", "dim"))
    yield (*mode_words(folder.mode), say(" · ", "faint"), data(folder.effect))
    yield NOTHING
    tie = ties.get(folder.key)
    if tie is not None:
        yield (say("≠ ", "bad"), data(str(tie)))
        yield NOTHING
    yield from _covers(folder.entities or 0, "with a source that this key decides; l lists them")
    yield NOTHING
    if folder.key in sheet.folders:
        yield from decision_lines(sheet.folders[folder.key], mended=TIER_FACT in sheet.mended)
    yield from keys_lines("s strict", "o off", "u take back")


def manifest_paper(found: ManifestView, sheet: PolicySheet) -> Lines:
    """A manifest row."""
    row, vocabulary = found.row, found.row.vocabulary
    name = sheet.names.get(row.entity_id, "")
    yield (data(name or row.entity_id, "title"), blank(2), say("manifest row", "dim"))
    if name:
        yield (data(row.entity_id, "faint"),)
    usable: Line = (say("✓ usable", "ok"),) if found.usable else (say("✗ not usable", "bad"),)
    yield (*mode_words(row.mode), say(" · ", "faint"), *usable)
    if found.redirected:
        yield (say("≡ its entity was merged away, so the row decides nothing", "dim"),)
    if row.error:
        yield (say("! cannot be read: ", "bad"), data(row.error))
    yield NOTHING
    if vocabulary is not None:
        fallback: Line = (data(vocabulary.fallback, "type"),) if vocabulary.fallback else (say("none", "warn"),)
        yield (say("fallback  ", "dim"), *fallback)
    mended = row.entity_id in sheet.mended
    decision = sheet.rows.get(row.entity_id)
    if found.hold is not None and (decision is None or decision.hold is None):
        yield (say("‖ ", "warn"), data(found.hold.message))
        yield from _remedy(found.hold, mended=mended)
    yield NOTHING
    if decision is not None:
        yield from decision_lines(decision, mended=mended)
    if vocabulary is not None:
        yield (
            say("types     ", "dim"),
            number(len(vocabulary.names)),
            blank(2),
            data(", ".join(vocabulary.names), "type"),
        )
        yield (say("edges     ", "dim"), counted(len(vocabulary.edge_types), "signature"))
        yield NOTHING
    keys = ("f fallback",) if row.entity_id == TIER_FACT else ("f fallback", "s copy tier_fact anew", "o opt out")
    yield from keys_lines(*keys)


def opt_out_paper(found: OptOutView, sheet: PolicySheet) -> Lines:
    """An opt-out."""
    yield (data(found.name or found.entity, "title"), blank(2), data(found.entity, "faint"))
    yield (say("◇ opted out", "warn"), say(" since ", "dim"), moment(found.created_at, "dim"))
    yield NOTHING
    if found.covers is None:
        yield (say("! Its merge redirects run in a circle, so it covers nobody.", "bad"),)
    elif found.covers != found.entity:
        yield (say("≡ merged into ", "dim"), data(found.covers, "dim"), say(", which it covers", "dim"))
    if found.reason:
        yield (say("reason    ", "dim"), data(found.reason))
    yield NOTHING
    if found.entity in sheet.rows:
        yield from decision_lines(sheet.rows[found.entity], mended=TIER_FACT in sheet.mended)
    yield from keys_lines("u lift it", "s lift it and give a strict row of its own")


def problem_paper(found: Problem) -> Lines:
    """Something in config.json that cannot be read as it stands."""
    yield ((data(found.where, "title")),)
    yield (say("! ", "bad"), data(found.message))
    yield NOTHING
    yield (
        say("While config.json is degraded or ambiguous nothing is written by heal, and no setting is changed here."),
    )
    yield (say("→ ", "key"), say("mend the file in an editor; this view follows it."))


def drift_paper(drift: Drift, confirmed: bool) -> Lines:  # noqa: FBT001 - one fact of two values
    """Policy drift."""
    yield (say("Policy drift", "title"),)
    if confirmed:
        yield (say("✓ confirmed in this session: P, then a applies the plan and stamps the policy as it is now", "ok"),)
    else:
        yield (say("! config.json changed since the last heal", "warn"),)
    yield NOTHING
    yield (say("then  ", "dim"), data(drift.old_hash, "faint"))
    if drift.old_stamped_at:
        yield (say("      stamped ", "dim"), moment(drift.old_stamped_at / 1000, "dim"))
    yield (say("now   ", "dim"), data(drift.new_hash, "faint"))
    yield NOTHING
    yield (
        say("c", "key"),
        say(" confirms it: the change is meant. The plan may be applied, and applying it stamps this policy."),
    )
    yield (
        say("w", "key"),
        say(" waives it this once: the manifests are brought up to date, nothing is retyped, and it is asked again."),
    )


def keys_lines(*words: str) -> Lines:
    """The keys that change the part shown; each literal begins with its key."""
    yield heading("Keys")
    for word in words:
        key, _, what = word.partition(" ")
        yield (blank(2), drawn(key, "key"), blank(2), drawn(what))


def _covers(count: int, words: str) -> Lines:
    """How many entities, and which; the words are a literal."""
    yield (
        *right(number(count, "strong"), 8),
        blank(1),
        drawn("live entity " if count == 1 else "live entities "),
        drawn(words, "dim"),
    )


def preview_lines(found: Preview) -> Lines:
    """What a change would do, before it is confirmed."""
    for sentence in found.says:
        yield (say("▸ ", "key"), data(sentence))
    if found.covers is not None:
        yield (say("▸ ", "key"), say("it covers "), counted(found.covers, "live entity", "live entities", "strong"))
    yield NOTHING
    yield from _table(found)
    if found.drift is not None:
        yield (say("! This is policy drift: the next heal asks to confirm it (O, then c).", "warn"),)


def _table(found: Preview) -> Lines:
    before, after = found.before, found.after
    rows = [
        (
            VERDICTS[v][0],
            VERDICTS[v][1],
            f"entities {VERDICTS[v][2]}",
            before.coverage.verdicts[v],
            after.coverage.verdicts[v],
        )
        for v in VERDICTS
    ]
    rows += [
        ("→", "ok", "types that heal would change", before.retypes, after.retypes),
        ("?", "warn", "left in the queue", before.queued, after.queued),
        ("◇", "dim", "spared by heal", before.shielded, after.shielded),
    ]
    same = True
    for sign, ink, words, old, new in rows:
        if old != new:
            same = False
            yield (
                blank(2),
                drawn(sign, ink),
                blank(1),
                *right(number(old, "dim"), 7),
                say(" → ", "key"),
                *right(number(new, "strong"), 7),
                blank(2),
                drawn(words),
            )
    if same:
        yield (say("  The decision for every entity stays what it is.", "dim"),)


def plan_words(plan: Plan) -> Lines:
    """What a plan would write, in one line each."""
    for count, one, many in (
        (len(plan.changes), "entity gets another type", "entities get another type"),
        (len(plan.manifests), "manifest is brought up to date", "manifests are brought up to date"),
        (len(plan.edge_changes), "edge is repaired", "edges are repaired"),
        (len(plan.merges), "duplicate is redirected", "duplicates are redirected"),
    ):
        if count:
            yield (*right(number(count, "strong"), 8), blank(1), drawn(one if count == 1 else many))
