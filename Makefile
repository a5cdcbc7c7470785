# `make app` serves the lab, `make test` runs every check, `make test-fast` all but the slow tests.
# Each sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

# One process more than cores, because many tests wait. A file stays in one process, with its server or engine; the
# longest files come first.
ON_ALL_CORES = -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist loadfile --no-loadscope-reorder
# The tests start some hundred processes, which share compiled bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app test test-fast tests golden soak wheel docs bench bench-check lock licenses audit lowest check style types clean

app: $(VENV)/.app
	$(BIN)/streamlit run app.py

# mypy takes half a minute on one core: the tests do not wait for it.
test: style chromium
	@$(MAKE) --no-print-directory -j 2 types tests

test-fast: style
	@$(MAKE) --no-print-directory -j 2 types tests ONLY='-m "not slow and not soak"'

# Compares all golden numbers (tests/golden) with those of today, and takes some minutes; `make golden WRITE="NAME..."`
# records the named entries anew.
golden: $(VENV)/.test
	$(BIN)/python -m tests.golden.record $(if $(WRITE),--write $(WRITE))

# The wheel and the sdist, and the wheel in an environment that has nothing else.
wheel: $(VENV)/.test chromium
	$(BIN)/python -m pytest -m soak tests/ui/test_wheel.py

# All pages of the documentation, with their figures and tutorials, into docs/_build/html; warnings are errors.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Every case of which `make test` runs only some: all golden numbers, random input, kill -9 at random points, classes of
# up to sixty at one server. benchmarks/RESULTS.md has its figures and the date of the last run.
soak: $(VENV)/.test chromium
	$(BIN)/python -m pytest $(ON_ALL_CORES) -m soak
	LRLAB_FUZZ=10000 $(BIN)/python -m pytest tests/fuzz tests/theory/test_links.py --hypothesis-show-statistics
	LRLAB_RANDOM_SPECS=2000 $(BIN)/python -m pytest tests/test_promises.py
	$(BIN)/python -m tests.golden.record
	$(BIN)/python -m pytest $(ON_ALL_CORES) -m attempt
	LRLAB_KILLS=100 $(BIN)/python -m pytest tests/store/test_other_processes.py
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.soaked

# The lab beside what people would install instead and beside its floors, costs as problems grow, sweeps, a thousand
# workers, the app: an hour, written to benchmarks/RESULTS.md.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.peers --write
	$(BIN)/python -m benchmarks.limits --write
	$(BIN)/python -m benchmarks.own_measurements --write
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.sweeps --write
	$(BIN)/python -m benchmarks.scale_workers --write
	$(BIN)/python -m benchmarks.app --write

# The short form: ratios to scikit-learn and bare BLAS in the same run against the stored ones.
bench-check: $(VENV)/.test
	$(BIN)/python -m benchmarks.peers --check

# The versions that a server gets (Dockerfile), with the hashes of their files; after a change of requirements.txt.
lock: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.5,<1"
	$(BIN)/uv pip compile --quiet --no-config --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --custom-compile-command "make lock" requirements.txt -o requirements-lock.txt

# The table of docs/dependencies.md; after `make lock`.
licenses: $(VENV)/.app
	$(BIN)/python -m benchmarks.dependencies --write

# Known flaws of the versions in the lock; says so where pip-audit reaches no database of them.
audit: $(VENV)/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip-audit>=2.7,<3"
	$(BIN)/python -m benchmarks.dependencies --audit

# The fast tests with the lowest versions that the requirements allow, in an environment of their own; without mypy, for
# numpy 2.0 declares less of its types.
lowest: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.5,<1"
	$(BIN)/uv venv --quiet --seed --clear --python $(BIN)/python $(VENV)-lowest
	$(BIN)/uv pip install --quiet --python $(VENV)-lowest --resolution lowest-direct --editable . \
	  -r requirements.txt -r requirements-test.txt
	touch $(VENV)-lowest/.app $(VENV)-lowest/.test
	@$(MAKE) --no-print-directory VENV=$(VENV)-lowest tests ONLY='-m "not slow and not soak"'

check: style types

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(VENV)/.test
	$(BIN)/mypy

tests: $(VENV)/.test
	$(BIN)/python -m pytest $(ON_ALL_CORES) $(ONLY)

$(VENV)/.app: requirements.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt --editable .
	touch $@

$(VENV)/.test: requirements-test.txt requirements-notebook.txt $(VENV)/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt -r requirements-notebook.txt
	touch $@

$(VENV)/.docs: requirements-docs.txt $(VENV)/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	touch $@

$(VENV)/.bench: requirements-bench.txt $(VENV)/.test
	sed -n 's/^\([a-z].*\)/\1/p' requirements-bench.txt | while read -r peer; do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check "$$peer" || echo "does not install: $$peer"; done
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lrlab needs Python 3.11 or later: install it, or name it with make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(call apt,python3-venv)
	$(PYTHON) -m venv $(VENV)

# The browser tests drive a real chromium: the one on the PATH, or the one that PLAYWRIGHT_CHROMIUM names.
.PHONY: chromium
chromium:
	@test -x "$$PLAYWRIGHT_CHROMIUM" || command -v chromium >/dev/null || $(call apt,chromium)

apt = { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && \
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q $(1); } || \
  { echo "Please install $(1) (Debian: sudo apt install $(1); macOS: brew install $(1)), then run make again."; exit 1; }

clean:
	rm -rf $(VENV) $(VENV)-lowest build dist docs/_build docs/generated *.egg-info
