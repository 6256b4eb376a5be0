# shellcheck shell=bash
# What all scripts share: paths of a series, progress lines, errors. Sourced, not run.
# Takes BUILD (default: build), SERIES (default: varnish-7.7) and SANITIZE (default: none) from the environment.

set -euo pipefail

# A git that started us must not take our git for its own
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SERIES=${SERIES:-varnish-7.7}
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac

PATCHES=$ROOT/patches/$SERIES
# A build with a sanitizer is another build, in a folder of its own
SANITIZE=${SANITIZE:-}
case $SANITIZE in
'' | address | undefined | thread) ;;
*) echo "error: SANITIZE=$SANITIZE is none of address, undefined, thread" >&2; exit 1 ;;
esac
HERE=$BUILD/$SERIES${SANITIZE:+-$SANITIZE}
LOGS=$HERE/log
# The VMOD is built and tested by cargo with one target folder per series
# shellcheck disable=SC2034
TARGET=$HERE/target

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

note() {
	printf '%s\n' "$*"
}

if [ ! -f "$PATCHES/series.conf" ]; then
	die "no series $SERIES: there is no patches/$SERIES/series.conf"
fi
# shellcheck source=patches/varnish-7.7/series.conf
. "$PATCHES/series.conf"

JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}

# Where a build of the server lives: "patched" or "reference" (same source, no patches)
kind_dir() {
	case $1 in
	patched) echo "$HERE" ;;
	reference) echo "$HERE/reference" ;;
	*) die "no such build: $1 (patched, reference)" ;;
	esac
}

# step NAME HINT COMMAND...: runs a command, its output goes to log/NAME.log; prints one line of progress
step() {
	local name=$1 hint=$2 log start=$SECONDS
	log=$LOGS/$(tr -cs 'a-zA-Z0-9.\n' - <<<"$1").log
	shift 2
	mkdir -p "$LOGS"
	printf '  %-22s ' "$name"
	if "$@" >"$log" 2>&1 </dev/null; then
		printf '%4d s\n' $((SECONDS - start))
		return 0
	fi
	printf 'FAILED\n'
	tail -n 30 "$log" >&2
	printf 'error: step "%s" failed; the whole log is %s\n' "$name" "${log#"$ROOT"/}" >&2
	if [ -n "$hint" ]; then
		printf 'hint: %s\n' "$hint" >&2
	fi
	exit 1
}

# One run at a time in a series' folder; NAME keeps unrelated work apart
lock() {
	mkdir -p "$HERE"
	exec 9>"$HERE/.lock-$1"
	if ! flock -n 9; then
		note "  waiting for another run on $SERIES ($1)"
		flock 9
	fi
}
