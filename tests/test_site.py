"""The site that `make docs` builds: without a warning, without a network, good on a phone."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import tuplet
from pages import DOCS, blocks, follow
from tuplet.testing import programs

pytestmark = pytest.mark.slow

PHONE = 390  # pixels
FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("img", "srcset"),
    ("object", "data"),
    ("link", "href"),
    ("image", "href"),
    ("use", "href"),
    ("video", "src"),
    ("audio", "src"),
}


# Of each frame: what sticks out, unless it stands in something of its own that scrolls (as tables
# and code do; the page as a whole must not), and pictures that are not there.
LOOK = """
const scrolls = (x) => x.tagName != "ARTICLE" &&
  (/auto|scroll/.test(getComputedStyle(x).overflowX) || scrolls(x.parentElement));
const look = (frame) => {
  const page = frame.contentDocument, out = (x) => x.outerHTML.slice(0, 99);
  const right = page.documentElement.clientWidth + 1;
  const wide = [...page.querySelectorAll("article *")].filter(
    (x) => x.getBoundingClientRect().right > right && !scrolls(x));
  const gone = [...page.images].filter((x) => x.complete && !x.naturalWidth);
  const width = page.documentElement.scrollWidth;
  return [frame.getAttribute("src"), width, [...wide, ...gone].map(out)];
};
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(look);
  document.body.innerHTML = "<pre></pre>";
  document.querySelector("pre").textContent = JSON.stringify(found);
});
"""


class Page(HTMLParser):
    """What a page links to, fetches and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.styles: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name"):
                self.anchors.add(value or "")
            if (tag, name) == ("a", "href"):
                self.links.append(value or "")
            if (tag, name.removeprefix("xlink:")) in FETCHED:
                self.fetched.append(value or "")
            if name == "style":
                self.styles.append(value or "")


def built(source: Path, out: Path) -> str:
    """Build pages as `make docs` does; returns what was complained of."""
    command = [Path(sys.executable).with_name("sphinx-build"), "-W", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, "-b", "html", "-d", out.with_suffix(".trees"), source, out], capture_output=True, text=True
    )
    assert (done.returncode == 0) == (not done.stderr)
    return done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; a warning is an error. It is built once, however many processes test."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    told = root / "site.txt"
    with (root / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            told.write_text(built(DOCS, root / "site"))
    assert not told.read_text(), told.read_text()
    return root / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_of_the_folder_is_in_the_site_and_in_its_menu(pages, site: Path) -> None:
    written = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    menu = {(site / link.partition("#")[0]).resolve() for link in pages[site / "index.html"].links}
    for path in written:
        built = (site / path.relative_to(DOCS)).with_suffix(".html")
        assert built in pages and (built in menu or path.name == "index.md"), path


def test_nothing_is_fetched_from_elsewhere(pages, site: Path) -> None:
    """No script, style, font or picture: pages are read without a network."""
    for path, page in pages.items():
        for address in page.fetched:
            assert not urlsplit(address).scheme or address.startswith("data:"), (path, address)
            assert not address.startswith("//"), (path, address)
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    styles += [style for page in pages.values() for style in page.styles]
    for style in styles:
        assert not re.search(r"(url\(|@import)\s*[\"']?\s*(https?:)?//", style)


def test_every_link_within_the_site_leads_somewhere(pages) -> None:
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), (path.name, link)
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, (path.name, link)


def test_every_public_name_and_every_command_is_in_the_reference(pages, site: Path) -> None:
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        from commands import commands
    finally:
        sys.path.remove(str(DOCS / "_ext"))
    anchors = set().union(*(x.anchors for path, x in pages.items() if "reference" in path.parts))
    assert {f"tuplet.{name}" for name in tuplet.__all__} <= anchors
    assert len(commands()) > 20  # those of sweep counted
    assert {"-".join(("tuplet", *words)) for words in commands()} <= anchors
    shown = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    shown = re.sub(r"<[^>]+>", "", shown)
    assert "tuplet train [OPTIONS]" in shown and "--budget STR" in shown


def test_formulas_are_drawn_without_a_script(tmp_path: Path) -> None:
    """Dollars become MathML; a formula that cannot be drawn is a warning, and so an error."""
    (tmp_path / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(DOCS / '_ext')!r})\n"
        "extensions = ['myst_parser', 'mathml']\nhtml_math_renderer = 'mathml'\n"
        "myst_enable_extensions = ['dollarmath']\n"
    )
    page = tmp_path / "index.md"
    page.write_text("# A\n\nSo $V(s)$ is\n\n$$\\sum_{i=1}^n \\frac{1}{i}$$\n")
    assert not built(tmp_path, tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text()
    assert html.count("<math") == 2 and "<mfrac>" in html and 'display="block"' in html
    page.write_text("# A\n\n$x^$ and $\\nothing{x}$\n")
    assert built(tmp_path, tmp_path / "out").count("cannot be drawn") == 2


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The site at an address of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_pages_fit_a_phone_and_have_no_errors_in_a_browser(served: str, pages, site: Path, tmp_path: Path) -> None:
    """All pages at once, each in a frame as wide as a phone; no name but ours is known."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no Chromium to open the pages in (Debian: apt-get install chromium)")
    names = [path.relative_to(site).as_posix() for path in pages]
    frames = "".join(f'<iframe src="{name}" style="width:{PHONE}px;height:800px"></iframe>' for name in names)
    (site / "phone.htm").write_text(f"<!doctype html>{frames}<script>{LOOK}</script>")
    options = [
        "--headless",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--dump-dom",
        f"--user-data-dir={tmp_path}",
        "--virtual-time-budget=10000",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    done = subprocess.run([browser, *options, f"{served}/phone.htm"], capture_output=True, text=True, timeout=120)
    (site / "phone.htm").unlink()
    found = json.loads(unescape(re.search(r"<pre>(.*)</pre>", done.stdout, re.S)[1]))
    assert [name for name, *_ in found] == names
    assert not [(name, width, wrong) for name, width, wrong in found if width > PHONE or wrong]
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints, complaints


def test_the_start_page_says_what_can_be_done(tmp_path: Path, monkeypatch) -> None:
    """Its commands are the README's, which are run elsewhere; its Python runs here."""
    monkeypatch.chdir(tmp_path)
    text, readme = (DOCS / "index.md").read_text(), (DOCS.parent / "README.md").read_text()
    commands = "".join(blocks("sh", text)).splitlines()
    assert len(commands) > 5 and set(commands) <= set("".join(blocks("sh", readme)).splitlines())
    for piece in blocks("python", text):
        exec(piece, {})


def test_the_page_for_teachers_says_what_can_be_done(tuplet, tmp_path: Path, monkeypatch) -> None:
    plan = programs._plan
    monkeypatch.setattr(programs, "_plan", lambda games: plan(games)[:1])  # one trial of a check
    monkeypatch.chdir(tmp_path)
    follow(tuplet, (DOCS / "teachers.md").read_text(encoding="utf-8"), tmp_path)
    for name in ("submissions/alice.py", "table.html", "table.csv", "smooth.py"):
        assert (tmp_path / name).exists()
