# Two commands on a fresh machine: `make demo` and `make test`. Both make .venv and install what they need.
# `make PYTHON=python3.13 test` makes and uses a folder of its own, .venv-3.13.0.
.PHONY: demo test test-all check static wheel bench docs reproduce clean
.DEFAULT_GOAL := demo

PYTHON ?= python3
VENV ?= .venv$(if $(filter-out file,$(origin PYTHON)),-$(shell $(PYTHON) -c 'import platform; print(platform.python_version())'))
VENV := $(VENV)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= 2

# Debian splits ensurepip into python3-venv; without it, the system's pip fills an empty environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "unswayed needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { \
	  rm -rf $(VENV) && $(PYTHON) -m venv --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet pip; }

$(VENV)/.user: pyproject.toml | $(BIN)/python
	@echo "installing unswayed into $(VENV) (about a minute the first time)"
	@$(PIP) -e '.[plots,web]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing unswayed and its development tools into $(VENV) (about two minutes the first time)"
	@$(PIP) -e '.[dev,plots]'
	@touch $@ $(VENV)/.user

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	@$(PIP) -e '.[bench]'
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.dev
	@$(PIP) -e '.[docs]'
	@touch $@

demo: $(VENV)/.user
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-all: $(VENV)/.bench
	$(BIN)/python -m pytest -n $(JOBS)

check: static test

static: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Builds a wheel and an sdist, and asks the wheel a question in an environment of its own.
wheel: $(VENV)/.dev
	$(PIP) build
	rm -rf dist && $(BIN)/python -m build --outdir dist . >/dev/null
	$(BIN)/python tests/wheel_smoke.py dist

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.speed

reproduce: $(VENV)/.bench
	$(BIN)/python -m benchmarks.papers.chen2014.run
	$(BIN)/python -m benchmarks.papers.choi2016.run
	$(BIN)/python -m benchmarks.papers.choi2017.run
	$(BIN)/python -m benchmarks.papers.choi2018.run
	$(BIN)/python -m benchmarks.papers.shen2020.run

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf .venv .venv-* docs/_build demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis
