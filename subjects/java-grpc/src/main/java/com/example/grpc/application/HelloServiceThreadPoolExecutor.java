package com.example.grpc.application;

import com.example.grpc.service.HelloService;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/** HelloService on a pool of fixed size, whose queue is bounded. */
public final class HelloServiceThreadPoolExecutor {
  public static void main(String[] arguments) throws Exception {
    var service = new HelloService(LoopbackServer.toPersistence());
    var pool = pool(HelloServiceThreadPoolExecutor::onlyLog);
    LoopbackServer.on(9902).executor(pool).addService(service).build().start().awaitTermination();
  }

  static ThreadPoolExecutor pool(RejectedExecutionHandler onRejection) {
    var queue = new ArrayBlockingQueue<Runnable>(200);
    return new ThreadPoolExecutor(200, 200, 60, TimeUnit.SECONDS, queue, onRejection);
  }

  /** As published: the caller is not told, and waits until its own deadline. */
  static void onlyLog(Runnable task, ThreadPoolExecutor pool) {
    LoggerFactory.getLogger(HelloServiceThreadPoolExecutor.class)
        .warn("request rejected from executor.");
  }
}
