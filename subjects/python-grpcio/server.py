"""A grpc.aio server of echo and of the plain greeter."""

import asyncio
import os
import sys
from pathlib import Path

import echo_pb2
import echo_pb2_grpc
import grpc
import helloworld_pb2
import helloworld_pb2_grpc


class Services(echo_pb2_grpc.EchoServicer, helloworld_pb2_grpc.GreeterServicer):
    """Counts the calls that reach it."""

    served = 0

    async def Hi(self, request: echo_pb2.EchoRequest, _) -> echo_pb2.EchoReply:
        self.served += 1
        return echo_pb2.EchoReply(message=request.message)

    async def SayHello(self, request: helloworld_pb2.HelloRequest, _) -> helloworld_pb2.HelloReply:
        self.served += 1
        return helloworld_pb2.HelloReply(message=f"Hello {request.name}!")


def connections(port: int) -> int:
    """Those established now. gRPC tells nobody what it accepts, so the kernel's table is asked."""
    # gRPC listens on IPv4 by an IPv6 socket where it can; those stand in the second table.
    tables = map(Path, ("/proc/self/net/tcp", "/proc/self/net/tcp6"))
    rows = [line.split() for table in tables for line in table.read_text().splitlines()]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


async def serve(under_contract: bool) -> None:
    services = Services()
    # A second server on one port would share its calls in silence.
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    echo_pb2_grpc.add_EchoServicer_to_server(services, server)
    helloworld_pb2_grpc.add_GreeterServicer_to_server(services, server)
    port = server.add_insecure_port(f"127.0.0.1:{0 if under_contract else 50051}")
    await server.start()
    print(f"ready {port}", flush=True)
    if not under_contract:
        await server.wait_for_termination()
    # The lab ends a server by closing its standard input.
    end = asyncio.create_task(asyncio.to_thread(sys.stdin.buffer.read))
    connections_peak = 0
    while not end.done():
        connections_peak = max(connections_peak, connections(port))
        await asyncio.wait([end], timeout=0.25)
    await server.stop(grace=None)
    print(f"note connections_peak {connections_peak}", f"served {services.served}", sep="\n")


asyncio.run(serve(os.environ.get("BOOKEND_CONTRACT") == "1"))
