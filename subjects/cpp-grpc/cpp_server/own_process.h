// What the kernel knows of this process and of its connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

// Looks four times a second for the largest number of connections and of threads at once. gRPC
// tells nobody of the connections that it accepts, so they are counted in the kernel's table.
class PeakWatch {
 public:
  // Counts connections to `port`.
  explicit PeakWatch(int port);
  ~PeakWatch();
  PeakWatch(const PeakWatch&) = delete;
  PeakWatch& operator=(const PeakWatch&) = delete;

  // Established connections at once, as far as was seen.
  uint64_t connections() const { return connections_; }
  // Threads of this process at once, as far as was seen.
  uint64_t threads() const { return threads_; }

 private:
  void Look();

  const int port_;
  std::atomic<bool> ending_{false};
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> threads_{0};
  std::thread watcher_;
};
