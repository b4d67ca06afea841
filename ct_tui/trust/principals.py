"""Principals: the names that rulings are signed under, such as you@example.org."""

from __future__ import annotations

import fnmatch

from ct_tui.domain.errors import BadInput

_RESERVED = frozenset('",*?!#\\')
WILDCARDS = frozenset("*?")
_LONGEST = 200


def require_principal(principal: str) -> None:
    """Raise BadInput unless the name can stand in allowed_signers as itself and as nobody else."""
    if not principal:
        raise BadInput("A principal is needed: the name to sign under.", "Such as --as you@example.org.")
    if len(principal) > _LONGEST or not principal.isprintable() or any(c.isspace() for c in principal):
        raise BadInput(f"{principal!r} cannot be a principal: it must be one word.", "Such as you@example.org.")
    wrong = sorted(_RESERVED & set(principal))
    if wrong:
        raise BadInput(f"{principal!r} cannot be a principal: it holds {' '.join(wrong)}.", "Such as you@example.org.")


def is_pattern(name: str) -> bool:
    """Whether a name of a pattern list may stand for more than itself."""
    return bool(WILDCARDS & set(name))


def matches(pattern: str, name: str) -> bool:
    """OpenSSH's match: `*` any characters, `?` one, nothing else special."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))
