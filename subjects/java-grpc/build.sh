#!/bin/sh
# Builds target/java-grpc.jar and puts the libraries next to it, so that no Maven is needed to run it.
# `./build.sh jdk21` builds target/jdk21/java-grpc.jar of the published versions, and fetches their Java.
set -eu
cd "$(dirname "$0")"

if [ "${1:-}" = jdk21 ]; then
    ./runtime.sh
    set -- --activate-profiles jdk21
fi

JAVA_HOME=$(../../scripts/jdk)
export JAVA_HOME
# Maven writes its errors to standard output, where nobody looks for them.
exec mvn --quiet --batch-mode --no-transfer-progress "$@" package >&2
