"""The plan: what heal would write, as streams from→to with the rows below, and the one key that writes the brain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.plan import EdgeChange, ManifestChange, RedirectChange, TypeChange
from ct_tui.tui.messages import EvidenceRead, Failed, PlanLaid
from ct_tui.tui.planpapers import plan_paper
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.screens.looking import Looking
from ct_tui.tui.text import NOTHING, blank, counted, data, number, say
from ct_tui.tui.widgets.frame import Heading
from ct_tui.tui.widgets.planrows import Left, Merged, PlanRows, Stream, lay_out, merged_key, near_place
from ct_tui.tui.widgets.rows import RowList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from ct_tui.domain.plan import Plan
    from ct_tui.tui.text import Line
    from ct_tui.tui.widgets.planrows import Laid
    from ct_tui.tui.widgets.rows import Row


class PlanScreen(Looking, ViewScreen):
    """What one run would write, and what it would leave alone; a run's inverse looks the same."""

    VIEW = "plan"

    def __init__(self, undo: int | None = None) -> None:
        super().__init__()
        self._undo = undo
        self._laid: Laid | None = None
        self._open: set[str] = set()
        self._age = -1
        self._evidence: EvidenceRead | None = None

    def compose_lists(self) -> ComposeResult:
        """The plan's rows."""
        yield Heading((say("Plan"),), id="plan-head")
        yield RowList(((say("Working out the plan…", "dim"),),), id="plan")

    @property
    def opened_as(self) -> str:
        """The plan; what a run's inverse shows is not what P opens."""
        return "" if self._undo is not None else self.VIEW

    # The moment

    @property
    def subject(self) -> str:
        """What is under the cursor; `empty` where the plan writes nothing, not even the stamp of a drifted policy."""
        if self._laid is not None and self._laid.plan.empty and not self._stamps:
            return "empty"
        return "entity" if self.entity_id else "change" if self.row is not None else ""

    @property
    def _stamps(self) -> bool:
        """Whether applying stamps the policy as it is now, which ends a drift although no row changes."""
        report = self.session.report
        return self._undo is None and report is not None and report.drift is not None

    @property
    def entity_id(self) -> str:
        """The entity of the change under the cursor."""
        thing = self.row.subject if self.row is not None else None
        return thing.entity if isinstance(thing, (TypeChange, RedirectChange)) else ""

    @property
    def drift_waits(self) -> bool:
        """Whether a policy drift has to be confirmed first; an undo needs no policy."""
        return self._undo is None and self.session.drift_waits

    @property
    def plan(self) -> Plan | None:
        """The plan shown."""
        return self._laid.plan if self._laid is not None else None

    # Showing

    def show_rows(self) -> None:
        """Make the plan anew where anything moved since."""
        if self.session.bench is not None and self._age != self.session.age:
            self._age = self.session.age
            bench, undo = self.session.bench, self._undo

            def make() -> PlanLaid:
                return PlanLaid(
                    lay_out(bench.plan(effect=True) if undo is None else bench.undo_plan(undo, effect=True))
                )

            self.station.survey("plan", "making the plan", make, self)

    def on_plan_laid(self, message: PlanLaid) -> None:
        """The plan is made: show it, the cursor where it was."""
        first = self._laid is None
        held = self.row
        self._laid = message.laid
        if first and message.laid.streams and len(message.laid.plan.changes) <= 12:
            self._open = {stream.key for stream in message.laid.streams}
        self._fill()
        self._hold_on_to(held)

    def _hold_on_to(self, held: Row | None) -> None:
        """Put the cursor on the change it was on: its place in the plan is another where rows came or went before."""
        if held is None or self._laid is None or not isinstance(held.subject, (TypeChange, RedirectChange)):
            return
        kind, _, place = held.key.partition(":")
        changes = self._laid.plan.changes if isinstance(held.subject, TypeChange) else self._laid.plan.merges
        found = near_place(changes, int(place), held.subject.entity)
        if found is not None and found != int(place):
            self.rows.move_to_key(f"{kind}:{found}")

    def on_failed(self, message: Failed) -> None:
        """The plan could not be made: say why in its place."""
        message.stop()
        self.rows.empty = (
            (say("✗ ", "bad"), data(message.error.message)),
            (say("→ ", "key"), data(message.error.remedy)),
        )
        self.rows.refresh()
        self.station.report(message.error)

    def _fill(self) -> None:
        if self._laid is None:
            return
        self.rows.empty = ((say("✓ Nothing to do: heal would change nothing.", "ok"),),)
        if self._undo is not None:
            self.rows.empty = (
                (say("✓ Nothing is left to undo of run ", "ok"), number(self._undo, "ok"), say(".", "ok")),
                (say("What its rulings say heal does again: P. R, then u revokes one.", "dim"),),
            )
        self.rows.show(PlanRows(self._laid, frozenset(self._open)))
        self._show_heading(self._laid.plan)
        self.show_keys()

    def _show_heading(self, plan: Plan) -> None:
        title: Line = (say("Plan"),) if self._undo is None else (say("Undo of run "), number(self._undo))
        note: Line = (counted(len(plan.changes), "change", ink="strong"),)
        if plan.legalized:
            note += (say(" · ", "faint"), counted(len(plan.legalized), "declaration", ink="strong"))
        elif plan.manifests:
            note += (say(" · ", "faint"), counted(len(plan.manifests), "manifest", ink="strong"))
        if plan.merges:
            note += (say(" · ", "faint"), counted(len(plan.merges), "redirect", ink="strong"))
        if plan.edges is not None:
            note += _edge_effect(plan)
        self.query_one("#plan-head", Heading).show(note, title)

    def describe(self) -> None:
        """Say of the row under the cursor what it does and by what authority."""
        row = self.row
        if row is None or self._laid is None:
            self.paper.show((), "")
            return
        thing = row.subject
        names: dict[type, Line] = {
            TypeChange: (say("Change"),),
            ManifestChange: (say("Manifest"),),
            Left: (say("Left alone"),),
            EdgeChange: (say("Edge"),),
            Stream: (say("Stream"),),
            Merged: (say("Merge"),),
            RedirectChange: (say("Redirect"),),
        }
        self.query_one("#detail-head", Heading).show(NOTHING, names[type(thing)])
        self.paper.show(tuple(plan_paper(thing, self._laid, self.session.table, self._known(row.key))), row.key)
        bench = self.session.bench
        if isinstance(thing, (TypeChange, RedirectChange)) and bench is not None and self._known(row.key) is None:
            key = row.key
            self.station.look(
                "detail", "reading an entity", lambda: EvidenceRead(key, (bench.entity(thing.entity),)), self
            )

    def _known(self, key: str) -> EvidenceRead | None:
        return self._evidence if self._evidence is not None and self._evidence.key == key else None

    def on_evidence_read(self, message: EvidenceRead) -> None:
        """The entity is read."""
        self._evidence = message
        if self.row is not None and self.row.key == message.key:
            self.describe()

    # Groups

    def do_move_open(self) -> None:
        """Open the stream under the cursor; on what has none go into the detail."""
        row = self.row
        if row is not None and row.opens and not row.is_open and not self.in_detail:
            self._open.add(row.key)
            self._fill()
        elif row is not None and row.opens and not self.in_detail:
            self.rows.move_by(1)
        else:
            self.set_focus(self.paper)

    def do_move_close(self) -> None:
        """Go back to the list, else to the stream, else close it."""
        row = self.row
        if self.in_detail:
            self.set_focus(self.rows)
        elif row is not None and isinstance(row.subject, TypeChange):
            change = row.subject
            self.rows.move_to_key(Stream(change.from_type, change.to_type, change.kind, ()).key)
        elif row is not None and isinstance(row.subject, RedirectChange):
            self.rows.move_to_key(merged_key(row.subject))
        elif row is not None and row.is_open:
            self._open.discard(row.key)
            self._fill()

    # Writing

    async def do_plan_apply(self) -> None:
        """Ask, then write."""
        from ct_tui.tui.dialogs.apply import ConfirmDialog

        if self._laid is None:
            self.tell(say("– The plan is still being worked out.", "warn"))
            return
        await self.station.ask(ConfirmDialog(self._laid.plan, self._confirmed))

    async def _confirmed(self, plan: Plan) -> None:
        from ct_tui.tui.dialogs.apply import ApplyDialog

        await self.station.ask(ApplyDialog(plan))


def _edge_effect(plan: Plan) -> Line:
    effect = plan.edges
    if effect is None:
        return NOTHING
    return (
        say(" · edges ", "faint"),
        say("+", "ok"),
        number(effect.gained, "ok"),
        blank(1),
        say("−", "bad"),
        number(effect.broken, "bad"),
    )
