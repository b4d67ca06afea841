"""The prefix resolver and the lookup table against a slow, obvious reading of the rules."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.policy import Outcome, read_policy

SEGMENTS = st.sampled_from(["ops", "a", "b", "ops-x", ".", "..", "", "A"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)
SLASHED = st.builds(lambda p, s: p.replace("/", "\\") if s else p, PATHS, st.booleans())
KEYS = st.builds(
    lambda pre, k, post: pre + k + post,
    st.sampled_from(["", "/", "./", "\\"]),
    SLASHED,
    st.sampled_from(["", "/", "//"]),
)
VALUES = st.sampled_from(["off", "strict", "Off", None, 1])
SCHEMAS = st.sampled_from([None, "schema-org", "off", "nope"])
ROOTS = st.sampled_from([None, "/v", "/v/ops/"])
CONFIGS = st.builds(
    lambda folders, default, schema, root: (folders, default, schema, root),
    st.dictionaries(KEYS, VALUES, max_size=5),
    st.sampled_from(["absent", "off", "strict", "Off"]),
    SCHEMAS,
    ROOTS,
)
ASKED = st.one_of(st.none(), SLASHED, SLASHED.map(lambda p: "/v/" + p), SLASHED.map(lambda p: "/elsewhere/" + p))


def document(config: tuple[dict[str, Any], str, str | None, str | None]) -> dict[str, Any]:
    folders, default, schema, root = config
    ingest: dict[str, Any] = {"folder_ontology": folders}
    if default != "absent":
        ingest["ontology_default"] = default
    found: dict[str, Any] = {"ingest": ingest, "vault_path": root}
    if schema is not None:
        found["ontology"] = {"schema": schema}
    return found


def slow_lookup(config: tuple[dict[str, Any], str, str | None, str | None], path: str | None) -> tuple[int, Outcome]:
    """The lookup table row by row, over lists and plain comparisons."""
    folders, default, schema, root = config
    good = {k: v for k, v in folders.items() if v in ("off", "strict")}
    dropped = [slow_key(k) for k in folders if k not in good]
    mode = default if default in ("off", "strict") else None
    default_dropped = default == "Off"
    unparseable = schema == "nope"
    known_schema = None if unparseable else schema

    def rung3(row: int) -> tuple[int, Outcome]:
        if mode is not None:
            return row, Outcome(mode)
        return row, Outcome.OFF if known_schema == "off" else Outcome.CLIMB

    unknown = mode is None and known_schema is None and unparseable
    if path is None:
        if default_dropped:
            return 7, Outcome.HOLD
        return (8, Outcome.HOLD) if unknown else rung3(9)
    matchable = {k: v for k, v in good.items() if slow_matchable(k)}
    inert = [k for k in good if k not in matchable]
    holders = [u for u in map(slow_usable, dropped + inert) if u]
    groups: dict[str, set[str]] = {}
    for key, value in matchable.items():
        groups.setdefault(slow_key(key), set()).add(value)
    tied = any(len(values) > 1 for values in groups.values())
    relative = slow_relative(path, root)
    if relative is None:
        if unknown:
            return 4, Outcome.HOLD
        if "off" in good.values() or holders or tied or dropped or default_dropped:
            return 5, Outcome.HOLD
        return rung3(6)
    matches = [k for k in groups if relative.startswith(k + "/")]
    best = max(matches, key=lambda k: len(k.split("/")), default=None)
    covering = [h for h in holders if relative == h or relative.startswith(h + "/")]
    deepest = max((len(h.split("/")) for h in covering), default=0)
    if covering and not (best is not None and len(groups[best]) == 1 and len(best.split("/")) > deepest):
        return 1, Outcome.HOLD
    if best is not None:
        return (2, Outcome.HOLD) if len(groups[best]) > 1 else (3, Outcome(next(iter(groups[best]))))
    if default_dropped:
        return 7, Outcome.HOLD
    return (8, Outcome.HOLD) if unknown else rung3(9)


def slow_key(key: str) -> str:
    key = key.replace("\\", "/")
    while key.startswith("/"):
        key = key[1:]
    while key.endswith("/"):
        key = key[:-1]
    return key


def slow_matchable(key: str) -> bool:
    return slow_key(key) != "" and not [s for s in slow_key(key).split("/") if s in ("", ".", "..")]


def slow_usable(key: str) -> str:
    segments = [s for s in slow_key(key).split("/") if s not in ("", ".")]
    return "" if ".." in segments else "/".join(segments)


def slow_relative(path: str, root: str | None) -> str | None:
    if path.startswith("/"):
        if root is None:
            return None
        wanted = [s for s in root.split("/") if s not in ("", ".")]
        rest = path
        for segment in wanted:
            while rest.startswith(("/", "./")) or rest == ".":
                rest = rest[1:]
            if not (rest == segment or rest.startswith(segment + "/")):
                return None
            rest = rest[len(segment) :]
        while rest.startswith(("/", "./")) or rest == ".":
            rest = rest[1:]
        path = rest
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


@settings(max_examples=1500, deadline=None)
@given(CONFIGS, ASKED)
def test_the_lookup_equals_the_obvious_one(
    config: tuple[dict[str, Any], str, str | None, str | None], path: str | None
) -> None:
    answer = read_policy(json.dumps(document(config)).encode()).lookup(path)
    assert (answer.row, answer.outcome) == slow_lookup(config, path)
    assert answer.path == path
    assert answer.why


@given(CONFIGS, st.lists(ASKED, max_size=6))
def test_without_folders_every_lookup_equals_the_pathless_one(
    config: tuple[dict[str, Any], str, str | None, str | None], paths: list[str | None]
) -> None:
    policy = read_policy(json.dumps(document(({}, *config[1:]))).encode())
    assert not policy.paths_matter
    assert {policy.lookup(path).outcome for path in paths} <= {policy.lookup(None).outcome}


@given(CONFIGS)
def test_the_watermark_ignores_order_and_equals_itself(
    config: tuple[dict[str, Any], str, str | None, str | None],
) -> None:
    folders, default, schema, root = config
    turned = (dict(reversed(folders.items())), default, schema, root)
    one = read_policy(json.dumps(document(config)).encode())
    other = read_policy(json.dumps(document(turned), indent=2).encode())
    assert one.watermark == other.watermark
    assert len(one.watermark) == 64
