package com.example.grpc.application;

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
import java.io.OutputStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.LongAdder;

/** Any of the servers, as the lab starts them: told by variables, answering in lines. */
public final class ContractServer {
  private static final LongAdder ANSWERED = new LongAdder();
  private static final LongAdder REJECTED = new LongAdder();

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 1 && arguments[0].equals("--version")) {
      String grpc = ServerBuilder.class.getPackage().getImplementationVersion();
      say("grpc-java %s, Java %s".formatted(grpc, Runtime.version()));
      return;
    }
    String variant = variable("BOOKEND_VARIANT", "cached");
    var service = ServerInterceptors.intercept(service(variant), ContractServer::count);
    var server = builder(variant).addService(service).build().start();
    say("ready " + server.getPort());
    if (variable("BOOKEND_CONTRACT", "0").equals("0")) {
      server.awaitTermination();
    }
    System.in.transferTo(OutputStream.nullOutputStream());
    say("note threads_peak " + ManagementFactory.getThreadMXBean().getPeakThreadCount());
    say("note tasks_rejected " + REJECTED.sum());
    var collectors = ManagementFactory.getGarbageCollectorMXBeans().stream();
    long pausesMs = collectors.mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    say("note gc_pause_total_ms " + pausesMs);
    say("served " + ANSWERED.sum());
    // Calls in flight may be cut off, and so may the threads that wait for them.
    System.exit(0);
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

  static String variable(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
