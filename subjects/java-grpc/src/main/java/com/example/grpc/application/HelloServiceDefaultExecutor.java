package com.example.grpc.application;

import com.example.grpc.service.HelloService;

/** HelloService on gRPC's own executor: a cached pool, which starts a thread when none is idle. */
public final class HelloServiceDefaultExecutor {
  public static void main(String[] arguments) throws Exception {
    var service = new HelloService(LoopbackServer.toPersistence());
    LoopbackServer.on(9901).addService(service).build().start().awaitTermination();
  }
}
