// What the kernel knows of this process and of its connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

// Looks four times a second for the largest number of connections and of threads at once. gRPC
// tells nobody of the connections that it accepts, so the sockets of this process are counted.
class PeakWatch {
 public:
  // To be made when the server listens: sockets beyond those of now are connections.
  PeakWatch();
  ~PeakWatch();
  PeakWatch(const PeakWatch&) = delete;
  PeakWatch& operator=(const PeakWatch&) = delete;

  // Connections at once, as far as was seen.
  uint64_t connections() const { return connections_; }
  // Threads of this process at once, as far as was seen.
  uint64_t threads() const { return threads_; }

 private:
  void Look();

  const uint64_t listening_;
  std::atomic<bool> ending_{false};
  std::atomic<uint64_t> connections_{0};
  std::atomic<uint64_t> threads_{0};
  std::thread watcher_;
};
