package com.example.grpc.application;

import com.example.grpc.contract.Contract;
import com.example.grpc.service.HelloService;
import com.example.grpc.service.PersistenceService;
import com.example.grpc.service.PooledHelloService;
import io.grpc.BindableService;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.LongAdder;

/** A server of the comparison of executors, or the one behind it, as the lab starts it. */
public final class ContractServer {
  private static final LongAdder ANSWERED = new LongAdder();
  private static final LongAdder REJECTED = new LongAdder();

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 1 && arguments[0].equals("--version")) {
      String grpc = ServerBuilder.class.getPackage().getImplementationVersion();
      Contract.say("grpc-java %s, Java %s".formatted(grpc, Runtime.version()));
      return;
    }
    String variant = Contract.variable("BOOKEND_VARIANT", "cached");
    var service = ServerInterceptors.intercept(service(variant), ContractServer::count);
    Contract.serve(builder(variant).addService(service).build().start().getPort());
    Contract.say("note tasks_rejected " + REJECTED.sum());
    Contract.end(ANSWERED);
  }

  private static BindableService service(String variant) {
    return switch (variant) {
      case "cached", "fixed-silent", "virtual" -> new HelloService(LoopbackServer.toPersistence());
      case "fixed-prompt" ->
          new PooledHelloService(
              LoopbackServer.toPersistence(), pool(new ThreadPoolExecutor.AbortPolicy()));
      case "persistence" -> new PersistenceService(1000);
      case "persistence-100ms" -> new PersistenceService(100);
      default -> {
        System.err.println("java-grpc has no variant " + variant);
        System.exit(89); // The contract's "not supported".
        yield null;
      }
    };
  }

  private static ServerBuilder<?> builder(String variant) {
    ServerBuilder<?> builder = LoopbackServer.on(0);
    return switch (variant) {
      case "cached" -> builder;
      case "fixed-silent" -> builder.executor(pool(HelloServiceThreadPoolExecutor::onlyLog));
      case "fixed-prompt" -> builder.directExecutor();
      default -> builder.executor(Executors.newVirtualThreadPerTaskExecutor());
    };
  }

  private static ThreadPoolExecutor pool(RejectedExecutionHandler onRejection) {
    return HelloServiceThreadPoolExecutor.pool(
        (task, pool) -> {
          REJECTED.increment();
          onRejection.rejectedExecution(task, pool);
        });
  }

  private static <Q, A> ServerCall.Listener<Q> count(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    return next.startCall(
        new SimpleForwardingServerCall<>(call) {
          @Override
          public void close(Status status, Metadata trailers) {
            ANSWERED.increment();
            super.close(status, trailers);
          }
        },
        headers);
  }
}
