# shellcheck shell=bash
# Counts the tests of several steps into one line. Sourced after lib.sh.

passed=0
failed=0
skipped=0

# tally_command NAME COMMAND...: one test that passes if the command does; its output is shown if not
tally_command() {
	local name=$1 log
	log=$LOGS/check-$(tr -cs 'a-zA-Z0-9.\n' - <<<"$1").log
	shift
	mkdir -p "$LOGS"
	printf '== %s: ' "$name"
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		printf 'ok\n'
	else
		failed=$((failed + 1))
		printf 'FAILED\n'
		tail -n 60 "$log"
	fi
}

# tally_cargo NAME ARGS...: "cargo test ARGS", counted from the summary line of each test program
tally_cargo() {
	local name=$1 log status=0 p f i
	log=$LOGS/check-$(tr -cs 'a-zA-Z0-9.\n' - <<<"$1").log
	shift
	mkdir -p "$LOGS"
	printf '== %s\n' "$name"
	cargo test --locked --no-fail-fast "$@" </dev/null 2>&1 | tee "$log" || status=$?
	read -r p f i < <(awk '/^test result: / {
		for (n = 3; n < NF; n++) {
			if ($(n + 1) ~ /^passed/) p += $n
			if ($(n + 1) ~ /^failed/) f += $n
			if ($(n + 1) ~ /^ignored/) i += $n
		}
	} END { print p + 0, f + 0, i + 0 }' "$log")
	if [ $((p + f)) = 0 ]; then
		printf 'FAILED: %s ran no test\n' "$name"
		f=1
	elif [ "$status" != 0 ] && [ "$f" = 0 ]; then
		printf 'FAILED: %s ended with status %d\n' "$name" "$status"
		f=1
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + i))
}

# tally_summary NAME: the closing line; the exit status of the script
tally_summary() {
	printf '%s: %d passed, %d failed, %d skipped\n' "$1" "$passed" "$failed" "$skipped"
	[ "$failed" = 0 ]
}
