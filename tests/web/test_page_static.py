"""The page without a server, in a real browser: from a plain file server, below a path, with all else refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

import tuplet
from browsing import Looking, axe
from tuplet.web.site import kinds_of
from tuplet.web.wasm_exports import MODULES

pytestmark = pytest.mark.slow

BOARD = "2048 2,4,8,16/0,2,64,32/4,8,256,128/0,2,512,1024 12344"
START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"


def at(page: str, **state: object) -> str:
    return f"{page}?" + "&".join(f"{k}={quote(str(v))}" for k, v in state.items())


def opened(pages: Looking, path: str, **settings: Any) -> Any:
    return pages.open(f"{pages.server.address}/{path}", reduced_motion="reduce", **settings)


def notation(page: Any) -> str:
    page.wait_for_selector("#board[data-notation]")
    return str(page.get_attribute("#board", "data-notation"))


def test_a_game_of_2048_is_played_and_its_values_are_those_of_python(pages: Looking) -> None:
    page = opened(pages, at("2048.html", position=BOARD, agent="small", depth=2))
    page.wait_for_selector("#values button[data-value]")
    page.wait_for_function("document.querySelector('#values-say').textContent.includes('2 moves')")
    known = tuplet.analyze("2048", BOARD, "small", depth=2)
    shown = {
        b.get_attribute("data-move"): b.get_attribute("data-value") for b in page.query_selector_all("#values button")
    }
    assert {move: float(value) for move, value in shown.items() if value} == {
        each.move: each.value for each in known.moves if each.value is not None
    }
    before = tuplet.Position.parse(notation(page))
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("was => document.getElementById('board').dataset.notation !== was", arg=before.notation)
    after = before.play("left")
    assert notation(page) in [after.apply_outcome(outcome).notation for outcome in after.chance_outcomes()]
    page.click("#play")
    page.wait_for_function("Number(document.getElementById('moves-made').textContent) > 20")
    page.click("#play")
    assert not tuplet.Position.parse(notation(page)).is_chance


def test_a_position_is_shared_by_its_address(pages: Looking) -> None:
    page = opened(pages, at("2048.html", position=BOARD))
    assert notation(page) == BOARD
    page.keyboard.press("ArrowUp")
    page.wait_for_function("was => document.getElementById('board').dataset.notation !== was", arg=BOARD)
    page.wait_for_function("() => new URL(location).searchParams.get('position') !== null")
    page.wait_for_timeout(500)  # the address follows shortly after
    shared = page.url
    other = pages.open(shared)
    assert notation(other) == notation(page) == parse_qs(urlsplit(shared).query)["position"][0]


def test_a_game_is_reviewed_as_by_python(pages: Looking) -> None:
    episode = tuplet.play_episode("random", seed=5)
    page = opened(pages, at("2048.html", position=BOARD, agent="small"))
    page.wait_for_selector("#values button[data-value]")
    page.keyboard.press("p")
    page.fill("#paste-text", episode.text("episode"))
    page.click("#paste-read")
    page.wait_for_selector(f"#moves-made:text-is('{len(episode.moves):,}')")
    page.keyboard.press("r")
    page.wait_for_selector("#review-results:not([hidden])")
    wanted = tuplet.review(episode.text("episode"))
    assert float(page.get_attribute("#accuracy", "data-value")) == pytest.approx(wanted.accuracy, rel=1e-12)
    shown = page.query_selector_all("[data-count]")
    assert {b.get_attribute("data-count"): int(b.inner_text()) for b in shown} == wanted.counts


def test_learned_values_of_ewn_are_those_of_python(pages: Looking) -> None:
    page = opened(pages, at("ewn.html", game="ewn", position=START, panel="think", agent="best:depth=4"))
    page.wait_for_selector(".ewn-note[data-done=true]")
    assert "depth 4" in page.text_content(".ewn-note")
    known = {each.move: f"{each.value:.3f}" for each in tuplet.analyze("ewn", START, "best:depth=4").moves}
    rows = page.locator(".ewn-moves tbody tr")
    shown = dict(rows.evaluate_all("rows => rows.map(row => [row.dataset.move, row.textContent])"))
    assert {*shown} == {*known} and all(known[move] in text for move, text in shown.items())


def test_a_search_of_ewn_is_watched_as_it_grows(pages: Looking) -> None:
    page = opened(pages, at("ewn.html", game="ewn", position=START, panel="think", agent="mcts:sims=1000000"))
    page.evaluate("""() => {
        window.notes = [];
        new MutationObserver(() => window.notes.push(document.querySelector(".ewn-note").textContent))
            .observe(document.querySelector(".ewn-note"), {childList: true, characterData: true, subtree: true});
    }""")
    page.wait_for_selector(".ewn-note[data-done=true]")
    assert "1,000,000 simulations" in page.text_content(".ewn-note")
    assert len({note for note in page.evaluate("notes") if "simulations" in note}) > 2
    known = {each.move: each.visits for each in tuplet.analyze("ewn", START, "mcts:sims=1000000").moves}
    rows = page.locator(".ewn-moves tbody tr").evaluate_all(
        "rows => rows.map(row => [row.dataset.move, Number(row.querySelector('[data-part=visits]').dataset.visits)])"
    )
    assert dict(rows) == known


def test_without_vectors_it_plays_as_well(pages: Looking, site: Path) -> None:
    worker = (site / "static" / "wasm-worker.js").read_text()
    page = opened(pages, "static/icon.svg", service_workers="block")
    page.context.route(
        "**/wasm-worker.js",
        lambda route: route.fulfill(
            body="WebAssembly.validate = () => false;\n" + worker, content_type="text/javascript"
        ),
    )
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.goto(f"{pages.server.address}/{at('2048.html', position=BOARD, agent='small')}")
    page.wait_for_selector("#values button[data-value]")
    known = tuplet.analyze("2048", BOARD, "small")
    assert page.get_attribute("#values button.best", "data-move") == known.best
    asked = [url for url in asked if url.endswith(".wasm.gz")]
    assert asked and all(url.endswith("plain.wasm.gz") for url in asked)
    # A picture as a page has no icon, and the service worker, which loads both modules, was not let in.
    pages.errors[:] = [each for each in pages.errors if "favicon" not in each and "blocked by Playwright" not in each]


def test_after_the_first_visit_it_needs_no_network(pages: Looking) -> None:
    page = opened(pages, at("2048.html", position=BOARD, agent="small"))
    page.wait_for_selector("#values button[data-value]")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    page.context.set_offline(True)
    page.goto(f"{pages.server.address}/{at('ewn.html', position=START)}")
    assert notation_ewn(page) == START
    page.goto(f"{pages.server.address}/{at('2048.html', position=BOARD, agent='small')}")
    page.wait_for_selector("#values button[data-value]")


def test_the_front_page_leads_to_the_pages_of_the_folder(pages: Looking) -> None:
    page = opened(pages, "")
    links = page.locator(".card").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert links == ["2048.html", "ewn.html", "learn.html"]
    page.click(".card[data-page='2048']")
    page.wait_for_selector("#board[data-notation]")


def notation_ewn(page: Any) -> str:
    page.wait_for_function("new URL(location).searchParams.get('position')")
    return parse_qs(urlsplit(page.url).query)["position"][0]


@pytest.mark.parametrize("path", ["", "2048.html", "ewn.html"])
def test_it_says_that_there_is_no_server_and_has_no_accessibility_problems(pages: Looking, path: str) -> None:
    page = opened(pages, path)
    if path == "2048.html":
        page.wait_for_selector("#values:not(.stale) button[data-value]")  # older values are faint
    page.click("#where")
    assert "no server" in page.text_content("#where-says") and "tuplet serve" in page.text_content("#where-says")
    assert axe(page) == []
    page.keyboard.press("Escape")
    assert axe(page) == []


def in_transit(file: Path) -> int:
    """The bytes of a file as hosts send it: they compress text."""
    return (
        len(gzip.compress(file.read_bytes()))
        if file.suffix in (".html", ".js", ".css", ".svg")
        else file.stat().st_size
    )


def test_the_site_and_its_modules_are_small(site: Path) -> None:
    files = {str(file.relative_to(site)): in_transit(file) for file in site.rglob("*") if file.is_file()}
    # A browser loads one kind of each module.
    other = {f"static/kernels/{name}.plain.wasm.gz" for name in MODULES if "simd" in kinds_of(name)}
    assert other <= {*files} and sum(size for file, size in files.items() if file not in other) < 3_000_000
    modules = {file: size for file, size in files.items() if file.endswith(".wasm.gz")}
    assert {*modules} == {f"static/kernels/{name}.{kind}.wasm.gz" for name in MODULES for kind in kinds_of(name)}
    assert max(modules.values()) < 60_000, modules


def test_a_module_is_loaded_when_it_is_needed(pages: Looking) -> None:
    page = opened(pages, "static/icon.svg", service_workers="block")
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.goto(f"{pages.server.address}/{at('2048.html', position=BOARD, agent='small')}")
    page.wait_for_selector("#values button[data-value]")
    loaded = {url.rsplit("/", 1)[-1].split(".")[0] for url in asked if url.endswith(".wasm.gz")}
    assert loaded == {"play"}
    # A picture as a page has no icon, and the service worker, which loads all modules, was not let in.
    pages.errors[:] = [each for each in pages.errors if "favicon" not in each and "blocked by Playwright" not in each]


STOP = """async ([request, question]) => {
    const worker = new Worker("static/wasm-worker.js", {type: "module"}), seen = [];
    const last = new Promise((resolve) => {
        worker.onmessage = ({data: {frame, answer}}) => {
            seen.push(frame ? (frame.done ? "done" : "frame") : "answer");
            if (answer) worker.postMessage({message: {id: 1, type: "stop"}});
            if (frame && frame.done) resolve(frame);
        };
    });
    worker.postMessage({message: {id: 1, type: "analyze", ...request}});
    worker.postMessage({call: 1, path: "/api/position", body: question});
    const frame = await last;
    worker.terminate();
    return [seen, frame];
}"""


@pytest.mark.parametrize(
    "request_",
    [
        {"game": "2048", "position": BOARD, "agent": "small", "time": 60},
        {"game": "2048", "position": BOARD, "agent": "small", "depth": 6},
        {"game": "ewn", "position": START, "agent": "best:time=60"},
        {"game": "ewn", "position": START, "agent": "alphabeta:depth=24"},
        {"game": "ewn", "position": START, "agent": "mcts:time=60"},
    ],
    ids=lambda request: f"{request['agent']} {request.get('time', request.get('depth', ''))}".strip(),
)
def test_a_long_search_lets_other_questions_be_answered_and_can_be_stopped(
    pages: Looking, request_: dict[str, Any]
) -> None:
    page = opened(pages, "ewn.html")
    seen, frame = page.evaluate(STOP, [request_, {"game": "ewn", "seed": 1}])
    assert "answer" in seen and seen[-1] == "done"
    assert frame["stopped"] and frame["analysis"]["interrupted"] and frame["analysis"]["best"]
