"""`ct-tui ontology show`: the policy, the manifests, the opt-outs, and what each is good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.heal.ontology_show import FolderView, ManifestView, OntologyView


@verb(
    "show",
    "Show the manifests and what each is good for.",
    text="""The folder rules with what each decides and how many entities it covers, what an entity meets that no
    folder decides, every manifest row with whether it can gate, and the opt-outs.""",
    examples=["ct-tui ontology show", "ct-tui ontology show --json"],
)
@click.pass_obj
def command(settings: Settings) -> None:
    """Show the policy."""
    from ct_tui.heal.ontology_show import show_ontology
    from ct_tui.policy.load import load_policy

    with settings.workbench() as bench:
        policy = load_policy(bench.places.config)
        with bench.brain.snapshot() as db:
            view = show_ontology(db, bench.brain.schema, policy)
    settings.give(view.as_json(), lambda: _lines(view, settings.out.width))


def _lines(view: OntologyView, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import paragraph, show, table

    policy = view.policy
    default = policy.default.value if policy.default is not None else "not set"
    lines = [
        paint(f"The policy is {view.state}.", "bold" if view.state == "whole" else "red"),
        f"  schema {show(policy.schema) if policy.schema else 'not set'}, ontology_default {default}",
        *paragraph(f"where no folder decides: {view.host_sentence}", width),
        f"  watermark {policy.watermark}",
    ]
    for problem in policy.problems:
        lines += paragraph(f"! {problem.where}: {problem.message}", width)
    if view.folders:
        lines += ["", paint("folders", "cyan"), *table([_folder(f) for f in view.folders], width=width)]
    lines += ["", paint("manifests", "cyan")]
    lines += table([_manifest(m) for m in view.manifests], width=width) or ["  none: the app makes them when it opens"]
    if view.opt_outs:
        rows = [
            (show(o.entity), show(o.name) if o.name else "-", show(o.reason) if o.reason else "") for o in view.opt_outs
        ]
        lines += ["", paint("opted out", "cyan"), *table(rows, width=width)]
    return lines


def _folder(folder: FolderView) -> tuple[str, ...]:
    from ct_tui.cli.text import count, show

    covers = count(folder.entities, "entity") if folder.entities is not None else ""
    return show(folder.key), folder.mode.value if folder.mode else "unreadable", covers, show(folder.effect)


def _manifest(view: ManifestView) -> tuple[str, ...]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, show
    from ct_tui.domain.holds import hold_text

    row = view.row
    if row.vocabulary is None:
        return show(row.entity_id), show(row.mode), paint("! unreadable", "red"), show(row.error or "")
    known = row.vocabulary
    fallback = f"fallback {show(known.fallback)}" if known.fallback else "no fallback"
    says = f"{count(len(known.names), 'type')}, {count(len(known.edge_types), 'edge signature')}, {fallback}"
    if view.redirected:
        says += "; its entity was merged away"
    if view.hold is not None:
        says += f"; {show(hold_text(view.hold))}"
    return show(row.entity_id), show(row.mode), "usable" if view.usable else paint("! unusable", "red"), says
