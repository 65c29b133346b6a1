package com.example.grpc.contract;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/** docs/extend/subject-contract.md for programs in Java: variables in, lines out. */
public final class Contract {
  public static String variable(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }

  /** A variable that is a whole number. Other texts and lesser numbers end the process. */
  public static int number(String name, int otherwise, int least) {
    String text = variable(name, Integer.toString(otherwise));
    try {
      int number = Integer.parseInt(text);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // Answered below.
    }
    throw fail("%s must be a number from %d, and is %s".formatted(name, least, text));
  }

  /** The bytes of the file that a variable names. Without such a file the process ends. */
  public static byte[] contents(String name) {
    try {
      return Files.readAllBytes(Path.of(variable(name, "")));
    } catch (IOException unreadable) {
      throw fail(name + " names no file that can be read: " + unreadable.getMessage());
    }
  }

  /** A variable that has to be one of these, the first where it is not set. */
  public static String oneOf(String name, String... supported) {
    String asked = variable(name, supported[0]);
    if (!List.of(supported).contains(asked)) {
      System.err.printf("%s is %s, and here only %s%n", name, asked, String.join(", ", supported));
      System.exit(89); // The contract's "not supported".
    }
    return asked;
  }

  public static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** A server's life: returns when the lab closes standard input; by hand, never. */
  public static void serve(int port) throws Exception {
    say("ready " + port);
    if (!isUnderContract()) {
      new CountDownLatch(1).await();
    }
    System.in.transferTo(OutputStream.nullOutputStream());
  }

  /** A server's end. */
  public static void end(LongAdder answered) {
    sayNotes();
    say("served " + answered.sum());
    // Calls in flight may be cut off, and so may the threads that wait for them.
    System.exit(0);
  }

  /** Ends a caller whose run the lab gives up: then it closes standard input. */
  public static void endWithInput() {
    if (isUnderContract()) {
      var waiting = new Thread(Contract::awaitEarlyEnd);
      waiting.setDaemon(true); // A run that fails by itself does not wait for it.
      waiting.start();
    }
  }

  public static void sayNotes() {
    say("note threads_peak " + ManagementFactory.getThreadMXBean().getPeakThreadCount());
    var collectors = ManagementFactory.getGarbageCollectorMXBeans().stream();
    long pausesMs = collectors.mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    say("note gc_pause_total_ms " + pausesMs);
  }

  private static boolean isUnderContract() {
    return variable("BOOKEND_CONTRACT", "0").equals("1");
  }

  private static void awaitEarlyEnd() {
    try {
      System.in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException broken) {
      // It is over either way.
    }
    throw fail("standard input was closed before the end of the run");
  }

  /** Ends the process. The lab prints the last line of standard error, so it is not a trace. */
  private static IllegalStateException fail(String reason) {
    System.err.println(reason);
    System.exit(1);
    return new IllegalStateException(reason);
  }
}
