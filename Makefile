# make demo   plays a tournament of the sample bots (sets everything up first)
# make test   lint and all tests (sets everything up first)
# make quick  lint, and the tests of rules, protocol, games, ratings, formats and specs: for every edit
# make test-repeat       make test from clean clones, N=6 times, a third of them beside other load
# make test-costs        the processor time of each folder of tests, dearest first
# make test PYTHON=/usr/bin/python3 VENV=.venv-debian  the same with another Python, beside the first
# make test-lowest       all tests with the lowest versions that pyproject.toml allows
# make bench  the speed of the arena, as ratios to a bare pipe exchange
# make bench-tournament  what a tournament costs beyond its games; a second worker; reports
# make bench-contest     a contest of many small bots: what starting them costs beside playing
# make bench-start       the CPU time of commands until there is something to see
# make bench-store       a store of GAMES=1000000 by BOTS=100: writing, room, standings
# make bench-rate        `referee rate` against a plain read of the same file
# make bench-ratings     a rating of 1,000 to 10,000 bots: time and memory
# make bench-confinement what confinement costs per answer and per start
# make bench-full        the same in a small virtual machine, with level full
# make bench-hall        the delay of bots that connect, to a bare ZeroMQ exchange
# make bench-cluster     what a cluster brings, and what its coordinator pays for a chunk and a game
# make bench-viewers     what 500 viewers and 200 page views a second cost the games of a daemon
# make bench-archive     how fast the archive of 300,000 games is made and opens in a browser
# make bench-… SMALL=1   any of these for seconds, as the tests run it; its figures mean nothing
# make test-full         the tests of confinement in a small virtual machine, at level full
# make fuzz              fuzzes what strangers send and write, SECONDS=60 for each target
# make soak              honest, broken and hostile bots for SECONDS=60, and what is left of them

PYTHON ?= python3
VENV := .venv
# Where it is set, every process of the tests would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=
LOWEST := .venv-lowest
BIN := $(VENV)/bin
READY := $(VENV)/.ready-demo
TEST_READY := $(VENV)/.ready-test
FUZZ_READY := $(VENV)/.ready-fuzz
# Two Pythons in one environment break each other: if another is asked for, it is made anew.
WHICH := import sys; print(sys.base_prefix, sys.version)
ifneq ($(origin PYTHON),file)
ifneq ($(shell test ! -x $(BIN)/python || $(BIN)/python -c '$(WHICH)'),$(shell $(PYTHON) -c '$(WHICH)'))
OTHER := yes
.PHONY: $(READY)
endif
endif
WORKERS ?= 5
# A file of tests stays with one worker (tests/conftest.py); the long ones come first.
SHARED_OUT := --dist loadfile --no-loadscope-reorder
QUICK_WORKERS ?= 2
N ?= 6
SECONDS ?= 60
# What every benchmark is given: nothing, or its small size.
SIZE := $(if $(SMALL),--small)

.PHONY: help demo test quick test-repeat test-costs test-lowest test-full lint bench \
  bench-tournament bench-contest bench-start bench-rate bench-hall bench-viewers \
  bench-archive bench-cluster bench-store bench-ratings \
  bench-confinement bench-full fuzz soak packages machine clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

$(READY): pyproject.toml
	@echo "Setting up $(VENV): Python packages (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; say make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { test "$$(id -u)" = 0 \
	  && echo "Installing python3-venv" && apt-get update -qq \
	  && apt-get install -y -qq python3-venv >/dev/null; } \
	  || { echo "Python cannot make environments; on Debian: apt-get install python3-venv"; exit 1; }
	@test -x $(BIN)/python -a -z '$(OTHER)' || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q -x '/templates/' referee
	@touch $@

$(TEST_READY): pyproject.toml $(READY)
	@echo "Setting up $(VENV): what the tests need (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint]'
	@# Compiles the tests, which would otherwise be done by all workers at once.
	@$(BIN)/python -m pytest -q --collect-only >/dev/null
	@touch $@

$(FUZZ_READY): pyproject.toml $(READY)
	@echo "Setting up $(VENV): what fuzzing needs (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	@touch $@

demo: $(READY)
	@echo "Playing a round-robin of the sample bots:"
	@echo "  referee tournament --variant underdog"
	@$(BIN)/referee tournament --variant underdog

test: packages lint
	@echo "Running all tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) $(SHARED_OUT)

# The rules, the protocol, games and their records, ratings, formats and specs.
QUICK := tests/rules tests/protocol tests/ratings tests/records tests/ladder tests/test_clock.py \
  tests/test_dialogue.py tests/test_layers.py tests/test_wording.py $(addprefix tests/tournament/test_,round_robin.py \
  swiss.py knockout.py matching.py lines.py plan.py spec.py reading.py override.py)

quick: lint
	@$(BIN)/python -m pytest -q -n $(QUICK_WORKERS) $(QUICK)

test-repeat: $(TEST_READY)
	@$(BIN)/python -m tests.repeat --runs $(N) --python $(PYTHON)

test-costs: packages
	@$(BIN)/python -m tests.costs

test-lowest:
	@$(PYTHON) -m tests.lowest > $(LOWEST).txt
	@PIP_CONSTRAINT=$(LOWEST).txt \
	  $(MAKE) --no-print-directory packages VENV=$(LOWEST)
	@echo "Running all tests with the lowest versions"
	@$(LOWEST)/bin/python -m pytest -q -n $(WORKERS) $(SHARED_OUT)

lint: $(TEST_READY)
	@echo "Linting: ruff, mypy --strict"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

# What tests need beyond Python. Each is one Debian package; without it, its tests say so and skip.
packages: $(TEST_READY)
	@$(BIN)/python -m tests.packages

bench: $(READY)
	@$(BIN)/python -m benchmarks.bench $(SIZE)

bench-tournament: $(READY)
	@$(BIN)/python -m benchmarks.tournament $(SIZE)

bench-contest: $(READY)
	@$(BIN)/python -m benchmarks.contest $(SIZE)

bench-start: $(READY)
	@$(BIN)/python -m benchmarks.start $(SIZE)

bench-store: $(READY)
	@$(BIN)/python -m benchmarks.store $(SIZE) \
	  $(if $(GAMES),--games $(GAMES)) $(if $(BOTS),--bots $(BOTS))

bench-rate: $(READY)
	@$(BIN)/python -m benchmarks.rate $(SIZE)

bench-ratings: $(READY)
	@$(BIN)/python -m benchmarks.ratings $(SIZE)

bench-confinement: $(READY)
	@$(BIN)/python -m benchmarks.confinement $(SIZE)

bench-hall: $(READY)
	@$(BIN)/python -m benchmarks.hall $(SIZE)

bench-cluster: $(TEST_READY)
	@$(BIN)/python -m benchmarks.cluster $(SIZE)

bench-viewers: $(READY)
	@$(BIN)/python -m benchmarks.viewers $(SIZE)

bench-archive: packages
	@$(BIN)/python -m benchmarks.archive $(SIZE)

fuzz: $(FUZZ_READY)
	@$(BIN)/python -m fuzz.run $(TARGET) --seconds $(SECONDS)

soak: packages
	@$(BIN)/python -m soak.run --seconds $(SECONDS) $(if $(SANDBOX),--sandbox $(SANDBOX))

# Control groups need a kernel that has them: one that runs as a process, from a Debian package.
machine: $(TEST_READY)
	@$(BIN)/python -m tests.packages --full

test-full: machine
	@$(BIN)/python tests/vm/run_in_vm.py --timeout 5400 env \
	  REFEREE_TEST_LEVEL=full REFEREE_TEST_PACE=4 \
	  $(BIN)/python -m pytest -q -p no:cacheprovider tests/confinement tests/hostile \
	  tests/arena/test_process_cache.py tests/tournament/test_restart.py

bench-full: machine
	@$(BIN)/python tests/vm/run_in_vm.py --timeout 3000 \
	  $(BIN)/python -m benchmarks.confinement $(or $(SIZE),--games 200)

clean:
	rm -rf $(VENV) $(LOWEST) $(LOWEST).txt .test-repeat dist build benchmarks/bin .fuzz .mypy_cache .ruff_cache .pytest_cache .hypothesis
