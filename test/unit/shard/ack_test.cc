// When a reply may leave: the promise of durability, and what happens when the store fails.

#include <cerrno>

#include "test/unit/shard/shard_fixture.h"

namespace ringdhcp::test {
namespace {

using AckTest = ShardFixture;

TEST_F(AckTest, AnOfferNeedsNoCommit) {
  Start();
  Inject(0, ClientMessage(MessageType::kDiscover, 1));
  Turn(2);
  ASSERT_EQ(TakeSent().size(), 1U);
  EXPECT_EQ(store.submitted_count, 0);
}

TEST_F(AckTest, LeavesOnlyAfterItsLeaseIsDurable) {
  Start();
  const Ipv4Address address = Request(0, 1);
  ASSERT_NE(store.batch, nullptr);
  ASSERT_EQ(store.batch->rows.size(), 1U);
  EXPECT_EQ(store.batch->rows[0].address, address);
  EXPECT_EQ(store.batch->rows[0].state, LeaseState::kBound);
  Turn(20);
  EXPECT_TRUE(TakeSent().empty()) << "the ACK left before its lease was durable";
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn(2);
  const auto sent = TakeSent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(TypeOf(sent[0]), MessageType::kAck);
  EXPECT_EQ(YiaddrOf(sent[0]), address);
}

TEST_F(AckTest, OneCommitCarriesWhatGatheredMeanwhile) {
  Start();
  Request(0, 1);
  for (std::uint32_t client = 2; client < 7; ++client) Request(client % 2 == 0 ? 0 : 1, client);
  EXPECT_EQ(store.submitted_count, 1);
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn();
  ASSERT_NE(store.batch, nullptr);
  EXPECT_EQ(store.batch->rows.size(), 5U);
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn(2);
  EXPECT_EQ(TakeSent().size(), 6U);
  EXPECT_EQ(store.submitted_count, 2);
}

TEST_F(AckTest, RelaxedDurabilityDoesNotWait) {
  config.durability = Durability::kRelaxed;
  Start();
  Request(0, 1);
  Turn();
  const auto sent = TakeSent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(TypeOf(sent[0]), MessageType::kAck);
  EXPECT_NE(store.batch, nullptr) << "but the lease is stored";
}

// RFC 2131 section 4.1: the client retransmits after 4 s +- 1 s; an ACK later than that only
// confuses. Its retransmission is answered from the lease that became durable meanwhile.
TEST_F(AckTest, AgesOutBeforeTheClientRetransmits) {
  Start();
  const Ipv4Address address = Request(0, 1);
  Advance(2600);
  Turn();
  EXPECT_EQ(Drops(0, DropReason::kHeldTooLong), 1U);
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn(2);
  EXPECT_TRUE(TakeSent().empty());
  Inject(0, ClientMessage(MessageType::kRequest, 1).Requested(address).Server(ServerOf(0)));
  Turn(2);
  if (store.Finish(BatchOutcome::kDurable)) Turn(2);
  const auto sent = TakeSent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(TypeOf(sent[0]), MessageType::kAck);
  EXPECT_EQ(YiaddrOf(sent[0]), address);
}

class StoreFailureTest : public ShardFixture, public testing::WithParamInterface<BatchOutcome> {};

TEST_P(StoreFailureTest, PromisesNothingNewAndLosesNothing) {
  Start();
  const Ipv4Address address = Request(0, 1);
  ASSERT_TRUE(store.Finish(GetParam()));
  Turn();
  EXPECT_FALSE(shard->metrics().ready.load());
  EXPECT_EQ(logger.Count(Logger::Level::kError, "No space left on device"), 1);
  Turn(5);
  EXPECT_EQ(store.batch, nullptr) << "it is not tried again at once";

  Inject(1, ClientMessage(MessageType::kDiscover, 2));
  Turn(2);
  for (const auto& sent : TakeSent()) EXPECT_NE(TypeOf(sent), MessageType::kAck);

  Advance(201);
  Turn();
  ASSERT_NE(store.batch, nullptr) << "the same batch is tried again";
  EXPECT_EQ(store.batch->rows[0].address, address);
  ASSERT_TRUE(store.Finish(GetParam()));
  Turn();
  EXPECT_EQ(logger.Count(Logger::Level::kError, "No space left on device"), 1)
      << "one line per change of state";
  Advance(201);
  Turn();
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn(2);
  const auto sent = TakeSent();
  ASSERT_EQ(sent.size(), 1U) << "the held ACK leaves once its lease is durable";
  EXPECT_EQ(YiaddrOf(sent[0]), address);
  EXPECT_TRUE(shard->metrics().ready.load());
  EXPECT_EQ(logger.Count(Logger::Level::kInfo, "works again"), 1);
}

INSTANTIATE_TEST_SUITE_P(Outcomes, StoreFailureTest,
                         testing::Values(BatchOutcome::kFailed, BatchOutcome::kUnknown));

TEST_F(AckTest, AStalledStoreIsAFailingStore) {
  Start();
  Inject(1, ClientMessage(MessageType::kDiscover, 2));
  Turn(2);
  const auto offers = TakeSent();
  ASSERT_EQ(offers.size(), 1U);
  Request(0, 1);
  Advance(900);
  Turn();
  EXPECT_TRUE(shard->metrics().ready.load());
  Advance(200);
  Turn();
  EXPECT_FALSE(shard->metrics().ready.load());
  Inject(
      1,
      ClientMessage(MessageType::kRequest, 2).Requested(YiaddrOf(offers[0])).Server(ServerOf(1)));
  Turn(2);
  EXPECT_EQ(Drops(1, DropReason::kStoreUnavailable), 1U);
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn();
  EXPECT_TRUE(shard->metrics().ready.load());
}

TEST_F(AckTest, ASlowStorePushesBackOnAllInterfacesAlike) {
  limits.commit_rows_max = 32;
  limits.batch_packets_max = 32;
  limits.receive_buffers = ring_options.buffers_per_interface = 64;
  Start();
  // Thirty-two clients on each link have offers, in the order of the pool; then the store gets the
  // ACK of one more client to chew on.
  for (std::uint32_t client = 1; client <= 32; ++client) {
    Inject(0, ClientMessage(MessageType::kDiscover, client));
    Inject(1, ClientMessage(MessageType::kDiscover, 1000 + client));
    Turn(2);
  }
  ASSERT_EQ(TakeSent().size(), 64U);
  Request(0, 5000);
  ASSERT_NE(store.batch, nullptr);
  // Sixty-four rows, while one batch takes 32.
  for (std::uint32_t client = 1; client <= 32; ++client) {
    for (const int link : {0, 1}) {
      Inject(link, ClientMessage(MessageType::kRequest, (link == 0 ? 0 : 1000) + client)
                       .Requested(Ipv4Address(ServerOf(link).value + 8 + client))
                       .Server(ServerOf(link)));
    }
  }
  Turn(10);
  EXPECT_TRUE(TakeSent().empty());
  EXPECT_EQ(ring_->buffers_outstanding(InterfaceSlot(0)), 16U) << "half of its packets wait";
  EXPECT_EQ(ring_->buffers_outstanding(InterfaceSlot(1)), 16U);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
    Turn(4);
  }
  EXPECT_EQ(TakeSent().size(), 65U) << "nothing that waited was lost";
  EXPECT_EQ(AllDrops(0) + AllDrops(1), 0U);
}

}  // namespace
}  // namespace ringdhcp::test
