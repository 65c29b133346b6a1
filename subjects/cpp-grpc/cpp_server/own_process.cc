#include "own_process.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace {

// The state of an established connection in /proc/net/tcp.
constexpr char kEstablished[] = "01";

constexpr std::chrono::milliseconds kInterval{250};

// One line of the table: "0: 0100007F:C383 0100007F:8A2E 01 ...", ports in hexadecimal.
bool IsConnectionTo(int port, const std::string& line) {
  std::istringstream words(line);
  std::string number, local, remote, state;
  words >> number >> local >> remote >> state;
  const size_t colon = local.rfind(':');
  return state == kEstablished && colon != std::string::npos &&
         std::stoi(local.substr(colon + 1), nullptr, 16) == port;
}

uint64_t Connections(int port) {
  uint64_t count = 0;
  // gRPC listens on IPv4 by an IPv6 socket where it can; those stand in the second table.
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      count += IsConnectionTo(port, line);
    }
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

PeakWatch::PeakWatch(int port) : port_(port) {
  watcher_ = std::thread([this] {
    while (!ending_) {
      Look();
      std::this_thread::sleep_for(kInterval);
    }
  });
}

PeakWatch::~PeakWatch() {
  ending_ = true;
  watcher_.join();
}

void PeakWatch::Look() {
  connections_ = std::max(connections_.load(), Connections(port_));
  threads_ = std::max(threads_.load(), Threads());
}
