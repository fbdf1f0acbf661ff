#!/bin/sh
# Everything that can be said about the code without running the tests; stops at the first complaint.
set -eu
cd "$(dirname "$0")/.."

# Reading the settings makes a data folder: a passing one, so that a check leaves nothing behind.
DATA_DIR=$(mktemp -d)
trap 'rm -rf "$DATA_DIR"' EXIT
export DATA_DIR
PATH=$PWD/.venv/bin:$PATH

step() { echo "== $*"; "$@"; }

step ruff check .
step ruff format --check .
find templates -name '*.html' -exec .venv/bin/djade --check {} +
step mypy .
step lint-imports
step python manage.py makemigrations --check --dry-run
# As production is set up: https, and a long key of its own.
HTTPS=1 ALLOWED_HOSTS=lineup.example SECRET_KEY=$(python -c 'import secrets; print(secrets.token_urlsafe(50))') \
    step python manage.py check --deploy --fail-level WARNING
