"""A study's report as a page that stands alone, with no script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tuplet.studies.report import Report
from tuplet.studies.verdicts import Row
from tuplet.system.files import atomic_write
from tuplet.system.page import document, interval_bars, picture
from tuplet.system.pictures import as_svg, save_figure
from tuplet.system.version import __version__

JSON, PAGE = "report.json", "report.html"
_BADGES = {"agrees": "agrees", "differs": "differs", "too few games": "open", "not comparable": "open"}


def write(report: Report, folder: Path) -> None:
    """The page, the JSON and the pictures, into a folder."""
    for name, draw in report.result.pictures.items():
        save_figure(draw(), folder / f"{name}.svg")
    for name, text in ((JSON, json.dumps(report.as_json(), indent=1)), (PAGE, page(report))):
        with atomic_write(folder / name) as file:
            file.write(text.encode() + b"\n")


def page(report: Report) -> str:
    """A report as HTML."""
    scaled = f'<p class="warn">{escape(report.scaled)}</p>' if report.scaled else ""
    about = f"{report.about[:1].upper()}{report.about[1:]}."
    figures = "".join(
        f"<figure>{picture(as_svg(draw()), f'{report.study}: {name}')}</figure>"
        for name, draw in report.result.pictures.items()
    )
    settings = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in report.result.settings.items()
    )
    parts = [
        f'<header><h1>{escape(report.study)}</h1><p class="lead">{escape(about)}</p><p>{escape(report.claim)}</p>'
        f"<pre>{escape(report.command)}</pre>{scaled}</header>",
        "<main>",
        _table(report),
        f"<section><h2>Pictures</h2>{figures}</section>" if figures else "",
        f"<section><h2>Settings</h2><dl>{settings}</dl></section>" if settings else "",
        "</main>",
        f"<footer><p>Made by tuplet {__version__}.</p></footer>",
    ]
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return document(f"{report.study}: {report.about}", parts, style)


def _table(report: Report) -> str:
    head, lines = report.lines()
    classes = {"ours": "strong", "published": "strong", "95 %": "range", "verdict": "words"}
    kinds = [classes.get(name, "words" if report.of_words(name) else "") for name in head]
    html = []
    for row, line in zip(report.rows, lines, strict=True):
        cells = [
            _verdict(row, report.rows)
            if name == "verdict"
            else f"<td{f' class={kind}' * bool(kind)}>{escape(text)}</td>"
            for name, kind, text in zip(head, kinds, line, strict=True)
            if name != "note" or not report.published
        ]
        html.append(f"<tr>{''.join(cells)}</tr>")
    names = "".join(
        f"{'<th></th>' * (name == 'verdict')}<th{' class=words' * (kind == 'words')}>{escape(name)}</th>"
        for name, kind in zip(head, kinds, strict=True)
        if name != "note" or not report.published
    )
    legend = (
        f'<p class="note">Intervals have 95 % confidence. {escape(report.seen)} Differs: in 19 of 20 studies no row '
        "does by chance alone (Holm 1979). Bars: ours in blue, published in red.</p>"
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in report.result.notes)
    return (
        f'<section><h2>Ours and the published</h2><div class="scroll"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{''.join(html)}</tbody></table></div>{legend if report.published else ''}{notes}</section>"
    )


def _verdict(row: Row, rows: Sequence[Row]) -> str:
    """Both intervals on a scale that all rows of a unit share, and the verdict."""
    unit = row.cell.unit
    estimates = [each for other in rows if other.cell.unit == unit for each in other.cell[1:3] if each is not None]
    ends = [end for each in estimates for end in each.ci95 or (each.value, each.value)]
    low, high = (0.0, 1.0) if unit == "share" else (min(ends), max(ends))
    both = zip(("mine", "theirs"), (row.cell.ours, row.cell.published), strict=True)
    bars = [(name, each.value, each.ci95 or (each.value, each.value)) for name, each in both if each is not None]
    note = f"<small>{escape(row.note)}</small>" if row.note.strip() else ""
    badge = f'<span class="badge {_BADGES[row.verdict]}">{row.verdict}</span>'
    return f'<td class="both wide">{interval_bars(bars, low, high)}</td><td class="words">{badge}{note}</td>'
