#include "server/lease/reply_builder.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <span>

#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/lease/subnet_selector.h"

namespace ringdhcp {

namespace {

// Codes that the protocol itself fills in or forbids in replies (RFC 2131 table 3): never taken
// from the configuration. 61 and 82 are echoed, and 118 where it was used.
constexpr bool IsProtocolOption(std::uint8_t code) {
  switch (static_cast<OptionCode>(code)) {
    case OptionCode::kPad:
    case OptionCode::kRequestedAddress:
    case OptionCode::kLeaseTime:
    case OptionCode::kOverload:
    case OptionCode::kMessageType:
    case OptionCode::kServerIdentifier:
    case OptionCode::kParameterRequestList:
    case OptionCode::kMessage:
    case OptionCode::kMaximumMessageSize:
    case OptionCode::kRenewalTime:
    case OptionCode::kRebindingTime:
    case OptionCode::kClientIdentifier:
    case OptionCode::kRelayAgentInformation:
    case OptionCode::kSubnetSelection:
    case OptionCode::kEnd:
      return true;
    default:
      return false;
  }
}

// Writes numbers into the builder's scratch space and keeps what was handed out valid.
class Numbers {
 public:
  explicit Numbers(std::span<std::uint8_t> space) : space_(space) {}
  std::span<const std::uint8_t> Put8(std::uint8_t value) { return Put(value, 1); }
  std::span<const std::uint8_t> Put32(std::uint32_t value) { return Put(value, 4); }

 private:
  std::span<const std::uint8_t> Put(std::uint32_t value, std::size_t size) {
    RINGDHCP_CHECK(used_ + size <= space_.size());
    const std::span<std::uint8_t> octets = space_.subspan(used_, size);
    used_ += size;
    for (std::size_t i = size; i-- > 0; value >>= 8) octets[i] = static_cast<std::uint8_t>(value);
    return octets;
  }
  std::span<std::uint8_t> space_;
  std::size_t used_ = 0;
};

// Adds the options of a lease and its subnet to a reply, each code once.
class LeaseOptions {
 public:
  LeaseOptions(Reply& reply, const Decision& decision, Numbers& numbers)
      : reply_(reply), decision_(decision), subnet_(*decision.subnet), numbers_(numbers) {}

  void Add(OptionCode code) { Add(static_cast<std::uint8_t>(code)); }
  void Add(std::uint8_t code) {
    if (code == kRenewalTime) return AddTime(code, decision_.t1_s);
    if (code == kRebindingTime) return AddTime(code, decision_.t2_s);
    // RFC 2132 section 3.3: the mask must come before the routers, in whatever order they are
    // asked for.
    if (code == kRouters && Find(kRouters) != nullptr) AddOne(kMask);
    AddOne(code);
  }

 private:
  static constexpr auto kMask = static_cast<std::uint8_t>(OptionCode::kSubnetMask);
  static constexpr auto kRouters = static_cast<std::uint8_t>(OptionCode::kRouters);
  static constexpr auto kRenewalTime = static_cast<std::uint8_t>(OptionCode::kRenewalTime);
  static constexpr auto kRebindingTime = static_cast<std::uint8_t>(OptionCode::kRebindingTime);
  // Room for what is sent even if not asked for: 58, 59, 61, mask, routers, and option 118.
  static constexpr std::size_t kRequestedMax = Reply::kOptionsMax - 6;

  const ConfiguredOption* Find(std::uint8_t code) const {
    const auto found = std::find_if(subnet_.options.begin(), subnet_.options.end(),
                                    [code](const ConfiguredOption& o) { return o.code == code; });
    return found == subnet_.options.end() ? nullptr : &*found;
  }
  void AddTime(std::uint8_t code, std::uint32_t seconds) {
    if (seconds == 0 || added_[code]) return;
    reply_.Add(static_cast<OptionCode>(code), numbers_.Put32(seconds));
    added_[code] = true;
  }
  void AddOne(std::uint8_t code) {
    if (added_[code] || IsProtocolOption(code)) return;
    const bool basic = code == kMask || code == kRouters;
    if (!basic && reply_.options().size() >= kRequestedMax) return;
    const ConfiguredOption* option = Find(code);
    if (option != nullptr) {
      reply_.Add(static_cast<OptionCode>(code), option->value);
    } else if (code == kMask) {
      reply_.Add(OptionCode::kSubnetMask, numbers_.Put32(subnet_.prefix.Mask()));
    } else {
      return;
    }
    added_[code] = true;
  }

  Reply& reply_;
  const Decision& decision_;
  const Subnet& subnet_;
  Numbers& numbers_;
  std::bitset<256> added_;
};

// RFC 2131 table 3.
Header ReplyHeader(const Message& request, const Decision& decision) {
  const Header& from = request.header;
  Header header;
  header.op = kBootReply;
  header.htype = from.htype;
  header.hlen = from.hlen;
  header.xid = from.xid;
  header.flags = from.flags;
  header.giaddr = from.giaddr;
  header.chaddr = from.chaddr;
  header.yiaddr = decision.yiaddr;
  // Only an address that is the client's is repeated: garbage in ciaddr is not.
  const bool inform = request.type == MessageType::kInform;
  if (decision.reply_type == MessageType::kAck &&
      ((inform && from.ciaddr.IsUnicastHost()) || from.ciaddr == decision.yiaddr)) {
    header.ciaddr = from.ciaddr;
  }
  // RFC 2131 section 4.3.2: the relay must not unicast a NAK to an address that is wrong.
  if (decision.reply_type == MessageType::kNak && !from.giaddr.IsZero()) {
    header.flags |= kBroadcastFlag;
  }
  return header;
}

void AddClientIdentifier(const Message& request, Reply& reply) {
  const auto id = request.options.Find(OptionCode::kClientIdentifier);
  if (id) reply.Add(OptionCode::kClientIdentifier, *id, true);  // RFC 6842
}

}  // namespace

const Reply& ReplyBuilder::Build(const Message& request, const Decision& decision) {
  Numbers numbers(scratch_);
  reply_.Clear();
  reply_.header = ReplyHeader(request, decision);
  reply_.Add(OptionCode::kMessageType, numbers.Put8(static_cast<std::uint8_t>(decision.reply_type)),
             true);
  reply_.Add(OptionCode::kServerIdentifier, numbers.Put32(decision.server_identifier.value), true);
  if (decision.lease_time_s != 0) {
    reply_.Add(OptionCode::kLeaseTime, numbers.Put32(decision.lease_time_s), true);
  }
  if (!decision.text.empty()) {
    reply_.Add(OptionCode::kMessage,
               {reinterpret_cast<const std::uint8_t*>(decision.text.data()), decision.text.size()});
  }
  reply_.relay_agent_information = request.options.Find(OptionCode::kRelayAgentInformation);
  if (RINGDHCP_CANARY(relay_information_dropped)) reply_.relay_agent_information.reset();
  if (RINGDHCP_CANARY(wrong_xid)) ++reply_.header.xid;
  if (decision.reply_type == MessageType::kNak || decision.subnet == nullptr) {
    AddClientIdentifier(request, reply_);
    return reply_;
  }

  LeaseOptions options(reply_, decision, numbers);
  const auto requested = request.options.Find(OptionCode::kParameterRequestList);
  const bool has_list = requested && !requested->empty();
  if (has_list) {
    for (const std::uint8_t code : *requested) options.Add(code);
  }
  options.Add(OptionCode::kRenewalTime);
  options.Add(OptionCode::kRebindingTime);
  AddClientIdentifier(request, reply_);
  options.Add(OptionCode::kSubnetMask);
  options.Add(OptionCode::kRouters);
  // RFC 2131 section 4.3.1: the list narrows down what is configured for the client. Without one it
  // gets all of it.
  if (!has_list) {
    for (const ConfiguredOption& option : decision.subnet->options) options.Add(option.code);
  }
  // RFC 3011 section 3: a server that chose the subnet by this option says so.
  const auto selection = request.options.FindAddress(OptionCode::kSubnetSelection);
  if (selection && !request.header.giaddr.IsZero() && !FindRelayAddress(request, kLinkSelection)) {
    reply_.Add(OptionCode::kSubnetSelection, *request.options.Find(OptionCode::kSubnetSelection));
  }
  return reply_;
}

}  // namespace ringdhcp
