"""PORT: a server of grpc.aio that answers bench.Bench/Call with nothing, without protobuf."""
import asyncio, sys
import grpc

async def call(request, context):
    return b""

async def main():
    server = grpc.aio.server()
    methods = {"Call": grpc.unary_unary_rpc_method_handler(call)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("bench.Bench", methods)])
    server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    await server.start()
    await server.wait_for_termination()

asyncio.run(main())
