"""Blocking stubs, one thread a call in flight: python sync_unary.py --concurrency 128"""

import pinned  # isort: skip

import asyncio
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter_ns

import grpc

from echo_pb2 import EchoRequest
from echo_pb2_grpc import EchoStub
from unary import Client


def keep_calling(client: Client, echo: EchoStub) -> None:
    while client.phases.may_call():
        began_ns = perf_counter_ns()
        try:
            request = EchoRequest(message=client.message)
            client.answered(began_ns, echo.Hi(request, timeout=client.plan.deadline_s))
        except grpc.RpcError as error:
            client.phases.now.append(error.code().name)


async def on_a_thread(client: Client, echo: EchoStub) -> None:
    await asyncio.get_running_loop().run_in_executor(threads, keep_calling, client, echo)


client = Client(grpc.insecure_channel, on_a_thread, "sync")
threads = ThreadPoolExecutor(client.plan.concurrency)
# The main thread's loop makes no calls: it waits for the phases to be over.
asyncio.run(client.run())
