"""One run over a Ray cluster: the nodes, the coordinator here, and an agent on each node."""

import contextlib
import os
import secrets
import signal
import socket
import sys
from argparse import Namespace
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

import ray
from ray.util import placement_group, placement_group_table
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from bookend_fleet import node as on_node
from bookend_fleet.plan import missing

# How long a cluster may take to answer a connection.
CONNECT_S = 5
# How long a node may take to start a worker of Ray. Large environments on network file systems need most of it.
WORKER_S = 60
# Some of Ray's functions have no types. A strict check accepts them from here.
untyped: Any = ray


def run(request: Namespace) -> int:
    """Runs the coordinator here and its agents on other nodes, and returns the coordinator's status."""
    # Ray prints some of its errors on standard output, which is the coordinator's alone.
    sys.stdout = sys.stderr
    connect(request.address)
    running: list[Popen[bytes]] = []
    # To the coordinator once it runs. Before that, a signal ends this command.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: running[0].send_signal(got) if running else sys.exit(128 + got))
    try:
        status = measure(request, reserve(request), running)
        return status if status >= 0 else 128 - status
    finally:
        # With the job Ray ends its actors and gives its nodes back. A coordinator that is left ends with this process.
        ray.shutdown()


def connect(address: str) -> None:
    """Makes this process a driver of the cluster."""
    # Ray's own way to find a raylet, its process of a node. Without one, it would abort this process.
    if not untyped._private.services.find_gcs_addresses():
        sys.exit("bookend-fleet: No Ray runs on this node: run ray start --num-cpus=0 --address=HOST:PORT here.")
    host, _, port = address.rpartition(":")
    try:
        if port.isdecimal():
            # Ray would try for a minute, with pages of log.
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
        # Workers' output would get into the coordinator's, which may be JSON.
        untyped.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError) as error:
        # Of a mismatch of versions, Ray's text has both.
        said = " ".join(str(error).split())
        advice = "correct --address or RAY_AUTH_MODE, or install the cluster's Python and Ray here"
        sys.exit(f"bookend-fleet: No Ray at {address} takes this node: {said}: {advice}.")


def live_nodes() -> list[dict[str, Any]]:
    """The nodes that Ray believes alive and has CPUs of, used or not, as `ray.nodes` has them."""
    return [node for node in untyped.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def reserve(request: Namespace) -> Any:
    """Reserves a node for each place."""
    needed, here = request.places, ray.get_runtime_context().get_node_id()
    others = [node for node in live_nodes() if node["NodeID"] != here]
    # The coordinator's work is not what is measured, so this node gets no agent, unless there are too few others.
    shares = len(others) < len(needed) <= len(live_nodes())
    if shares:
        say("The cluster has no node to spare, and the coordinator may share its node with an agent: add a node.")
    apart = {} if shares else {"ray.io/node-id": f"!{here}"}
    selectors = [{**place.labels, **apart} for place in needed]
    group = placement_group([{"CPU": 1}] * len(needed), strategy="STRICT_SPREAD", bundle_label_selector=selectors)
    # In steps, because Ray does not heed a signal while it waits.
    if not any(group.wait(1) for _ in range(request.wait)):
        sys.exit(f"bookend-fleet: {missing(needed, live_nodes() if shares else others)}")
    return group


def measure(request: Namespace, group: Any, running: list[Popen[bytes]]) -> int:
    """Starts the coordinator and the agents, and waits for the coordinator; it alone decides who is lost."""
    token = secrets.token_hex(32)
    words = ["load", "--agents", str(request.agents), "--listen", f"0.0.0.0:{request.port}", *request.words]
    running.append(coordinator := on_node.start(request.bookend, words, token, dict(os.environ), None))
    # Agents are not for a coordinator that does not understand its words.
    with contextlib.suppress(TimeoutExpired):
        return coordinator.wait(on_node.EARLY_S)
    actors = create_actors(request, group, token)
    began = answers({agent: actor.begin.remote() for agent, actor in actors.items()}, WORKER_S)
    # An agent that never ran is no loss, and the coordinator would wait for it to the end of its patience.
    failed = coordinator.poll() is None and not all(began.values())
    if failed:
        coordinator.terminate()
    status = coordinator.wait()
    ends = answers({agent: actor.finish.remote() for agent, actor in actors.items()}, 3 * on_node.END_S)
    for agent, said in ends.items():
        say(f"{agent}: {said}")
    # That is how bookend ends when nothing could be measured.
    return 1 if failed else status


def create_actors(request: Namespace, group: Any, token: str) -> dict[str, Any]:
    """Creates an actor on each node of the group, which starts its agent; the keys say which agent it is and where."""
    untyped.cloudpickle.register_pickle_by_value(on_node)
    address_of = {node["NodeID"]: node["NodeManagerAddress"] for node in live_nodes()}
    node_of = placement_group_table(group)["bundles_to_node_id"]
    join = ["--join", f"{untyped.util.get_node_ip_address()}:{request.port}"]
    join += ["--fleet-cacert", request.fleet_cacert] if request.fleet_cacert else []
    apart, actors = Path(__file__).with_name("apart.py").read_text(), {}
    for i, place in enumerate(request.places):
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=i)
        actor = untyped.remote(on_node.Agent).options(num_cpus=1, max_restarts=0, scheduling_strategy=strategy)
        words = ["agent", *join, "--role", place.role, "--name", place.name]
        name = f"agent {place.name} on {address_of.get(node_of[i])}"
        actors[name] = actor.remote(request.bookend, words, token, apart)
    return actors


def answers(asked: dict[str, Any], limit_s: float) -> dict[str, Any]:
    """The answers of actors in time. One that Ray has lost is no error here: the coordinator knows better."""
    ray.wait(list(asked.values()), num_returns=len(asked), timeout=limit_s)
    found = {}
    for agent, answer in asked.items():
        try:
            found[agent] = ray.get(answer, timeout=0)
        except ray.exceptions.RayError as error:
            say(f"Ray has no answer of {agent} ({type(error).__name__}): the coordinator decides whether it is lost.")
    return found


def say(sentence: str) -> None:
    """Tells the user something that is not the answer."""
    print(f"bookend-fleet: {sentence}", file=sys.stderr, flush=True)
