#ifndef RINGDHCP_TEST_SIM_TRACE_H_
#define RINGDHCP_TEST_SIM_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/base/ipv4.h"

namespace ringdhcp::sim {

enum class TraceKind : std::uint8_t {
  kArrived,      // a datagram is in the server's socket
  kNotArrived,   // the socket was full, the link down or the server not running
  kReply,        // a reply left the server
  kSubmitted,    // a batch was handed to the store
  kStored,       // rows became durable
  kStoreResult,  // the store said what became of the batch
  kCrashed,
  kStarted,
  kDrained,
  kLink,
  kWallStep,
  kHealed,
  kClientState,
};

/// One thing that happened. The meaning of the numbers is the kind's.
struct TraceEvent {
  std::int64_t at_ns = 0;
  TraceKind kind{};
  std::uint8_t message_type = 0;
  std::uint16_t interface = 0;
  std::uint32_t xid = 0;
  std::uint64_t station = 0;  // hardware address
  Ipv4Address address;
  std::int64_t number = 0;
};

/// What happened, as a hash over all of it and the last events for people.
class Trace {
 public:
  explicit Trace(bool print) : print_(print), last_(kKept) {}
  void Add(const TraceEvent& event);
  /// Octets that belong to the last event.
  void Add(std::span<const std::uint8_t> octets);
  std::uint64_t hash() const { return hash_; }
  std::uint64_t count() const { return count_; }
  /// The last events, one a line, the oldest first.
  std::string Last() const;

 private:
  static constexpr std::size_t kKept = 60;
  void Mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9FB21C651E98DF25ULL;
    hash_ ^= hash_ >> 29;
  }

  bool print_;
  std::uint64_t hash_ = 0x6A09E667F3BCC909ULL;
  std::uint64_t count_ = 0;
  std::vector<TraceEvent> last_;
};

std::string Describe(const TraceEvent& event);

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_TRACE_H_
