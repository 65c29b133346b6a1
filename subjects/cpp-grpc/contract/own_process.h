// What the kernel knows of this process and of its connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

// Looks four times a second for the largest number of connections and of threads at once. gRPC
// tells nobody of the connections that it has, so the sockets of this process are counted.
class PeakWatch {
 public:
  // To be made when a server listens, or before a client connects: sockets beyond those of now are
  // connections.
  PeakWatch();
  ~PeakWatch();
  PeakWatch(const PeakWatch&) = delete;
  PeakWatch& operator=(const PeakWatch&) = delete;

  // Looks for the last time, and prints the notes of both.
  void Print();

 private:
  void Look();
  void Stop();

  // Sockets that are no connections.
  const uint64_t others_;
  std::atomic<bool> ending_{false};
  uint64_t connections_ = 0;
  uint64_t threads_ = 0;
  std::thread watcher_;
};
