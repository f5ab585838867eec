# `make` alone lists what there is. Everything runs from .venv/ in this checkout.

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# A few packages have files that are no Python of this version, which is no error. A third of all files is nearly never
# imported: tests of packages, and models of transformers.
COMPILE := $(BIN)/python -m compileall -qq -x '/tests?/|/pandas/|/transformers/models/(?!auto/|bert/)'
PACKAGES := $(VENV)/lib/python*/site-packages/*
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile

.PHONY: help install demo up test lint style imports types definitions bench bench-search constraints hashes release clean python
.DEFAULT_GOAL := help

help:
	@echo "make …"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

install: $(STAMP) ## make .venv/ with everything pinned in constraints.txt

$(STAMP): pyproject.toml constraints.txt hashes.txt | python
	@echo "Installing into $(VENV)/; the first time takes some minutes."
	@$(PYTHON) -m venv $(VENV) || { echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --upgrade pip
	@# Everything but torch is checked against hashes.txt. pip uses one core: the other one adds torch meanwhile, and then
	@# makes bytecode of what is installed by then. Where a wheel of $(VENV)/torch.txt is missing, the last pip finds another.
	@sed -n '/^torch==/p; /^triton==/p' constraints.txt > $(VENV)/torch.txt
	@echo "pip install -r hashes.txt, and torch beside it"
	@$(PIP) --require-hashes --no-deps --build-constraint constraints.txt -r hashes.txt & checked=$$!; \
		$(PIP) --quiet --no-deps -c constraints.txt -r $(VENV)/torch.txt; \
		while kill -0 $$checked 2>/dev/null; do $(COMPILE) $(PACKAGES); sleep 4; done; \
		wait $$checked
	@echo "pip install -e '.[pipeline]' --group dev"
	@$(COMPILE) $(PACKAGES) & compiling=$$!; \
		$(PIP) -c constraints.txt --build-constraint constraints.txt -e '.[pipeline]' --group dev; \
		status=$$?; kill $$compiling 2>/dev/null; wait; exit $$status
	@$(COMPILE) -j 0 $(VENV)/lib || true
	@$(BIN)/python -m compileall -q assets orchestration resources sensors sourcebook
	@touch $@

python:
	@command -v '$(PYTHON)' >/dev/null || { \
		echo "There is no $(PYTHON). Install Python 3.11 or newer, or name yours: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.version_info >= (3, 11) or sys.exit("$(PYTHON) is Python %d.%d. Sourcebook needs 3.11" \
		" or newer; name one with: make PYTHON=/path/to/python3.11" % sys.version_info[:2])'

demo: install ## take the example library in and search it
	@$(BIN)/python -m orchestration.demo $(ARGS)

up: install ## start Dagster's web page and its daemon; Ctrl-C stops them
	@$(BIN)/sourcebook up $(ARGS)

test: install ## run all tests, the quick ones first
	@HF_HUB_OFFLINE=1 $(BIN)/python -m tests.layers $(ARGS)

lint: types style imports definitions ## check style, format, which way imports run, and types

style: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check

imports: install
	$(BIN)/lint-imports

types: install
	$(BIN)/mypy

definitions: install
	$(BIN)/dagster definitions validate -m orchestration.definitions

bench: install ## print the figures of docs/figures.md
	@$(BIN)/python -m benchmarks $(ARGS)

bench-search: install ## print quality and speed of search, over judged sets and 100,000 passages
	@$(BIN)/python -m benchmarks quality search search-large keyword-designs search-ingesting $(ARGS)

constraints: python ## resolve every version again and write constraints.txt
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --upgrade pip
	build/constraints/bin/python -m pip install '.[pipeline]' --group dev torch==2.13.0 hatchling editables
	sed -n '/^#/p' constraints.txt > build/constraints.txt
	build/constraints/bin/python -m pip freeze --all --exclude sourcebook | sed 's/+.*//' >> build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/constraints
	$(MAKE) hashes

hashes: python ## write hashes.txt for the versions in constraints.txt
	rm -rf build/hashes
	$(PYTHON) -m venv build/hashes
	build/hashes/bin/python -m pip install --quiet --disable-pip-version-check uv
	sed '/^torch==/d; /^triton==/d; /^#/d' constraints.txt > build/hashes/wanted.txt
	build/hashes/bin/uv pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate \
		build/hashes/wanted.txt -o build/hashes/hashes.txt
	sed -n '/^#/p' hashes.txt > build/hashes.txt
	@# A backport of the standard library is not for the versions of Python that have the module.
	sed 's/^\(backports-zstd==[^ ]*\) /\1 ; python_version < "3.14" /' build/hashes/hashes.txt >> build/hashes.txt
	mv build/hashes.txt hashes.txt
	rm -rf build/hashes

release: install ## build wheel, sdist and SBOM, check them in empty environments, and tag the version
	@$(BIN)/python -m release $(ARGS)

clean: ## remove .venv/, caches and what the demo stored; your own .sourcebook/ stays
	@for file in $$(find examples/.sourcebook -name postmaster.pid 2>/dev/null); do \
		if kill -0 "$$(head -n 1 "$$file")" 2>/dev/null; then \
			echo "The demo's database still runs (process $$(head -n 1 "$$file")). Stop \`make up\` or the demo first." >&2; exit 1; \
		fi; \
	done
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis examples/.sourcebook
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
