# make demo          play hands on emulated readers, shown live (ARGS="--once --seed 7")
# make test          everything but soak
# make check         formatter, linter, types
# make bench, soak   figures; long runs
# make deb           dist/feltd_VERSION_ARCH.deb for the Debian this runs on
# PYTHON=python3.13  another interpreter for a new .venv (3.11 to 3.13)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= auto
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile
# pure modules whose every branch the tests take; `make test` fails when one no longer is
COVERED := daemon/rules/*,daemon/games/*,daemon/odds/[a-r]*,daemon/odds/spot.py,daemon/odds/stud.py
COVERED := $(COVERED),daemon/commitments.py,daemon/deal.py,daemon/deal_corrections.py,daemon/deals.py
COVERED := $(COVERED),daemon/outbox.py,daemon/setup.py,daemon/teach_in.py

PIN := config/demo-broker.txt

.PHONY: demo test check bench soak clean deb

demo: $(VENV)/.demo
	@exec $(BIN)/feltd demo $(ARGS)

test: $(VENV)/.test
	@tests/debian-packages
ifdef ARGS
	@$(PYTEST) -m "not soak" $(ARGS)
else
	@$(PYTEST) -m "traced and not soak" --cov --cov-report=
	@$(BIN)/python -m coverage report --fail-under=100 --include='$(COVERED)'
	@$(PYTEST) -m "not traced and not soak"
endif

check: $(VENV)/.check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	@tests/debian-packages
	@set -e; for file in tests/bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file; done

soak: $(VENV)/.test
	@tests/debian-packages
	$(BIN)/python -m pytest -m soak $(ARGS)

deb:
	@systemd/deb/build dist

clean:
	rm -rf $(VENV) build dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "feltd needs Python 3.11 or later: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(PYTHON) -c 'import sys; \
		sys.exit("no ensurepip: apt-get install python%d.%d-venv" % sys.version_info[:2])'; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) 'pip>=25.1'

$(VENV)/.demo: $(BIN)/python pyproject.toml $(PIN)
	@$(PIP) --require-hashes --only-binary :all: -r $(PIN)
	@$(PIP) -e '.[demo,web]'
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	@tests/debian-packages
	@$(PIP) -e '.[demo,pcsc,web]' --group test
	@touch $@

$(VENV)/.check: $(VENV)/.test
	@$(PIP) --group check
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	@$(PIP) --group bench
	@touch $@
