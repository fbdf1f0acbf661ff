#!/bin/sh
# Makes .venv with what `make demo` (run) or `make check` and `make test` (test) need, or .venv-models with what
# `make test-models` (models) needs, or .venv-harness for `make test-harness` (harness); a second call does nothing.
# As root on Debian or Ubuntu it also installs missing system packages; otherwise it names them and stops.
set -eu
cd "$(dirname "$0")/.."

purpose=${1:-run}
case $purpose in
    run) venv=.venv requirements=requirements.txt ;;
    test) venv=.venv requirements=requirements-dev.txt ;;
    models) venv=.venv-models requirements=requirements-gpu.txt ;;
    harness) venv=.venv-harness requirements=requirements-harness.txt ;;
    *) echo "Say 'run', 'test', 'models' or 'harness', not '$purpose'." >&2; exit 2 ;;
esac

have() { command -v "$1" >/dev/null 2>&1; }

is_new_enough() { have "$1" && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

can_make_environments() { "$1" -c 'import venv, ensurepip' >/dev/null 2>&1; }

# The distribution's own before others of its version: it is compiled by what a profile showed, which makes everything
# an eighth quicker than in those that version managers compile as they come, and it never lacks a part.
find_python() {
    for version in 3.11 3.12 3.13 3.14 3; do
        if is_new_enough "/usr/bin/python$version" && can_make_environments "/usr/bin/python$version"; then
            echo "/usr/bin/python$version"
            return
        elif is_new_enough "python$version"; then
            echo "python$version"
            return
        fi
    done
}

missing_packages() {
    python=$(find_python)
    if [ -z "$python" ]; then
        # On Debian 12 and later python3 is new enough; Ubuntu 22.04 has it under its full name.
        if apt-cache show python3.11 >/dev/null 2>&1; then echo python3.11 python3.11-venv; else echo python3 python3-venv; fi
    elif [ ! -x $venv/bin/python ] && ! can_make_environments "$python"; then
        "$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info[:2]))'
    fi
    [ "$purpose" = test ] || return 0
    have redis-server || echo redis-server
    have curl || echo curl
    have initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || echo postgresql
    have pgbouncer || [ -x /usr/sbin/pgbouncer ] || echo pgbouncer
    have nginx || [ -x /usr/sbin/nginx ] || echo nginx-light
    have chromium || have google-chrome || echo chromium fonts-liberation fonts-dejavu-core
    # The browser tests take it before chromium, for it is quicker. Ubuntu has none.
    have chromium || ! apt-cache show chromium-headless-shell >/dev/null 2>&1 || echo chromium-headless-shell
}

install_packages() {
    if ! have apt-get; then
        echo "Please install what Debian calls: $*. Then run make again." >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "Please run: sudo apt-get update && sudo apt-get install -y --no-install-recommends $*; then run make again." >&2
        exit 1
    fi
    echo "Installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $* >/dev/null
}

# Package lists are needed to know which Python there is to install.
if [ -z "$(find_python)" ] && [ "$(id -u)" -eq 0 ] && have apt-get; then apt-get update -qq; fi
packages=$(missing_packages | tr '\n' ' ')
if [ -n "$packages" ]; then install_packages "${packages% }"; fi

# What the tests of models are run by is pinned with what those of the site are run by. Some of them also start a server.
is_of_models() { [ "$purpose" = models ] || [ "$purpose" = harness ]; }
runner() { ! is_of_models || grep -E '^(pytest|pytest-timeout)==' requirements-dev.txt; }
servers() { [ "$purpose" != models ] || grep -E '^[a-z]' requirements-models.txt; }

stamp=$venv/installed-for-$purpose
wanted=$({ runner; servers; } | cat requirements.txt "$requirements" - | cksum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || ! $venv/bin/python -c '' 2>/dev/null; then
    # Without pip it is what an interrupted first run left behind.
    $venv/bin/python -c 'import pip' 2>/dev/null || "$(find_python)" -m venv --clear $venv
    echo "Installing the packages of $requirements into $venv"
    # Of what models run on most is never imported: it is compiled when it is.
    compile=$(! is_of_models || echo --no-compile)
    # shellcheck disable=SC2046,SC2086
    $venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --prefer-binary --retries 10 \
        $compile -r "$requirements" $(runner) $(servers)
    echo "$wanted" >"$stamp"
fi
