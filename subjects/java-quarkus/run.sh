#!/bin/sh
# Starts what ./build.sh has built, as the lab does.
# BOOKEND_PROFILE=1 leaves /tmp/perf-PID.map behind, by which perf names compiled methods; heap and
# garbage collector are the virtual machine's own choice.
set -eu
cd "$(dirname "$0")"

java=$(../../scripts/jdk)/bin/java
set -- -jar target/quarkus-app/quarkus-run.jar "$@"
[ -z "${BOOKEND_CPUS:-}" ] || set -- "-XX:ActiveProcessorCount=$BOOKEND_CPUS" "$@"
[ "${BOOKEND_PROFILE:-}" != 1 ] ||
    set -- -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer "$@"

# Standard output is the contract's: the virtual machine's own complaints go to standard error.
exec "$java" -XX:+DisplayVMOutputToStderr -Xlog:disable -Xlog:all=warning:stderr \
    --enable-native-access=ALL-UNNAMED "$@"
