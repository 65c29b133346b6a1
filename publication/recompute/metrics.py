"""The metrics of docs/measure/metrics.md (Metrics by name) of one measured round."""

import latencies
import limits

def decoded(window):
    if "decoded" not in window:
        window["decoded"] = latencies.decode(window["latency_histogram"])
    return window["decoded"]


def failed(window):
    return sum(window["errors"].values())


def cpu_seconds(window, end):
    return window["server_cpu_seconds" if end == "server" else "generator_cpu_seconds"]


def quotient(dividend, divisor):
    return None if dividend is None or not divisor else dividend / divisor


def of_round(metric, row):
    """The figure, in base units; None where the round does not have it. Memory, threads and CPU
    limits of a row are those of the end under test, whichever that is."""
    window = row["outcome"]
    seconds, ok = window["window_seconds"], window["ok"]
    side = window.get("side", "server")
    other = "client" if side == "server" else "server"
    if metric.startswith("latency_"):
        return latency(metric, window)
    if metric.startswith("server_note."):
        return row["server_notes"].get(metric.removeprefix("server_note."))
    if metric.startswith("note."):
        return window["notes"].get(metric.removeprefix("note."))
    if metric.startswith("errors."):
        return window["errors"].get(metric.removeprefix("errors."), 0)
    figures = {
        "connections": lambda: int(row["cell"]["case"].split()[0].removeprefix("C=")),
        "concurrency": lambda: streams(row),
        "requests_per_second": lambda: ok / seconds,
        "goodput_per_second": lambda: ok / seconds,
        "calls_per_second": lambda: (ok + failed(window)) / seconds,
        "requests_per_cpu_second": lambda: quotient(ok, cpu_seconds(window, side)),
        "requests_per_client_cpu_second": lambda: quotient(ok, cpu_seconds(window, other)),
        "server_cpu_mean": lambda: window["server_cpu_seconds"] / seconds,
        "server_cpu_max": lambda: window["server_cpu_max"],
        "client_cpu_mean": lambda: window["client_cpu_mean"],
        "client_cpu_max": lambda: window["client_cpu_max"],
        "generator_cpu_mean": lambda: window["generator_cpu_seconds"] / seconds,
        "generator_busy_share": lambda: limits.busy_share(window),
        "unfinished": lambda: window["unfinished"],
        "context_switches_per_second": lambda: window["context_switches"] / seconds,
        "memory_mean": lambda: window["memory_mean_bytes"],
        "memory_peak": lambda: window["memory_peak_bytes"],
        "threads": lambda: window["threads"],
        "thread_imbalance": lambda: window.get("thread_imbalance"),
        "requests_per_read": lambda: window["requests_per_read"],
        "requests_per_write": lambda: window["requests_per_write"],
        "in_flight_share": lambda: ok / seconds * decoded(window).mean() / 1e9 / streams(row),
        "count": lambda: ok + failed(window),
        "ok": lambda: ok,
        "errors": lambda: failed(window),
        "error_share": lambda: quotient(failed(window), ok + failed(window)),
        "total_time": lambda: seconds * 1e9,
    }
    return figures[metric]()


def streams(row):
    return int(row["cell"]["case"].split()[1].removeprefix("S="))


def latency(metric, window):
    histogram = decoded(window)
    if metric == "latency_mean_all":
        return mean_of_all(window, histogram)
    return of_histogram(metric, histogram)


def of_histogram(metric, histogram):
    if not histogram.calls:
        return None
    simple = {
        "latency_mean": histogram.mean,
        "latency_min": histogram.shortest,
        "latency_max": histogram.longest,
    }
    if metric in simple:
        return simple[metric]()
    return histogram.percentile(percent_of(metric))


def percent_of(metric):
    return float(metric.removeprefix("latency_p").replace("_", "."))


def mean_of_all(window, histogram):
    """A call that ended at its deadline took that long; of others that failed nobody knows."""
    late = window["errors"].get("DEADLINE_EXCEEDED", 0)
    if failed(window) != late or (late and not window["deadline_ns"]):
        return None
    total = histogram.mean() * histogram.calls + late * (window["deadline_ns"] or 0)
    return total / (histogram.calls + late)


def is_lower_bound(metric, row):
    """Whether calls that the end of the window cut off could move this latency (Cut off)."""
    window = row["outcome"]
    if metric in ("in_flight_share", "latency_mean_all"):  # they follow the mean
        metric = "latency_mean"
    is_latency = metric.startswith("latency_") and metric != "latency_min"
    if not is_latency or "calls=" in row["cell"]["case"]:
        return False
    histogram = decoded(window)
    flight = window.get("in_flight_at_end")
    cut_off = flight["calls"] if flight else window["unfinished"] + window["drained"]
    if metric == "latency_max":
        return bool(flight) and flight["age_max_ns"] > histogram.longest()
    percent = 90.0 if metric == "latency_mean" else percent_of(metric)
    value = latency(metric, window)
    beyond = 1 - percent / 100
    share = cut_off / (window["ok"] + cut_off) if cut_off else 0.0
    are_older = bool(flight) and flight["age_mean_ns"] > value
    could_move = share > beyond or (are_older and share > beyond / 10)
    asked = window.get("asked")
    longest = max(histogram.longest(), flight["age_max_ns"]) if flight else None
    is_balanced = bool(flight and asked) and longest <= asked["warmup_ms"] * 1e6
    return could_move and not is_balanced
