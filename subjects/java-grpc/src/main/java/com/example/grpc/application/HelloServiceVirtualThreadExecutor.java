package com.example.grpc.application;

import com.example.grpc.service.HelloService;
import java.util.concurrent.Executors;

/** HelloService on virtual threads: a new one for every task. */
public final class HelloServiceVirtualThreadExecutor {
  public static void main(String[] arguments) throws Exception {
    var service = new HelloService(LoopbackServer.toPersistence());
    var executor = Executors.newVirtualThreadPerTaskExecutor();
    var server = LoopbackServer.on(9903).executor(executor).addService(service).build();
    server.start().awaitTermination();
  }
}
