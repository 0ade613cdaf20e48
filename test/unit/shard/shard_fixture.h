#ifndef RINGDHCP_TEST_UNIT_SHARD_SHARD_FIXTURE_H_
#define RINGDHCP_TEST_UNIT_SHARD_SHARD_FIXTURE_H_

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/shard/shard.h"
#include "test/support/client_message.h"
#include "test/support/fake_ring.h"

namespace ringdhcp::test {

class ManualClock final : public Clock {
 public:
  Now Read() override { return now; }
  Now now{.monotonic_ns = 1'000 * kNanosecondsPerSecond, .wall_s = 1'700'000'000};
};

/// Commits when the test says so.
class ManualStore final : public CommitPort {
 public:
  void Submit(const LeaseBatch* submitted) override;
  std::optional<Result> TakeResult() override;
  /// Ends the commit under way; false when there is none.
  bool Finish(BatchOutcome outcome);

  const LeaseBatch* batch = nullptr;  // under way
  int submitted_count = 0;
  bool automatic = false;  // every batch is durable at the next look

 private:
  std::optional<BatchOutcome> outcome_;
};

class ManualLinks final : public LinkMonitor {
 public:
  std::vector<LinkState> Snapshot() const override { return links; }
  std::uint64_t generation() const override { return changes; }
  std::vector<LinkState> links;
  std::uint64_t changes = 1;
};

class RecordingLogger final : public Logger {
 public:
  void Write(Level level, std::string_view message, std::initializer_list<Field> fields) override;
  /// Lines of this level that contain `text`, in the message or a field.
  int Count(Level level, std::string_view text) const;

 private:
  std::vector<std::pair<Level, std::string>> lines_;
};

/// A shard over fakes of all its seams, with the links lan0 (192.0.2.1/24, slot 0) and lan1
/// (198.51.100.1/24, slot 1), each with a subnet of 200 addresses. Change `limits` and `config`
/// before Start.
class ShardFixture : public testing::Test {
 protected:
  ShardFixture();
  ~ShardFixture() override;

  /// Makes the shard and turns it once, so that both links are served.
  void Start();
  void Turn(int times = 1);
  void Advance(std::int64_t milliseconds);
  void Inject(int link, const ClientMessage& message);
  std::vector<FakeRing::Sent> TakeSent() { return ring_->TakeSent(); }
  /// Discovers and requests on `link`; the ACK is left to the store. Returns the address.
  Ipv4Address Request(int link, std::uint32_t client);
  std::uint64_t Drops(int link, DropReason reason) const;
  std::uint64_t Received(int link) const;
  std::uint64_t Replies(int link) const;
  std::uint64_t AllDrops(int link) const;
  const InterfaceMetrics& Metrics(int link) const;
  static Ipv4Address ServerOf(int link);
  LinkState MakeLink(int link) const;

  Limits limits;
  ServerConfig config;
  FakeRingOptions ring_options;
  ManualClock clock;
  ManualStore store;
  ManualLinks links;
  RecordingLogger logger;
  std::unique_ptr<FakeRing> ring_;
  std::unique_ptr<LeaseEngine> engine;
  std::unique_ptr<Shard> shard;
  absl::Status open_error;  // while not OK, no interface can be opened
  int opens = 0;
  std::array<std::uint8_t, 6> opened_address{2, 0, 0, 0, 0, 9};  // of the sockets opened
};

/// Value of option 53 of an encoded reply.
MessageType TypeOf(const FakeRing::Sent& sent);
/// yiaddr of an encoded reply.
Ipv4Address YiaddrOf(const FakeRing::Sent& sent);

}  // namespace ringdhcp::test

#endif  // RINGDHCP_TEST_UNIT_SHARD_SHARD_FIXTURE_H_
