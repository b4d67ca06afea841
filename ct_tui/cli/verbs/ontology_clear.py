"""`ct-tui ontology clear`: takes back what `ontology set --mode` set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "clear",
    "Take one mode back.",
    text="""The opt-out of an entity, the mode of a folder, or the host default is removed, so that the ladder climbs
    past it again. An entity's own strict row stays: manifests are the wiki engine's.""",
    examples=["ct-tui ontology clear --dir documents/drafts", "ct-tui ontology clear --entity ent_5f0c1d"],
)
@click.option("--entity", metavar="ID", help="The opt-out of one entity.")
@click.option("--dir", "directory", metavar="PREFIX", help="The mode of a folder.")
@click.option("--default", "host", is_flag=True, help="The host default.")
@click.pass_obj
def command(settings: Settings, entity: str | None, directory: str | None, host: bool) -> None:
    """Remove the one setting that is named."""
    from ct_tui.cli.verbs.ontology_set import set_lines
    from ct_tui.heal.ontology_set import clear_ontology

    settings.require_write()
    with settings.workbench() as bench:
        result = clear_ontology(bench.brain, bench.places.config, entity=entity, folder=directory, host=host)
    settings.give(result.as_json(), lambda: set_lines(result))
