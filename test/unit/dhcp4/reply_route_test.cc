#include "server/dhcp4/reply_route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

constexpr MessageType kDiscover = MessageType::kDiscover, kOffer = MessageType::kOffer,
                      kRequest = MessageType::kRequest, kAck = MessageType::kAck,
                      kNak = MessageType::kNak, kInform = MessageType::kInform;

// The base of every row: a direct message from an Ethernet client without an address, flags clear,
// on an interface that can send frames.
struct Given {
  MessageType request = kDiscover;
  MessageType reply = kOffer;
  const char* giaddr = "0.0.0.0";
  const char* ciaddr = "0.0.0.0";
  std::uint16_t flags = 0;
  const char* source = "0.0.0.0";
  const char* yiaddr = "192.0.2.10";
  bool can_link_layer = true;
  bool on_link = false;
  std::uint8_t htype = 1;
  const char* chaddr = "020000000001";
};

struct RouteCase {
  const char* name;
  Given given;
  const char* route;  // kind address:port, or "none"
};

std::string Route(const Given& given) {
  Header request;
  request.op = kBootRequest;
  request.htype = given.htype;
  request.giaddr = Address(given.giaddr);
  request.ciaddr = Address(given.ciaddr);
  request.flags = given.flags;
  const Octets chaddr = FromHex(given.chaddr);
  request.hlen = static_cast<std::uint8_t>(chaddr.size());
  std::copy(chaddr.begin(), chaddr.end(), request.chaddr.begin());
  const auto route = RouteReply(request, given.request, given.reply, Address(given.yiaddr),
                                Address(given.source), given.can_link_layer, given.on_link);
  if (!route) return "none";
  const bool frame = route->kind == ReplyRouteKind::kLinkLayer;
  EXPECT_EQ(ToOctets(route->hardware_address), frame ? chaddr : Octets(6));
  constexpr const char* kKinds[] = {"relay", "broadcast", "unicast", "frame"};
  return std::string(kKinds[static_cast<std::size_t>(route->kind)]) + ' ' +
         route->destination.ToString() + ':' + std::to_string(route->port);
}

class ReplyRouteTest : public testing::TestWithParam<RouteCase> {};

TEST_P(ReplyRouteTest, IsAsTabled) { EXPECT_EQ(Route(GetParam().given), GetParam().route); }

const auto kName = [](const auto& tested) { return std::string(tested.param.name); };

// RFC 2131 section 4.1: a relayed message is answered to the relay, whatever else it says.
INSTANTIATE_TEST_SUITE_P(
    Relayed, ReplyRouteTest,
    testing::Values(RouteCase{"Offer", {.giaddr = "198.51.100.1"}, "relay 198.51.100.1:67"},
                    RouteCase{"BroadcastFlag",
                              {.giaddr = "198.51.100.1", .flags = 0x8000},
                              "relay 198.51.100.1:67"},
                    RouteCase{"Renewal",
                              {.request = kRequest,
                               .reply = kAck,
                               .giaddr = "198.51.100.1",
                               .ciaddr = "198.51.100.15",
                               .source = "198.51.100.1"},
                              "relay 198.51.100.1:67"},
                    RouteCase{"RenewalWithUselessCiaddr",
                              {.request = kRequest,
                               .reply = kAck,
                               .giaddr = "198.51.100.1",
                               .ciaddr = "255.255.255.255"},
                              "relay 198.51.100.1:67"},
                    RouteCase{"Nak",
                              {.request = kRequest, .reply = kNak, .giaddr = "198.51.100.1"},
                              "relay 198.51.100.1:67"},
                    RouteCase{"Inform",
                              {.request = kInform,
                               .reply = kAck,
                               .giaddr = "198.51.100.1",
                               .source = "198.51.100.1",
                               .yiaddr = "0.0.0.0"},
                              "relay 198.51.100.1:67"},
                    RouteCase{"SourceIsNotTheRelay",
                              {.giaddr = "198.51.100.1", .source = "203.0.113.7"},
                              "relay 198.51.100.1:67"},
                    RouteCase{"GiaddrMulticast", {.giaddr = "224.0.0.1"}, "none"},
                    RouteCase{"GiaddrBroadcast", {.giaddr = "255.255.255.255"}, "none"},
                    RouteCase{"GiaddrLoopback", {.giaddr = "127.0.0.1"}, "none"}),
    kName);

// RFC 2131 section 4.1 for messages that came without a relay.
INSTANTIATE_TEST_SUITE_P(
    Direct, ReplyRouteTest,
    testing::Values(
        RouteCase{"Offer", {}, "frame 192.0.2.10:68"},
        RouteCase{"OfferBroadcastFlag", {.flags = 0x8000}, "broadcast 255.255.255.255:68"},
        RouteCase{"OnlyTheTopBitIsTheBroadcastFlag", {.flags = 0x7FFF}, "frame 192.0.2.10:68"},
        RouteCase{"Ack", {.request = kRequest, .reply = kAck}, "frame 192.0.2.10:68"},
        RouteCase{"AckBroadcastFlag",
                  {.request = kRequest, .reply = kAck, .flags = 0x8000},
                  "broadcast 255.255.255.255:68"},
        RouteCase{"Nak",
                  {.request = kRequest, .reply = kNak, .yiaddr = "0.0.0.0"},
                  "broadcast 255.255.255.255:68"},
        RouteCase{"NakOfARenewal",
                  {.request = kRequest,
                   .reply = kNak,
                   .ciaddr = "192.0.2.10",
                   .source = "192.0.2.10",
                   .yiaddr = "0.0.0.0"},
                  "broadcast 255.255.255.255:68"},
        RouteCase{
            "Renewal",
            {.request = kRequest, .reply = kAck, .ciaddr = "192.0.2.10", .source = "192.0.2.10"},
            "unicast 192.0.2.10:68"},
        RouteCase{"RenewalBroadcastFlag",
                  {.request = kRequest, .reply = kAck, .ciaddr = "192.0.2.10", .flags = 0x8000},
                  "unicast 192.0.2.10:68"},
        RouteCase{"RenewalFromMulticast",
                  {.request = kRequest, .reply = kAck, .ciaddr = "224.0.0.1"},
                  "none"},
        RouteCase{"RenewalFromBroadcast",
                  {.request = kRequest, .reply = kAck, .ciaddr = "255.255.255.255"},
                  "none"},
        RouteCase{"RenewalFromLoopback",
                  {.request = kRequest, .reply = kAck, .ciaddr = "127.0.0.1"},
                  "none"}),
    kName);

// What RFC 2131 section 4.1 unicasts to an address on the server's own link needs no ARP: the
// station is chaddr.
constexpr Given kRenewalOnLink{.request = kRequest,
                               .reply = kAck,
                               .ciaddr = "192.0.2.10",
                               .source = "192.0.2.10",
                               .on_link = true};

Given OnLink(void (*change)(Given& given)) {
  Given given = kRenewalOnLink;
  change(given);
  return given;
}

INSTANTIATE_TEST_SUITE_P(
    OnLink, ReplyRouteTest,
    testing::Values(
        RouteCase{"Renewal", kRenewalOnLink, "frame 192.0.2.10:68"},
        RouteCase{"Inform", OnLink([](Given& given) {
                    given.request = kInform;
                    given.yiaddr = "0.0.0.0";
                  }),
                  "frame 192.0.2.10:68"},
        RouteCase{"InformWithoutCiaddr", OnLink([](Given& given) {
                    given.request = kInform;
                    given.ciaddr = given.yiaddr = "0.0.0.0";
                  }),
                  "frame 192.0.2.10:68"},
        RouteCase{"Nak", OnLink([](Given& given) { given.reply = kNak; }),
                  "broadcast 255.255.255.255:68"},
        RouteCase{"BroadcastFlag", OnLink([](Given& given) { given.flags = 0x8000; }),
                  "unicast 192.0.2.10:68"},
        RouteCase{"SourceIsAnother", OnLink([](Given& given) { given.source = "192.0.2.11"; }),
                  "unicast 192.0.2.10:68"},
        RouteCase{"NoPacketSocket", OnLink([](Given& given) { given.can_link_layer = false; }),
                  "unicast 192.0.2.10:68"},
        RouteCase{"OtherHardwareType", OnLink([](Given& given) { given.htype = 6; }),
                  "unicast 192.0.2.10:68"},
        RouteCase{"GroupAddress", OnLink([](Given& given) { given.chaddr = "ff010203ff04"; }),
                  "unicast 192.0.2.10:68"}),
    kName);

// RFC 2131 section 4.4.1 has ciaddr zero in a DISCOVER; stale values must not attract the OFFER.
INSTANTIATE_TEST_SUITE_P(
    DiscoverWithCiaddr, ReplyRouteTest,
    testing::Values(RouteCase{"Stale", {.ciaddr = "192.0.2.14"}, "frame 192.0.2.10:68"},
                    RouteCase{"StaleBroadcastFlag",
                              {.ciaddr = "192.0.2.14", .flags = 0x8000},
                              "broadcast 255.255.255.255:68"},
                    RouteCase{"Broadcast", {.ciaddr = "255.255.255.255"}, "frame 192.0.2.10:68"},
                    RouteCase{"RapidCommitAck",
                              {.reply = kAck, .ciaddr = "192.0.2.14"},
                              "frame 192.0.2.10:68"}),
    kName);

// RFC 2131 section 4.3.5, and clients that leave ciaddr empty.
INSTANTIATE_TEST_SUITE_P(
    Inform, ReplyRouteTest,
    testing::Values(
        RouteCase{"Ciaddr",
                  {.request = kInform,
                   .reply = kAck,
                   .ciaddr = "192.0.2.30",
                   .source = "192.0.2.31",
                   .yiaddr = "0.0.0.0"},
                  "unicast 192.0.2.30:68"},
        RouteCase{"CiaddrBroadcastFlag",
                  {.request = kInform,
                   .reply = kAck,
                   .ciaddr = "192.0.2.30",
                   .flags = 0x8000,
                   .yiaddr = "0.0.0.0"},
                  "unicast 192.0.2.30:68"},
        RouteCase{"SourceStandsInForCiaddr",
                  {.request = kInform, .reply = kAck, .source = "192.0.2.31", .yiaddr = "0.0.0.0"},
                  "unicast 192.0.2.31:68"},
        RouteCase{"NoAddressAtAll",
                  {.request = kInform, .reply = kAck, .yiaddr = "0.0.0.0"},
                  "broadcast 255.255.255.255:68"},
        RouteCase{"CiaddrMulticast",
                  {.request = kInform,
                   .reply = kAck,
                   .ciaddr = "239.1.1.1",
                   .source = "192.0.2.31",
                   .yiaddr = "0.0.0.0"},
                  "none"},
        RouteCase{
            "TheSourceOfOthersDoesNotCount", {.source = "192.0.2.31"}, "frame 192.0.2.10:68"}),
    kName);

// A frame needs a packet socket, an Ethernet station address and an address for the IP header.
INSTANTIATE_TEST_SUITE_P(
    NoFramePossible, ReplyRouteTest,
    testing::Values(
        RouteCase{"NoPacketSocket", {.can_link_layer = false}, "broadcast 255.255.255.255:68"},
        RouteCase{"Rfc4390Infiniband", {.htype = 32, .chaddr = ""}, "broadcast 255.255.255.255:68"},
        RouteCase{"OtherHardwareType", {.htype = 6}, "broadcast 255.255.255.255:68"},
        RouteCase{"LongAddress", {.chaddr = "0200000000010000"}, "broadcast 255.255.255.255:68"},
        RouteCase{"ShortAddress", {.chaddr = "0200000001"}, "broadcast 255.255.255.255:68"},
        RouteCase{"ZeroAddress", {.chaddr = "000000000000"}, "broadcast 255.255.255.255:68"},
        RouteCase{"GroupAddress", {.chaddr = "ff010203ff04"}, "broadcast 255.255.255.255:68"},
        RouteCase{
            "Rfc8925OfferWithoutAddress", {.yiaddr = "0.0.0.0"}, "broadcast 255.255.255.255:68"}),
    kName);

}  // namespace
}  // namespace ringdhcp
