"""The text boundary: what it makes of data, and that no other way leads from data to a widget.

The scan reads the source of the workstation. Whatever reaches a widget must be a literal, or come out of a function of
`ct_tui.tui.text` (or of one that is itself annotated to give its pieces, lines or content).
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.content import Content

from ct_tui.tui import text
from ct_tui.tui.text import (
    Piece,
    blank,
    contents,
    counted,
    data,
    fit,
    moment,
    number,
    plain,
    prose,
    right,
    say,
    wrapped,
)

ROOT = Path(__file__).parents[2] / "ct_tui" / "tui"
SOURCES = sorted(ROOT.rglob("*.py"))

WIDGETS = {
    "Static",
    "Label",
    "Button",
    "Digits",
    "Link",
    "Option",
    "Collapsible",
    "Markdown",
    "Checkbox",
    "RadioButton",
    "Toast",
    "Rule",
}
"""Textual's widgets that take a text as markup; none of them is used with anything but content."""
MARKUP_ATTRIBUTES = {"border_title", "border_subtitle", "tooltip", "sub_title", "placeholder"}
LITERAL_ONLY = {"say"}
"""Functions that take the program's own words, which must stand in the source as they are."""
OWN_WORDS = {"drawn", "heading", "counted", "hints"}
"""Functions that take the program's own words or names of its own constants."""


def calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def name_of(call: ast.Call) -> str:
    target = call.func
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def is_literal(node: ast.expr) -> bool:
    """Whether an expression can only be text that stands in the source."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.JoinedStr):
        # A value with a format of its own, such as `:g` or `:,`, is a number: text raises there.
        return all(isinstance(v, ast.Constant) or _numeric(v) for v in node.values)
    if isinstance(node, ast.IfExp):
        return is_literal(node.body) and is_literal(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_literal(node.left) and is_literal(node.right)
    return False


def _numeric(node: ast.expr) -> bool:
    if not isinstance(node, ast.FormattedValue) or not isinstance(node.format_spec, ast.JoinedStr):
        return False
    spec = "".join(str(v.value) for v in node.format_spec.values if isinstance(v, ast.Constant))
    return spec[-1:] in {"g", "d", "f", "x", ","}


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_but_literals_is_said(source: Path) -> None:
    if source.name == "text.py":
        return
    tree = ast.parse(source.read_text(encoding="utf-8"))
    local = _literal_names(tree)
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id in LITERAL_ONLY and call.args:
            first = call.args[0]
            ok = is_literal(first) or (isinstance(first, ast.Name) and first.id in local)
            assert ok, f"{source}:{call.lineno}: say() takes literals only, data() takes data"


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_widget_takes_a_plain_text(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for call in calls(tree):
        called = name_of(call)
        where = f"{source}:{call.lineno}"
        if called in WIDGETS and call.args:
            assert _from_boundary(call.args[0]), f"{where}: {called} reads markup"
        if called == "notify":
            assert any(k.arg == "markup" and getattr(k.value, "value", True) is False for k in call.keywords), where
        assert called not in {"from_markup", "render_str"}, f"{where}: markup"
        assert not (called == "Segment" and source.name != "ink.py"), f"{where}: segments are made in one place"
        assert not (called == "Piece" and not _piece_is_inert(call, source)), f"{where}: pieces are made in text.py"


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_attribute_that_reads_markup_is_set_to_data(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr in MARKUP_ATTRIBUTES:
                value = node.value  # type: ignore[attr-defined]
                assert value is None or is_literal(value), f"{source}:{node.lineno}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pictures_and_headings_are_not_built_from_data(source: Path) -> None:
    if source.name == "text.py":
        return
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id in OWN_WORDS:
            for argument in call.args:
                made = isinstance(argument, ast.JoinedStr) and not is_literal(argument)
                made = made or (isinstance(argument, ast.Call) and name_of(argument) == "str")
                assert not made, f"{source}:{call.lineno}: {call.func.id}() takes the program's own words"


def test_the_scan_finds_what_it_is_for() -> None:
    bad = ast.parse("say(name)\nsay(f'{name}')\nStatic(name)\nStatic(f'x {name}')\nself.notify(name)")
    found = calls(bad)
    assert not is_literal(found[0].args[0])
    assert not is_literal(found[1].args[0])
    assert not _from_boundary(found[2].args[0])
    assert not _from_boundary(found[3].args[0])


def _literal_names(tree: ast.AST) -> set[str]:
    """Names that a loop or an assignment of this module binds to literals alone."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)):
            found |= _loop_names(node)
        if isinstance(node, ast.Assign) and is_literal(node.value):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _loop_names(loop: ast.For) -> set[str]:
    names = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    found: set[str] = set()
    for at, name in enumerate(names):
        values = [item.elts[at] if isinstance(item, ast.Tuple) else item for item in loop.iter.elts]  # type: ignore[attr-defined]
        if isinstance(name, ast.Name) and all(is_literal(value) for value in values):
            found.add(name.id)
    return found


def _from_boundary(node: ast.expr) -> bool:
    return is_literal(node) or (isinstance(node, ast.Call) and name_of(node) in {"content", "contents"})


def _piece_is_inert(call: ast.Call, source: Path) -> bool:
    """A piece outside text.py only re-inks a text that was a piece before, or draws blanks."""
    if source.name == "text.py" or not call.args:
        return True
    first = call.args[0]
    if isinstance(first, ast.Attribute) and first.attr == "text":
        return True
    return is_literal(first) or (isinstance(first, ast.BinOp) and is_literal(first.left))


# What the functions make of things


def test_data_is_inert_and_cut() -> None:
    assert data("[red]\x1b[31m") == Piece("[red]␛[31m")
    assert data("a" * 100, "dim", 5) == Piece("aaaa…", "dim")
    assert data("") == Piece("‹blank›")
    assert data(None) == Piece("‹NULL›")
    assert data(b"\xff") == Piece("‹0xFF›")


def test_numbers_and_times_of_any_size() -> None:
    assert number(1234567).text == "1,234,567"
    assert number(None).text == "–"
    assert counted(1, "edge").text == "1 edge"
    assert counted(2, "entity", "entities").text == "2 entities"
    assert moment(None).text == "–"
    assert moment(1e30).text == "1e+30 s"
    assert moment(0).text.startswith("19")


@pytest.mark.parametrize("width", range(1, 30))
def test_a_line_fits_exactly(width: int) -> None:
    line = (say("ab "), data("日本語テキスト", "type"), blank(2), data("e\u0301x"))
    fitted = fit(line, width)
    assert cell_len(plain(fitted)) == width
    if width < cell_len(plain(line)):
        assert "…" in plain(fitted)


@pytest.mark.parametrize("width", range(4, 40))
def test_a_long_line_is_wrapped_without_losing_anything(width: int) -> None:
    line = (say("  · "), data("the quick 日本 brown fox jumps over a_very_long_identifier_without_spaces", "type"))
    rows = list(wrapped(line, width, 4))
    assert all(cell_len(plain(row)) <= width for row in rows)
    assert "".join("".join(plain(row).split()) for row in rows) == "".join(plain(line).split())


def test_content_is_never_markup() -> None:
    made = contents(((say("a "), data("[/]", "type")), (data("[@click=app.quit]x[/]"),)))
    assert isinstance(made, Content)
    assert made.plain == "a [/]\n[@click=app.quit]x[/]"
    assert {span.style for span in made.spans} == {text.INKS["type"]}


def test_a_text_that_is_too_long_says_how_much_is_left() -> None:
    lines = prose("x" * 10_000)
    assert "6,000 more characters" in plain(lines[-1])
    assert len(lines) == 2


def test_right_alignment_is_by_cells() -> None:
    assert plain(right(data("日"), 5)) == "   日"


@pytest.mark.parametrize(
    ("value", "width", "shown"),
    [
        (99_999, 6, "99,999"),
        (300_043, 6, "300043"),
        (300_043, 5, " 300k"),
        (1_234_567, 6, "  1.2M"),
        (999_999_999, 6, "999.9M"),
        (12_345_678_901, 6, " 12.3G"),
    ],
)
def test_a_number_is_written_shorter_but_never_cut(value: int, width: int, shown: str) -> None:
    assert plain(right(number(value), width)) == shown


def test_every_ink_is_known_to_every_theme() -> None:
    from ct_tui.tui.theme import DARK, DEFAULTS, LIGHT

    names = {word[1:] for style in text.INKS.values() for word in style.split() if word.startswith("$")}
    assert names <= set(DEFAULTS)
    for theme in (DARK, LIGHT):
        assert names <= set(theme.variables)


@pytest.mark.parametrize("width", [10, 24, 60])
def test_a_word_longer_than_the_width_leaves_no_empty_row(width: int) -> None:
    path = "/vault/" + "a-very-long-folder/" * 6 + "note.md"
    rows = [plain(row) for row in wrapped((blank(4), data(path, "dim"), say(":", "dim"), number(18)), width, 4)]
    assert all(row.strip() for row in rows)
    assert rows[0].startswith("    /v")
    assert "".join(row.strip() for row in rows) == f"{path}:18"
    assert all(cell_len(row) <= width for row in rows)
