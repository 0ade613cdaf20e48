#ifndef RINGDHCP_TEST_SIM_PROMISE_AUDIT_H_
#define RINGDHCP_TEST_SIM_PROMISE_AUDIT_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/lease/lease_engine.h"
#include "test/sim/fault_store.h"
#include "test/sim/options.h"
#include "test/sim/sim_clock.h"
#include "test/sim/verdict.h"
#include "test/sim/wire.h"
#include "test/support/fake_ring.h"

namespace ringdhcp::sim {

/// Judges what the server promises by what is on the wire, what is durable and the configuration;
/// it knows nothing of the engine. RFC 2131 section 4.4.1 lets a client count its lease from when
/// it sent the REQUEST; here, from the arrival of its first copy. Many count from the ACK instead,
/// so no one else may have the address until then either. Invariants:
///   reply-shape         a reply is a whole DHCP reply with sane times
///   reply-to-request    it answers a message that arrived on that interface, of that client
///   reply-route         it goes where RFC 2131 section 4.1 says
///   option-82           it has the relay's information unchanged and last, or none
///   server-id           it names this server; who chose another one gets no reply
///   pool                its address is in a pool of the client's network and may be leased
///   single-holder       the address is not promised to another client
///   probation           a declined address is left alone
///   durable-before-ack  what an ACK promises is in the store when it leaves
///   known-after-crash   what was promised is in the store after a crash, and known after loading
///   promise-kept        a client is not refused an address that it was promised
class PromiseAudit {
 public:
  PromiseAudit(const Options& options, const EventQueue& events, const SimClock& clock,
               const FaultStore& store, Verdict& verdict);

  /// The server's socket took a client's or relay's message.
  void OnArrived(std::uint16_t interface, const Packet& packet);
  /// `handed_over_ns`: when the server gave it to the kernel.
  void OnReply(const FakeRing::Sent& sent, std::int64_t handed_over_ns);
  void OnStored(const LeaseRecord& row);
  void OnCrash();
  void OnLoaded(const std::vector<SubnetCounts>& counts);

  std::uint64_t acks() const { return acks_; }

 private:
  struct Asked {
    std::uint16_t interface = 0;
    std::int64_t first_ns = 0;
    std::uint64_t first_number = 0;  // in the order of arrival
    Packet packet;
    std::string identity;
  };
  struct Promise {
    std::string identity;
    std::int64_t made_ns = 0;
    std::int64_t end_ns = 0;         // counted from the REQUEST
    std::int64_t end_by_ack_ns = 0;  // counted from the ACK
  };
  struct AskedKey {
    std::uint64_t station;
    std::uint32_t xid;
    std::uint8_t type;
    bool operator==(const AskedKey&) const = default;
  };
  struct AskedHash {
    std::size_t operator()(const AskedKey& key) const {
      return (key.station * 0x9E3779B97F4A7C15ULL ^ key.xid) * 31 + key.type;
    }
  };

  std::int64_t now() const { return events_.now_ns(); }
  void Fail(const char* invariant, const std::string& what, const Packet& reply,
            std::uint16_t interface);
  const Asked* FindAsked(const Packet& reply) const;
  void CheckReply(const FakeRing::Sent& sent, const Packet& reply, const Asked& asked);
  void CheckRoute(const FakeRing::Sent& sent, const Packet& reply, const Asked& asked);
  void CheckRelayInformation(const Packet& reply, const Asked& asked);
  void CheckAddress(const Packet& reply, const Asked& asked);
  void CheckTimes(const Packet& reply, const Asked& asked);
  void CheckHolder(const Packet& reply, const Asked& asked);
  void CheckNak(const Packet& reply, const Asked& asked);
  void OnAck(const Packet& reply, const Asked& asked);
  void CheckDurable(const Packet& reply, const Asked& asked, std::uint32_t lease_s);
  /// Index of the subnet that the link or the relay says.
  std::uint32_t SubnetOfLink(const Asked& asked) const;
  std::uint32_t SubnetOfAddress(Ipv4Address address) const;
  bool GaveUpSince(Ipv4Address address, const Asked& asked) const;
  bool IsServer(Ipv4Address address) const;

  const Options& options_;
  const EventQueue& events_;
  const SimClock& clock_;
  const FaultStore& store_;
  Verdict& verdict_;
  std::unordered_map<AskedKey, Asked, AskedHash> asked_;
  std::uint64_t arrivals_ = 0;
  std::map<std::uint32_t, std::vector<Promise>> promises_;  // by address
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> gave_up_;
  std::map<std::uint32_t, std::int64_t> declined_ns_;  // first DECLINE since the last ACK
  struct Probation {
    std::int64_t from_ns, until_ns;
  };
  std::map<std::uint32_t, Probation> probation_;
  std::uint64_t acks_ = 0;
  std::int64_t handed_over_ns_ = 0;  // of the reply that is judged
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_PROMISE_AUDIT_H_
