"""Making a ruling: everything that could make it worthless is refused before the key is asked to sign."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.domain.names import is_blank
from ct_tui.domain.rulings import KIND_OF, Body, Head, Revoke, Ruling, RulingTable, State, parse_body, retired
from ct_tui.trust import sshsig_io
from ct_tui.trust.canonical import SIGNATURE, entry_hash, payload
from ct_tui.trust.entry import frame, parse_ruling
from ct_tui.trust.files import FileMoved, locked
from ct_tui.trust.judging import judge
from ct_tui.trust.principals import require_principal
from ct_tui.trust.signers import load_signers
from ct_tui.trust.table import TableFile, append_entries, read_table
from ct_tui.trust.verify import verify_entries
from ct_tui.trust.yaml_reader import read_entries
from ct_tui.trust.yaml_writer import block

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ct_tui.trust.signer import Signer
    from ct_tui.trust.signers import Signers

_NEVER_SEEN = Head()


@dataclass(frozen=True)
class Draft:
    """A ruling before it is signed: what, why, under which name, and the ruling that it replaces."""

    body: Body
    reason: str
    ruled_by: str
    supersedes: int | None = None


def sign_ruling(
    draft: Draft,
    signer: Signer,
    table_path: Path,
    now: dt.datetime | None = None,
    *,
    signers: Signers | None = None,
    head_seen: Head = _NEVER_SEEN,
) -> Ruling:
    """Sign one ruling and append it; the new head is its `seq` and `hash`. Raises BadInput or TrustError.

    `signers` are the user's own where they are not given; `now` must know its time zone.
    """
    return sign_rulings([draft], signer, table_path, now, signers=signers, head_seen=head_seen)[0]


def sign_rulings(
    drafts: Sequence[Draft],
    signer: Signer,
    table_path: Path,
    now: dt.datetime | None = None,
    *,
    signers: Signers | None = None,
    head_seen: Head = _NEVER_SEEN,
) -> tuple[Ruling, ...]:
    """Sign several rulings and append them together: all of them or, when one is refused, none."""
    moment = now if now is not None else dt.datetime.now(dt.UTC)
    trusted = signers if signers is not None else load_signers()
    for draft in drafts:
        _check_draft(draft, signer, trusted, moment)
    try:
        return _sign_once(drafts, signer, table_path, moment, trusted, head_seen, held=False)
    except FileMoved:  # somebody appended between our look and our append: look again, and let nobody in meanwhile
        with locked(table_path):
            return _sign_once(drafts, signer, table_path, moment, trusted, head_seen, held=True)


def _sign_once(
    drafts: Sequence[Draft],
    signer: Signer,
    path: Path,
    now: dt.datetime,
    signers: Signers,
    seen: Head,
    *,
    held: bool,
) -> tuple[Ruling, ...]:
    table = read_table(path)
    verified = verify_entries(table.raw.entries, signers, seen, now, path.name)
    if verified.distrust:
        raise TrustError(verified.distrust, "Nothing was signed.")
    _check_appendable(table)
    head, entries, made = verified.head, list[dict[str, Any]](), list[Ruling]()
    for draft in drafts:
        _check_place(draft, verified, made)
        fields = _signed_fields(draft, head, signer, now)
        ruling = parse_ruling(fields, entry_hash(fields))
        head = Head(ruling.seq, ruling.hash)
        entries.append(fields)
        made.append(ruling)
    append_entries(table, entries, held=held)
    return tuple(made)


def _check_draft(draft: Draft, signer: Signer, signers: Signers, now: dt.datetime) -> None:
    if is_blank(draft.reason):
        raise BadInput("A ruling needs a reason, and this one has none.", "Say why with --reason.")
    parse_body(KIND_OF[type(draft.body)].value, draft.body.fields())
    require_principal(draft.ruled_by)
    signer.public.require_usable("That key")
    verdict = judge(signers, signer.public, draft.ruled_by, now)
    if verdict.state is not State.VALID:
        raise TrustError(
            f"This key may not rule as {draft.ruled_by}: {verdict.problem}.",
            f"Trust it with `ct-tui keys trust {quote(draft.ruled_by)} '{signer.public.text}'`.",
        )


def _check_appendable(table: TableFile) -> None:
    """Refuse before the key is asked; `append_entries` refuses in the same words."""
    if table.raw.closed:
        append_entries(table, [])


def _check_place(draft: Draft, table: RulingTable, made: Sequence[Ruling]) -> None:
    """What a ruling points at must be there and in force, and it may not silently stop another one."""
    rulings = [e.ruling for e in table.entries if e.ruling is not None and e.state in {State.VALID, State.CONFLICTING}]
    rulings.extend(made)
    signed = {e.seq for e in table.entries if e.state is not State.UNSIGNED} | {r.seq for r in made}
    gone = retired(rulings)
    pointed = [draft.body.revokes] if isinstance(draft.body, Revoke) else []
    pointed += [draft.supersedes] if draft.supersedes is not None else []
    for seq in pointed:
        if seq not in signed:
            raise BadInput(f"There is no ruling {seq}.", "`ct-tui rule list` shows them all.")
        if seq in gone:
            raise BadInput(f"Ruling {seq} is no longer in force.", "`ct-tui rule list` shows them all.")
    subject = draft.body.subject
    rivals = [r for r in rulings if subject and r.body.subject == subject and r.seq not in {*gone, *pointed}]
    if rivals:
        raise BadInput(
            f"Ruling {rivals[0].seq} already decides on that label: {rivals[0].body}.",
            f"Revoke it first (`ct-tui rule revoke {rivals[0].seq}`), or let the new ruling supersede it.",
        )


def _signed_fields(draft: Draft, head: Head, signer: Signer, now: dt.datetime) -> dict[str, Any]:
    kind = KIND_OF[type(draft.body)]
    fields = frame(draft.body, kind, head.seq + 1, draft.reason, draft.ruled_by, now, draft.supersedes)
    fields["prev"] = head.hash or None
    content = payload(fields)
    _check_written(fields)
    armored = signer.sign(content)
    try:
        checked = sshsig_io.check(content, armored)
    except sshsig_io.BadSignature as error:
        raise TrustError(f"The signature that was made {error.message}.", "Nothing was written.") from error
    if checked.key != signer.public:
        raise TrustError("Another key than the chosen one signed.", "Nothing was written.")
    return {**fields, SIGNATURE: armored}


def _check_written(fields: dict[str, Any]) -> None:
    """What will stand in the file must read back as what is signed."""
    back = read_entries(block(fields).encode(), "the new entry").entries
    if len(back) != 1 or back[0].fields != fields:
        raise TrustError("The ruling cannot be written so that it reads back as it is.", "Nothing was signed.")
