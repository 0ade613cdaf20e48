#ifndef RINGDHCP_TEST_SIM_VERDICT_H_
#define RINGDHCP_TEST_SIM_VERDICT_H_

#include <string>
#include <utility>

namespace ringdhcp::sim {

/// The first invariant that was violated in a run, by name.
class Verdict {
 public:
  void Fail(std::string invariant, std::string message) {
    if (failed()) return;
    invariant_ = std::move(invariant);
    message_ = std::move(message);
  }
  bool failed() const { return !invariant_.empty(); }
  const std::string& invariant() const { return invariant_; }
  const std::string& message() const { return message_; }

 private:
  std::string invariant_;
  std::string message_;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_VERDICT_H_
