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
  /** A server that answers reflection, on the loopback or where the lab says, at this port. */
  static ServerBuilder<?> on(int port) {
    String address = Contract.variable("BOOKEND_LISTEN", "127.0.0.1");
    return NettyServerBuilder.forAddress(new InetSocketAddress(address, port))
        .addService(ProtoReflectionService.newInstance());
  }

  /** One connection to the lab's backend, or else to {@link PersistenceServiceApplication}. */
  static Channel toPersistence() {
    String target = Contract.variable("BOOKEND_BACKEND", "localhost:9999");
    return ManagedChannelBuilder.forTarget(target).usePlaintext().build();
  }
}
