.DEFAULT_GOAL := help
PYTEST := .venv/bin/pytest
# Processes that share the tests: more than there are cores, since each waits a part of its time for servers, workers and
# browsers that its tests start. The browsers are in the half on SQLite.
WORKERS_SQLITE ?= $(shell echo $$(($$(nproc) + 2)))
WORKERS_POSTGRESQL ?= $(shell echo $$(($$(nproc) + 1)))
export DEMO_PORT ?= 8000
export DEMO_DIR ?= $(CURDIR)/demo-data

# Whatever the shell says: or each process that the tests start compiles everything anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help:  ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST)

.PHONY: setup
setup:  ## make .venv with everything that development needs
	@scripts/bootstrap.sh test

.PHONY: demo
demo:  ## a site with drawn studies and simulated annotators on http://127.0.0.1:8000 (DEMO_PORT, DEMO_DIR)
	@scripts/bootstrap.sh run
	.venv/bin/python manage.py demo

.PHONY: test
test: setup  ## everything, on SQLite and on PostgreSQL, browser tests included; what is the same on both once
	$(PYTEST) -n $(WORKERS_SQLITE) --database=sqlite --half
	$(PYTEST) -n $(WORKERS_POSTGRESQL) --database=postgresql --half

.PHONY: test-browser
test-browser: setup  ## only what drives a real Chromium
	$(PYTEST) -m browser

.PHONY: test-models
test-models:  ## the real loading code of models, on tiny ones, with torch (.venv-models, 1 GB)
	@scripts/bootstrap.sh models
	.venv-models/bin/python -m pytest -c tests/models/pytest.ini --rootdir . --confcutdir tests/models tests/models

.PHONY: test-harness
test-harness:  ## what a release holds for evaluation harnesses, loaded with them (.venv-harness, 3 GB)
	@scripts/bootstrap.sh harness
	.venv-harness/bin/python -m pip check
	.venv-harness/bin/python -m pytest -c tests/models/pytest.ini --rootdir . --confcutdir tests/models tests/models/test_harnesses.py

.PHONY: check
check: setup  ## lint, format, templates, types, import contracts, migrations, deployment settings
	@scripts/check.sh

.PHONY: fix
fix: setup  ## put right what ruff and djade can put right by themselves
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	find templates -name '*.html' -exec .venv/bin/djade {} +

.PHONY: scripts
scripts: setup  ## join the modules of each annotators' page into the one file that browsers get
	.venv/bin/python -m scripts.join_modules

.PHONY: bench
bench: setup  ## measure: each benchmark prints its figures beside a floor
	.venv/bin/python -m benchmarks.annotator_loop
	.venv/bin/python -m benchmarks.page
	.venv/bin/python -m benchmarks.agreement

.PHONY: lock
lock: setup  ## pin requirements*.txt to what requirements*.in allow today
	.venv/bin/python -m pip install --quiet uv
	.venv/bin/uv pip compile --quiet --no-header --python-version 3.11 --upgrade --generate-hashes \
		requirements.in -o requirements.txt
	.venv/bin/uv pip compile --quiet --no-header --python-version 3.11 --upgrade requirements-dev.in -o requirements-dev.txt
	# What only torch for CUDA needs comes with it, by itself; named here it would come to machines without a GPU too.
	.venv/bin/uv pip compile --quiet --no-header --no-annotate --python-version 3.11 --upgrade requirements-gpu.in \
		| grep -Ev '^(nvidia-|cuda-|triton=)' >requirements-gpu.txt
	.venv/bin/uv pip compile --quiet --no-header --python-version 3.11 --upgrade -c requirements-gpu.txt \
		requirements-training.in -o requirements-training.txt
	.venv/bin/uv pip compile --quiet --no-header --python-version 3.11 --upgrade -c requirements-gpu.txt \
		requirements-models.in -o requirements-models.txt
	.venv/bin/uv pip compile --quiet --no-header --no-annotate --python-version 3.11 --upgrade requirements-harness.in \
		| grep -Ev '^(nvidia-|cuda-|triton=)' >requirements-harness.txt
