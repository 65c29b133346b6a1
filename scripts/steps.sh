# Runs named steps, each with a log of its own, and adds them up. Sourced, not run.
#
#   step NAME COMMAND...              runs the command and shows one line; a failure is remembered
#   record NAME WORD STARTED [NOTE]   shows and keeps a step that ran elsewhere
#   summary                           the table and the closing line; status 1 if anything failed

# The status by which a check says "cannot be done here", as automake has it.
cannot_check=77

target_folder=${CARGO_TARGET_DIR:-target}
logs=$target_folder/logs
mkdir -p "$logs"
steps=$logs/steps.tsv
: >"$steps"
failed_steps=0
passed_tests=0
failed_tests=0

step() {
    name=$1
    shift
    log=$logs/$name.log
    started=$(date +%s)
    # On a terminal the step that runs is named at once; its line is written over when it is done.
    [ ! -t 1 ] || printf '...              %s\r' "$name"
    status=0
    "$@" >"$log" 2>&1 </dev/null || status=$?
    count_tests "$log"
    case $status in
        0) record "$name" ok "$started" "$note" ;;
        "$cannot_check") cannot "$(tail -n 1 "$log")" ;;
        *) record "$name" failed "$started" "$note" && show_failure ;;
    esac
}

# In CI nothing may be skipped: a gate that quietly lost a check is worse than none.
cannot() {
    if [ "${CI:-}" = true ]; then
        record "$name" failed "$started" "$1"
    else
        record "$name" skipped "$started" "$1"
    fi
}

record() {
    seconds=$(($(date +%s) - $3))
    [ "$2" != failed ] || failed_steps=$((failed_steps + 1))
    printf '%-8s %4s s  %s\n' "$2" "$seconds" "$1${4:+  ($4)}"
    printf '%s\t%s\t%s\t%s\n' "$2" "$seconds" "$1" "${4:-}" >>"$steps"
}

# Adds the closing lines of `cargo test` in a log to the totals and leaves what they say in `note`.
count_tests() {
    note=
    passed=$(tests_that passed "$1")
    failed=$(tests_that failed "$1")
    [ "$passed$failed" != 00 ] || return 0
    note="$passed tests passed, $failed failed"
    passed_tests=$((passed_tests + passed))
    failed_tests=$((failed_tests + failed))
    # Its failures are counted test by test, so the step itself is not one more.
    [ "$failed" -eq 0 ] || failed_steps=$((failed_steps - 1))
}

tests_that() {
    awk -v word="$1" '/^test result: / {
        for (i = 2; i <= NF; i++) if ($i == word ";") sum += $(i - 1)
    } END { print sum + 0 }' "$2"
}

# What went wrong is rarely at the end of a long test log, so failed tests are shown by their own words.
show_failure() {
    echo "  --- $log"
    if grep -q '^---- .* ----$' "$log"; then
        grep -A 12 '^---- .* ----$' "$log" | head -n 80
        sed -n '/^error: .* failed:$/,$p' "$log"
    else
        tail -n 40 "$log"
    fi | sed 's/^/  | /'
}

summary() {
    echo
    awk -F '\t' '{
        printf "%-8s %5d s  %-24s %s\n", $1, $2, $3, $4; seconds += $2
    } END { printf "%-8s %5d s\n", "total", seconds }' "$steps"
    echo
    echo "$passed_tests passed, $((failed_tests + failed_steps)) failed"
    [ $((failed_tests + failed_steps)) -eq 0 ]
}
