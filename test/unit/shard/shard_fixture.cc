#include "test/unit/shard/shard_fixture.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ringdhcp::test {
namespace {

constexpr const char* kNames[] = {"lan0", "lan1"};

Subnet MakeSubnet(std::uint32_t id, std::string_view prefix, std::string_view first,
                  std::string_view last) {
  Subnet subnet;
  subnet.id = SubnetId(id);
  subnet.prefix = Prefix(prefix);
  subnet.pools = {{Address(first), Address(last)}};
  subnet.authoritative = true;
  return subnet;
}

std::uint64_t Sum(const auto& counters) {
  std::uint64_t sum = 0;
  for (const Counter& counter : counters) sum += counter.Get();
  return sum;
}

}  // namespace

void ManualStore::Submit(const LeaseBatch* submitted) {
  ASSERT_EQ(batch, nullptr) << "one batch at a time";
  batch = submitted;
  ++submitted_count;
  if (automatic) outcome_ = BatchOutcome::kDurable;
}

std::optional<CommitPort::Result> ManualStore::TakeResult() {
  if (!outcome_) return std::nullopt;
  Result result;
  result.result.outcome = *outcome_;
  if (*outcome_ != BatchOutcome::kDurable) {
    result.result.status = absl::ResourceExhaustedError("No space left on device");
  }
  result.commit_ns = kNanosecondsPerMillisecond;
  batch = nullptr;
  outcome_.reset();
  return result;
}

bool ManualStore::Finish(BatchOutcome outcome) {
  if (batch == nullptr) return false;
  outcome_ = outcome;
  return true;
}

void RecordingLogger::Write(Level level, std::string_view message,
                            std::initializer_list<Field> fields) {
  std::string line(message);
  for (const auto& [key, value] : fields) absl::StrAppend(&line, " ", std::string(key), "=", value);
  lines_.emplace_back(level, line);
}

int RecordingLogger::Count(Level level, std::string_view text) const {
  return static_cast<int>(std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) {
    return line.first == level && line.second.find(text) != std::string::npos;
  }));
}

ShardFixture::ShardFixture() {
  limits.interfaces_max = 3;
  limits.receive_buffers = 16;
  ring_options.interfaces_max = limits.interfaces_max;
  ring_options.buffers_per_interface = limits.receive_buffers;
  config.subnets = {MakeSubnet(1, "192.0.2.0/24", "192.0.2.10", "192.0.2.209"),
                    MakeSubnet(2, "198.51.100.0/24", "198.51.100.10", "198.51.100.209")};
  links.links = {MakeLink(0), MakeLink(1)};
}

ShardFixture::~ShardFixture() = default;

void ShardFixture::Start() {
  ring_options.send_slots = limits.send_slots();
  ring_ = std::make_unique<FakeRing>(ring_options);
  EngineConfig engine_config;
  engine_config.subnets = config.subnets;
  engine_config.cache_threshold = config.cache_threshold;
  engine = std::make_unique<LeaseEngine>(std::move(engine_config), 1);
  const auto open = [this](const std::string&, int ifindex) -> absl::StatusOr<InterfaceSockets> {
    ++opens;
    if (!open_error.ok()) return open_error;
    InterfaceSockets sockets;
    sockets.udp_fd = 100 + ifindex;
    sockets.packet_fd = 200 + ifindex;
    sockets.ifindex = ifindex;
    sockets.hardware_address = opened_address;
    return sockets;
  };
  const auto drops = [](int) -> std::optional<std::uint64_t> { return 0; };
  shard = std::make_unique<Shard>(
      limits, config, ShardSeams{*ring_, clock, *engine, store, links, logger, open, drops});
  Turn();
}

void ShardFixture::Turn(int times) {
  for (int i = 0; i < times; ++i) shard->Turn();
}

void ShardFixture::Advance(std::int64_t milliseconds) {
  clock.now.monotonic_ns += milliseconds * kNanosecondsPerMillisecond;
}

void ShardFixture::Inject(int link, const ClientMessage& message) {
  FakeRing::Datagram datagram;
  datagram.payload = message.Payload();
  datagram.local = ServerOf(link);
  ASSERT_TRUE(ring_->Inject(InterfaceSlot(static_cast<std::uint16_t>(link)), datagram));
}

Ipv4Address ShardFixture::Request(int link, std::uint32_t client) {
  Inject(link, ClientMessage(MessageType::kDiscover, client));
  Turn(2);  // one makes the offer, the next one hands it to the kernel
  const auto sent = TakeSent();
  if (sent.size() != 1 || TypeOf(sent[0]) != MessageType::kOffer) {
    ADD_FAILURE() << "no OFFER for client " << client;
    return {};
  }
  const Ipv4Address address = YiaddrOf(sent[0]);
  Inject(link,
         ClientMessage(MessageType::kRequest, client).Requested(address).Server(ServerOf(link)));
  Turn();
  return address;
}

const InterfaceMetrics& ShardFixture::Metrics(int link) const {
  for (const InterfaceStatus& status : shard->Interfaces()) {
    if (status.name == kNames[link]) return *status.metrics;
  }
  throw std::logic_error("the link was never served");
}

std::uint64_t ShardFixture::Drops(int link, DropReason reason) const {
  return Metrics(link).drops[static_cast<std::size_t>(reason)].Get();
}
std::uint64_t ShardFixture::Received(int link) const { return Sum(Metrics(link).received); }
std::uint64_t ShardFixture::Replies(int link) const { return Sum(Metrics(link).replies); }
std::uint64_t ShardFixture::AllDrops(int link) const { return Sum(Metrics(link).drops); }

Ipv4Address ShardFixture::ServerOf(int link) {
  return Address(link == 0 ? "192.0.2.1" : "198.51.100.1");
}

LinkState ShardFixture::MakeLink(int link) const {
  LinkState state;
  state.ifindex = 7 + link;
  state.name = kNames[link];
  state.up = true;
  state.running = true;
  state.mtu = 1500;
  state.hardware_address = opened_address;
  state.addresses = {{ServerOf(link), Prefix(link == 0 ? "192.0.2.0/24" : "198.51.100.0/24")}};
  return state;
}

MessageType TypeOf(const FakeRing::Sent& sent) {
  // The encoder puts option 53 first (RFC 2132 section 9.6): cookie, code, length, value.
  EXPECT_GE(sent.payload.size(), kBootpHeaderSize + 7);
  EXPECT_EQ(sent.payload[kBootpHeaderSize + 4], 53);
  return static_cast<MessageType>(sent.payload[kBootpHeaderSize + 6]);
}

Ipv4Address YiaddrOf(const FakeRing::Sent& sent) {
  std::uint32_t value = 0;
  for (std::size_t i = 16; i < 20; ++i) value = value << 8 | sent.payload[i];
  return Ipv4Address(value);
}

}  // namespace ringdhcp::test
