"""Every kind of tampering is detected and named at the right place, and stops what it must stop."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.rulings import Alias, Head, Keep, Legalize, Retype, Revoke, State
from ct_tui.trust.canonical import entry_hash, payload
from ct_tui.trust.paths import allowed_signers_path
from ct_tui.trust.signers import load_signers
from ct_tui.trust.table import read_table
from ct_tui.trust.trusting import revoke, trust
from ct_tui.trust.verify import verify_table
from ct_tui.trust.yaml_writer import block
from tests.trust.desk import DAY, HOUR, ME, NOON, OTHER, Desk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.trust.keys import FileSigner
    from ct_tui.trust.signers import Signers

VALID = "valid"
Blocks = list[bytes]


def _signed(desk: Desk, key: FileSigner | None = None, /, **fields: Any) -> bytes:
    """One block signed over whatever fields are given: what a key holder with another program could write."""
    base = {"v": 1, "kind": "alias", "from": "x", "to": "role", "reason": "r", "ruled_by": ME}
    whole = {**base, "ruled_at": "2026-10-03T12:00:00Z", **fields}
    whole = {name: value for name, value in whole.items() if value is not ...}
    signature = (key or desk.key).sign(payload(whole))
    return block({**whole, "signature": signature}).encode()


def _strip_signature(entry: bytes) -> bytes:
    return entry[: entry.index(b"  signature:")]


# What is done to five valid entries, the states afterwards, and what the table says.
TAMPERED: dict[str, tuple[Callable[[Blocks], Blocks], list[str], str]] = {
    "one letter of a type": (
        lambda b: [*b[:2], b[2].replace(b'to: "role"', b'to: "rule"'), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 \(line \d+\) was changed after it was signed: its signature is not over this content\. No ruling",
    ),
    "the first": (
        lambda b: [b[0].replace(b"label 1", b"label 9"), *b[1:]],
        ["tampered", VALID, VALID, VALID, VALID],
        r"^Ruling 1 \(line 1\) was changed[^;]*$",
    ),
    "the last": (
        lambda b: [*b[:4], b[4].replace(b"label 5", b"label 9")],
        [VALID, VALID, VALID, VALID, "tampered"],
        r"^Ruling 5 \(line \d+\) was changed[^;]*$",
    ),
    "a number": (
        lambda b: [*b[:2], b[2].replace(b"seq: 3", b"seq: 7"), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 7 \(line \d+\) was changed[^;]*$",
    ),
    "a letter of the signature": (
        lambda b: [*b[:2], b[2].replace(b"U1NIU0lH", b"U1NIU0lI"), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 \(line \d+\) was changed[^;]*$",
    ),
    "a field added": (
        lambda b: [*b[:2], b[2].replace(b"  seq: 3\n", b"  seq: 3\n  supersedes: 1\n"), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 ",
    ),
    "a field removed": (
        lambda b: [*b[:2], re.sub(rb"  reason:.*\n", b"", b[2]), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 ",
    ),
    "a text turned into a number": (
        lambda b: [*b[:2], b[2].replace(b"v: 1\n", b'v: "1"\n', 1), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 ",
    ),
    "two changed": (
        lambda b: [b[0], b[1].replace(b"role", b"rule"), b[2].replace(b"role", b"rule"), *b[3:]],
        [VALID, "tampered", "tampered", VALID, VALID],
        r"^Ruling 2 .*; Ruling 3 ",
    ),
    "a signature taken from another": (
        lambda b: [*b[:2], _strip_signature(b[2]) + b[1][b[1].index(b"  signature:") :], *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 ",
    ),
    "a signature that is no text": (
        lambda b: [*b[:2], _strip_signature(b[2]) + b"  signature: [1]\n", *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 .* is not an OpenSSH signature",
    ),
    "a number out of range": (
        lambda b: [*b[:2], b[2].replace(b"seq: 3", b"seq: 9007199254740999"), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^The entry at line \d+ was changed after it was signed: an entry holds what cannot be signed",
    ),
    "a signature taken away": (
        lambda b: [*b[:2], _strip_signature(b[2]), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 \(line \d+\) has lost its signature\. No",
    ),
    "the key of a signature renamed": (
        lambda b: [*b[:2], b[2].replace(b"  signature:", b"  signaturf:"), *b[3:]],
        [VALID, VALID, "tampered", VALID, VALID],
        r"^Ruling 3 .* has lost its signature",
    ),
    "removed from the middle": (
        lambda b: [*b[:2], *b[3:]],
        [VALID, VALID, "broken chain", VALID],
        r"^Ruling 4 \(line \d+\) does not follow: ruling 3 before it is missing\. No",
    ),
    "two removed": (
        lambda b: [*b[:1], *b[3:]],
        [VALID, "broken chain", VALID],
        r"^Ruling 4 .*: rulings 2 to 3 before it are missing",
    ),
    "the first removed": (lambda b: b[1:], ["broken chain", VALID, VALID, VALID], r"^Ruling 2 .*ruling 1 .* missing"),
    "removed and changed": (
        lambda b: [b[0], b[1].replace(b"role", b"rule"), *b[3:]],
        [VALID, "tampered", "broken chain", VALID],
        r"^Ruling 2 .* was changed .*; Ruling 4 .* 1 of the rulings 2 to 3 before it are missing",
    ),
    "turned into a comment": (
        lambda b: [*b[:2], re.sub(rb"(?m)^", b"# ", b[2]).removesuffix(b"# "), *b[3:]],
        [VALID, VALID, "broken chain", VALID],
        r"^Ruling 4 .*ruling 3 before it is missing",
    ),
    "two swapped": (
        lambda b: [b[0], b[2], b[1], *b[3:]],
        [VALID, "broken chain", VALID, VALID, VALID],
        r"^Ruling 3 \(line \d+\) is out of its place\. No",
    ),
    "one moved to the front": (
        lambda b: [b[3], *b[:3], b[4]],
        ["broken chain", VALID, VALID, VALID, VALID],
        r"^Ruling 4 \(line 1\) is out of its place\. No",
    ),
    "one moved to the end": (
        lambda b: [b[0], *b[2:], b[1]],
        [VALID, VALID, VALID, VALID, "broken chain"],
        r"^Ruling 2 \(line \d+\) is out of its place\. No",
    ),
    "reversed": (lambda b: b[::-1], ["broken chain"] * 4 + [VALID], r"is out of its place"),
    "a second copy": (
        lambda b: [*b, b[1]],
        [VALID, VALID, VALID, VALID, VALID, "broken chain"],
        r"^Ruling 2 \(line \d+\) is a second copy of ruling 2\. No",
    ),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_tampering_is_named_and_nothing_acts(case: str, desk: Desk) -> None:
    change, states, sentence = TAMPERED[case]
    last = desk.rule_many(5)[-1]
    desk.put(change(desk.blocks()))
    for seen in (Head(), Head(last.seq, last.hash)):
        table = desk.verify(seen)
        if not (seen.seq and case == "the last"):
            assert [e.state.value for e in table.entries] == states
        assert re.search(sentence, table.distrust), table.distrust
        assert table.valid() == ()
        assert not table.trusted
        assert "put back as it was signed" in table.distrust


def test_the_entry_that_is_guilty_is_named_once(desk: Desk) -> None:
    desk.rule_many(30)
    blocks = desk.blocks()
    desk.put([*blocks[:10], blocks[10].replace(b"role", b"rule"), *blocks[11:]])
    table = desk.verify()
    assert [e.seq for e in table.problems()] == [11]
    assert table.distrust.count("Ruling") == 1


def test_many_causes_do_not_drown_the_sentence(desk: Desk) -> None:
    desk.rule_many(9)
    desk.put([b.replace(b"role", b"rule") for b in desk.blocks()])
    assert "and 6 more" in desk.verify().distrust


ROLLED_BACK: dict[str, tuple[Callable[[Blocks], Blocks], list[str], str]] = {
    "cut at the end": (
        lambda b: b[:4],
        [VALID, VALID, VALID, "rolled back"],
        r"^rulings\.yaml ends at ruling 4, and ended at ruling 5 when it was last seen\. No",
    ),
    "last week's": (lambda b: b[:2], [VALID, "rolled back"], r"^rulings\.yaml ends at ruling 2, and ended at ruling 5"),
    "emptied": (lambda b: b[:0], [], r"^rulings\.yaml is empty, and ended at ruling 5"),
    "cut and the new last changed": (
        lambda b: [*b[:3], b[3].replace(b"role", b"rule")],
        [VALID, VALID, "rolled back", "tampered"],
        r"^Ruling 4 .* was changed .*; rulings\.yaml ends at ruling 4, and ended at ruling 5",
    ),
    "the last turned into a proposal": (
        lambda b: [*b[:4], re.sub(rb"  (seq|prev):.*\n", b"", _strip_signature(b[4]))],
        [VALID, VALID, VALID, "rolled back", "unsigned"],
        r"^rulings\.yaml ends at ruling 4",
    ),
}


@pytest.mark.parametrize("case", ROLLED_BACK)
def test_a_table_that_went_back_is_noticed(case: str, desk: Desk) -> None:
    change, states, sentence = ROLLED_BACK[case]
    last = desk.rule_many(5)[-1]
    desk.put(change(desk.blocks()))
    table = desk.verify(Head(last.seq, last.hash))
    assert [e.state.value for e in table.entries] == states
    assert re.search(sentence, table.distrust), table.distrust
    assert table.valid() == ()


def test_the_last_signature_taken_away_shows_by_the_head_last_seen(desk: Desk) -> None:
    last = desk.rule_many(3)[-1]
    blocks = desk.blocks()
    desk.put([*blocks[:2], _strip_signature(blocks[2])])
    assert desk.states() == [VALID, VALID, "unsigned"]
    assert desk.verify().trusted
    seen = desk.verify(Head(last.seq, last.hash))
    assert [e.state.value for e in seen.entries] == [VALID, VALID, "tampered"]
    assert re.match(r"Ruling 3 \(line \d+\) has lost its signature\. No", seen.distrust)


def test_a_missing_table_is_empty_unless_one_was_seen(desk: Desk) -> None:
    assert desk.verify() == verify_table(b"", load_signers(desk.user))
    assert desk.verify().trusted
    last = desk.rule_many(2)[-1]
    desk.table.unlink()
    assert "is empty, and ended at ruling 2" in desk.verify(Head(last.seq, last.hash)).distrust
    shutil.rmtree(desk.table.parent)
    assert "is empty, and ended at ruling 2" in desk.verify(Head(last.seq, last.hash)).distrust


def test_growth_beyond_the_head_last_seen_is_fine(desk: Desk) -> None:
    first, *_, last = desk.rule_many(4)
    table = desk.verify(Head(first.seq, first.hash))
    assert table.trusted
    assert table.head == Head(last.seq, last.hash)
    assert len(table.valid()) == 4


def test_a_table_signed_anew_by_the_same_key_is_not_the_one_last_seen(desk: Desk) -> None:
    seen = desk.rule_many(3)[1]
    desk.table.unlink()
    desk.rule(Alias("other", "role"))
    desk.rule(Alias("another", "role"))
    desk.rule(Alias("third", "role"))
    table = desk.verify(Head(seen.seq, seen.hash))
    assert [e.state.value for e in table.entries] == [VALID, "rolled back", VALID]
    assert re.match(r"Ruling 2 \(line \d+\) is not the ruling that was here when", table.distrust)


def test_a_valid_entry_of_another_table_is_out_of_place(desk: Desk, tmp_path: Any, user_dir: Any) -> None:
    desk.rule_many(3)
    mine = desk.blocks()
    desk.table.unlink()
    for n in range(4):
        desk.rule(Alias(f"foreign {n}", "role"))
    foreign = desk.blocks()
    for at, place, words in [
        (1, 3, "was inserted"),
        (3, 3, "was signed after another ruling 3"),
        (3, 1, "out of its place|another ruling 3"),
    ]:
        desk.put([*mine[:place], foreign[at], *mine[place:]])
        table = desk.verify()
        (wrong,) = table.problems()
        assert wrong.state is State.BROKEN
        assert wrong.ruling is not None
        assert str(wrong.ruling.body).startswith("foreign")
        assert re.search(words, wrong.problem), wrong.problem


def test_two_tables_that_grew_from_one_and_were_joined(desk: Desk) -> None:
    desk.rule_many(2)
    common = desk.blocks()
    desk.rule(Alias("mine", "role"))
    mine = desk.blocks()[2]
    desk.put(common)
    desk.rule(Alias("yours", "role"))
    yours = desk.blocks()[2]
    desk.put([*common, mine, yours])
    table = desk.verify()
    assert [e.state.value for e in table.entries] == [VALID, VALID, VALID, "broken chain"]
    assert "two tables grew from one and were joined" in table.distrust


def test_a_forged_entry_is_tampering_and_its_place_does_not_matter(desk: Desk) -> None:
    desk.rule_many(3)
    blocks = desk.blocks()
    forged = blocks[1].replace(b"label 2", b"forged").replace(b"seq: 2", b"seq: 4")
    for place in range(4):
        desk.put([*blocks[:place], forged, *blocks[place:]])
        assert [e.state.value for e in desk.verify().problems()] == ["tampered"]
        assert desk.verify().distrust


def test_unsigned_entries_never_act_and_harm_nothing(desk: Desk) -> None:
    desk.rule_many(3)
    blocks = desk.blocks()
    proposal = b'- v: 1\n  kind: alias\n  from: "a"\n  to: "b"\n  reason: "r"\n'
    claiming = b'- v: 1\n  seq: 2\n  kind: alias\n  from: "a"\n  to: "b"\n  reason: "r"\n  signature: ""\n'
    for place in range(4):
        desk.put([*blocks[:place], proposal, claiming, b"- hello\n", *blocks[place:]])
        table = desk.verify()
        assert table.trusted, table.distrust
        assert [e.state.value for e in table.entries].count("unsigned") == 3
        assert len(table.valid()) == 3
        found = table.get(2)
        assert found is not None
        assert found.valid
    later = desk.rule(Alias("later", "role"))
    assert later.seq == 4
    assert len(desk.verify().valid()) == 4


CHANGES = [
    lambda text: text.replace(b"\n", b"\r\n"),
    lambda text: re.sub(rb"(?m)^", b"   ", text).rstrip(b" "),
    lambda text: re.sub(rb"(?m)^(- |  )", rb"\1    ", text),
    lambda text: b"# by me\n---\n" + text.replace(b"  reason:", b"# a comment\n\n  reason:   ") + b"\n\n# end\n",
    lambda text: text.replace(b'"role"', b"role # plain").replace(b'"alias"', b"'alias'"),
    lambda text: text.rstrip(b"\n"),
    lambda text: text.replace(b"signature: |", b"signature: |-"),
    lambda text: text.replace(b"signature: |", b"signature: |+"),
    lambda text: text + b"...\n",
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_the_layout_is_not_what_is_signed(desk: Desk, change: Callable[[bytes], bytes]) -> None:
    last = desk.rule_many(3)[-1]
    desk.table.write_bytes(change(desk.table.read_bytes()))
    table = desk.verify(Head(last.seq, last.hash))
    assert table.trusted, table.distrust
    assert [e.state.value for e in table.entries] == [VALID] * 3
    assert table.head == Head(last.seq, last.hash)


def test_comments_authorise_nothing(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    before = desk.verify()
    desk.table.write_bytes(b'# - v: 1\n#   from: "x"\n' + desk.table.read_bytes() + b"# supersedes: 1\n")
    after = desk.verify()
    assert after.valid() == before.valid()
    assert [dict(e.fields) for e in after.entries] == [dict(e.fields) for e in before.entries]


def test_each_byte_of_an_entry_counts(desk: Desk) -> None:
    last = desk.rule_many(3)[-1]
    seen = Head(last.seq, last.hash)
    data = desk.table.read_bytes()
    start, end = data.index(b"- v: 1", 1), data.rindex(b"- v: 1")
    signers = load_signers(desk.user)
    original = desk.verify(seen)
    for at in range(start, end):
        for new in (data[at] ^ 1, ord("9") if at % 2 else ord(" ")):
            changed = data[:at] + bytes([new]) + data[at + 1 :]
            table = verify_table(changed, signers, seen, NOON + DAY)
            same = [e.ruling for e in table.entries] == [e.ruling for e in original.entries]
            assert table.distrust or same, changed[at - 20 : at + 20]


UNREADABLE = [
    b"- v: 1\n  v: 1\n",
    b"\xff",
    b"- &a [*a]\n",
    b"- !!python/object/apply:os.system [id]\n",
    b"[" * 3000,
    b"hello",
    b"- v: 1\n\tseq: 1\n",
    b"\xef\xbb\xbf",
]


@pytest.mark.parametrize("data", UNREADABLE)
def test_a_table_that_cannot_be_read_is_distrusted_with_the_line(desk: Desk, data: bytes) -> None:
    desk.rule_many(2)
    desk.table.write_bytes(
        desk.table.read_bytes() + data if data != b"\xef\xbb\xbf" else data + desk.table.read_bytes()
    )
    table = desk.verify()
    assert table.entries == ()
    assert table.head == Head()
    assert re.match(r"rulings\.yaml line \d+: .*\. No ruling acts until", table.distrust)


def test_a_table_that_is_a_folder_is_distrusted(desk: Desk) -> None:
    desk.table.mkdir(parents=True)
    assert "is a folder" in desk.verify().distrust


# Entries signed by a trusted key that this program cannot act on: never act, harm nobody else.
STRANGE: dict[str, tuple[dict[str, Any], str]] = {
    "newer version": ({"v": 2}, "its version is 2"),
    "version as text": ({"v": "1"}, "its version is '1'"),
    "no version": ({"v": ...}, "its version is None"),
    "version true": ({"v": True}, "its version is True"),
    "unknown kind": ({"kind": "bless"}, "unknown kind"),
    "no kind": ({"kind": ...}, "kind must be a text"),
    "no reason": ({"reason": ...}, "reason must be a text"),
    "blank reason": ({"reason": " \u3000"}, "reason must be a text"),
    "missing field": ({"to": ...}, "to must be a text"),
    "blank field": ({"from": " "}, "from must not be blank"),
    "field of a wrong kind": ({"from": ["a"]}, "from must be a text"),
    "unknown field": ({"only_if": "it rains"}, "'only_if'"),
    "nested unknown field": ({"x": {"y": [1, 2.5, None, True, "no"]}}, "'x'"),
    "supersedes a later one": ({"supersedes": 9}, "earlier"),
    "supersedes itself": ({"supersedes": 2}, "earlier"),
    "supersedes a text": ({"supersedes": "1"}, "earlier"),
    "revokes a later one": ({"kind": "revoke", "revokes": 3, "from": ..., "to": ...}, "earlier"),
    "retype without entities": ({"kind": "retype"}, "entities must be a list"),
    "edges that are no list": (
        {"kind": "legalize", "type": "t", "description": "d", "edges": 5, "from": ..., "to": ...},
        "edges",
    ),
    "until no date": ({"kind": "keep", "type": "x", "until": "soon", "from": ..., "to": ...}, "not a date"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_what_is_signed_and_not_understood_never_acts(case: str, desk: Desk) -> None:
    fields, words = STRANGE[case]
    first = desk.rule(Alias("agent", "role"))
    desk.put([*desk.blocks(), _signed(desk, seq=2, prev=first.hash, **fields)])
    table = desk.verify()
    entry = table.entries[1]
    assert table.trusted, table.distrust
    assert entry.state is State.VALID
    assert entry.ruling is None
    assert not entry.valid
    assert words in entry.problem
    assert [r.seq for r in table.valid()] == [1]
    for name, value in fields.items():
        assert entry.fields.get(name, ...) == value
    assert desk.rule(Alias("next", "role")).seq == 3
    assert [r.seq for r in desk.verify().valid()] == [1, 3]


UNTRUSTED: dict[str, dict[str, Any]] = {
    "nobody": {"ruled_by": ...},
    "no text": {"ruled_by": ["curator@example.org"]},
    "another": {"ruled_by": OTHER},
    "no time": {"ruled_at": ...},
    "time without zone": {"ruled_at": "2026-10-03T12:00:00"},
    "no such time": {"ruled_at": "2026-13-03T12:00:00Z"},
    "the last day there is": {"ruled_at": "9999-12-31T23:59:59-23:59"},
}


@pytest.mark.parametrize("case", UNTRUSTED)
def test_who_or_when_is_not_said(case: str, desk: Desk) -> None:
    first = desk.rule(Alias("agent", "role"))
    desk.put([*desk.blocks(), _signed(desk, seq=2, prev=first.hash, **UNTRUSTED[case])])
    table = desk.verify()
    assert table.trusted
    assert table.entries[1].state is State.UNTRUSTED
    assert table.entries[1].problem
    assert [r.seq for r in table.valid()] == [1]


@pytest.mark.parametrize("seq", [..., 0, -1, "2", 2.5, True, None])
def test_a_signed_entry_without_a_usable_number_breaks_the_chain(desk: Desk, seq: Any) -> None:
    first = desk.rule(Alias("agent", "role"))
    desk.put([*desk.blocks(), _signed(desk, seq=seq, prev=first.hash)])
    table = desk.verify()
    assert table.entries[1].state is State.BROKEN
    assert "The entry at line" in table.distrust


@pytest.mark.parametrize("prev", [None, "", "0" * 64, 5, ["x"], ...])
def test_a_wrong_prev_breaks_the_chain(desk: Desk, prev: Any) -> None:
    desk.rule(Alias("agent", "role"))
    desk.put([*desk.blocks(), _signed(desk, seq=2, prev=prev)])
    assert [e.state for e in desk.verify().entries] == [State.VALID, State.BROKEN]


@pytest.mark.parametrize("prev", ["", "0" * 64, 5])
def test_the_first_follows_nothing(desk: Desk, prev: Any) -> None:
    desk.rule(Alias("agent", "role"))
    desk.put([_signed(desk, seq=1, prev=prev)])
    assert "the table began earlier" in desk.verify().distrust
    desk.put([_signed(desk, seq=1, prev=None)])
    assert desk.verify().trusted


def test_an_enormous_number_does_not_hang(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    desk.put([*desk.blocks(), _signed(desk, seq=2**53 - 1, prev=None)])
    assert "rulings 2 to 9007199254740990 before it are missing" in desk.verify().distrust


def test_a_signer_who_is_not_trusted_stops_only_his_own(desk: Desk) -> None:
    second = desk.new_key(OTHER)
    trust(OTHER, second.public, desk.user)
    desk.rule(Alias("one", "role"))
    desk.rule(Alias("two", "role"), by=OTHER, key=second)
    desk.rule(Alias("three", "role"))
    assert desk.states() == [VALID, VALID, VALID]
    allowed = allowed_signers_path(desk.user)
    text = allowed.read_text()

    def outcome(state: State, words: str) -> None:
        table = desk.verify()
        assert table.trusted
        assert [r.seq for r in table.valid()] == [1, 3]
        assert table.entries[1].state is state
        assert words in table.entries[1].problem
        assert table.entries[1].fingerprint == second.public.fingerprint

    allowed.write_text("".join(text.splitlines(keepends=True)[:1]))
    outcome(State.UNTRUSTED, "not in your allowed_signers")
    allowed.write_text(text.replace(OTHER, "*"))
    outcome(State.UNTRUSTED, "must be named")
    allowed.write_text(text.replace(f'{OTHER} namespaces="ct-ruling"', OTHER))
    outcome(State.UNTRUSTED, "has no namespaces")
    allowed.write_text(text.replace(f'{OTHER} namespaces="ct-ruling"', f'{OTHER} namespaces="git"'))
    outcome(State.UNTRUSTED, "not for ct-ruling")
    allowed.write_text(text.replace(OTHER + " ", f'{OTHER} valid-before="20261003Z",'))
    outcome(State.EXPIRED, "trusted only until 2026-10-03 00:00 UTC")
    allowed.write_text(text.replace(OTHER + " ", f'{OTHER} valid-after="20261004Z",'))
    outcome(State.UNTRUSTED, "trusted only from 2026-10-04 00:00 UTC on")
    allowed.write_text(text)
    revoke(second.public, desk.user)
    outcome(State.REVOKED, "was revoked")


def test_a_key_that_expired_since_does_not_undo_what_it_ruled(desk: Desk) -> None:
    desk.rule(Alias("one", "role"))
    allowed = allowed_signers_path(desk.user)
    allowed.write_text(allowed.read_text().replace(ME + " ", f'{ME} valid-before="20261101Z",'))
    assert [r.seq for r in desk.verify(now=NOON + 400 * DAY).valid()] == [1]


def test_backdating_into_a_window_that_is_over_is_noticed_by_the_chain(desk: Desk) -> None:
    second = desk.new_key(OTHER)
    trust(OTHER, second.public, desk.user, valid_before=NOON + DAY)
    first = desk.rule(Alias("one", "role"), at=NOON + 10 * DAY)
    late = _signed(desk, second, seq=2, prev=first.hash, ruled_by=OTHER, ruled_at="2026-10-03T13:00:00Z")
    desk.put([*desk.blocks(), late])
    assert desk.states() == [VALID, "expired"]


def test_a_ruling_dated_ahead_does_not_act_before_its_day(desk: Desk) -> None:
    desk.rule(Alias("one", "role"), at=NOON + 2 * DAY)
    assert [e.state.value for e in desk.verify(now=NOON).entries] == ["untrusted signer"]
    assert desk.verify(now=NOON).trusted
    assert [r.seq for r in desk.verify(now=NOON + 2 * DAY).valid()] == [1]


def test_two_rulings_for_one_label_stop_each_other_until_one_goes(desk: Desk) -> None:
    first = desk.rule(Alias("Agent", "role"))
    second = _signed(desk, seq=2, prev=first.hash, **{"from": " agent "}, to="person")
    desk.put([*desk.blocks(), second])
    table = desk.verify()
    assert [e.state.value for e in table.entries] == ["conflicting", "conflicting"]
    assert table.trusted
    assert table.valid() == ()
    assert "ruling 2" in table.entries[0].problem
    assert "ruling 1" in table.entries[1].problem
    desk.rule(Revoke(1))
    assert desk.states() == [VALID, VALID, VALID]
    assert [r.seq for r in desk.verify().valid()] == [2, 3]


def test_what_conflicting_rulings_superseded_does_not_come_back(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    second = desk.rule(Alias("agent", "person"), supersedes=1)
    third = _signed(desk, seq=3, prev=second.hash, **{"from": "agent"}, to="place")
    desk.put([*desk.blocks(), third])
    table = desk.verify()
    assert [e.state.value for e in table.entries] == [VALID, "conflicting", "conflicting"]
    assert table.valid() == ()


def test_an_alias_and_a_legalisation_of_one_label_conflict_and_others_do_not(desk: Desk) -> None:
    first = desk.rule(Alias("agent", "role"))
    other = _signed(
        desk, seq=2, prev=first.hash, kind="legalize", type="AGENT", description="d", **{"from": ..., "to": ...}
    )
    desk.put([*desk.blocks(), other])
    assert desk.states() == ["conflicting", "conflicting"]
    desk.rule(Revoke(2))
    desk.rule(Retype(("e",), "agent", "person"))
    desk.rule(Keep("agent"))
    desk.rule(Legalize("other", "d"))
    assert set(desk.states()) == {VALID}


def test_a_revoked_revocation_brings_the_ruling_back(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    desk.rule(Revoke(1))
    assert [r.seq for r in desk.verify().valid()] == [2]
    desk.rule(Revoke(2))
    assert [r.seq for r in desk.verify().valid()] == [1, 3]


def test_the_hash_is_that_of_the_whole_entry(desk: Desk) -> None:
    desk.rule_many(2)
    first, second = read_table(desk.table).raw.entries
    assert first.fields is not None
    assert second.fields is not None
    table = desk.verify()
    assert second.fields["prev"] == entry_hash(first.fields)
    assert table.head == Head(2, entry_hash(second.fields))
    assert table.entries[0].line == 1
    assert table.entries[1].line == second.line > 10


def test_a_thousand_entries_verify(desk: Desk) -> None:
    from ct_tui.trust.signing import Draft, sign_rulings
    from ct_tui.trust.sshsig_io import check
    from ct_tui.trust.table import parse_table

    drafts = [Draft(Alias(f"t{n}", "role"), "why", ME) for n in range(1000)]
    sign_rulings(drafts, desk.key, desk.table, NOON, signers=load_signers(desk.user))
    check.cache_clear()
    parse_table.cache_clear()
    table = desk.verify()
    assert len(table.valid()) == 1000


def test_the_clock_is_read_once_where_none_is_given(desk: Desk) -> None:
    now = dt.datetime.now(dt.UTC)
    desk.rule(Alias("agent", "role"), at=now - HOUR)
    assert len(verify_table(desk.table, load_signers(desk.user)).valid()) == 1


def test_who_unquotes_a_type_name_by_hand_does_not_break_its_signature(desk: Desk) -> None:
    for name in ("no", "null", "1e3", "true", "12", "2026-10-03"):
        desk.rule(Alias(name, "role"))
    unquoted = desk.table.read_bytes()
    for bare in (b"no", b"null", b"1e3", b"true", b"12", b"2026-10-03"):
        unquoted = unquoted.replace(b'"' + bare + b'"', bare)
    before = desk.verify()
    desk.table.write_bytes(unquoted)
    assert desk.verify().valid() == before.valid()
    assert len(before.valid()) == 6


@pytest.mark.parametrize("value", [12, 1.5, True, None, ["a", 1]])
def test_a_number_signed_where_text_belongs_is_no_forgery(desk: Desk, value: Any) -> None:
    first = desk.rule(Alias("agent", "role"))
    desk.put([*desk.blocks(), _signed(desk, seq=2, prev=first.hash, v=2, until=value)])
    table = desk.verify()
    assert table.trusted, table.distrust
    assert table.entries[1].fields["until"] == value
    assert [r.seq for r in table.valid()] == [1]


@given(picked=st.lists(st.integers(0, 4), max_size=8))
@settings(max_examples=300, deadline=None)
def test_any_other_selection_of_the_entries_is_distrusted(
    picked: list[int], five: tuple[Blocks, Signers, Head]
) -> None:
    blocks, signers, seen = five
    data = b"".join(blocks[n] for n in picked)
    assert verify_table(data, signers, seen, NOON + DAY).trusted is (picked == [0, 1, 2, 3, 4])
    assert verify_table(data, signers, Head(), NOON + DAY).trusted is (picked == list(range(len(picked))))


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> tuple[Blocks, Signers, Head]:
    """Five valid entries and who signed them."""
    folder = tmp_path_factory.mktemp("five")
    desk = Desk(folder, folder / "user")
    last = desk.rule_many(5)[-1]
    return desk.blocks(), load_signers(desk.user), Head(last.seq, last.hash)
