#!/bin/sh
# Makes target/venv: the pinned packages, and the code generated from the shared definitions.
set -eu
cd "$(dirname "$0")"

# All variants share it, and the lab builds every variant.
made_from=$(cksum build.sh requirements.txt ../../proto/echo.proto ../../proto/helloworld.proto)
made=target/venv/made-from
if [ -f $made ] && [ "$(cat $made)" = "$made_from" ]; then
    exit 0
fi

for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10 ''; do
    "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' && break
done >/dev/null 2>&1
if [ -z "$python" ]; then
    echo "no Python from 3.10 that can make a venv: apt-get install python3 python3-venv" >&2
    exit 1
fi
"$python" -m venv --clear target/venv
python=target/venv/bin/python
$python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --requirement requirements.txt
packages=$($python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# The generator looks for its plugin, grpclib's own, on the path.
PATH=$PWD/target/venv/bin:$PATH $python -m grpc_tools.protoc --proto_path=../../proto \
    --python_out="$packages" --grpclib_python_out="$packages" \
    ../../proto/echo.proto ../../proto/helloworld.proto
echo "$made_from" >$made
