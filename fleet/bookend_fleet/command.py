"""Runs bookend load WORDS over the nodes of a Ray cluster, to which this node belongs."""

import argparse
import re
import sys
from importlib.util import find_spec

from bookend_fleet.plan import places


def label(text: str) -> list[str]:
    """Splits `key=value`. Ray's operators, as in `key=!value`, are left out: a message has to say what is missing."""
    if not re.fullmatch(r"[\w./-]+=[\w.-]+", text):
        raise argparse.ArgumentTypeError(f"{text} is not key=value")
    return text.split("=")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the words before `load` as options, and those after it as the coordinator's; adds `places`."""
    parser = argparse.ArgumentParser("bookend-fleet", "%(prog)s [options] load WORDS", __doc__, allow_abbrev=False)
    add = parser.add_argument
    add("--address", required=True, metavar="RAY_ADDRESS", help="of the cluster, HOST:PORT or auto")
    add("--agents", type=int, default=1, metavar="N", help="how many nodes generate load [default: 1]")
    add("--server-label", type=label, action="append", default=[], metavar="KEY=VALUE", help="of the server's node")
    add("--generator-label", type=label, action="append", default=[], metavar="KEY=VALUE", help="of the other nodes")
    add("--port", type=int, default=7420, metavar="P", help="where agents reach this node [default: 7420]")
    add("--wait", type=int, default=30, metavar="SECONDS", help="limit for the nodes to be there [default: 30]")
    add("--bookend", default="bookend", metavar="PATH", help="the program on every node [default: the wheel's]")
    add("--fleet-cacert", metavar="FILE", help="on every node: it trusts the coordinator's --fleet-cert by this")
    add("load", choices=["load"], help="what follows it is for bookend load, which gets --agents and --listen")
    add("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.agents < 1 or not options.words:
        parser.error("nothing makes calls: let --agents be 1 or more, and flags of bookend load follow load")
    labels = dict(options.server_label), dict(options.generator_label)
    options.places = places(options.words, options.agents, *labels)
    return options


def main(arguments: list[str] | None = None) -> int:
    """Runs the command, and returns its exit status: that of the coordinator, if it got that far."""
    request = parse(arguments)
    if find_spec("ray") is None:
        sys.exit("bookend-fleet: This Python has no Ray: run pip install 'bookend-rpc[ray]'.")
    # Only now, so that help and mistakes need no Ray.
    from bookend_fleet import cluster

    return cluster.run(request)
