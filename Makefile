# `make demo` and `make test` set up what they need in .venv; nothing outside this folder is touched.

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
PYTEST_ARGS ?=

.PHONY: demo test lint types layers pytest exhaustive bench survey clean

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
	$(BIN)/pytest tests -m exhaustive -s $(PYTEST_ARGS)

bench: .venv/test
	$(BIN)/python benchmarks/quotients.py
	$(BIN)/python benchmarks/engines.py

# What these runtimes' divisions do, as docs/survey.html shows it. PyTorch comes first: pip install torch==2.13.0
SURVEYED := onnxruntime openvino torch onnx-reference
survey: .venv/test
	$(BIN)/vinculum conform $(SURVEYED) $(SURVEYED:%=--expect known_deviations/%.txt) --html docs/survey.html

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -exec rm -rf {} +
