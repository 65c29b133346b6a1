#!/bin/sh
# Debian's h2o under the contract: any request is answered with what a greeter says, but without its
# trailers. How many there were h2o does not count.
set -eu
cd "$(dirname "$0")"

if [ "${1:-}" = --version ]; then
    h2o --version | head -n 1
    exit
fi
if [ "${BOOKEND_ROLE:-server}" != server ] || [ "${BOOKEND_TRANSPORT:-h2c}" != h2c ]; then
    echo "h2o is a server here, and in plain text over TCP alone" >&2
    exit 89
fi

# The port that the kernel gave this process, from its table of sockets that listen.
listening_port() {
    for inode in $(ls -l "/proc/$$/fd" | sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p'); do
        awk -v inode="$inode" '$10 == inode && $4 == "0A" { print "0x" substr($2, 10) }' /proc/net/tcp
    done | head -n 1
}

say_ready() {
    until port=$(listening_port) && [ -n "$port" ]; do
        kill -0 "$$" 2>/dev/null || return 0
        sleep 0.01
    done
    printf 'ready %d\n' "$port"
}

end_with_the_lab() {
    [ "${BOOKEND_CONTRACT:-}" = 1 ] || return 0
    cat >/dev/null
    kill "$$" 2>/dev/null
}

mkdir -p target
printf '\0\0\0\0\016\n\014Hello world!' >target/answer.grpc
# As root it would become nobody, who may not read this folder.
user=
[ "$(id -u)" != 0 ] || user='user: root'

# This process becomes h2o, so that the lab sees how it ends.
exec 3<&0
say_ready &
end_with_the_lab <&3 &
# Files are answered to GET alone: whatever is asked for is turned into one, inside the server.
exec h2o --conf /dev/stdin 3<&- >&2 <<CONFIGURATION
$user
listen:
  host: 127.0.0.1
  port: 0
num-threads: ${BOOKEND_CPUS:-1}
file.mime.settypes:
  application/grpc: .grpc
file.etag: OFF
hosts:
  default:
    paths:
      /answer:
        file.file: target/answer.grpc
      /:
        redirect:
          internal: YES
          status: 302
          url: /answer
CONFIGURATION
