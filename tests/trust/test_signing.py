"""What would make a ruling worthless is refused before anything is signed or written."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.domain.rulings import Alias, Body, Head, Keep, Legalize, Revoke
from ct_tui.trust.paths import allowed_signers_path
from ct_tui.trust.proposals import read_proposals
from ct_tui.trust.signers import load_signers
from ct_tui.trust.signing import Draft, sign_ruling, sign_rulings
from ct_tui.trust.trusting import revoke, trust
from tests.trust.desk import DAY, HOUR, ME, NOON, OTHER, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.trust.keys import FileSigner
    from ct_tui.trust.public_keys import PublicKey


def _sign(
    desk: Desk, body: Body, reason: str = "why", by: str = ME, at: dt.datetime = NOON, supersedes: int | None = None
) -> None:
    sign_ruling(Draft(body, reason, by, supersedes), desk.key, desk.table, at, signers=load_signers(desk.user))


@pytest.mark.parametrize("reason", ["", " ", "\n\t", "\u3000"])
def test_a_ruling_needs_a_reason(desk: Desk, reason: str) -> None:
    with pytest.raises(BadInput, match="needs a reason"):
        _sign(desk, Alias("agent", "role"), reason)
    assert not desk.table.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (Alias("", "role"), "from must not be blank"),
        (Alias("agent", "\u3000"), "to must not be blank"),
        (Keep(), "names a type or entities"),
        (Legalize("t", "d", manifests=()), "manifests must be a list"),
    ],
)
def test_a_body_that_says_nothing_is_refused(desk: Desk, body: Body, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        _sign(desk, body)


def test_half_a_surrogate_pair_is_refused(desk: Desk) -> None:
    with pytest.raises((BadInput, TrustError), match=r"surrogate|cannot be signed"):
        _sign(desk, Alias("a\ud800", "role"))
    assert not desk.table.exists()


def test_a_name_that_the_key_may_not_use(desk: Desk) -> None:
    with pytest.raises(TrustError, match=f"may not rule as {OTHER}: .* not as {OTHER}") as caught:
        _sign(desk, Alias("agent", "role"), by=OTHER)
    assert f"keys trust {OTHER} '{desk.key.public.text}'" in caught.value.remedy
    with pytest.raises(BadInput, match="cannot be a principal"):
        _sign(desk, Alias("agent", "role"), by="*")
    assert not desk.table.exists()


def test_a_stranger_an_expired_and_a_revoked_key(desk: Desk) -> None:
    stranger = desk.new_key(OTHER)
    with pytest.raises(TrustError, match="not in your allowed_signers"):
        desk.rule(Alias("agent", "role"), by=OTHER, key=stranger)
    trust(OTHER, stranger.public, desk.user, valid_before=NOON)
    with pytest.raises(TrustError, match="trusted only until"):
        desk.rule(Alias("agent", "role"), by=OTHER, key=stranger, at=NOON + HOUR)
    revoke(desk.key.public, desk.user)
    with pytest.raises(TrustError, match="was revoked"):
        _sign(desk, Alias("agent", "role"))
    assert not desk.table.exists()


def test_a_distrusted_table_takes_no_ruling(desk: Desk) -> None:
    last = desk.rule_many(3)[-1]
    good = desk.table.read_bytes()
    desk.put(desk.blocks()[:2])
    with pytest.raises(TrustError, match="ended at ruling 3"):
        desk.rule(Alias("agent", "role"), seen=Head(last.seq, last.hash))
    broken = good.replace(b"label 2", b"label 9")
    desk.table.write_bytes(broken)
    with pytest.raises(TrustError, match="Ruling 2 "):
        desk.rule(Alias("agent", "role"))
    assert desk.table.read_bytes() == broken
    desk.table.write_bytes(b"- &a v: 1\n")
    with pytest.raises(TrustError, match="line 1"):
        desk.rule(Alias("agent", "role"))


@pytest.mark.parametrize("data", [b"[]\n", b"---\n...\n"])
def test_a_list_that_cannot_grow_asks_no_key(desk: Desk, data: bytes) -> None:
    class Never:
        public: PublicKey = desk.key.public

        def sign(self, payload: bytes) -> str:
            raise AssertionError(payload)

    desk.table.parent.mkdir(parents=True)
    desk.table.write_bytes(data)
    with pytest.raises(TrustError, match="Nothing can be appended"):
        sign_ruling(Draft(Alias("a", "b"), "why", ME), Never(), desk.table, NOON, signers=load_signers(desk.user))


def test_what_a_ruling_points_at_must_be_in_force(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    missing: list[tuple[Body, int | None]] = [(Revoke(2), None), (Revoke(0), None), (Alias("agent", "x"), 7)]
    for body, supersedes in missing:
        with pytest.raises(BadInput, match="There is no ruling"):
            _sign(desk, body, supersedes=supersedes)
    desk.rule(Revoke(1))
    with pytest.raises(BadInput, match="Ruling 1 is no longer in force"):
        _sign(desk, Revoke(1))
    assert len(desk.states()) == 2


def test_a_second_ruling_for_a_label_must_replace_the_first(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    with pytest.raises(BadInput, match="Ruling 1 already decides on that label: agent → role") as caught:
        _sign(desk, Legalize(" AGENT", "d"))
    assert "rule revoke 1" in caught.value.remedy
    _sign(desk, Alias("Agent", "person"), supersedes=1)
    assert [str(r.body) for r in desk.verify().valid()] == ["Agent → person"]
    assert desk.states() == ["valid", "valid"]


def test_several_rulings_are_signed_all_or_none(desk: Desk) -> None:
    signers = load_signers(desk.user)
    drafts = [Draft(Alias(f"t{n}", "role"), f"reason {n}", ME) for n in range(5)]
    with pytest.raises(BadInput, match="Ruling 3 already decides"):
        sign_rulings([*drafts, Draft(Alias("t2", "person"), "again", ME)], desk.key, desk.table, NOON, signers=signers)
    assert not desk.table.exists()
    made = sign_rulings(drafts, desk.key, desk.table, NOON, signers=signers)
    assert [r.seq for r in made] == [1, 2, 3, 4, 5]
    assert desk.verify().valid() == made


def test_a_clock_that_is_behind_harms_nothing(desk: Desk) -> None:
    desk.rule(Alias("one", "role"))
    desk.rule(Alias("two", "role"), at=NOON - DAY)
    assert desk.states() == ["valid", "valid"]


def test_a_signature_by_another_key_or_of_something_else_is_not_written(desk: Desk) -> None:
    other = desk.new_key(OTHER)

    class Liar:
        public = desk.key.public

        def __init__(self, key: FileSigner, content: bytes | None) -> None:
            self.key, self.content = key, content

        def sign(self, payload: bytes) -> str:
            return self.key.sign(payload if self.content is None else self.content)

    draft, signers = Draft(Alias("agent", "role"), "why", ME), load_signers(desk.user)
    with pytest.raises(TrustError, match="Another key than the chosen one signed"):
        sign_ruling(draft, Liar(other, None), desk.table, NOON, signers=signers)
    with pytest.raises(TrustError, match="is not over this content"):
        sign_ruling(draft, Liar(desk.key, b"else"), desk.table, NOON, signers=signers)
    assert not desk.table.exists()


def test_the_users_own_trust_is_taken_where_none_is_given(desk: Desk) -> None:
    made = sign_ruling(Draft(Alias("agent", "role"), "why", ME), desk.key, desk.table)
    assert made.seq == 1
    assert abs(made.ruled_at - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)
    allowed_signers_path(desk.user).unlink()
    with pytest.raises(TrustError, match="not in your allowed_signers"):
        sign_ruling(Draft(Alias("other", "role"), "why", ME), desk.key, desk.table)


def test_signing_keeps_the_layout_and_comments_of_a_person(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    desk.table.write_bytes(b"# mine\r\n\r\n" + desk.table.read_bytes().replace(b"\n", b"\r\n") + b"   # end")
    before = desk.table.read_bytes()
    desk.rule(Alias("other", "role"))
    after = desk.table.read_bytes()
    assert after.startswith(before + b"\r\n- v: 1\r\n")
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert desk.states() == ["valid", "valid"]


FOUNDING = """# proposals
- v: 1
  kind: alias
  from: "agent"
  to: "role"
  reason: "An agent is a role that somebody plays."
- kind: legalize   # no version: the one of today
  type: no
  description: Written down
  reason: It is used.
- {v: 1, kind: keep, type: 012, until: 2027-01-31, reason: not now}
"""


def _proposals(folder: Path, text: str) -> Path:
    path = folder / "founding.yaml"
    path.write_text(text)
    return path


def test_proposals_are_read_and_adopted(desk: Desk, tmp_path: Path) -> None:
    found = read_proposals(_proposals(tmp_path, FOUNDING))
    assert [(p.number, p.line, p.reason) for p in found] == [
        (1, 2, "An agent is a role that somebody plays."),
        (2, 7, "It is used."),
        (3, 11, "not now"),
    ]
    assert [p.body for p in found] == [
        Alias("agent", "role"),
        Legalize("no", "Written down"),
        Keep("012", until=dt.date(2027, 1, 31)),
    ]
    drafts = [Draft(p.body, p.reason, ME) for p in found]
    sign_rulings(drafts, desk.key, desk.table, NOON, signers=load_signers(desk.user))
    assert [r.body for r in desk.verify().valid()] == [p.body for p in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no proposals"),
        ("# nothing\n", "holds no proposals"),
        ("- hello\n", r"Proposal 1 \(founding.yaml line 1\) is not an entry"),
        ("- kind: alias\n  from: a\n  to: b\n", "gives no reason"),
        ("- kind: alias\n  from: a\n  to: b\n  reason: ' '\n", "gives no reason"),
        ("- kind: alias\n  from: a\n  reason: r\n", "cannot be adopted: to must be a text"),
        ("- kind: bless\n  reason: r\n", "unknown kind"),
        ("- v: 2\n  kind: alias\n  from: a\n  to: b\n  reason: r\n", "its version is 2"),
        ("- kind: alias\n  from: a\n  to: b\n  reason: r\n  why: x\n", "'why'"),
        (
            "- kind: alias\n  from: a\n  to: b\n  reason: r\n  seq: 1\n  signature: x\n",
            "has seq, signature, which only",
        ),
        ("- kind: alias\n  from: a\n  from: b\n  reason: r\n", "founding.yaml line 3: the key 'from' stands twice"),
        ("- !!python/name:os.system x\n", "line 1: a tag"),
        ("kind: alias\n", "not a list"),
    ],
)
def test_what_is_no_file_of_proposals(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_proposals(_proposals(tmp_path, text))


def test_a_missing_file_of_proposals(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        read_proposals(tmp_path / "nothing.yaml")
    with pytest.raises(TrustError, match="is a folder"):
        read_proposals(tmp_path)
