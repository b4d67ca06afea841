"""`ct-tui ontology set`: a mode for the host, a folder or an entity, and a manifest's fallback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.heal.ontology_set import SetResult


@verb(
    "set",
    "Set a mode or a fallback type.",
    text="""--mode alone sets the host default, with --dir a folder's mode, with --entity an opt-out (off) or a strict
    row of the entity's own (strict). --fallback names the declared type on which unknown labels land. Everything is
    checked before anything is written.""",
    examples=[
        "ct-tui ontology set --mode off --dir documents/drafts",
        "ct-tui ontology set --entity ent_5f0c1d --mode off",
        "ct-tui ontology set --fallback concept",
    ],
)
@click.option("--mode", metavar="MODE", help="off or strict.")
@click.option("--entity", metavar="ID", help="For one entity; excludes --dir.")
@click.option("--dir", "directory", metavar="PREFIX", help="For a folder of the vault; excludes --entity.")
@click.option("--fallback", metavar="TYPE", help="The declared type on which unknown labels land.")
@click.pass_obj
def command(
    settings: Settings, mode: str | None, entity: str | None, directory: str | None, fallback: str | None
) -> None:
    """Check, then write."""
    from ct_tui.heal.ontology_set import SetRequest, set_ontology

    settings.require_write()
    with settings.workbench() as bench:
        result = set_ontology(bench.brain, bench.places.config, SetRequest(mode, entity, directory, fallback))
    if result.warning:
        settings.out.note(f"ct-tui: {result.warning}")
    settings.give(result.as_json(), lambda: set_lines(result))


def set_lines(result: SetResult) -> list[str]:
    """What was set, for a person."""
    from ct_tui.cli.text import show

    target = show(result.resolved_entity or result.entity or "")
    done = (
        (result.config_written, "config.json is written"),
        (result.optout_written, f"{target} is opted out"),
        (result.optout_deleted, f"{target} is no longer opted out"),
        (result.manifest_row_written, f"{target} has a strict manifest row of its own"),
        (result.fallback_written, f"unknown labels land on {show(result.fallback)}" if result.fallback else ""),
    )
    return [f"{text}." for was, text in done if was] or ["nothing had to be changed."]
