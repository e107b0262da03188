# `make demo` and `make test` set up what they need in .venv; nothing outside this folder is touched.

PYTHON ?= python3
BIN := .venv/bin
CORE := src/vinculum/kernels/core
LIBRARY := src/vinculum/onnxruntime/library
WORKERS ?= 2
PYTEST_ARGS ?=
# Whether a warning of the C++ compiler ends the build: true in CI, whose compiler is known.
WERROR ?= false

# Tests start hundreds of processes. Where no bytecode may be written, each would compile whatever it imports.
export PYTHONDONTWRITEBYTECODE :=

# In a checkout that may not be written, the tools keep nothing; mypy's workers would share what is kept.
TYPES := --num-workers $(WORKERS)
ifneq ($(shell test -w . && echo writable),writable)
export RUFF_NO_CACHE := true
export MYPY_CACHE_DIR := /dev/null
LAYERS := --no-cache
TYPES :=
PYTEST_ARGS += -p no:cacheprovider
endif

.PHONY: help demo docs test lint types layers pytest runtimes machine hazards check-picture wheel check-build \
  sanitize sanitize-memory sanitize-threads sanitize-runtimes gpu cross cross-all exhaustive mutation bench bench-guard survey proofs proofs-all rules baseline sonnx-upstream sonnx-c traceability clean

demo: .venv/demo ## Run an exported model with every division in it exact
	$(BIN)/vinculum run examples/layer_norm/model.onnx --input x=examples/layer_norm/x.npy

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/\1\t\2/p' Makefile | expand -t 18

test: lint types layers pytest ## Lint, type-check and test what is ours

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# Python files are used where they lie; the core is built into src/. Without a compiler there is none, and all the same works.
# What builds it is in .venv too, so that only what changed is compiled again. Bytecode is made of what is imported, when it
# is: most of what is installed never is.
define INSTALL
$(BIN)/python -m pip install --quiet --no-compile meson-python ninja 'numpy>=2.1'
$(PIP_BUILDING) --config-settings=build-dir=build/editable --editable
endef
PIP_BUILDING := PATH="$(CURDIR)/$(BIN):$$PATH" python -m pip install --quiet --no-compile --no-build-isolation \
  --config-settings=setup-args=-Dwerror=$(WERROR)
BUILT_FROM := pyproject.toml meson.build meson.options $(wildcard src/meson.build building/*.py \
  $(addprefix $(CORE)/,meson.build *.cpp *.hpp rules/*.h vector/*.hpp) $(addprefix $(LIBRARY)/,meson.build *.cpp *.hpp))

# Each stamp is remade when the project's requirements or the sources of the core change.
.venv/demo: $(BUILT_FROM) | .venv/bin/python
	$(INSTALL) .
	touch $@

.venv/test: $(BUILT_FROM) | .venv/bin/python
	$(INSTALL) '.[test,lint]'
	touch $@ .venv/demo

.venv/machine: .venv/test
	$(INSTALL) '.[machine]'
	touch $@

.venv/docs: $(BUILT_FROM) | .venv/bin/python
	$(INSTALL) '.[docs]'
	touch $@ .venv/demo

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/clang-format --dry-run --Werror $(addsuffix /*.cpp,$(CORE) $(LIBRARY)) $(addsuffix /*.hpp,$(CORE) $(CORE)/vector $(LIBRARY))

types: .venv/test
	$(BIN)/mypy $(TYPES)

layers: .venv/test
	$(BIN)/lint-imports $(LAYERS)

pytest: .venv/test
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# What other runtimes do, in an environment of their own: the pinned versions, or VERSIONS=oldest or newest.
VERSIONS := pinned
RUNTIMES := build/runtimes/$(VERSIONS)
# Of our own tests, those of conversions too, which read the onnx package's schemas: other versions of it have other ones.
CONVERSIONS := $(addprefix tests/models/convert/,test_file_conversion.py \
	opset/test_conversion.py opset/test_divisions.py)
runtimes: $(RUNTIMES)/installed ## Test on real runtimes: VERSIONS=pinned, oldest or newest
	PYTHONPATH=src $(RUNTIMES)/bin/pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS) tests/runtimes $(CONVERSIONS)

$(RUNTIMES)/installed: pyproject.toml building/runtime_requirements.py .venv/test
	rm -rf $(RUNTIMES)
	$(PYTHON) -m venv $(RUNTIMES)
	$(BIN)/python building/runtime_requirements.py $(VERSIONS) >$(RUNTIMES)/requirements.txt
	$(RUNTIMES)/bin/python -m pip install --quiet --upgrade pip
	$(RUNTIMES)/bin/python -m pip install --quiet --no-compile -r $(RUNTIMES)/requirements.txt
	touch $@

# Without a device it ends at once after the installation, with nothing recorded.
gpu: ## Test and measure on a CUDA device, and write docs/reference/cuda.txt (an hour)
	$(MAKE) build/runtimes/gpu/installed VERSIONS=gpu
	PYTHONPATH=src build/runtimes/gpu/bin/python -m building.gpu

# Limits of memory and time, threads, forks, the compiled code, a browser, the provers, compilers: what is not here is skipped.
machine: .venv/machine ## Test what depends on this machine and the programs installed on it
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS) tests/machine

# How often each hazard is found, rightly and wrongly, in the labelled models of tests/analysis/corpus.
hazards: .venv/test ## Print how often each hazard is found, rightly and wrongly
	$(BIN)/python -m tests.analysis.corpus.judging

# A source distribution of the last commit, and the wheel that is built from it, in dist/. A warning of the compiler fails.
wheel: .venv/machine ## Build the source distribution and the wheel into dist/
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m build --no-isolation --skip-dependency-check --outdir dist . \
	  --config-setting=setup-args=-Dcore=enabled --config-setting=setup-args=-Dwerror=true

# Both are installed into empty environments, the first where no compiler is found, and divide there.
check-build: wheel ## Install both into empty environments and divide there
	$(BIN)/pytest tests/machine/building -m installing $(PYTEST_ARGS)

# The core built so that GCC's sanitizers watch it, in folders of its own: its memory and its arithmetic under all that tests
# kernels and the library for ONNX Runtime, then its threads. The first report is printed and ends a process, and so fails a test.
sanitize: sanitize-memory sanitize-threads ## Test the compiled core under GCC's sanitizers

# No forks: GCC 12's allocator for it, unlike glibc's, keeps in the child what another thread locked at the moment of the fork.
sanitize-memory: SANITIZERS := address,undefined
sanitize-memory: TESTS := tests/kernels tests/onnxruntime tests/machine/kernels --deselect tests/machine/kernels/test_fork_exit_interrupt.py::TestFork
sanitize-memory: .venv/test
	$(BUILD_SANITIZED)
	$(WATCHED_MEMORY) $(BIN)/$(TEST_SANITIZED) $(TESTS)

sanitize-threads: SANITIZERS := thread
sanitize-threads: TESTS := tests/kernels/test_threads.py tests/machine/kernels/test_many_callers.py
sanitize-threads: .venv/test
	$(BUILD_SANITIZED)
	$(WATCHED_THREADS) $(BIN)/$(TEST_SANITIZED) $(TESTS)

# The same builds of the library in sessions of ONNX Runtime, which nobody watches.
sanitize-runtimes: sanitize $(RUNTIMES)/installed ## Test the library under the sanitizers in ONNX Runtime
	$(WATCHED_MEMORY) $(RUNTIMES)/bin/$(TEST_SANITIZED) tests/runtimes/onnxruntime/test_quotients.py tests/runtimes/onnxruntime/test_sessions.py
	$(WATCHED_THREADS) $(RUNTIMES)/bin/$(TEST_SANITIZED) tests/runtimes/onnxruntime/test_sessions.py -k TestThreads

# Optimised little, because the sanitizers' checks make each target slow to compile, and mislead the compiler's warnings.
SANITIZED = $(CURDIR)/build/$@
define BUILD_SANITIZED
$(PIP_BUILDING) --no-deps --upgrade --target $(SANITIZED)/installed --config-settings=build-dir=$(SANITIZED)/objects \
  $(addprefix --config-settings=setup-args=-D,core=enabled werror=false optimization=1 debug=true b_sanitize=$(SANITIZERS)) .
endef
# Python has not been built for it, so what watches is loaded before it. PYTHONPATH goes before the path to src/. What is
# written to standard error by a process that ends at once must not be kept back.
TEST_SANITIZED = pytest -n $(WORKERS) --dist worksteal --capture=sys $(PYTEST_ARGS)
LOADED_FIRST = LD_PRELOAD="$(foreach library,$(2),$$($(CXX) -print-file-name=$(library)))" PYTHONPATH="$(CURDIR)/build/$(1)/installed"
WATCHED_MEMORY = ASAN_OPTIONS=detect_leaks=0:handle_segv=0:allocator_may_return_null=1 \
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc $(call LOADED_FIRST,sanitize-memory,libasan.so libstdc++.so)
WATCHED_THREADS = TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 $(call LOADED_FIRST,sanitize-threads,libtsan.so)

# The tests that divide, on each target that this processor has, compiled by clang, on AArch64 under an emulator, and on other
# Pythons. Debian's packages are unpacked in build/cross; nothing is installed. On Debian: apt install qemu-user-static
# g++-aarch64-linux-gnu clang.
# RECORD=--record writes docs/reference/platforms.md from what passed.
CROSS := targets clang arm64 arm64-clang python3.14
cross: .venv/test ## Test the quotients on each target, by clang, on AArch64 (emulated) and on the newest Python
	$(BIN)/python -m building.cross $(RECORD) $(CROSS)

cross-all: .venv/test ## The same on more Pythons, with more of the enumerations (an hour)
	$(BIN)/python -m building.cross $(RECORD) --long $(CROSS) python3.13

# Long proofs by enumeration: every pair of every 16-bit type, 10^8 adversarial pairs of 64 bits, on every target.
# PYTEST_ARGS='--one-in 64' takes a slice of each; '--backend x86-64-v3' is one target alone. RECORD=--record keeps what passed, and of
# which sources, in tests/exhaustive/recorded.txt. Then every property of the quick tests with twenty times the examples.
exhaustive: .venv/test ## Run the long enumerations on each target, and twenty times the properties (hours)
	$(BIN)/pytest tests -m exhaustive -s -o timeout=14400 -o faulthandler_timeout=14400 $(RECORD) $(PYTEST_ARGS)
	$(BIN)/pytest tests -m 'hypothesis and not exhaustive' --hypothesis-profile=thorough -n $(WORKERS) --dist worksteal

# Small mistakes planted one at a time: those of tests/mutation/planted.toml, then drawn ones in the kernels and the rooms that
# tests/mutation/__main__.py names. What no test finds is listed, and fails.
mutation: .venv/test ## Plant small mistakes and list those that no test finds (40 minutes)
	$(BIN)/python -m tests.mutation --planted
	$(BIN)/python -m tests.mutation $(MUTATION_ARGS)

# The documentation as a site in build/site, which needs no server and no network: open build/site/index.html.
# A warning fails.
docs: .venv/docs ## Build the documentation site into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

check-picture: .venv/machine ## Draw docs/assets/check.svg anew; needs Chromium
	$(BIN)/python -m building.documentation.check_picture

# docs/performance.md, its plot and its numbers, on this machine, which should be idle: half an hour. What is measured beside
# ours is installed as for `make runtimes`. The first run is limited to AVX2. Runs of other processors, $(BENCHED)-*.json,
# stay on the page.
# BENCH=--quick BENCHED=build/quick tries it in two minutes.
BENCHED := docs/performance
AVX2 := VINCULUM_BACKEND=x86-64-v3 ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 XLA_FLAGS=--xla_cpu_max_isa=AVX2 \
	NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
bench: $(RUNTIMES)/installed ## Measure, and write docs/performance.* (half an hour, on an idle machine)
	$(AVX2) PYTHONPATH=src $(RUNTIMES)/bin/python -m benchmarks $(BENCH) --rounds 2 --to build/avx2
	cp build/avx2.json $(BENCHED)-avx2.json
	PYTHONPATH=src $(RUNTIMES)/bin/python -m benchmarks $(BENCH) $$(printf -- '--beside %s ' $(BENCHED)-*.json) --to $(BENCHED)
	PYTHONPATH=src $(RUNTIMES)/bin/python -m benchmarks.engines

# Instructions counted under valgrind's callgrind, against benchmarks/guard/expected.json. On Debian: apt install valgrind gcc.
# RECORD=--record keeps what is counted as what is expected.
bench-guard: .venv/test ## Count instructions against what is expected; needs valgrind
	$(BIN)/python -m benchmarks.guard $(RECORD)

# What runtimes' divisions do, each in an environment of its own with the versions that known_deviations/ is about. Their runs
# are added to those published in docs/survey. SURVEYED='tvm iree' asks these two. tinygrad needs clang, torch.compile g++.
SURVEYED := $(basename $(notdir $(wildcard known_deviations/*.toml)))
survey: $(SURVEYED:%=build/survey/%/installed) ## Ask fifteen runtimes for divisions, and write docs/reference/survey.md (half an hour)
	for name in $(SURVEYED); do \
	  rm -f build/survey/$$name/failed; \
	  PYTHONPATH=src build/survey/$$name/bin/python -m vinculum conform --expect known_deviations/$$name.toml \
	    --save build/survey/$$name/run.json || touch build/survey/$$name/failed; \
	done
	$(BIN)/python -m building.documentation.survey $(SURVEYED:%=build/survey/%/run.json)
	! ls $(SURVEYED:%=build/survey/%/failed) 2>/dev/null

build/survey/%/installed: known_deviations/%.toml building/runtime_requirements.py .venv/test
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(BIN)/python building/runtime_requirements.py $< >$(@D)/requirements.txt
	$(@D)/bin/python -m pip install --quiet --no-compile -r $(@D)/requirements.txt
	touch $@

# The proofs, from the stored sessions. On Debian 12: apt install why3 z3 cvc4 cvc5 gappa. Nothing from PyPI is needed.
# Theories unchanged since everything was replayed, as proofs/recorded.txt shows, are not replayed again.
PROVING := PYTHONPATH=src $(PYTHON) -m proofs.checking
proofs: ## Replay the proofs that changed; needs why3 and its provers
	$(PROVING).linked
	$(PROVING).rules --check
	$(PROVING).replay

# Every proof again, every false variant, and `false` itself. RECORD=--record writes proofs/recorded.txt if all is well.
proofs-all: ## Replay every proof and every false variant
	$(PROVING).linked
	$(PROVING).rules --check
	$(PROVING).replay --all $(RECORD)

# The core's rules, extracted anew from the proved programs. It needs why3; `make proofs` compares them byte for byte.
rules: ## Extract the core's rules from the proved programs; needs why3
	$(PROVING).rules

# Whether the texts that the clauses rest on are yours: the documents that proofs/baseline.toml names, in one folder.
baseline: ## Compare the documents in DOCUMENTS=folder with those that were implemented
	$(PROVING).baseline $(DOCUMENTS)

# Div on the libraries of SONNX's own formal specifications: SONNX=folder, a checkout of its repository.
sonnx-upstream: ## Replay Div on SONNX's own libraries, in SONNX=folder; needs why3
	$(PROVING).upstream $(SONNX)

# The proved loops as a small C library, build/sonnx-c. It needs why3 and gcc, or what CC=... and AR=... name.
sonnx-c: ## Build the proved loops as a C library in build/sonnx-c; needs why3 and gcc
	$(PROVING).extraction build/sonnx-c

# What `vinculum spec --trace` prints and the site shows, from the rows, the sessions and the tests; and proofs/statements.txt.
traceability: .venv/test ## Join the clauses with the proofs and the tests, for `vinculum spec --trace`
	$(BIN)/python -m proofs.checking.traceability

clean: ## Remove what was installed and built
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/vinculum/kernels/_core.*.so src/vinculum/kernels/_core.*.pyd src/vinculum/onnxruntime/operators.*
	find src tests -name __pycache__ -type d -exec rm -rf {} +
