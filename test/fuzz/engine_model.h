#ifndef RINGDHCP_TEST_FUZZ_ENGINE_MODEL_H_
#define RINGDHCP_TEST_FUZZ_ENGINE_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/lease/lease_engine.h"
#include "server/lease/reply_builder.h"
#include "storage/commit_queue.h"

namespace ringdhcp {

/// An engine with a commit queue and a store, driven as a shard drives them, and a model that knows
/// only what was promised to whom. Whatever breaks a promise ends the process:
/// - no address is promised, offered or given up while another client's promise for it runs;
/// - what an ACK promises is in the row that it waits for, or that is stored;
/// - nothing outside of the pools, no host's address, none on probation is given;
/// - versions rise, batches hold the last row of each address, counts add up;
/// - after a crash every ACK that was delivered is still known.
/// With RINGDHCP_FUZZ_TRACE in the environment, each message and its decision is printed.
class EngineModel {
 public:
  struct Options {
    bool cache = true;
    bool infinite = false;
    bool authoritative = false;
    std::size_t commit_rows_max = 16;
  };
  explicit EngineModel(const Options& options);

  /// One datagram; nothing happens to one that does not decode or for which the queue has no room.
  void Deliver(std::span<const std::uint8_t> payload);
  enum class Outcome : std::uint8_t { kDurable, kFailed, kUnknownStored, kUnknownLost };
  /// Gives what waits to the store, if it is idle, without an answer yet.
  void Submit();
  /// The store's answer.
  void Finish(Outcome outcome);
  void Stall(bool stalled);
  void Advance(std::int64_t milliseconds, bool tick);
  /// As after kill -9: the engine is a new one and knows what is stored.
  void Crash(bool in_flight_was_stored);
  /// The store works again and takes everything; after one more crash every client with a running
  /// lease renews, and must get it.
  void HealAndCheck();

  /// The last address offered to a client of this hardware address; for scripts.
  Ipv4Address LastOffer(std::uint32_t hardware_address) const;
  static constexpr Ipv4Address kServer{0xC0000201};
  static constexpr Ipv4Address kRelay{0xC6336401};

 private:
  using Identity = std::string;
  struct Promise {
    Identity client;
    std::int64_t end_ns = 0;
  };
  struct WaitingAck {
    CommitSeq gate;
    Ipv4Address address;
    Promise promise;
  };
  struct HeldOffer {
    Ipv4Address address;
    std::int64_t end_ns = 0;
  };
  struct QueuedRow {
    CommitSeq seq;
    LeaseRecord record;
  };

  void Judge(const Message& message, const Identity& client);
  void JudgeDrop(const Message& message, const Identity& client);
  void JudgeOffer(const Identity& client);
  void JudgeAck(const Message& message, const Identity& client);
  void JudgeNak(const Message& message, const Identity& client);
  void JudgeReply(const Message& message);
  void CheckGivable(Ipv4Address address, const Identity& client) const;
  void CheckRow(const LeaseRecord& row, const Identity& client) const;
  void CheckCounts() const;
  void Queue();
  void Trace() const;
  void Store(std::span<const LeaseRecord> rows);
  static void AddPromise(std::map<Ipv4Address, Promise>& book, Ipv4Address address,
                         const Promise& made, std::int64_t now_ns);

  EngineConfig config_;
  std::vector<Ipv4Address> host_addresses_;
  LinkView link_;
  std::size_t commit_rows_max_;
  bool trace_;
  static constexpr std::int64_t kStartNs = 5'000'000'000'000;
  Now now_{.monotonic_ns = kStartNs, .wall_s = 1'700'000'000};
  std::unique_ptr<LeaseEngine> engine_;
  std::unique_ptr<CommitQueue> queue_;
  const LeaseBatch* batch_ = nullptr;
  bool store_ok_ = true;
  Message message_;
  Decision decision_;
  ReplyBuilder builder_;

  std::map<Ipv4Address, Promise> promises_;   // whatever the engine decided
  std::map<Ipv4Address, Promise> delivered_;  // those whose ACK could leave
  std::vector<WaitingAck> waiting_;
  std::map<Ipv4Address, std::int64_t> declined_;                    // until when
  std::map<std::pair<Identity, std::uint32_t>, HeldOffer> offers_;  // by client and subnet
  std::map<std::uint32_t, Ipv4Address> last_offer_;
  std::map<Ipv4Address, QueuedRow> newest_;  // of each address the last row since the start
  std::vector<QueuedRow> log_;               // rows that are in no batch yet
  std::map<Ipv4Address, LeaseRecord> stored_;
  std::map<Ipv4Address, std::uint64_t> versions_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_FUZZ_ENGINE_MODEL_H_
