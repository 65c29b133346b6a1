"""What a client is asked to do: by the lab's variables, or by the published command line."""

import argparse
import os
import sys
from pathlib import Path

PUBLISHED_REQUEST = b"\x0a\x04ping"
"""The bytes of EchoRequest { message: "ping" }."""


class Plan:
    """One run, in the words of docs/subject-contract.md."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.under_contract = variables.get("BOOKEND_CONTRACT") == "1"
        self.variant = variables["BOOKEND_VARIANT"]
        self.target = variables["BOOKEND_TARGET"]
        self.method = variables.get("BOOKEND_METHOD", "echo.Echo/Hi")
        file = variables.get("BOOKEND_REQUEST_FILE")
        self.request = Path(file).read_bytes() if file else PUBLISHED_REQUEST
        self.concurrency = int(variables["BOOKEND_CONCURRENCY"])
        self.calls = int(variables.get("BOOKEND_CALLS") or 0)
        self.warmup_s = int(variables.get("BOOKEND_WARMUP_MS") or 0) / 1000
        self.window_s = int(variables.get("BOOKEND_MEASURE_MS") or 0) / 1000
        self.deadline_s = int(variables.get("BOOKEND_DEADLINE_MS") or 0) / 1000 or None


def read(*loops: str) -> Plan:
    """The plan for a script that runs `loops`; without a choice it runs the first."""
    modes = ("", "-own-connection", "-one-channel")
    variants = [loop + mode for loop in loops for mode in modes]
    if os.environ.get("BOOKEND_CONTRACT") != "1":
        return Plan(command_line(variants))
    if os.environ.get("BOOKEND_CONNECTION_PER_CALL") == "1":
        unsupported("a channel's connection is for all of its calls, never for one")
    if os.environ.get("BOOKEND_VARIANT") not in variants:
        unsupported(f"{sys.argv[0]} has the variants {', '.join(variants)}")
    return Plan(dict(os.environ))


def command_line(variants: list[str]) -> dict[str, str]:
    """The published flags, as the variables that they stand for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--concurrency", default="1")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--variant", choices=variants, default=variants[0])
    if "uvloop" in variants:
        parser.add_argument("--uvloop", dest="variant", action="store_const", const="uvloop")
    flags = parser.parse_args()
    return {
        "BOOKEND_VARIANT": flags.variant,
        "BOOKEND_TARGET": flags.address,
        "BOOKEND_CONCURRENCY": flags.concurrency,
        "BOOKEND_WARMUP_MS": "1000",
        "BOOKEND_MEASURE_MS": str(round(flags.seconds * 1000)),
    }


def unsupported(reason: str) -> None:
    """Ends with the contract's status for what a subject cannot do by design."""
    print(reason, file=sys.stderr)
    sys.exit(89)
