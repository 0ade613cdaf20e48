// What the parser makes of netlink messages, well formed and not (rtnetlink(7), netlink(7)).
#include "server/io/link_messages.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ringdhcp {
namespace {

constexpr std::uint32_t kSequence = 7;

// One datagram, message by message. A vector's octets begin on an address divisible by 4.
class Datagram {
 public:
  template <typename Fixed>
  Datagram& Message(int type, const Fixed& fixed, int flags = 0,
                    std::uint32_t sequence = kSequence) {
    header_at_ = octets_.size();
    nlmsghdr header{};
    header.nlmsg_type = static_cast<std::uint16_t>(type);
    header.nlmsg_flags = static_cast<std::uint16_t>(flags);
    header.nlmsg_seq = sequence;
    Append(&header, sizeof(header));
    Append(&fixed, sizeof(fixed));
    return SetLength();
  }
  Datagram& Attribute(int type, std::string_view value) {
    rtattr header{};
    header.rta_type = static_cast<std::uint16_t>(type);
    header.rta_len = static_cast<std::uint16_t>(sizeof(header) + value.size());
    Append(&header, sizeof(header));
    Append(value.data(), value.size());
    octets_.resize(NLMSG_ALIGN(octets_.size()));
    return SetLength();
  }
  Datagram& Number(int type, std::uint32_t number) {
    return Attribute(type, {reinterpret_cast<const char*>(&number), sizeof(number)});
  }
  Datagram& Address(int type, std::uint32_t host_order) { return Number(type, htonl(host_order)); }
  // Makes the last message claim another length.
  Datagram& Claim(std::uint32_t length) {
    std::memcpy(octets_.data() + header_at_, &length, sizeof(length));
    return *this;
  }
  const std::vector<std::uint8_t>& octets() const { return octets_; }

 private:
  void Append(const void* from, std::size_t size) {
    const auto* octets = static_cast<const std::uint8_t*>(from);
    octets_.insert(octets_.end(), octets, octets + size);
  }
  Datagram& SetLength() { return Claim(static_cast<std::uint32_t>(octets_.size() - header_at_)); }

  std::vector<std::uint8_t> octets_;
  std::size_t header_at_ = 0;
};

ifinfomsg Link(int ifindex, unsigned flags = IFF_UP | IFF_RUNNING, int family = AF_UNSPEC) {
  ifinfomsg info{};
  info.ifi_family = static_cast<unsigned char>(family);
  info.ifi_index = ifindex;
  info.ifi_flags = flags;
  return info;
}

ifaddrmsg Address(unsigned ifindex, int length, unsigned flags = 0, int family = AF_INET) {
  ifaddrmsg info{};
  info.ifa_family = static_cast<unsigned char>(family);
  info.ifa_prefixlen = static_cast<unsigned char>(length);
  info.ifa_flags = static_cast<unsigned char>(flags);
  info.ifa_index = ifindex;
  return info;
}

nlmsgerr Refusal(int error) {
  nlmsgerr refusal{};
  refusal.error = error;
  return refusal;
}

TEST(LinkMessagesTest, ReadsLinksAndForgetsDeletedOnes) {
  LinkTable table;
  Datagram events;
  events.Message(RTM_NEWLINK, Link(2)).Attribute(IFLA_IFNAME, std::string_view("eth0\0", 5));
  events.Number(IFLA_MTU, 1400).Number(IFLA_MASTER, 9);
  events.Message(RTM_NEWLINK, Link(3, IFF_LOOPBACK)).Attribute(IFLA_IFNAME, "lo");
  EXPECT_FALSE(TakeLinkEvents(events.octets(), table));
  const std::vector<LinkState> list = table.Build();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "eth0");
  EXPECT_EQ(list[0].mtu, 1400U);
  EXPECT_TRUE(list[0].up && list[0].running && list[0].enslaved && !list[0].loopback);
  EXPECT_EQ(list[1].name, "lo") << "a name without its zero octet ends with the attribute";
  EXPECT_TRUE(list[1].loopback && !list[1].up && !list[1].enslaved);

  // A bridge tells that a port left it by RTM_DELLINK of its own family.
  Datagram left;
  left.Message(RTM_DELLINK, Link(2, 0, AF_BRIDGE));
  TakeLinkEvents(left.octets(), table);
  EXPECT_EQ(table.links.size(), 2U);
  Datagram deleted;
  deleted.Message(RTM_DELLINK, Link(2));
  TakeLinkEvents(deleted.octets(), table);
  EXPECT_EQ(table.links.count(2), 0U);
}

TEST(LinkMessagesTest, EventsOfAddressesOnlyMarkThem) {
  for (const int type : {RTM_NEWADDR, RTM_DELADDR}) {
    LinkTable table;
    Datagram events;
    events.Message(type, Address(2, 24)).Address(IFA_LOCAL, 0x0A000001);
    EXPECT_TRUE(TakeLinkEvents(events.octets(), table));
    EXPECT_TRUE(table.addresses.empty());
  }
}

TEST(LinkMessagesTest, ADumpGivesAddressesWithThePrimaryFirst) {
  LinkTable table;
  Datagram links;
  links.Message(RTM_NEWLINK, Link(2));
  TakeLinkEvents(links.octets(), table);
  Datagram answer;
  answer.Message(RTM_NEWADDR, Address(2, 24, IFA_F_SECONDARY)).Address(IFA_LOCAL, 0x0A000009);
  answer.Message(RTM_NEWADDR, Address(2, 30)).Address(IFA_LOCAL, 0x0A010001);
  answer.Address(IFA_ADDRESS, 0x0A020006);  // a peer's
  answer.Message(RTM_NEWADDR, Address(2, 0)).Address(IFA_ADDRESS, 0x0A000002);
  answer.Message(RTM_NEWADDR, Address(2, 33)).Address(IFA_LOCAL, 0x0A000003);  // no such length
  answer.Message(RTM_NEWADDR, Address(2, 24, 0, AF_INET6)).Address(IFA_LOCAL, 0x0A000004);
  answer.Message(RTM_NEWADDR, Address(2, 24)).Attribute(IFA_LOCAL, "12345");   // no address
  answer.Message(RTM_NEWADDR, Address(5, 24)).Address(IFA_LOCAL, 0x0A000005);  // of no link
  answer.Message(NLMSG_DONE, 0);
  const DumpProgress progress = TakeDumpAnswer(answer.octets(), kSequence, table);
  EXPECT_TRUE(progress.done);
  EXPECT_FALSE(progress.interrupted || progress.error);
  std::vector<std::string> found;
  for (const LinkState& link : table.Build()) {
    for (const LinkState::Address& a : link.addresses) {
      found.push_back(a.address.ToString() + " in " + a.prefix.ToString());
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"10.1.0.1 in 10.2.0.4/30", "10.0.0.2 in 0.0.0.0/0",
                                             "10.0.0.9 in 10.0.0.0/24"}));
}

TEST(LinkMessagesTest, ADumpEndsWithDoneOrWithAnError) {
  LinkTable table;
  const auto progress_of = [&](const Datagram& answer) {
    return TakeDumpAnswer(answer.octets(), kSequence, table);
  };
  EXPECT_FALSE(progress_of(Datagram().Message(NLMSG_DONE, 0, 0, kSequence + 1)).done);
  const DumpProgress cut = progress_of(Datagram().Message(NLMSG_DONE, 0, NLM_F_DUMP_INTR));
  EXPECT_TRUE(cut.done && cut.interrupted);
  EXPECT_EQ(progress_of(Datagram().Message(NLMSG_ERROR, Refusal(-EPERM))).error, EPERM);
  EXPECT_EQ(progress_of(Datagram().Message(NLMSG_ERROR, Refusal(0))).error, std::nullopt);
  EXPECT_EQ(progress_of(Datagram().Message(NLMSG_ERROR, Refusal(INT32_MIN))).error, EPROTO);
  EXPECT_EQ(progress_of(Datagram().Message(NLMSG_ERROR, std::uint16_t{0})).error, EPROTO);
}

TEST(LinkMessagesTest, PassesOverWhatIsCut) {
  LinkTable table;
  Datagram short_fixed;
  short_fixed.Message(RTM_NEWLINK, Link(2)).Claim(sizeof(nlmsghdr) + sizeof(ifinfomsg) - 4);
  TakeLinkEvents(short_fixed.octets(), table);
  EXPECT_TRUE(table.links.empty());

  Datagram odd;
  odd.Message(RTM_NEWLINK, Link(2)).Attribute(IFLA_MTU, "ab").Attribute(IFLA_MASTER, "");
  TakeLinkEvents(odd.octets(), table);
  EXPECT_EQ(table.links.at(2).mtu, 0U);
  EXPECT_FALSE(table.links.at(2).enslaved);

  // Every cut of a datagram of two messages: the first survives once it is whole.
  Datagram two;
  two.Message(RTM_NEWLINK, Link(4)).Attribute(IFLA_IFNAME, "a");
  const std::size_t whole = two.octets().size();
  two.Message(RTM_NEWLINK, Link(5)).Attribute(IFLA_IFNAME, "b");
  for (std::size_t size = 0; size < two.octets().size(); ++size) {
    LinkTable read;
    const std::vector<std::uint8_t> cut(two.octets().begin(),
                                        two.octets().begin() + static_cast<std::ptrdiff_t>(size));
    TakeLinkEvents(cut, read);
    EXPECT_EQ(read.links.size(), size >= whole ? 1U : 0U) << size;
  }
}

}  // namespace
}  // namespace ringdhcp
