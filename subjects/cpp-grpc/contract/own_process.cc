#include "own_process.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>

namespace {

constexpr std::chrono::milliseconds kInterval{250};

// The library tells nobody what it opens. Its own descriptors say it cheaply: the kernel's table of
// connections has those of the whole machine, and takes milliseconds to read.
uint64_t Sockets() {
  uint64_t count = 0;
  std::error_code ended;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ended)) {
    // A descriptor may be closed while it is looked at.
    std::error_code closed;
    const auto target = std::filesystem::read_symlink(entry.path(), closed);
    count += !closed && target.string().rfind("socket:", 0) == 0;
  }
  return count;
}

uint64_t Threads() {
  const std::string key = "Threads:";
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, key.size(), key) == 0) return std::stoull(line.substr(key.size()));
  }
  return 0;
}

}  // namespace

PeakWatch::PeakWatch() : others_(Sockets()) {
  watcher_ = std::thread([this] {
    while (!ending_) {
      Look();
      std::this_thread::sleep_for(kInterval);
    }
  });
}

PeakWatch::~PeakWatch() { Stop(); }

void PeakWatch::Stop() {
  ending_ = true;
  if (watcher_.joinable()) watcher_.join();
}

void PeakWatch::Look() {
  const uint64_t sockets = Sockets();
  connections_ = std::max(connections_, sockets - std::min(sockets, others_));
  threads_ = std::max(threads_, Threads());
}

void PeakWatch::Print() {
  Stop();
  // A short run may be over before the second look.
  Look();
  std::cout << "note connections_peak " << connections_ << std::endl
            << "note threads_peak " << threads_ << std::endl;
}
