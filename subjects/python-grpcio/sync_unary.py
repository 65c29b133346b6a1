"""Blocking stubs, one thread a call in flight: python sync_unary.py --concurrency 128"""

import pinned  # isort: skip

import asyncio
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter_ns
from typing import Callable

import grpc

from unary import Client


def keep_calling(client: Client, method: Callable) -> None:
    while client.phases.may_call():
        began_ns = perf_counter_ns()
        try:
            reply = method(client.request(), timeout=client.plan.deadline_s)
            client.answered(began_ns, reply)
        except grpc.RpcError as error:
            client.phases.now.append(error.code().name)


def start(client: Client, method: Callable) -> asyncio.Future:
    return asyncio.get_running_loop().run_in_executor(threads, keep_calling, client, method)


client = Client(grpc.insecure_channel, start, "sync")
threads = ThreadPoolExecutor(client.plan.concurrency)
# The main thread's loop makes no calls: it waits for the phases to be over.
asyncio.run(client.run())
