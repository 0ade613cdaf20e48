#include "server/io/link_monitor.h"

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "server/base/check.h"
#include "server/io/link_messages.h"

namespace ringdhcp {
namespace {

constexpr std::size_t kMessageOctetsMax = 64 * 1024;  // a link with many virtual functions is large
constexpr int kEventBufferOctets = 1 << 20;
constexpr int kRetryMilliseconds = 100;
constexpr int kDumpTriesMax = 16;

struct SocketCloser {
  void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
};
using Socket = std::unique_ptr<mnl_socket, SocketCloser>;

class NetlinkLinkMonitor : public LinkMonitor {
 public:
  explicit NetlinkLinkMonitor(std::function<void()> changed) : changed_(std::move(changed)) {}
  ~NetlinkLinkMonitor() override;
  absl::Status Start();

  std::vector<LinkState> Snapshot() const override {
    const std::lock_guard lock(mutex_);
    return list_;
  }
  std::uint64_t generation() const override { return generation_.load(std::memory_order_acquire); }

 private:
  /// Asks for everything of `type` (RTM_GETLINK, RTM_GETADDR) and adds the answers to `table`.
  absl::Status Dump(std::uint16_t type, LinkTable& table);
  absl::Status TryDump(std::uint16_t type, LinkTable& table, bool& interrupted);
  absl::Status ReadAll();
  /// The part of the buffer that holds the last datagram.
  std::span<const std::uint8_t> Received(ssize_t size) const {
    return std::span(buffer_).first(static_cast<std::size_t>(size));
  }
  /// Takes all events that wait.
  void TakeEvents();
  void Publish();
  void Run();

  const std::function<void()> changed_;
  Socket event_socket_;
  Socket dump_socket_;
  int stop_fd_ = -1;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(kMessageOctetsMax);
  std::uint32_t sequence_ = 0;
  LinkTable table_;           // the monitor's thread, and Start before it runs
  bool links_stale_ = false;  // an event was lost: read everything anew
  bool addresses_stale_ = false;
  mutable std::mutex mutex_;
  std::vector<LinkState> list_;  // guarded by mutex_
  std::atomic<std::uint64_t> generation_{0};
  std::thread thread_;
};

NetlinkLinkMonitor::~NetlinkLinkMonitor() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    RINGDHCP_CHECK(write(stop_fd_, &one, sizeof(one)) == sizeof(one));
    thread_.join();
  }
  if (stop_fd_ >= 0) close(stop_fd_);
}

absl::Status NetlinkLinkMonitor::Start() {
  event_socket_.reset(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK));
  dump_socket_.reset(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC));
  if (event_socket_ == nullptr || dump_socket_ == nullptr) {
    return absl::ErrnoToStatus(errno, "cannot open a netlink socket to follow the interfaces");
  }
  const int fd = mnl_socket_get_fd(event_socket_.get());
  // More than net.core.rmem_max needs CAP_NET_ADMIN; a smaller buffer only means more re-reads.
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kEventBufferOctets, sizeof(kEventBufferOctets));
  // Groups first, then the list: no change can fall between them.
  if (mnl_socket_bind(event_socket_.get(), RTMGRP_LINK | RTMGRP_IPV4_IFADDR, MNL_SOCKET_AUTOPID) <
          0 ||
      mnl_socket_bind(dump_socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) {
    return absl::ErrnoToStatus(errno, "cannot bind a netlink socket to follow the interfaces");
  }
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (stop_fd_ < 0) return absl::ErrnoToStatus(errno, "eventfd");
  if (absl::Status status = ReadAll(); !status.ok()) return status;
  list_ = table_.Build();
  generation_.store(1, std::memory_order_release);
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

absl::Status NetlinkLinkMonitor::TryDump(std::uint16_t type, LinkTable& table, bool& interrupted) {
  interrupted = false;
  nlmsghdr* request = mnl_nlmsg_put_header(buffer_.data());
  request->nlmsg_type = type;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request->nlmsg_seq = ++sequence_;
  if (type == RTM_GETLINK) {
    auto* info = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg)));
    info->ifi_family = AF_UNSPEC;
    mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  } else {
    auto* info = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ifaddrmsg)));
    info->ifa_family = AF_INET;
  }
  if (mnl_socket_sendto(dump_socket_.get(), request, request->nlmsg_len) < 0) {
    return absl::ErrnoToStatus(errno, "cannot ask the kernel for its interfaces");
  }
  for (;;) {
    const ssize_t size = mnl_socket_recvfrom(dump_socket_.get(), buffer_.data(), buffer_.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return absl::ErrnoToStatus(errno, "cannot read the list of interfaces");
    const DumpProgress progress = TakeDumpAnswer(Received(size), sequence_, table);
    interrupted |= progress.interrupted;
    if (progress.error) {
      return absl::ErrnoToStatus(*progress.error, "the kernel refused to list its interfaces");
    }
    if (progress.done) return absl::OkStatus();
  }
}

absl::Status NetlinkLinkMonitor::Dump(std::uint16_t type, LinkTable& table) {
  for (int tries = 0; tries < kDumpTriesMax; ++tries) {
    LinkTable answer;
    bool interrupted = false;
    if (absl::Status status = TryDump(type, answer, interrupted); !status.ok()) return status;
    if (interrupted) continue;
    if (type == RTM_GETLINK) {
      table.links = std::move(answer.links);
    } else {
      table.addresses = std::move(answer.addresses);
    }
    return absl::OkStatus();
  }
  return absl::UnavailableError("the list of interfaces keeps changing while it is read");
}

absl::Status NetlinkLinkMonitor::ReadAll() {
  if (absl::Status status = Dump(RTM_GETLINK, table_); !status.ok()) return status;
  return Dump(RTM_GETADDR, table_);
}

void NetlinkLinkMonitor::TakeEvents() {
  for (;;) {
    const ssize_t size = mnl_socket_recvfrom(event_socket_.get(), buffer_.data(), buffer_.size());
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) break;
      links_stale_ = true;  // ENOBUFS: events were lost; ENOSPC: one was too long
      continue;
    }
    if (TakeLinkEvents(Received(size), table_)) addresses_stale_ = true;
  }
}

void NetlinkLinkMonitor::Publish() {
  std::vector<LinkState> list = table_.Build();
  {
    const std::lock_guard lock(mutex_);
    if (list == list_) return;
    list_ = std::move(list);
    generation_.fetch_add(1, std::memory_order_release);
  }
  if (changed_) changed_();
}

void NetlinkLinkMonitor::Run() {
  std::array<pollfd, 2> fds = {pollfd{mnl_socket_get_fd(event_socket_.get()), POLLIN, 0},
                               pollfd{stop_fd_, POLLIN, 0}};
  for (;;) {
    const bool stale = links_stale_ || addresses_stale_;
    if (poll(fds.data(), fds.size(), stale ? kRetryMilliseconds : -1) < 0) {
      RINGDHCP_CHECK(errno == EINTR || errno == ENOMEM);
      continue;
    }
    if (fds[1].revents != 0) return;
    TakeEvents();
    // A read that fails (no memory) leaves the mark, and is tried again after a while.
    if (links_stale_ && ReadAll().ok()) links_stale_ = addresses_stale_ = false;
    if (addresses_stale_ && Dump(RTM_GETADDR, table_).ok()) addresses_stale_ = false;
    Publish();
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<LinkMonitor>> MakeLinkMonitor(std::function<void()> changed) {
  auto monitor = std::make_unique<NetlinkLinkMonitor>(std::move(changed));
  if (absl::Status status = monitor->Start(); !status.ok()) return status;
  return monitor;
}

}  // namespace ringdhcp
