# Every target sets itself up: all it takes is Python 3.11 or newer, make and a package index.
#   make test PYTHON=python3.13     use another interpreter (the environment is made anew for it)

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; exit; }; done; echo python3)
LOCK_PYTHON ?= python3.11
UPGRADE ?=
BENCH ?=

PY := .venv/bin/python
# Targets of the demo and of the tests are started by name, so the environment comes first on their PATH.
RUN := PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY)
# Nothing of a caller's own Python set-up may reach the environment.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

COMPILE = CUSTOM_COMPILE_COMMAND="make lock" build/lock/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras

.PHONY: help demo live test test-container lint ruff types imports docstrings hooks workflows docs docs-check bench lock lock-live setup setup-demo setup-live clean

help:
	@echo 'make demo    gate a small retrieval system, see it go red, and leave the reports in build/demo'
	@echo 'make live    gate a small real language model on this machine (downloads 100 MB, takes minutes)'
	@echo 'make test    run every test but those of the image and of whole workflows'
	@echo 'make test-container   build the image and run it, and the workflows with act'
	@echo 'make lint    style, types, import rules, docstrings, commit hooks, generated pages'
	@echo 'make docs    write the generated pages anew'
	@echo 'make bench   measure speed and memory beside plain scripts (minutes)'
	@echo 'make lock    resolve the dependencies anew (UPGRADE=--upgrade takes the newest)'
	@echo 'make clean   remove everything that was generated'

setup:
	@$(PYTHON) .ci/setup.py dev

setup-demo:
	@$(PYTHON) .ci/setup.py demo

setup-live:
	@$(PYTHON) .ci/setup.py live

demo: setup-demo
	@$(RUN) examples/docs-rag/demo.py

live: setup-live
	@$(RUN) examples/live-model/live.py

test: setup
	@$(RUN) -m pytest -n auto -m 'not container'

test-container: setup
	@$(RUN) -m pytest -m container -rs

# `make -k lint` goes through all of them, so that one run shows every fault.
lint: ruff types imports docstrings hooks workflows docs-check

ruff: setup
	@$(PY) -m ruff check .

types: setup
	@$(PY) -m mypy --strict

imports: setup
	@.venv/bin/lint-imports

docstrings: setup
	@$(PY) -m interrogate --quiet evalaction || { $(PY) -m interrogate -vv --no-color evalaction | grep -i missed; exit 1; }

hooks: setup
	@$(PY) -m pre_commit validate-config .pre-commit-config.yaml

WORKFLOWS := $(wildcard .github/workflows/*.yml examples/workflows/*.yml)
workflows: setup
	@.venv/bin/zizmor --offline --quiet --persona pedantic action.yml $(WORKFLOWS)
	@.venv/bin/actionlint -shellcheck .venv/bin/shellcheck $(WORKFLOWS)
	@.venv/bin/check-jsonschema --quiet --builtin-schema vendor.github-actions action.yml
	@.venv/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows $(WORKFLOWS)
	@.venv/bin/hadolint Dockerfile
	@.venv/bin/shellcheck --external-sources action/*.sh .ci/*.sh .ci/run

docs: setup
	@$(PY) docs/generate.py

docs-check: setup
	@$(PY) docs/generate.py --check

bench: setup
	@$(RUN) -m benchmarks.run $(BENCH)

# Resolved on the oldest supported Python: a release that still supports it also has wheels for the newer ones.
lock:
	$(LOCK_PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	$(COMPILE) $(UPGRADE) --all-extras --build-deps-for editable --output-file requirements/dev.txt pyproject.toml
	$(COMPILE) --upgrade --constraint requirements/dev.txt --extra examples --build-deps-for editable --output-file requirements/demo.txt pyproject.toml
	$(COMPILE) --upgrade --constraint requirements/dev.txt --output-file requirements/lock.txt pyproject.toml
	$(COMPILE) --upgrade --constraint requirements/dev.txt --extra anthropic --extra openai --output-file requirements/image.txt pyproject.toml

# pip-compile follows dependencies, and these two packages are installed without theirs: of what it finds only they are kept.
lock-live:
	$(LOCK_PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	$(COMPILE) $(UPGRADE) --no-annotate --no-header --output-file build/lock/live.txt requirements/live.in
	{ echo '# Made by `make lock-live` from requirements/live.in; to be installed with --no-deps.'; \
	  awk 'FNR == NR { if (!/^#/) wanted[$$1]; next } /^[^ ]/ { split($$1, name, "=="); kept = name[1] in wanted } kept && NF' requirements/live.in build/lock/live.txt; } > requirements/live.txt

clean:
	rm -rf .venv build dist eval-results .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
