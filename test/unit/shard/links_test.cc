// Interfaces come and go.

#include <algorithm>
#include <cerrno>

#include "test/unit/shard/shard_fixture.h"

namespace ringdhcp::test {
namespace {

class LinksTest : public ShardFixture {
 protected:
  void Change() { ++links.changes; }
  bool Serving(const std::string& name) const {
    for (const InterfaceStatus& status : shard->Interfaces()) {
      if (status.name == name) return status.serving;
    }
    return false;
  }
  bool Offers(int link, std::uint32_t client) {
    Inject(link, ClientMessage(MessageType::kDiscover, client));
    Turn(2);
    return TakeSent().size() == 1;
  }
};

TEST_F(LinksTest, OneThatIsAbsentOrDownAtTheStartIsServedWhenItAppears) {
  links.links = {MakeLink(0)};
  links.links[0].up = false;
  Start();
  EXPECT_FALSE(Serving("lan0"));
  EXPECT_FALSE(shard->metrics().ready.load()) << "no interface is served";
  links.links = {MakeLink(0), MakeLink(1)};
  Turn();
  EXPECT_EQ(opens, 0) << "nothing is looked at before a change is announced";
  Change();
  Turn();
  EXPECT_TRUE(Serving("lan0"));
  EXPECT_TRUE(Serving("lan1"));
  EXPECT_TRUE(shard->metrics().ready.load());
  EXPECT_TRUE(Offers(0, 1));
}

TEST_F(LinksTest, OneDeletedAndMadeAgainIsServedAgain) {
  Start();
  ASSERT_TRUE(Offers(0, 1));
  const std::uint64_t received = Received(0);
  links.links[0].ifindex = 99;  // deleted and made again before we looked
  Change();
  Turn();
  EXPECT_FALSE(Serving("lan0"));
  Turn(2);
  EXPECT_TRUE(Serving("lan0"));
  EXPECT_TRUE(Offers(0, 2));
  EXPECT_EQ(Received(0), received + 1) << "its counters go on";
}

TEST_F(LinksTest, ARenamedOneIsServedUnderItsNewName) {
  Start();
  links.links[0].name = "office";
  Change();
  Turn(3);
  EXPECT_FALSE(Serving("lan0"));
  EXPECT_TRUE(Serving("office"));
}

// Else the socket of the old name still has the port, and the server would blame itself.
TEST_F(LinksTest, ARenamedOneIsNotOpenedBeforeItsOldSocketIsClosed) {
  Start();
  const int before = opens;
  links.links[0].name = "office";
  Change();
  Turn();
  EXPECT_EQ(opens, before);
  Turn();
  EXPECT_EQ(opens, before + 1);
}

TEST_F(LinksTest, ANewHardwareAddressIsFollowed) {
  Start();
  const int before = opens;
  opened_address[5] = 10;
  links.links[0].hardware_address = opened_address;
  Change();
  Turn(3);
  EXPECT_EQ(opens, before + 1) << "frames would leave with the old source address";
  EXPECT_TRUE(Serving("lan0"));
}

TEST_F(LinksTest, AConfiguredNameIsKnownBeforeItIsThere) {
  config.interfaces_include = {"lan0", "later"};
  Start();
  EXPECT_EQ(logger.Count(Logger::Level::kWarning, "interface=later"), 1);
  bool listed = false;
  for (const InterfaceStatus& status : shard->Interfaces()) {
    listed |= status.name == "later" && !status.serving;
  }
  EXPECT_TRUE(listed);
}

TEST_F(LinksTest, AnInterfaceWithASubnetIsServedBeforeOneWithout) {
  for (int i = 0; i < 4; ++i) {
    LinkState more = MakeLink(0);
    more.name = "more" + std::to_string(i);
    more.ifindex = 1 + i;  // the kernel lists them first
    more.addresses.clear();
    links.links.insert(links.links.begin() + i, more);
  }
  Start();
  EXPECT_TRUE(Serving("lan0"));
  EXPECT_TRUE(Serving("lan1"));
  EXPECT_EQ(shard->metrics().served_interfaces.Get(), 3U);
  links.links[4].up = false;  // a flap does not cost lan0 its slot
  Change();
  Turn(3);
  links.links[4].up = true;
  Change();
  Turn(3);
  EXPECT_TRUE(Serving("lan0"));
}

TEST_F(LinksTest, PacketsOfAnInterfaceThatWentAreCounted) {
  limits.batch_packets_max = 1;
  Start();
  for (std::uint32_t client = 1; client <= 5; ++client) {
    Inject(0, ClientMessage(MessageType::kDiscover, client));
  }
  Turn();
  links.links.erase(links.links.begin());
  Change();
  Turn(3);
  EXPECT_EQ(Drops(0, DropReason::kInterfaceGone), 4U);
  EXPECT_EQ(TakeSent().size(), 1U) << "the one that was served";
  EXPECT_FALSE(ring_->attached(InterfaceSlot(0)));
  EXPECT_TRUE(Offers(1, 9));
}

TEST_F(LinksTest, AReplyThatWaitsForItsCommitIsNotSentOnAnotherInterface) {
  limits.interfaces_max = 2;
  ring_options.interfaces_max = 2;
  Start();
  Request(0, 1);
  links.links[0].name = "other";  // takes the slot, since there is no other
  links.links[0].ifindex = 99;
  Change();
  Turn(3);
  ASSERT_TRUE(Serving("other"));
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn(3);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_F(LinksTest, APortOfABridgeIsServedOnTheMaster) {
  links.links[0].enslaved = true;
  Start();
  EXPECT_FALSE(Serving("lan0"));
  links.links[0].enslaved = false;
  Change();
  Turn();
  EXPECT_TRUE(Serving("lan0"));
  links.links[0].enslaved = true;
  Change();
  Turn(2);
  EXPECT_FALSE(Serving("lan0"));
}

TEST_F(LinksTest, OnlyConfiguredInterfacesAreServed) {
  config.interfaces_include = {"lan*"};
  config.interfaces_exclude = {"lan1"};
  LinkState loopback = MakeLink(0);
  loopback.name = "lo";
  loopback.ifindex = 1;
  loopback.loopback = true;
  links.links.push_back(loopback);
  Start();
  EXPECT_TRUE(Serving("lan0"));
  EXPECT_FALSE(Serving("lan1"));
  EXPECT_FALSE(Serving("lo"));
  EXPECT_EQ(opens, 1);
}

TEST_F(LinksTest, TriesAgainAndSaysTheCauseOnce) {
  open_error = absl::AlreadyExistsError("port 67 is taken by dnsmasq (pid 321)");
  Start();
  EXPECT_FALSE(Serving("lan0"));
  for (int i = 0; i < 20; ++i) {
    Advance(200);
    Turn();
  }
  EXPECT_EQ(logger.Count(Logger::Level::kError, "dnsmasq (pid 321)"), 2) << "once an interface";
  EXPECT_LT(opens, 20) << "less and less often";
  EXPECT_GT(opens, 6);
  open_error = absl::OkStatus();
  Advance(1000);
  Turn();
  EXPECT_TRUE(Serving("lan0"));
  EXPECT_TRUE(Serving("lan1"));
}

TEST_F(LinksTest, AFailureToAttachIsTriedAgain) {
  Start();
  ring_->FailNextAttach(InterfaceSlot(2), absl::ResourceExhaustedError("no memory"));
  LinkState third = MakeLink(0);
  third.name = "lan2";
  third.ifindex = 55;
  links.links.push_back(third);
  Change();
  Turn();
  EXPECT_FALSE(Serving("lan2"));
  Advance(250);
  Turn();
  EXPECT_TRUE(Serving("lan2"));
}

TEST_F(LinksTest, SaysThatThereAreTooMany) {
  for (int i = 0; i < 4; ++i) {
    LinkState more = MakeLink(0);
    more.name = "more" + std::to_string(i);
    more.ifindex = 50 + i;
    links.links.push_back(more);
  }
  Start();
  EXPECT_EQ(shard->metrics().served_interfaces.Get(), 3U);
  EXPECT_EQ(logger.Count(Logger::Level::kError, "too many interfaces"), 3);
  links.links.erase(links.links.begin());  // one makes room for the next
  Change();
  Turn(3);
  EXPECT_EQ(shard->metrics().served_interfaces.Get(), 3U);
  EXPECT_FALSE(Serving("lan0"));
}

TEST_F(LinksTest, AddressChangesAreFollowed) {
  links.links[0].addresses.clear();
  Start();
  // lan1 has a subnet, so it came first and took slot 0; slot 1 is that of lan0.
  EXPECT_FALSE(Offers(1, 1)) << "no address, no subnet";
  EXPECT_EQ(Drops(0, DropReason::kNoSubnet), 1U);
  links.links[0] = MakeLink(0);
  Change();
  Turn();
  EXPECT_TRUE(Offers(1, 1));
}

TEST_F(LinksTest, AStopFinishesWhatIsAtHand) {
  Start();
  Request(0, 1);
  Inject(1, ClientMessage(MessageType::kDiscover, 2));
  shard->RequestDrain();
  Turn(3);
  EXPECT_EQ(Drops(1, DropReason::kStopping), 1U) << "it came after the stop was asked for";
  EXPECT_FALSE(shard->drained()) << "an ACK waits for its commit";
  EXPECT_FALSE(shard->metrics().ready.load());
  ASSERT_TRUE(store.Finish(BatchOutcome::kDurable));
  Turn(4);
  const auto sent = TakeSent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(TypeOf(sent[0]), MessageType::kAck);
  EXPECT_TRUE(shard->drained());
  EXPECT_FALSE(ring_->attached(InterfaceSlot(0)));
  EXPECT_FALSE(ring_->attached(InterfaceSlot(1)));
}

}  // namespace
}  // namespace ringdhcp::test
