"""A study's report as a page that stands alone, with no script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tuplet.studies.report import Report, games, interval, word, written
from tuplet.studies.verdicts import Estimate, Row
from tuplet.system.files import atomic_write
from tuplet.system.page import document, picture
from tuplet.system.pictures import as_svg, save_figure
from tuplet.system.version import __version__

JSON, PAGE = "report.json", "report.html"
_BADGES = {"agrees": "agrees", "differs": "differs", "too few games": "open", "not comparable": "open"}


def write(report: Report, folder: Path) -> None:
    """The page, the JSON and the pictures, into a folder."""
    for name, draw in report.found.pictures.items():
        save_figure(draw(), folder / f"{name}.svg")
    for name, text in ((JSON, json.dumps(report.as_json(), indent=1)), (PAGE, page(report))):
        with atomic_write(folder / name) as file:
            file.write(text.encode() + b"\n")


def page(report: Report) -> str:
    """A report as HTML."""
    parts = [
        _head(report),
        "<main>",
        _table(report),
        _pictures(report),
        _settings(report),
        "</main>",
        f"<footer><p>Made by tuplet {__version__}.</p></footer>",
    ]
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return document(f"{report.study}: {report.about}", parts, style)


def _head(report: Report) -> str:
    scaled = f'<p class="warn">{escape(report.scaled)}</p>' if report.scaled else ""
    return (
        f"<header><h1>{escape(report.study)}</h1>"
        f'<p class="lead">{escape(_sentence(report.about))}</p><p>{escape(report.claim)}</p>'
        f"<pre>{escape(report.command)}</pre>{scaled}</header>"
    )


def _table(report: Report) -> str:
    names, rows = report.columns, report.rows
    numbers = [not report.of_words(name) for name in names]
    published = report.published
    head = [
        *(
            f"<th{'' if number else ' class=words'}>{escape(name)}</th>"
            for name, number in zip(names, numbers, strict=True)
        ),
        *(["<th>our games</th>"] if report.counted else []),
        "<th>ours</th><th>95 %</th>",
    ]
    if published:
        head.append("<th>published</th><th>95 %</th><th></th><th class=words>verdict</th>")
    lines = []
    for row in rows:
        where, ours, theirs, unit, *_ = row.cell
        cells = [
            f"<td{'' if number else ' class=words'}>{escape(word(where.get(name, '')))}</td>"
            for name, number in zip(names, numbers, strict=True)
        ]
        cells += [f"<td>{games(ours)}</td>"] if report.counted else []
        cells.append(f'<td class="strong">{written(ours.value, unit)}</td>')
        cells.append(f'<td class="range">{interval(ours.ci95, unit)}</td>')
        if published:
            value = "" if theirs is None else written(theirs.value, unit)
            known = "" if theirs is None else interval(theirs.ci95, unit)
            cells.append(f'<td class="strong">{value}</td><td class="range">{known}</td>')
            cells.append(f'<td class="both wide">{_both(row, rows)}</td>')
            badge = f'<span class="badge {_BADGES[row.verdict]}">{row.verdict}</span>'
            said = f"<small>{escape(row.note)}</small>" if row.note.strip() else ""
            cells.append(f"<td class=words>{badge}{said}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in report.found.notes)
    legend = (
        (
            f'<p class="note">Intervals are of 95 %. {escape(report.seen)} Differs: in 19 of 20 '
            "studies no row does by chance alone (Holm 1979). Bars: ours in blue, published in red.</p>"
        )
        if published
        else ""
    )
    return (
        f'<section><h2>Ours and the published</h2><div class="scroll"><table><thead><tr>'
        f"{''.join(head)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>{legend}{notes}"
        "</section>"
    )


def _both(row: Row, rows: Sequence[Row]) -> str:
    """Both intervals on a scale that all rows of a unit share."""
    unit = row.cell.unit
    same = [
        each
        for other in rows
        if other.cell.unit == unit
        for each in (other.cell.ours, other.cell.published)
        if each is not None
    ]
    ends = [end for each in same for end in (each.ci95 or (each.value, each.value))]
    low, high = (0.0, 1.0) if unit == "share" else (min(ends), max(ends))

    def x(value: float) -> str:
        share = (min(max(value, low), high) - low) / ((high - low) or 1)
        return f"{4 + 192 * share:.1f}"

    def line(each: Estimate | None, kind: str, y: int) -> str:
        if each is None:
            return ""
        ends = each.ci95 or (each.value, each.value)
        return (
            f'<g class="{kind}"><line x1="{x(ends[0])}" x2="{x(ends[1])}" y1="{y}" y2="{y}" '
            f'stroke-width="3" stroke-linecap="round" opacity="0.45"/>'
            f'<circle cx="{x(each.value)}" cy="{y}" r="3.5" stroke="none"/></g>'
        )

    inner = line(row.cell.ours, "mine", 8) + line(row.cell.published, "theirs", 18)
    return f'<svg viewBox="0 0 200 26" aria-hidden="true">{inner}</svg>'


def _pictures(report: Report) -> str:
    if not report.found.pictures:
        return ""
    figures = "".join(
        f"<figure>{picture(as_svg(draw()), f'{report.study}: {name}')}</figure>"
        for name, draw in report.found.pictures.items()
    )
    return f"<section><h2>Pictures</h2>{figures}</section>"


def _settings(report: Report) -> str:
    lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in report.found.settings.items())
    return f"<section><h2>Settings</h2><dl>{lines}</dl></section>" if lines else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
