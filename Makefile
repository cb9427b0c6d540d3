# Two commands for a fresh clone: `make demo` shows the whole way from finding to proof, `make test` runs the tests.
# Both make .venv first. Nothing is needed but Python 3.10 or newer (and, on Debian and Ubuntu, python3-venv).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What the demo looks at, and what the tests get besides their own options (for example `make test ARGS='-k overlay'`).
DEMO ?= fixtures/models/transformer.py
WORKLOAD ?= $(DEMO):workload
ARGS ?=
# Tests of generated programs, of which `make test-nightly` makes thousands.
PROPERTIES := $(addprefix tests/, codemods/test_differential.py codemods/test_differential_reads.py \
	analysis/test_robustness.py analysis/test_soundness.py)

# `cp` this way puts codemods/ where it is installed, for tools that do not know the mapping in pyproject.toml.
FLAT := build/flat

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-nightly lint typing docs format clean

help:
	@echo "make demo    check, diff and verify on a shipped workload"
	@echo "make test    the tests; test-slow has those with real tools, test-nightly those that take an hour"
	@echo "make lint    style, types and import layers"
	@echo "make docs    the documentation site, in build/site"
	@echo "make setup   only make $(VENV)"
	@echo "make format  put the style right"
	@echo "make clean   remove $(VENV) and build output"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "compilefix needs Python 3.10 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv"; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

# Findings and a diff are what the first two commands are to show, so that their exit code 1 is no failure here.
demo: setup
	@echo "== compilefix check $(DEMO)"
	@$(BIN)/compilefix check $(DEMO) || [ $$? -eq 1 ]
	@echo "== compilefix apply --diff $(DEMO)"
	@$(BIN)/compilefix apply --diff $(DEMO) || [ $$? -eq 1 ]
	@echo "== compilefix verify $(WORKLOAD)"
	@$(BIN)/compilefix verify $(WORKLOAD)

test: setup
	$(BIN)/python -m pytest -m "not slow and not nightly" $(ARGS)

test-slow: setup
	$(BIN)/python -m pytest -m "slow and not nightly" $(ARGS)

test-nightly: setup
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest $(PROPERTIES) $(ARGS)
	$(BIN)/python -m pytest -m nightly $(ARGS)

lint: setup typing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typing: setup
	@rm -rf $(FLAT) && mkdir -p $(FLAT)
	@cp -Rp compilefix $(FLAT)/compilefix && cp -Rp codemods $(FLAT)/compilefix/codemods
	cd $(FLAT) && $(abspath $(BIN))/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p compilefix
	cd $(FLAT) && PYTHONPATH=. $(abspath $(BIN))/lint-imports --config $(CURDIR)/pyproject.toml --no-cache

docs: setup
	$(BIN)/python -m mkdocs build --strict

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
