package com.example.grpc.contract;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What becomes of the calls of a run. A call counts in the phase in which it ends. */
public final class Load {
  private static final int DRAIN_MS = 2000;

  /** How calls ended. */
  private static final class Phase {
    final Map<String, Integer> errors = new TreeMap<>();
    long ok;

    int failed() {
      return errors.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  private final Phase warmup = new Phase();
  private final Phase window = new Phase();
  private final Phase drain = new Phase();
  private final Latencies latencies = new Latencies();
  private final CountDownLatch lastEnd = new CountDownLatch(1);
  private final long[] beganNs; // Of the call in flight of each caller; 0 without one.
  private Phase now = warmup;
  private long left = Long.MAX_VALUE;
  private int inFlight;
  private String cutOff = "";

  public Load(int callers) {
    beganNs = new long[callers];
  }

  /** Has every caller begin. Measures for a number of calls if one is set, else for a time. */
  public void run(List<Runnable> callers) throws InterruptedException {
    int warmupMs = Contract.number("BOOKEND_WARMUP_MS", 0, 0);
    int calls = Contract.number("BOOKEND_CALLS", 0, 0);
    if (warmupMs > 0) {
      callers.forEach(Runnable::run);
      Thread.sleep(warmupMs);
    }
    enter(window, calls);
    Contract.say("window start");
    if (warmupMs == 0) {
      callers.forEach(Runnable::run);
    }
    if (calls > 0) {
      lastEnd.await();
    } else {
      Thread.sleep(Contract.number("BOOKEND_MEASURE_MS", 1000, 0));
    }
    enter(drain, 0);
    Contract.say("window end");
    lastEnd.await(DRAIN_MS, TimeUnit.MILLISECONDS);
    say();
  }

  /** Whether a caller is to make one more call. Its clock starts now. */
  public synchronized boolean begins(int caller) {
    if (left <= 0) {
      return false;
    }
    left--;
    inFlight++;
    beganNs[caller] = System.nanoTime();
    return true;
  }

  /** Counts a call by its status code's name. */
  public void ends(int caller, String code) {
    long endNs = System.nanoTime();
    synchronized (this) {
      if (!code.equals("OK")) {
        now.errors.merge(code, 1, Integer::sum);
      } else {
        now.ok++;
        if (now == window) {
          latencies.add(endNs - beganNs[caller]);
        }
      }
      inFlight--;
      beganNs[caller] = 0;
      noticeLastEnd();
    }
  }

  /** Calls in flight end in the phase that begins, so as many fewer need to begin. */
  private synchronized void enter(Phase next, int calls) {
    now = next;
    if (calls > 0 || next == drain) {
      left = calls - inFlight;
    }
    if (next == drain && inFlight > 0) {
      cutOff = ages();
    }
    noticeLastEnd();
  }

  private void noticeLastEnd() {
    if (left <= 0 && inFlight == 0) {
      lastEnd.countDown();
    }
  }

  private String ages() {
    long nowNs = System.nanoTime();
    long sumNs = 0;
    long maxNs = 0;
    for (long began : beganNs) {
      long ageNs = began == 0 ? 0 : nowNs - began;
      sumNs += ageNs;
      maxNs = Math.max(maxNs, ageNs);
    }
    return "in_flight %d %d %d".formatted(inFlight, sumNs / inFlight, maxNs);
  }

  private synchronized void say() {
    latencies.say();
    Contract.say("warmup " + warmup.ok);
    Contract.say("ok " + window.ok);
    window.errors.forEach((code, count) -> Contract.say("error " + code + " " + count));
    Contract.say("drained " + drain.ok);
    Contract.say("unfinished " + (warmup.failed() + drain.failed() + inFlight));
    if (!cutOff.isEmpty()) {
      Contract.say(cutOff);
    }
  }
}
