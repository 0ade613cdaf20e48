#include "test/contract/postgres/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <vector>

#include "server/base/check.h"

namespace ringdhcp {

namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

Proxy::Proxy(int target_port) : target_port_(target_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof address;
  RINGDHCP_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
  RINGDHCP_CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  RINGDHCP_CHECK(::listen(listener_, 16) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

Proxy::~Proxy() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

void Proxy::Run() {
  std::map<int, int> peers;
  const auto close_all = [&peers] {
    for (const auto& [fd, peer] : peers) ::close(fd);
    peers.clear();
  };
  while (!stopping_) {
    if (drop_.exchange(false)) close_all();
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
    if (!swallow_) {
      for (const auto& [fd, peer] : peers) polled.push_back({fd, POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), 10) <= 0) continue;
    if (polled[0].revents != 0) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = Loopback(target_port_);
      if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        peers[client] = server;
        peers[server] = client;
      } else {
        ::close(client);
        ::close(server);
      }
    }
    for (std::size_t i = 1; i < polled.size(); ++i) {
      const auto found = peers.find(polled[i].fd);
      if (polled[i].revents == 0 || found == peers.end()) continue;
      std::array<char, 65536> data{};
      const auto size = ::recv(found->first, data.data(), data.size(), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms_));
      const bool sent = size > 0 && ::send(found->second, data.data(),
                                           static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
      if (sent) continue;
      const int peer = found->second;
      ::close(polled[i].fd);
      ::close(peer);
      peers.erase(polled[i].fd);
      peers.erase(peer);
    }
  }
  close_all();
}

}  // namespace ringdhcp
