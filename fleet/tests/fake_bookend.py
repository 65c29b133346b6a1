#!/usr/bin/env python3
"""Pretends to be `bookend` in tests: it checks its words, and coordinator and agents meet, but nothing is measured.

The coordinator prints a line for each agent, and then waits for a signal.
"""

import argparse
import contextlib
import os
import signal
import socket
import sys
import time


def load(words: list[str]) -> int:
    """Waits for its agents, and prints them."""
    parser = argparse.ArgumentParser("bookend load")
    parser.add_argument("--agents", type=int, required=True)
    parser.add_argument("--listen", required=True)
    parser.add_argument("--server-agent", action="store_true")
    parser.add_argument("--start-server")
    parser.add_argument("--probe-rate", type=int)
    options, rest = parser.parse_known_args(words)
    expected = ["load"] * options.agents + ["probe"] * bool(options.probe_rate)
    expected += ["server"] * bool(options.server_agent or options.start_server)
    token = os.environ["BOOKEND_FLEET_TOKEN"]
    host, _, port = options.listen.rpartition(":")
    joined: list[str] = []
    connections: list[socket.socket] = []
    with socket.create_server((host, int(port))) as listener:
        print(f"coordinator {os.getpid()} {' '.join(rest)}", flush=True)
        while len(joined) < len(expected):
            connection, _ = listener.accept()
            said, role, *others = connection.makefile().readline().split()
            if said != token:
                sys.exit("wrong token")
            joined.append(role)
            connections.append(connection)
            print("joined", role, *others, flush=True)
    if sorted(joined) != sorted(expected):
        sys.exit(f"{joined} joined, and not {expected}")
    while True:
        time.sleep(1)


def agent(words: list[str]) -> int:
    """Dials in, and ends with the coordinator."""
    parser = argparse.ArgumentParser("bookend agent")
    parser.add_argument("--join", required=True)
    parser.add_argument("--role", choices=["load", "server", "probe"], default="load")
    parser.add_argument("--name", required=True)
    parser.add_argument("--fleet-cacert")
    options = parser.parse_args(words)
    token = os.environ["BOOKEND_FLEET_TOKEN"]
    host, _, port = options.join.rpartition(":")
    deadline = time.monotonic() + 10
    while True:
        try:
            connection = socket.create_connection((host, int(port)))
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                sys.exit(f"nobody listens at {options.join}")
            time.sleep(0.05)
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    said = f"{token} {options.role} {options.name} {os.getpid()} {priority} {options.fleet_cacert}\n"
    connection.sendall(said.encode())
    with contextlib.suppress(ConnectionResetError):
        connection.recv(1)
    sys.exit("the coordinator is gone")


def interrupted(_number: int, _frame: object) -> None:
    """Ends like `bookend load` at Ctrl-C."""
    print("interrupted", flush=True)
    sys.exit(130)


signal.signal(signal.SIGINT, interrupted)
signal.signal(signal.SIGTERM, interrupted)
command, *others = sys.argv[1:]
sys.exit(load(others) if command == "load" else agent(others))
