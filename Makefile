# The two commands of the README. Both set up .venv themselves; they need Python 3.11 or newer,
# make, and the package index.

PYTHON ?= python3
BIN := .venv/bin

BUDGET := 60s
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The first pip that installs dependency groups; a new .venv may have an older one.
NEW_PIP := $(PIP) 'pip>=25.1'
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

.PHONY: demo test test-all test-long lint lint-js docs screenshots site player players strong clean

demo: .venv/demo-ready
	@rm -rf runs/demo
	$(BIN)/tuplet train --budget $(BUDGET) --out runs/demo
	$(BIN)/tuplet eval runs/demo --games 200 --threads 2
	$(BIN)/tuplet play 2048 --agent runs/demo --watch --speed 7
	@echo "Play, analyse and watch it think in your browser:  $(BIN)/tuplet serve"

# The lint runs beside the tests. The tests stay in the foreground, where Ctrl-C reaches them.
test: .venv/test-ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy > .venv/mypy.log & mypy=$$!; \
	$(PYTEST); tests=$$?; \
	wait $$mypy || { cat .venv/mypy.log; exit 1; }; exit $$tests

# Also what is slow, or needs a browser, a cluster, notebooks or the documentation.
test-all: .venv/test-all-ready lint lint-js
	$(PYTEST) -m "not long"

# What takes longer still: exact values of 3x3, hundreds of kills.
test-long: .venv/test-all-ready
	$(PYTEST) -m long

lint: .venv/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The page's JavaScript: eslint and the TypeScript compiler, for development only.
lint-js:
	@if ! command -v npm > /dev/null; then echo "npm is not installed: the page's JavaScript is not checked"; \
	elif ! npm install --silent --no-package-lock --no-audit --no-fund; then \
	echo "npm cannot install eslint and typescript: the page's JavaScript is not checked"; \
	else npm run --silent lint; fi

# The site: pages of docs/, and the reference from the code. Needs no network, nor do its pages.
docs: .venv/docs-ready
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build
	@echo "The start page: file://$(CURDIR)/docs/_build/index.html"

# The pictures of the page in the README, in Debian's Chromium.
screenshots: .venv/test-all-ready
	$(BIN)/python docs/_ext/screenshots.py

# The page as a folder of files that needs no server: kernels as WebAssembly. Any static host serves it.
site: .venv/demo-ready
	@echo "Compiling the kernels to WebAssembly. The first time takes some minutes."
	$(BIN)/python -m tuplet.web.site site
	@echo "To look at it: python3 -m http.server --directory site"

# The player that comes with the package: some minutes, the same bytes each time.
player: .venv/demo-ready
	@rm -rf runs/player
	$(BIN)/tuplet train --recipe small --games 100000 --seed 1 --out runs/player
	$(BIN)/tuplet convert runs/player src/tuplet/players/small.xz

# The learned values of EWN that come with the package: some minutes, the same bytes each time.
players: .venv/demo-ready
	@rm -rf runs/ewn runs/ewn-6x7
	$(BIN)/tuplet train ewn --games 2000000 --schedule '0.8:0.3 0.9:0.1' --seed 1 --out runs/ewn
	$(BIN)/tuplet convert runs/ewn src/tuplet/players/ewn.xz --force
	$(BIN)/tuplet analyze ewn --placement --json > runs/placement.json
	mv runs/placement.json src/tuplet/players/ewn-placement.json
	$(BIN)/tuplet train ewn-6x7 --games 1500000 --schedule '0.8:0.3 0.9:0.1' --seed 1 --out runs/ewn-6x7
	$(BIN)/tuplet convert runs/ewn-6x7 src/tuplet/players/ewn-6x7.xz --force

# The strong player, which the wheel leaves out: half an hour on two cores. How many games that is,
# and so the file, depends on the machine.
strong: .venv/demo-ready
	@rm -rf runs/strong
	$(BIN)/tuplet train --recipe strong --budget 30m --out runs/strong
	$(BIN)/tuplet convert runs/strong src/tuplet/players/strong.xz --size 36M
	cd src/tuplet/players && ../../../$(BIN)/python -c 'import hashlib; print(hashlib.sha256(open("strong.xz", "rb").read()).hexdigest(), " strong.xz")' > strong.sha256

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tuplet needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

.venv/demo-ready: .venv/bin/python pyproject.toml
	$(PIP) --editable '.[pictures]'
	@touch $@

.venv/docs-ready: .venv/bin/python pyproject.toml
	$(NEW_PIP)
	$(PIP) --group docs --editable .
	@touch $@

.venv/test-ready: .venv/bin/python pyproject.toml
	$(NEW_PIP)
	$(PIP) --no-compile --group test --editable .
	@touch $@ .venv/demo-ready

.venv/test-all-ready: .venv/bin/python pyproject.toml
	$(NEW_PIP)
	$(PIP) --no-compile --group test-all --editable .
	@touch $@ .venv/test-ready .venv/demo-ready .venv/docs-ready

clean:
	rm -rf .venv node_modules runs site docs/_build
