VENV ?= .venv
BIN := $(VENV)/bin
BENCHES := $(wildcard bench/startup.py bench/store.py)
RECORDED := bench/recorded.py
export VENV

.PHONY: help setup small-model demo test journeys mutants test-sandboxed explore lint types torture attacks reliability bench test-pythons requirements clean

help:
	@echo 'make setup         everything that is needed, in $(VENV)'
	@echo 'make demo          see it work: an agent on a sample project, killed and resumed'
	@echo 'make test          lint, types and the tests of every commit'
	@echo 'make journeys      the tests that take long: several processes, PostgreSQL, a browser, kills'
	@echo 'make mutants       break the source in many ways, and see whether a test notices; SEED=N repeats those of a run'
	@echo 'make test-sandboxed  the tests that depend on the sandbox; .ci/run runs them with less of one'
	@echo 'make small-model   a real small model for the tests, 130 MB; SMALL_MODEL=no leaves it out'
	@echo 'make explore       new examples for the property tests; SEED=N repeats those of a run'
	@echo 'make torture       the long tests (kills, 5,000 changed files, 200 odd repositories), and the property tests with many more examples'
	@echo 'make attacks       the attacks on the sandbox and the cheats, as root and as an ordinary user; as root, minutes'
	@echo 'make reliability   kills, power losses, full disks, flipped bits and a million inputs for the parsers; as root, an hour'
	@echo 'make bench         measure, beside others; results in bench/results; DATA=FILE adds the benches on recorded runs'
	@echo 'make test-pythons  the tests on every Python 3.11 or newer on the PATH'
	@echo 'make requirements  pin all packages again (needs uv)'
	@echo 'make clean         remove what was made'

setup:
	@scripts/setup

# For the tests alone; goes on without it where it can't be had.
small-model: setup
	@scripts/small-model

demo: setup
	@$(BIN)/afresh demo

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/pyright --pythonpath $(BIN)/python

# Two workers more than there are cores: many tests wait for processes that they have started, or for the disk.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 2)

PYTEST = $(BIN)/python -m pytest -q -rsfE -n $(WORKERS) --dist worksteal

# Types are checked beside the tests, on one core alone; what is wrong with them is told at the end.
# What takes long is left to `make journeys`, but for one test of its kind.
test: lint
	@mkdir -p build
	@$(BIN)/pyright --pythonpath $(BIN)/python >build/types.log 2>&1 & types=$$!; \
	$(PYTEST) -m 'not torture and (daily or not journey)'; behaviour=$$?; wait $$types || { cat build/types.log; exit 1; }; exit $$behaviour

journeys: small-model
	@$(PYTEST) -m 'journey and not daily and not torture'

# Every guard of tests/twins.py put out of action, then mutants of four rooms drawn by chance. LEAST is the share to be noticed, in %.
NUMBER ?= 60
LEAST ?= 0
mutants: setup
	@$(BIN)/python tests/mutants.py twins
	@$(BIN)/python tests/mutants.py random --number $(NUMBER) --seed $(SEED) --least $(LEAST)

# The part of the tests that depends on the sandbox, or with PART='sandboxed or browser' on either; .ci/run runs it with less of one.
PART ?= sandboxed
test-sandboxed: setup
	@$(PYTEST) -m '($(PART)) and not torture'

# make test tries the same examples in every run. These are others, and the same ones again with the SEED that is printed.
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
explore: setup
	@echo 'explore: the same examples again: make explore SEED=$(SEED)'
	@timeout 1200 $(PYTEST) -m 'hypothesis and not torture' --hypothesis-profile explore --hypothesis-seed=$(SEED)

torture: small-model
	@echo 'torture: the same examples again: make torture SEED=$(SEED)'
	@ODD_SEED=$(SEED) $(BIN)/python -m pytest -q -m torture -o faulthandler_timeout=7200
	@$(PYTEST) -m 'hypothesis and not torture' --hypothesis-profile torture --hypothesis-seed=$(SEED)

# Counts of faults tried and of what was lost, beside broken twins; as root, about an hour. RELIABILITY=--short: minutes.
reliability: setup
	@$(BIN)/python bench/reliability.py $(RELIABILITY)

# The part of it that tries to get out.
attacks: setup
	@$(BIN)/python bench/reliability.py --only attacks $(RELIABILITY)

bench: setup
	@for file in $(BENCHES); do echo "$$file" && $(BIN)/python "$$file" || exit 1; done
ifdef DATA
	@for file in $(RECORDED); do echo "$$file" && $(BIN)/python "$$file" "$(DATA)" || exit 1; done
else
	@echo 'left out, since they need recorded runs: $(RECORDED); make bench DATA=FILE (docs/internals/measurements.md says of what form)'
endif

test-pythons:
	@scripts/test-pythons

PIN := uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --no-emit-index-url
EXTRAS := --extra web --extra mcp --extra acp --extra telemetry --extra postgres

requirements:
	@$(PIN) pyproject.toml -o requirements/runtime.txt
	@$(PIN) $(EXTRAS) pyproject.toml requirements/dev.in -c requirements/runtime.txt -o requirements/dev.txt

clean:
	@rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
