# dbdyno: `make demo` shows it, `make test` proves it. Everything is set up by itself.
# Needs: Linux on x86-64, Python 3.11+, a Rust toolchain, make. Nothing else, and no root.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.dbdyno-installed

# TLS is tested against a server that has it, which the wheel's has not: Debian's.
TLS_SERVER_BIN := $(wildcard /usr/lib/postgresql/15/bin)
ifneq ($(TLS_SERVER_BIN),)
export DBDYNO_TEST_TLS_SERVER_BIN ?= $(TLS_SERVER_BIN)
endif

RUST_SOURCES   := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
PYTHON_SOURCES := pyproject.toml

# As many tests at a time as there are CPUs, but those of one file one after another: they share a server.
SIDE_BY_SIDE := --numprocesses auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help dev demo test test-server test-browser test-nightly lint typecheck format bench docs clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

dev: $(STAMP) ## set up the virtual environment and build

$(STAMP): $(RUST_SOURCES) $(PYTHON_SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --release
	touch $(STAMP)

demo: dev ## run the commit experiment in its quick form and print its verdict
	$(BIN)/dbdyno run commit-write --quick

test: dev ## all tests; those that need Chromium are left out where there is none
	@test -n "$$DBDYNO_TEST_TLS_SERVER_BIN" || echo 'left out: TLS, which needs a server with it (apt-get install postgresql-15)'
	servers=$$($(BIN)/python tests/other_servers.py) && \
	DBDYNO_TEST_SERVERS=$$servers DBDYNO_TEST_SERVER_BIN=$$($(BIN)/python tests/server_bin.py) cargo test --quiet --workspace
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m 'not timed and not nightly'
	$(BIN)/python -m pytest -m 'timed and not nightly'

test-server: dev ## only the tests that start PostgreSQL
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m 'server and not timed and not nightly'
	$(BIN)/python -m pytest -m 'timed and not nightly'

test-browser: dev ## only the tests of the HTML report in Chromium
	$(BIN)/python -m pytest -m browser

test-nightly: dev ## the longer proofs
	$(BIN)/python -m pytest -m nightly --timeout=3600

lint: dev ## formatting and lints, Rust and Python
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: dev ## mypy --strict, and the stub of the Rust core against the real module
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest dbdyno._core

format: dev ## rewrite the sources as the linters want them
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: dev ## the speed claims, against their peers, in one run
	$(BIN)/python benches/generate_rows.py
	$(BIN)/python benches/sketch_vs_peers.py
	$(BIN)/python benches/ndv_scan.py
	$(BIN)/python benches/ndv_files.py
	$(BIN)/python benches/analysis_speed.py
	$(BIN)/python benches/sweep_cost.py
	$(BIN)/python benches/driver_vs_pgbench.py
	$(BIN)/python benches/sampler_cost.py
	$(BIN)/python benches/watch_cost.py
	$(BIN)/python benches/task_clock_cost.py
	$(BIN)/python benches/waits_vs_peers.py
	$(BIN)/python benches/storage_vs_fio.py

docs: dev ## check that the documentation covers every command, error code and key
	$(BIN)/python -m pytest tests/docs

clean: ## remove what was built
	rm -rf $(VENV) target
