#include "server/admin/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "CivetServer.h"
#include "absl/strings/str_cat.h"

namespace ringdhcp {
namespace {

constexpr char kRequestTimeoutMs[] = "5000";
constexpr char kThreads[] = "8";

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

class PathHandler final : public CivetHandler {
 public:
  explicit PathHandler(HttpServer::Answer answer) : answer_(std::move(answer)) {}

  bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
    Send(connection, answer_(mg_get_request_info(connection)->local_uri), /*with_body=*/true);
    return true;
  }
  bool handleHead(CivetServer* /*server*/, mg_connection* connection) override {
    Send(connection, answer_(mg_get_request_info(connection)->local_uri), /*with_body=*/false);
    return true;
  }
  bool handlePost(CivetServer* /*server*/, mg_connection* connection) override {
    return Refuse(connection);
  }
  bool handlePut(CivetServer* /*server*/, mg_connection* connection) override {
    return Refuse(connection);
  }
  bool handleDelete(CivetServer* /*server*/, mg_connection* connection) override {
    return Refuse(connection);
  }

 private:
  static bool Refuse(mg_connection* connection) {
    Send(connection, {405, "only GET and HEAD\n"}, true);
    return true;
  }
  static void Send(mg_connection* connection, const HttpAnswer& answer, bool with_body) {
    const std::string head =
        absl::StrCat("HTTP/1.1 ", answer.status, " ", ReasonPhrase(answer.status),
                     "\r\nContent-Type: ", answer.content_type,
                     "\r\nContent-Length: ", answer.body.size(), "\r\nConnection: close\r\n\r\n");
    mg_write(connection, head.data(), head.size());
    if (with_body) mg_write(connection, answer.body.data(), answer.body.size());
  }

  HttpServer::Answer answer_;
};

/// Connects and hangs up.
void Knock(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  // Refused or not, whoever listens has been woken.
  (void)::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::close(fd);
}

}  // namespace

struct HttpServer::Impl {
  Impl(std::string h, std::uint16_t p, Answer answer)
      : host(std::move(h)), port(p), handler(std::move(answer)) {}
  const std::string host;
  const std::uint16_t port;
  PathHandler handler;                  // outlives the server's threads
  std::unique_ptr<CivetServer> server;  // declared last: destroyed first
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& host,
                                                              std::uint16_t port, Answer answer) {
  auto impl = std::make_unique<Impl>(host, port, std::move(answer));
  const std::string address = absl::StrCat(host, ":", port);
  const std::vector<std::string> options = {
      "listening_ports", address, "num_threads", kThreads, "request_timeout_ms", kRequestTimeoutMs};
  errno = 0;
  try {
    impl->server = std::make_unique<CivetServer>(options);
    impl->server->addHandler("", impl->handler);
  } catch (const CivetException& bad) {
    const char* cause = errno != 0 ? std::strerror(errno) : bad.what();
    return absl::UnavailableError(absl::StrCat("can't listen for HTTP on ", address, ": ", cause,
                                               "; choose another http.listen"));
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  // civetweb looks for the end only every 2 s or at a connection, and a restart is to be quick.
  std::atomic<bool> closed{false};
  std::thread knocker([&] {
    while (!closed.load()) {
      Knock(impl_->host, impl_->port);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  impl_->server->close();
  closed.store(true);
  knocker.join();
}

}  // namespace ringdhcp
