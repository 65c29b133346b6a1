package com.example.grpc.application;

import com.example.grpc.contract.Contract;
import io.grpc.Channel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionService;
import java.net.InetSocketAddress;

/** What all servers here have alike: they differ in service, port and executor. */
final class LoopbackServer {
  /** A server on 127.0.0.1 that answers reflection. Port 0 lets the kernel choose. */
  static ServerBuilder<?> on(int port) {
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port))
        .addService(ProtoReflectionService.newInstance());
  }

  /** One connection to the lab's backend, or else to {@link PersistenceServiceApplication}. */
  static Channel toPersistence() {
    String target = Contract.variable("BOOKEND_BACKEND", "localhost:9999");
    return ManagedChannelBuilder.forTarget(target).usePlaintext().build();
  }
}
