"""What lanes tell the screens: every result of work is one of these, and handlers alone change what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ct_tui.brain.watch import Change
    from ct_tui.domain.assertions import Lookup, Relation
    from ct_tui.domain.census import RawText
    from ct_tui.domain.duplicates import MergeReport
    from ct_tui.domain.errors import CtTuiError
    from ct_tui.domain.history import HistoryRow, Ledger, RunRow
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.plan import Progress, Receipt
    from ct_tui.domain.queue import EntityView, Impact, Queue, Quote
    from ct_tui.domain.rulings import Body, DeadAlias, Ruling, RulingTable
    from ct_tui.heal.assertions import AssertionResult
    from ct_tui.heal.bench_reading import RunWork
    from ct_tui.heal.duplicates import Comparison
    from ct_tui.heal.workbench import CensusReport, Workbench
    from ct_tui.tui.beside import Beside
    from ct_tui.tui.session import Signer
    from ct_tui.tui.signing import KeyChoice
    from ct_tui.tui.text import Line
    from ct_tui.tui.widgets.planrows import Laid


class Opened(Message):
    """The brain is open."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self.bench = bench


class NotOpened(Message):
    """The brain could not be opened."""

    def __init__(self, error: CtTuiError) -> None:
        super().__init__()
        self.error = error


class Failed(Message):
    """Work could not be done; `doing` says in a few words what it was."""

    def __init__(self, doing: str, error: CtTuiError) -> None:
        super().__init__()
        self.doing = doing
        self.error = error


class Noticed(Message):
    """What the watch saw."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change


class CensusRead(Message):
    """The census is known."""

    def __init__(self, report: CensusReport) -> None:
        super().__init__()
        self.report = report


class QueueRead(Message):
    """The open questions are known."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self.queue = queue


class LedgerRead(Message):
    """The newest changes and the runs are known."""

    def __init__(self, history: tuple[HistoryRow, ...], runs: tuple[RunRow, ...]) -> None:
        super().__init__()
        self.history = history
        self.runs = runs


class OlderRead(Message):
    """Changes older than those known are read; `before` is the row they follow."""

    def __init__(self, before: int, rows: tuple[HistoryRow, ...]) -> None:
        super().__init__()
        self.before = before
        self.rows = rows


class TableRead(Message):
    """The verified rulings are known, with the vocabulary they make; `me` is the name the user would sign under."""

    def __init__(self, table: RulingTable, dead: tuple[DeadAlias, ...], vocabulary: Vocabulary, me: str = "") -> None:
        super().__init__()
        self.me = me
        self.table = table
        self.dead = dead
        self.vocabulary = vocabulary


class PageRead(Message):
    """Some rows of a group are known."""

    def __init__(self, group: str, offset: int, rows: Sequence[EntityView], age: int) -> None:
        super().__init__()
        self.group = group
        self.offset = offset
        self.rows = rows
        self.age = age


class EvidenceRead(Message):
    """What stands behind the row under the cursor is known; `key` is that row's."""

    def __init__(self, key: str, entities: tuple[EntityView, ...], why: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.key = key
        self.entities = entities
        self.why = why


class LifeRead(Message):
    """An entity's ledger is known; `key` is the row's that asked."""

    def __init__(self, key: str, ledger: Ledger) -> None:
        super().__init__()
        self.key = key
        self.ledger = ledger


class Signed(Message):
    """Rulings stand in the table."""

    def __init__(self, rulings: tuple[Ruling, ...], signer: Signer) -> None:
        super().__init__()
        self.rulings = rulings
        self.signer = signer


class Progressed(Message):
    """An apply has written another chunk."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress


class Applied(Message):
    """An apply is over, whole or stopped."""

    def __init__(self, receipt: Receipt) -> None:
        super().__init__()
        self.receipt = receipt


class SignerSeen(Message):
    """Whom a ruling would be signed as, as far as it is known without asking; None where a key must be chosen."""

    def __init__(self, signer: Signer | None) -> None:
        super().__init__()
        self.signer = signer


class KeyWanted(Message):
    """Nothing can be signed before a key is made or chosen; `choices` are the user's own key files."""

    def __init__(self, choices: tuple[KeyChoice, ...]) -> None:
        super().__init__()
        self.choices = choices


class PassphraseWanted(Message):
    """The key is locked; `wrong` says that the passphrase given did not open it."""

    def __init__(self, signer: Signer, *, wrong: bool) -> None:
        super().__init__()
        self.signer = signer
        self.wrong = wrong


class KeyReady(Message):
    """A key was made or chosen, and is trusted for a name."""

    def __init__(self, signer: Signer, passphrase: str, *, made: bool) -> None:
        super().__init__()
        self.signer = signer
        self.passphrase = passphrase
        self.made = made


class Refused(Message):
    """What a dialog asked for was refused."""

    def __init__(self, error: CtTuiError) -> None:
        super().__init__()
        self.error = error


class BodiesKnown(Message):
    """What would be signed, and what it would do; `generation` tells an old answer from the one waited for."""

    def __init__(
        self, generation: int, bodies: tuple[Body, ...], impacts: tuple[Impact, ...], error: CtTuiError | None
    ) -> None:
        super().__init__()
        self.generation = generation
        self.bodies = bodies
        self.impacts = impacts
        self.error = error


class ProposalsRead(Message):
    """The unsigned proposals of a file are read, each with its reason."""

    def __init__(self, proposals: tuple[tuple[Body, str], ...]) -> None:
        super().__init__()
        self.proposals = proposals


class PlanLaid(Message):
    """A plan is made and laid out for the screen."""

    def __init__(self, laid: Laid) -> None:
        super().__init__()
        self.laid = laid


class WhyRead(Message):
    """The ladder's way to its decision for an entity."""

    def __init__(self, entity: EntityView, steps: tuple[str, ...], why_not: tuple[str, ...]) -> None:
        super().__init__()
        self.entity = entity
        self.steps = steps
        self.why_not = why_not


class RawRead(Message):
    """A row as the brain holds it, column by column."""

    def __init__(self, entity_id: str, columns: tuple[tuple[str, RawText], ...]) -> None:
        super().__init__()
        self.entity_id = entity_id
        self.columns = columns


class RunWorkRead(Message):
    """What a run did is read."""

    def __init__(self, work: RunWork) -> None:
        super().__init__()
        self.work = work


class QuotesRead(Message):
    """The passages behind an entity are known, and where the vault lies."""

    def __init__(self, quotes: tuple[Quote, ...], vault: Path | None) -> None:
        super().__init__()
        self.quotes = quotes
        self.vault = vault


class WorkDone(Message):
    """Long work beside the screens is over, whole or stopped; `before` says that the brain was written since."""

    def __init__(
        self, work: Beside[Any], result: Any, error: CtTuiError | None, age: int, *, before: bool = False
    ) -> None:
        super().__init__()
        self.work = work
        self.result = result
        self.error = error
        self.age = age
        self.before = before


class WorkWent(Message):
    """Long work beside the screens went on."""

    def __init__(self, work: Beside[Any], progress: Progress) -> None:
        super().__init__()
        self.work = work
        self.progress = progress


class FocusRead(Message):
    """What a finding is about is read: its row, and the entities to look at; `key` is the row's that asked."""

    def __init__(
        self,
        key: str,
        table: str,
        columns: tuple[tuple[str, RawText], ...],
        entities: tuple[EntityView, ...],
        error: CtTuiError | None = None,
    ) -> None:
        super().__init__()
        self.key = key
        self.table = table
        self.columns = columns
        self.entities = entities
        self.error = error


class RecordRead(Message):
    """One row in full: its sections by name, in order."""

    def __init__(self, sections: tuple[tuple[str, tuple[Line, ...]], ...]) -> None:
        super().__init__()
        self.sections = sections


class Swept(Message):
    """The merge that needs no ruling is worked out, or written."""

    def __init__(self, report: MergeReport) -> None:
        super().__init__()
        self.report = report


class Compared(Message):
    """Entities beside each other are read; `key` is the row's that asked."""

    def __init__(self, key: str, comparison: Comparison) -> None:
        super().__init__()
        self.key = key
        self.comparison = comparison


class LookedUp(Message):
    """A name of an assertion is looked up; or, without a lookup, what a new entity would land as."""

    def __init__(
        self, name: str, generation: int, lookup: Lookup | None, lands: str = "", error: CtTuiError | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.generation = generation
        self.lookup = lookup
        self.lands = lands
        self.error = error


class RelationsRead(Message):
    """The relations that fit two types are known."""

    def __init__(self, types: tuple[str, ...], relations: tuple[Relation, ...]) -> None:
        super().__init__()
        self.types = types
        self.relations = relations


class AssertPlanned(Message):
    """What an assertion would write is worked out, or why it would not."""

    def __init__(self, generation: int, result: AssertionResult | None, error: CtTuiError | None) -> None:
        super().__init__()
        self.generation = generation
        self.result = result
        self.error = error


class Asserted(Message):
    """An assertion is written, or stood there already."""

    def __init__(self, result: AssertionResult) -> None:
        super().__init__()
        self.result = result
