#!/bin/sh
# Builds target/quarkus-app: what Quarkus has prepared for production, and the libraries next to it, so
# that no Maven is needed to run it.
set -eu
cd "$(dirname "$0")"

# Quarkus compiles whatever is in a folder, and of the shared definitions this is the only one it serves.
mkdir -p target/proto
cp -p ../../proto/helloworld.proto target/proto/

JAVA_HOME=$(../../scripts/jdk)
export JAVA_HOME
# Maven writes its errors to standard output, where nobody looks for them.
exec mvn --quiet --batch-mode --no-transfer-progress package >&2
