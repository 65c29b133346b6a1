package com.example.grpc.application;

import com.example.grpc.service.PersistenceService;
import java.util.concurrent.Executors;

/** The server behind HelloService: a call takes a second. */
public final class PersistenceServiceApplication {
  public static void main(String[] arguments) throws Exception {
    var service = new PersistenceService(1000);
    var server = LoopbackServer.on(9999).executor(Executors.newVirtualThreadPerTaskExecutor());
    server.addService(service).build().start().awaitTermination();
  }
}
