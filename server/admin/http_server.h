#ifndef RINGDHCP_SERVER_ADMIN_HTTP_SERVER_H_
#define RINGDHCP_SERVER_ADMIN_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace ringdhcp {

struct HttpAnswer {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

/// A small HTTP server (civetweb, eight threads of its own) for GET and HEAD; other methods get
/// 405. `answer` is called on those threads and must be thread-safe; it gives status 404 for a path
/// it does not know.
class HttpServer {
 public:
  using Answer = std::function<HttpAnswer(const std::string& path)>;
  /// Fails, naming the address and the cause, when it can't listen there.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& host,
                                                           std::uint16_t port, Answer answer);
  /// Ends its threads; no answer is under way afterwards.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_HTTP_SERVER_H_
