#!/bin/sh
# Builds target/java-grpc.jar and puts the libraries beside it, so that no Maven is needed to run it.
set -eu
cd "$(dirname "$0")"

JAVA_HOME=$(../../scripts/jdk)
export JAVA_HOME
# Maven writes its errors to standard output, where nobody looks for them.
exec mvn --quiet --batch-mode --no-transfer-progress package >&2
