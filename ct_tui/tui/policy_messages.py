"""What lanes tell the policy view and its dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.domain.errors import CtTuiError
    from ct_tui.domain.plan import Plan
    from ct_tui.domain.queue import EntityView
    from ct_tui.heal.heal_pass import HealReport
    from ct_tui.heal.ontology_set import SetResult
    from ct_tui.heal.policy_desk import PolicySheet, Preview


class SheetRead(Message):
    """The policy is known, with what each part of it decides."""

    def __init__(self, sheet: PolicySheet) -> None:
        super().__init__()
        self.sheet = sheet


class MembersRead(Message):
    """Some entities of a folder are known."""

    def __init__(self, group: str, offset: int, rows: Sequence[EntityView]) -> None:
        super().__init__()
        self.group = group
        self.offset = offset
        self.rows = rows


class Previewed(Message):
    """What a change would do is known, or why it would be refused."""

    def __init__(self, preview: Preview | None, error: CtTuiError | None = None) -> None:
        super().__init__()
        self.preview = preview
        self.error = error


class PolicySet(Message):
    """A change of the policy is written."""

    def __init__(self, result: SetResult) -> None:
        super().__init__()
        self.result = result


class FoldersRead(Message):
    """The folders of the vault that documents lie in are known, with the documents below each."""

    def __init__(self, folders: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self.folders = folders


class EntitiesFound(Message):
    """Entities that a search found; `query` tells an old answer from the one waited for."""

    def __init__(self, query: str, entities: Sequence[EntityView]) -> None:
        super().__init__()
        self.query = query
        self.entities = entities


class DriftWeighed(Message):
    """The plan that a confirmed drift would let through is known."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan


class Waived(Message):
    """A heal with a waived drift is over."""

    def __init__(self, report: HealReport) -> None:
        super().__init__()
        self.report = report


class TextRead(Message):
    """A file's text as it stands; bytes where it is no UTF-8."""

    def __init__(self, name: str, text: str | bytes) -> None:
        super().__init__()
        self.name = name
        self.text = text
