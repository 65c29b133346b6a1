#!/bin/sh
# Starts what ./build.sh has built, as the lab does; `./run.sh jdk21` the published versions, on theirs;
# `./run.sh GreeterServer` and `./run.sh GreeterClient` what has no backend.
# BOOKEND_PROFILE=1 leaves /tmp/perf-PID.map behind, by which perf names compiled methods; heap and
# garbage collector are the virtual machine's own choice.
set -eu
cd "$(dirname "$0")"

if [ "${1:-}" = jdk21 ]; then
    shift
    java=target/runtime/bin/java
    jar=target/jdk21/java-grpc.jar
    log_level=INFO
    # Published without a word on processors: it knew of all that its machine had, and so does this.
    processors=$(getconf _NPROCESSORS_CONF)
    export BOOKEND_VARIANT="${BOOKEND_VARIANT:-cached}"
    BOOKEND_VARIANT=${BOOKEND_VARIANT%-jdk21}
    BOOKEND_VARIANT=${BOOKEND_VARIANT%-capped}
else
    java=$(../../scripts/jdk)/bin/java
    jar=target/java-grpc.jar
    log_level=WARN
    processors=${BOOKEND_CPUS:-}
fi

program=ContractServer
case "${1:-}" in
Greeter*)
    program=$1
    shift
    ;;
esac

set -- -cp "$jar" "com.example.grpc.application.$program" "$@"
[ -z "$processors" ] || set -- "-XX:ActiveProcessorCount=$processors" "$@"
[ "${BOOKEND_PROFILE:-}" != 1 ] ||
    set -- -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer "$@"

# Standard output is the contract's: the virtual machine's own complaints go to standard error.
exec "$java" -XX:+DisplayVMOutputToStderr -Xlog:disable -Xlog:all=warning:stderr \
    --enable-native-access=ALL-UNNAMED "-Dlog.level=$log_level" "$@"
