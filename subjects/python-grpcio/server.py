"""A grpc.aio server of echo and of the plain greeter."""

import asyncio

import grpc

from contract import SERVER_ADDRESS, serve_until_the_end
from echo_pb2 import EchoReply, EchoRequest
from echo_pb2_grpc import EchoServicer, add_EchoServicer_to_server
from helloworld_pb2 import HelloReply, HelloRequest
from helloworld_pb2_grpc import GreeterServicer, add_GreeterServicer_to_server


class Services(EchoServicer, GreeterServicer):
    served = 0

    async def Hi(self, request: EchoRequest, _) -> EchoReply:
        self.served += 1
        return EchoReply(message=request.message)

    async def SayHello(self, request: HelloRequest, _) -> HelloReply:
        self.served += 1
        return HelloReply(message=f"Hello {request.name}!")


async def serve() -> None:
    services = Services()
    # A second server on one port would share its calls in silence.
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    add_EchoServicer_to_server(services, server)
    add_GreeterServicer_to_server(services, server)
    port = server.add_insecure_port("%s:%d" % SERVER_ADDRESS)
    await server.start()
    await serve_until_the_end(port)
    await server.stop(grace=None)
    print(f"served {services.served}")


asyncio.run(serve())
