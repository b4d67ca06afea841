"""OpenSSH's dates of `valid-after` and `valid-before`: YYYYMMDD or YYYYMMDDHHMM[SS], local time unless a Z follows."""

from __future__ import annotations

import datetime as dt
import re
import time

_FORM = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z|UTC)?", re.IGNORECASE | re.ASCII)


def parse_ssh_date(text: str) -> dt.datetime:
    """The moment in UTC; raises ValueError.

    A date without Z is read as OpenSSH reads it: in the system's zone, in its standard time also in summer.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date such as 20270131 or 20270131120000Z")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        stated = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
        if match.group(7):
            return stated
        local = time.mktime((year, month, day, hour, minute, second, 0, 0, 0))
        return dt.datetime.fromtimestamp(local, dt.UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"{text!r} is not a date") from error


def format_ssh_date(moment: dt.datetime) -> str:
    """The same moment for allowed_signers, in UTC, to the second."""
    return moment.astimezone(dt.UTC).strftime("%Y%m%d%H%M%SZ")


def show(moment: dt.datetime) -> str:
    """A moment for people, in UTC."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
