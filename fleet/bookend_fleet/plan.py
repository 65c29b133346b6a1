"""Which agents a run needs, and what each asks of its node."""

from typing import Any, NamedTuple


class Place(NamedTuple):
    """An agent that needs a node of its own, with these labels."""

    role: str
    name: str
    labels: dict[str, str]


def has_flag(words: list[str], *flags: str) -> bool:
    """Says whether one of the flags is among the words, alone or as `flag=value`."""
    return any(word.split("=")[0] in flags for word in words)


def places(words: list[str], agents: int, server: dict[str, str], generator: dict[str, str]) -> list[Place]:
    """The agents for which a coordinator with these words waits. The probe is a generator with little to do."""
    needed = [Place("server", "server", server)] if has_flag(words, "--server-agent", "--start-server") else []
    needed += [Place("probe", "probe", generator)] if has_flag(words, "--probe-rate") else []
    return needed + [Place("load", f"load-{i + 1}", generator) for i in range(agents)]


def with_labels(name: str, labels: dict[str, str]) -> str:
    """The name with its labels, without those that Ray itself sets."""
    own = [f"({key}={value})" for key, value in labels.items() if not key.startswith("ray.io/")]
    return " ".join([name, *own])


def missing(needed: list[Place], nodes: list[dict[str, Any]]) -> str:
    """The sentence for a cluster that has not given each place one of these nodes of `ray.nodes` in time."""
    wanted = ", ".join(with_labels(place.name, place.labels) for place in needed)
    there = ", ".join(with_labels(node["NodeManagerAddress"], node["Labels"]) for node in nodes) or "no other node"
    needs = f"The run needs {len(needed)} nodes with a CPU that no other job holds, for {wanted}; there is {there}"
    return f"{needs}: start Ray on more nodes, with these labels, lower --agents, or let it --wait for other jobs."
