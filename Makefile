# ct-tui: everything a newcomer or a developer runs, by name. GNU make 3.81 or newer and Python 3.11 or newer are enough.
#
#   make demo         set up and open the workstation on a throwaway demo brain
#   make test         set up and run the tests            (ARGS="-k census" passes words on to pytest)
#   make check        formatting, lint, types, layers
#   make format       let ruff write the formatting and its safe fixes
#   make faults       the long fault runs: kills, a second writer at full speed, tampering, new random examples
#   make bench        the ratios that the design asks for, measured on this machine
#   make screenshots  draw every view of the workstation on the demo brain into screenshots/
#   make readme       fill the README's generated blocks
#   make dist         wheel and source archive into dist/
#   make lock         resolve pyproject.toml anew into the two requirements*.lock files
#   make clean        remove whatever any of these made
#
# The environment lives in .venv and is made once. Two stamp files say how far it has got; they are older than
# pyproject.toml or a lock file exactly when something has to be installed again.

VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-to-run
DEV_STAMP := $(VENV)/.installed-to-develop
DEMO := .demo
WORKERS ?= auto
ARGS ?=

# The first Python that is new enough; `make PYTHON=/path/to/python ...` overrides the choice.
find_python = for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$name"; break; }; done
PYTHON ?= $(shell $(find_python))

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test check format faults bench screenshots readme dist lock clean

help:
	@sed -n 's/^#   \(make .*\)/\1/p' Makefile

# The workstation needs a terminal. Without one the demo is made all the same, and the ways to look at it are named.
demo: $(RUN_STAMP)
	@if [ -t 0 ] && [ -t 1 ]; then \
		$(BIN)/ct-tui demo --dir $(DEMO); \
	else \
		$(BIN)/ct-tui demo --dir $(DEMO) --no-open && \
		echo && echo "There is no terminal here, so the workstation stays closed. In a terminal, make demo opens it." && \
		echo "In a script: CT_TUI_CONFIG_DIR=$(DEMO)/user $(BIN)/ct-tui --brain $(DEMO) census"; \
	fi

test: $(DEV_STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 $(ARGS)

check: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV_STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

faults: $(DEV_STAMP)
	$(BIN)/python -m pytest -m faults $(ARGS)
	$(BIN)/python -m pytest --hypothesis-profile=searching tests/property tests/unit/test_visible.py

bench: $(DEV_STAMP)
	$(BIN)/python -m pytest -m bench -s $(ARGS)

screenshots: $(DEV_STAMP)
	$(BIN)/python tools/screenshots.py screenshots

readme: $(DEV_STAMP)
	$(BIN)/python tools/readme.py

dist: $(DEV_STAMP)
	$(BIN)/hatchling build

lock: $(DEV_STAMP)
	$(BIN)/python tools/lock.py

clean:
	rm -rf $(VENV) $(DEMO) .bench build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The checkout itself is installed, as an editable package, so a change of the code needs no further step. hatchling
# is among the locked versions, hence no isolated build.
$(RUN_STAMP): pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing ct-tui into $(VENV) ..."
	@$(PIP) -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV_STAMP): $(RUN_STAMP) requirements-dev.lock
	@echo "Installing what the checks and tests need into $(VENV) ..."
	@$(PIP) -r requirements-dev.lock
	@touch $@

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "ct-tui needs Python 3.11 or newer, and none was found. Install one, or name it: make PYTHON=/path/to/python demo" >&2; \
		exit 1; \
	fi
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) lacks its venv module. On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; \
		exit 1; \
	}
	@$(PYTHON) -m venv $(VENV)
