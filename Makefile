# `make` alone lists what there is. Everything runs from .venv/ in this checkout.

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TESTED := $(VENV)/.tested
# A few packages have files that are no Python of this version, which is no error. SELDOM: what an ingest and a search
# import a small part of, or nothing; Python compiles it when it is first imported.
COMPILE := $(BIN)/python -m compileall -qq -j 0
NEVER := /tests?/|/transformers/models/(?!auto/|bert/)
SELDOM := /(testing|_inductor|physics|crawl4ai|docutils|genai_prices|litellm|narwhals|networkx|nltk|onnxruntime|openai|patchright|phonenumbers|pip|playwright|pygments|scipy|setuptools|sklearn|trimesh)/

.PHONY: help install dev demo up test lint style imports types definitions bench bench-search docs constraints hashes release clean python
.DEFAULT_GOAL := help

help:
	@echo "make …"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

install: $(STAMP) ## make .venv/ with what the pipeline needs, pinned in constraints.txt

$(STAMP): pyproject.toml constraints.txt hashes.txt .ci/install | python
	@$(PYTHON) -m venv $(VENV) || { echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@.ci/install pipeline
	@$(COMPILE) -x '$(NEVER)|$(SELDOM)' $(VENV)/lib || true
	@$(COMPILE) assets orchestration resources sensors sourcebook
	@touch $@
	@echo 'To type sourcebook in any folder:  export PATH="$(CURDIR)/$(BIN):$$PATH"'

dev: $(TESTED) ## add what tests and checks need

$(TESTED): $(STAMP) hashes-dev.txt
	@.ci/install dev
	@$(COMPILE) -x '$(NEVER)|/(litellm|mypy|nltk|pandas|phonenumbers|physics|pip)/' $(VENV)/lib || true
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

test: $(TESTED) ## run all tests, the quick ones first
	@HF_HUB_OFFLINE=1 $(BIN)/python -m tests.layers $(ARGS)

lint: types style imports definitions ## check style, format, which way imports run, and types

style: $(TESTED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

imports: $(TESTED)
	$(BIN)/lint-imports

types: $(TESTED)
	$(BIN)/mypy

definitions: $(TESTED)
	$(BIN)/dagster definitions validate -m orchestration.definitions

bench: $(TESTED) ## print the figures of docs/figures.md
	@$(BIN)/python -m benchmarks $(ARGS)

bench-search: $(TESTED) ## print quality and speed of search, over judged sets and 100,000 passages
	@$(BIN)/python -m benchmarks quality search search-large keyword-designs search-ingesting $(ARGS)

docs: $(TESTED) ## build the documentation site into build/site; DOCS_SERVER and DOCS_KEY give it a search
	@$(BIN)/python -m release.site

constraints: python ## resolve every version again and write constraints.txt
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --upgrade pip
	build/constraints/bin/python -m pip install '.[pipeline]' --group dev torch==2.13.0 hatchling editables uv
	sed -n '/^#/p' constraints.txt > build/constraints.txt
	build/constraints/bin/python -m pip freeze --all --exclude sourcebook | sed 's/+.*//' >> build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/constraints
	$(MAKE) hashes

hashes: python ## write hashes.txt and hashes-dev.txt for the versions in constraints.txt
	rm -rf build/hashes
	$(PYTHON) -m venv build/hashes
	build/hashes/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	printf 'editables\nhatchling\npip\nuv\n' > build/hashes/installers.in
	build/hashes/bin/uv pip compile --quiet --extra pipeline -c constraints.txt --no-header --no-annotate \
		pyproject.toml build/hashes/installers.in -o build/hashes/pipeline.txt
	build/hashes/bin/uv pip compile --quiet --no-deps --no-header --no-annotate constraints.txt -o build/hashes/all.txt
	grep -vxFf build/hashes/pipeline.txt build/hashes/all.txt > build/hashes/dev.txt
	@# A backport of the standard library is not for the versions of Python that have the module.
	for pair in hashes.txt:pipeline.txt hashes-dev.txt:dev.txt; do \
		sed '/^torch==/d; /^triton==/d' build/hashes/$${pair#*:} > build/hashes/wanted.txt; \
		build/hashes/bin/uv pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate \
			build/hashes/wanted.txt -o build/hashes/hashed.txt || exit 1; \
		{ sed -n '/^#/p' $${pair%:*}; \
			sed 's/^\(backports-zstd==[^ ]*\) /\1 ; python_version < "3.14" /' build/hashes/hashed.txt; } > build/hashes/new.txt; \
		mv build/hashes/new.txt $${pair%:*}; \
	done
	rm -rf build/hashes

release: dev ## build wheel, sdist and SBOM, check them in empty environments, and tag the version
	@$(BIN)/python -m release $(ARGS)

clean: ## remove .venv/, caches and what the demo stored; your own .sourcebook/ stays
	@for file in $$(find examples/.sourcebook -name postmaster.pid 2>/dev/null); do \
		if kill -0 "$$(head -n 1 "$$file")" 2>/dev/null; then \
			echo "The demo's database still runs (process $$(head -n 1 "$$file")). Stop \`make up\` or the demo first." >&2; exit 1; \
		fi; \
	done
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis examples/.sourcebook
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
