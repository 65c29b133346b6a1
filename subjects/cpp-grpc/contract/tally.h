// What became of a client's calls, by the phases in which they ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

using Clock = std::chrono::steady_clock;

enum class Phase { kWarmup, kWindow, kOver };

// Shared by all threads. A call takes microseconds, and holds the lock for a few nanoseconds.
class Tally {
 public:
  // More calls than any client makes.
  static constexpr int64_t kNoLimit = INT64_MAX;

  Tally();
  // Begins a phase in which `calls` calls may end. Those in flight are among them.
  void Enter(Phase phase, int64_t calls);
  // Whether one more call may begin.
  bool Begin();
  // A call has ended just now, with this gRPC status.
  void End(size_t code, Clock::time_point begun);
  // Only when all calls have ended.
  void Print() const;

 private:
  void CutOff(Clock::time_point begun);

  std::mutex lock_;
  Phase phase_ = Phase::kWarmup;
  int64_t left_ = kNoLimit;
  int64_t in_flight_ = 0;
  uint64_t warmup_ = 0, ok_ = 0, drained_ = 0, unfinished_ = 0;
  std::map<size_t, uint64_t> errors_;
  std::unordered_map<uint64_t, uint64_t> latencies_;
  Clock::time_point phase_began_;
  // Calls in flight at the end of the window, and how long they had been.
  int64_t cut_off_ = 0;
  std::chrono::nanoseconds ages_{0}, oldest_{0};
};
