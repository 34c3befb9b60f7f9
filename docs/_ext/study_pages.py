"""The pages of studies: tables and pictures are those of reports, and prose says no other number.

    python docs/_ext/study_pages.py studies/ewn-c ...

takes the reports of these folders into docs/studies: `NAME.json`, the pictures as `NAME-*.svg`, and
the table of `NAME.md` between its two marks. `strangers` finds the numbers of a page that are not
in its JSON; the tests ask it.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tuplet.studies.report import interval, label_text, written

PAGES = Path(__file__).parents[1] / "studies"
BEGIN, END = "<!-- the table of {}.json -->", "<!-- the end of the table -->"
_NUMBER = re.compile(r"(?<![\w.,-])[-+−]?\d[\d,]*(?:\.\d+)?(?![\w])")


def table(report: dict[str, Any]) -> str:
    """A report's rows as a table in Markdown."""
    rows = report["rows"]
    shown = report["columns"]
    published = any(row["published"] is not None for row in rows)
    counted = published and any(row.get("ours_games") is not None for row in rows)
    head = [*shown, *(["our games"] if counted else []), "ours (95 %)"]
    head += ["published (95 %)", "verdict"] if published else []
    lines = [head, ["---"] * len(head)]
    for row in rows:
        line = [label_text(row.get(name, "")) for name in shown]
        if counted:
            line.append("" if row["ours_games"] is None else f"{row['ours_games']:,}")
        line.append(_told(row, "ours"))
        if published:
            note = f"; {row['note']}" if row["note"].strip() else ""
            line += [_told(row, "published"), row["verdict"] + note]
        elif row["note"].strip():
            line[-1] += f"; {row['note']}"
        lines.append(line)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _told(row: dict[str, Any], whose: str) -> str:
    value, ci95 = row[whose], row[f"{whose}_ci95"]
    if value is None:
        return "–"
    known = f" ({interval(tuple(ci95), row['unit'])})" if ci95 else ""
    return f"{written(value, row['unit'])}{known}"


def with_table(page: str, report: dict[str, Any]) -> str:
    """A page with the table of a report between its marks."""
    begin = BEGIN.format(report["study"])
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(END)
    if not rest or not after:
        raise ValueError(f"the page of {report['study']} has no place for its table: {begin} … {END}")
    return f"{before}{begin}\n\n{table(report)}\n\n{END}{after}"


def strangers(page: str, report: dict[str, Any]) -> list[str]:
    """The numbers of a page's prose that its report does not have."""
    page = re.sub(f"{BEGIN.format(report.get('study', ''))}.*?{END}", "", page, flags=re.DOTALL)
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->|<[^>]*>", " ", page, flags=re.DOTALL)
    prose = prose.replace("−", "-")
    known = {"95", *_numbers(report)}  # all intervals are of 95 %
    return [n for n in _NUMBER.findall(prose) if _plain(n) not in known]


def _numbers(value: Any) -> Iterator[str]:
    """Every number of a report, in the ways it may be written."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(name)
            yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, str):
        yield from map(_plain, _NUMBER.findall(value.replace("−", "-")))
        yield from map(_plain, re.findall(r"\d[\d,]*(?:\.\d+)?", value))
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        for scale in (1, 100):
            for digits in range(5):
                yield _plain(f"{scale * value:.{digits}f}")


def _plain(number: str) -> str:
    """A number without what people put around its digits."""
    text = number.replace(",", "").lstrip("+-")
    return text.rstrip("0").rstrip(".") if "." in text else text


def take(folder: Path) -> None:
    """Take a study's report into the pages."""
    report = json.loads((folder / "report.json").read_bytes())
    name = report["study"]
    (PAGES / f"{name}.json").write_text(json.dumps(report, separators=(",", ":")) + "\n")
    for picture in sorted(folder.glob("*.svg")):
        (PAGES / f"{name}-{picture.name}").write_bytes(picture.read_bytes())
    page = PAGES / f"{name}.md"
    if page.exists():
        page.write_text(with_table(page.read_text(), report))


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        take(Path(folder))
