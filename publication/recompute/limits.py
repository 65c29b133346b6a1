"""What is known of a server's figure where the client was at its limit (docs/measure/claims.md, How
a claim is judged): the figure, a bound of it, or nothing."""

import math
from dataclasses import dataclass

from intervals import median

SATURATED = 0.9
EXACTLY, AT_LEAST, AT_MOST, NOTHING = "exactly", "at least", "at most", "nothing"
INVERSE = {AT_LEAST: AT_MOST, AT_MOST: AT_LEAST}
OF_A_LOAD = {"errors", "error_share", "ok", "server_cpu_mean", "server_cpu_max"}


@dataclass
class Limit:
    share: float  # of its CPU that the client used, the median of the rounds
    at_limit: int  # rounds
    rounds: int


def limit_of(rows):
    """None where the client had CPU time left in half of the rounds, or is itself under test."""
    windows = [row["outcome"] for row in rows if row["outcome"]["outcome"] == "measured"]
    shares = [busy_share(one) for one in windows if one.get("side", "server") == "server"]
    at_limit = sum(share >= SATURATED for share in shares)
    return Limit(median(shares), at_limit, len(shares)) if at_limit * 2 > len(shares) else None


def busy_share(window):
    """Its work as it says itself, else its CPU time, over what its threads could have had."""
    seconds = window["window_seconds"]
    worked = window["generator_busy_seconds"]
    worked = window["generator_cpu_seconds"] if worked is None else worked
    if window["client_cpu_limit"] is not None:
        return worked / (seconds * window["client_cpu_limit"])
    cpus = sum(window["machine"].values()) / seconds
    given = window["generator_cpus"]
    given = cpus - (window["server_cpu_limit"] or 0) if given is None else given
    used = window["generator_threads"]
    used = given if used is None else used
    could = max(min(used, max(given, 1)), 1)
    if window.get("cpu_quota") is not None:
        could = min(could, window["cpu_quota"])
        worked = min(worked, could * seconds)
    return worked / (seconds * could)


def known_of(metric):
    """What a client at its limit leaves of a metric."""
    if metric.startswith(("profile.", "errors.")) or metric in OF_A_LOAD:
        return NOTHING
    if metric.startswith(("note.", "server_note.")) or metric == "requests_per_client_cpu_second":
        return EXACTLY
    if metric.endswith("_second"):
        return AT_LEAST
    return AT_MOST if is_time(metric) else EXACTLY


def is_time(metric):
    return metric.startswith(("latency_", "in_flight_age")) or metric == "total_time"


def inverse(known):
    return INVERSE.get(known, known)


def both(one, other):
    if EXACTLY in (one, other):
        return other if one == EXACTLY else one
    return one if one == other else NOTHING


def supports(known, band):
    """Whether all that the server's figure may be lies in the band."""
    return {
        EXACTLY: True,
        AT_LEAST: band.most == math.inf or band.favour == "larger",
        AT_MOST: band.least <= 0 or band.favour == "smaller",
        NOTHING: False,
    }[known]


def refutes(known, band, interval):
    """Whether it lies outside of the band where the measured interval does."""
    low, high = interval
    is_beyond = {AT_LEAST: low > band.most, AT_MOST: high < band.least}
    return is_beyond.get(known, known == EXACTLY)
