#include "server/admin/port_owner_watch.h"

#include <chrono>

#include "server/io/port_owner.h"
#include "server/io/sockets.h"

namespace ringdhcp {
namespace {

// Between two searches: the interface is tried again more often than its owner changes.
constexpr std::chrono::seconds kPause{2};

}  // namespace

PortOwnerWatch::PortOwnerWatch(Logger& logger) : logger_(logger), thread_([this] { Run(); }) {}

PortOwnerWatch::~PortOwnerWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PortOwnerWatch::Report(const std::string& interface) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(interface);
  }
  changed_.notify_all();
}

void PortOwnerWatch::Run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    std::set<std::string> interfaces;
    interfaces.swap(waiting_);
    lock.unlock();
    const std::string owner = DescribeUdpPortOwners(kServerPort);
    for (const std::string& interface : interfaces) {
      if (logged_[interface] == owner) continue;
      logged_[interface] = owner;
      logger_.Error("UDP port 67 is taken; stop its owner or keep it off the interface",
                    {{"interface", interface}, {"owner", owner}});
    }
    lock.lock();
    changed_.wait_for(lock, kPause, [this] { return ending_; });
  }
}

}  // namespace ringdhcp
