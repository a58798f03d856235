# Two commands on a fresh machine: `make demo` and `make test`. Both make .venv and install what they need.
.PHONY: demo test test-all check static wheel bench docs reproduce clean
.DEFAULT_GOAL := demo

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= 2

# Debian splits ensurepip into python3-venv; without it, the system's pip fills an empty environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "unswayed needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -m venv .venv 2>/dev/null || { \
	  rm -rf .venv && $(PYTHON) -m venv --without-pip .venv && \
	  $(PYTHON) -m pip --python .venv/bin/python install --quiet pip; }

.venv/.user: pyproject.toml | $(BIN)/python
	@echo "installing unswayed into .venv (about a minute the first time)"
	@$(PIP) -e '.[plots,web]'
	@touch $@

.venv/.dev: pyproject.toml | $(BIN)/python
	@echo "installing unswayed and its development tools into .venv (about two minutes the first time)"
	@$(PIP) -e '.[dev,plots]'
	@touch $@ .venv/.user

.venv/.bench: pyproject.toml | .venv/.dev
	@$(PIP) -e '.[bench]'
	@touch $@

.venv/.docs: pyproject.toml | .venv/.dev
	@$(PIP) -e '.[docs]'
	@touch $@

demo: .venv/.user
	$(BIN)/python examples/demo.py

test: .venv/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-all: .venv/.bench
	$(BIN)/python -m pytest -n $(JOBS)

check: static test

static: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Builds a wheel and an sdist, and asks the wheel a question in an environment of its own.
wheel: .venv/.dev
	$(PIP) build
	rm -rf dist && $(BIN)/python -m build --outdir dist . >/dev/null
	$(BIN)/python tests/wheel_smoke.py dist

bench: .venv/.bench
	$(BIN)/python -m benchmarks.speed

reproduce: .venv/.bench
	$(BIN)/python -m benchmarks.papers.chen2014.run
	$(BIN)/python -m benchmarks.papers.choi2016.run
	$(BIN)/python -m benchmarks.papers.choi2017.run
	$(BIN)/python -m benchmarks.papers.choi2018.run
	$(BIN)/python -m benchmarks.papers.shen2020.run

docs: .venv/.docs
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf .venv docs/_build demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis
