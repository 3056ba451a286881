# Everything a developer types. `make` alone explains every target.
#
# Set-up is no target to remember: each one that needs the virtual environment makes it, and makes
# it anew when the pins have changed. All that is needed before is Python 3.11 or newer.

PINS    := deploy/requirements.txt
DEV     := deploy/requirements-dev.txt
UV_PINS := deploy/requirements-uv.txt
IMAGE   := deploy/requirements-image.txt
BIN     := .venv/bin
UV      := UV_PYTHON_DOWNLOADS=never $(BIN)/uv pip
PIN      = UV_CUSTOM_COMPILE_COMMAND='make pins' $(UV) compile -q --universal --generate-hashes $(ARGS)

# Compose is a plugin of docker nowadays, and was a program of its own.
COMPOSE  = $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose) \
	-f deploy/compose.yaml

# The environment for development holds the one for running.
RUNNABLE = $(if $(wildcard .venv/ready-to-develop),.venv/ready-to-develop,.venv/ready-to-run)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ Play

.PHONY: run
run: $(RUNNABLE)  ## Start everything on http://127.0.0.1:8000 (CROUPIER_PORT); Ctrl-C stops it
	@exec $(BIN)/croupier up

.PHONY: up
up:  ## Start everything in containers, with nothing but Docker; README has the rest
	@$(COMPOSE) up --build --detach
	@echo "Croupier plays on http://127.0.0.1:$${CROUPIER_PORT:-8000}; make down stops it, and keeps its data."

.PHONY: down
down:  ## Stop the containers; their data stays
	@$(COMPOSE) down

.PHONY: demo
demo: $(RUNNABLE)  ## Play some rounds of each ruleset against a running croupier, and check them
	@exec $(BIN)/croupier demo

##@ Change

.PHONY: test
test: lint types  ## Check everything: lint, types, then all tests (TEST=tests/http for some)
	@$(BIN)/pytest --numprocesses=4 --dist=worksteal $(TEST)

.PHONY: test-containers
test-containers: .venv/ready-to-develop  ## Build the image and test it; fails where no Docker engine answers
	@CROUPIER_NEEDS=docker $(BIN)/pytest tests/containers tests/deploy $(ARGS)

.PHONY: lint
lint: .venv/ready-to-develop  ## Look for mistakes and for code that is not formatted
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

.PHONY: types
types: .venv/ready-to-develop  ## Check the types of all services, strictly
	@$(BIN)/mypy

.PHONY: format
format: .venv/ready-to-develop  ## Format the code and sort its imports
	@$(BIN)/ruff check --select I --fix
	@$(BIN)/ruff format

.PHONY: bench
bench: .venv/ready-to-develop  ## Measure speed beside everybody else's, as bench/RESULTS.md with plots (ARGS=--help)
	@$(BIN)/python -m tests.benchmarks $(ARGS)

.PHONY: simulate
simulate: .venv/ready-to-develop  ## Play everything from a seed while it breaks, and judge it (SEED=1 MINUTES=5)
	@$(BIN)/python -m tests.simulation --minutes=$(or $(MINUTES),1) $(if $(SEED),--seed=$(SEED)) $(ARGS)

##@ Keep

.PHONY: setup
setup: .venv/ready-to-develop  ## Make the virtual environment, for an editor to use

.PHONY: format-files
format-files: .venv/ready-to-develop  ## Write schemas, vectors and examples of FORMAT.md anew, as the code has them
	@$(BIN)/python -m tests.format

.PHONY: pins
pins: .venv/ready-to-develop  ## Pin what pyproject.toml asks for (ARGS=--upgrade for the newest)
	@$(PIN) pyproject.toml --extra local -o $(PINS)
	@$(PIN) pyproject.toml --extra local --extra otel --extra parquet --extra dask --group dev -o $(DEV)
	@$(PIN) --group setup -o $(UV_PINS)
	@$(PIN) pyproject.toml --constraint $(PINS) -o $(IMAGE)

.PHONY: sbom
sbom: .venv/shipped  ## Write what the image is made of, with licences, as CycloneDX (dist/sbom.json)
	@mkdir -p dist
	@$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o dist/sbom.json $<
	@echo "dist/sbom.json"

.PHONY: licences
licences: .venv/ready-to-develop  ## List the licence of every dependency, also of those for development
	@$(BIN)/pip-licenses --from=mixed --order=license --ignore-packages croupier $(ARGS)

.PHONY: audit
audit: .venv/ready-to-develop  ## Ask whether any pinned dependency has a known vulnerability; needs the network
	@for pins in $(UV_PINS) $(DEV); do \
		$(BIN)/pip-audit --strict --disable-pip --require-hashes -r $$pins || exit; \
	done

.PHONY: clean
clean:  ## Remove the virtual environment and all caches; data and keys in .croupier stay
	@rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help:  ## Explain every target; the same as make alone
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# The set-up. An interpreter is tried by running it: a name on the PATH proves nothing.

.venv/bin/python:
	@for python in python3 python3.13 python3.12 python3.11; do \
		$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		echo "Making .venv with $$($$python --version)"; \
		exec $$python -m venv --clear .venv; \
	done; \
	echo 'Croupier needs Python 3.11 or newer, with its venv module, as python3.' >&2; exit 1

.venv/bin/uv: $(UV_PINS) | .venv/bin/python
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/ready-to-run: $(PINS) .venv/bin/uv
	@$(call install,$<)

.venv/ready-to-develop: $(DEV) .venv/bin/uv
	@$(call install,$<)

# What the image has, and nothing else, to be looked at.
.venv/shipped: $(IMAGE) .venv/ready-to-develop
	@$(BIN)/python -m venv --clear --without-pip $@
	@$(UV) sync -q --python $@ --require-hashes $<
	@touch $@

# The project itself is installed in place; what builds it is pinned and checked like the rest.
define install
echo "Installing $(1)"
$(UV) sync -q --compile-bytecode --require-hashes $(1)
$(UV) install -q --no-deps --build-constraints $(DEV) --editable .
touch $@
endef
