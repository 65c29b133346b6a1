"""A grpclib server of echo and of the plain greeter."""

import asyncio
import socket
from contextlib import suppress

from grpclib.server import Server, Stream

from contract import SERVER_ADDRESS, serve_until_the_end
from echo_grpc import EchoBase
from echo_pb2 import EchoReply, EchoRequest
from helloworld_grpc import GreeterBase
from helloworld_pb2 import HelloReply, HelloRequest


class Calls:
    """How many calls reached a handler."""

    served = 0


class Echo(EchoBase):
    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    async def Hi(self, stream: Stream[EchoRequest, EchoReply]) -> None:
        self.calls.served += 1
        request = await stream.recv_message()
        await stream.send_message(EchoReply(message=request.message))


class Greeter(GreeterBase):
    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    async def SayHello(self, stream: Stream[HelloRequest, HelloReply]) -> None:
        self.calls.served += 1
        request = await stream.recv_message()
        await stream.send_message(HelloReply(message=f"Hello {request.name}!"))


async def serve() -> None:
    calls = Calls()
    server = Server([Echo(calls), Greeter(calls)])
    # The library does not tell which port it was given, so it is given the socket.
    listener = socket.create_server(SERVER_ADDRESS)
    await server.start(sock=listener)
    await serve_until_the_end(listener.getsockname()[1])
    server.close()
    # Later Pythons also wait for connections, which clients may keep open.
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(server.wait_closed(), timeout=1)
    print(f"served {calls.served}")


asyncio.run(serve())
