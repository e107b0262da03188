# `make demo` and `make test` set up what they need in .venv; nothing outside this folder is touched.

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
PYTEST_ARGS ?=

# Tests start hundreds of processes. Where no bytecode may be written, each would compile whatever it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint types layers pytest exhaustive bench bench-guard survey proofs proofs-all rules sonnx-c traceability clean

demo: .venv/demo
	$(BIN)/vinculum run examples/layer_norm/model.onnx --input x=examples/layer_norm/x.npy

test: lint types layers pytest

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# Each stamp is remade when the project's requirements change.
.venv/demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test,onnxruntime,openvino,jax]'
	touch $@ .venv/demo

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/test
	$(BIN)/mypy

layers: .venv/test
	$(BIN)/lint-imports

pytest: .venv/test
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# Long proofs by enumeration: every pair of every 16-bit type, 10^8 adversarial pairs of 64 bits, every type on older
# processors. PYTEST_ARGS='--one-in 64' takes a slice of each.
exhaustive: .venv/test
	$(BIN)/pytest tests -m exhaustive -s -o timeout=14400 -o faulthandler_timeout=14400 $(PYTEST_ARGS)

# docs/performance.md, its plot and its numbers, on this machine, which should be idle: twenty minutes.
PERFORMANCE := docs/performance
bench: .venv/test
	$(BIN)/vinculum bench --full --rounds 3 --json $(PERFORMANCE).json --svg $(PERFORMANCE).svg --markdown $(PERFORMANCE).md
	$(BIN)/python benchmarks/engines.py

# Instructions counted under valgrind's callgrind, against benchmarks/guard/expected.json. On Debian: apt install valgrind gcc.
# RECORD=--record keeps what is counted as what is expected.
bench-guard: .venv/test
	$(BIN)/python -m benchmarks.guard $(RECORD)

# What these runtimes' divisions do, as docs/survey.html shows it. PyTorch comes first: pip install torch==2.13.0
SURVEYED := onnxruntime openvino torch onnx-reference
survey: .venv/test
	$(BIN)/vinculum conform $(SURVEYED) $(SURVEYED:%=--expect known_deviations/%.txt) --html docs/survey.html

# The proofs, from the stored sessions. On Debian 12: apt install why3 z3 cvc4 cvc5 gappa. Nothing from PyPI is needed.
# What is unchanged since everything was replayed, as proofs/recorded.txt shows, is not replayed again.
proofs:
	$(PYTHON) -m proofs.checking.rules --check
	$(PYTHON) -m proofs.checking.replay

# Every proof again: about ten minutes on two cores. RECORD=--record writes proofs/recorded.txt if all of them hold.
proofs-all:
	$(PYTHON) -m proofs.checking.rules --check
	$(PYTHON) -m proofs.checking.replay --all $(RECORD)

# The core's rules, extracted anew from the proved programs. It needs why3; `make proofs` compares them byte for byte.
rules:
	$(PYTHON) -m proofs.checking.rules

# The proved loops as a small C library, build/sonnx-c. It needs why3 and gcc, or what CC=... and AR=... name.
sonnx-c:
	$(PYTHON) -m proofs.checking.extraction build/sonnx-c

# docs/traceability.md and what `vinculum spec --trace` prints, from the rows, the sessions and the tests.
traceability: .venv/test
	$(BIN)/python -m proofs.checking.traceability

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -exec rm -rf {} +
