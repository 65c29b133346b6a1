package com.example.grpc.application;

import io.grpc.Channel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.net.InetSocketAddress;

/** What all servers here have alike: they differ in service, port and executor. */
final class LoopbackServer {
  /** Where {@link PersistenceServiceApplication} listens. */
  static final String PERSISTENCE = "localhost:9999";

  /** A server on 127.0.0.1 that answers reflection. Port 0 lets the kernel choose. */
  static ServerBuilder<?> on(int port) {
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port))
        .addService(ProtoReflectionServiceV1.newInstance());
  }

  /** One connection for all calls to {@code target}. */
  static Channel to(String target) {
    return ManagedChannelBuilder.forTarget(target).usePlaintext().build();
  }
}
