// A stream of commands to the lease engine: messages, time, answers of the store, crashes. The
// first octet chooses the configuration, then each command is an octet, a client, and arguments.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "server/base/byte_reader.h"
#include "test/fuzz/engine_model.h"
#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

constexpr int kCommandsMax = 150;
constexpr std::size_t kRowsMax[] = {1, 3, 16, 64};

class Script {
 public:
  explicit Script(std::span<const std::uint8_t> input)
      : reader_(input), flags_(reader_.ReadU8()), model_(Options(flags_)) {}

  void Run() {
    for (int command = 0; command < kCommandsMax && !reader_.AtEnd(); ++command) Step();
    model_.HealAndCheck();
  }

 private:
  static EngineModel::Options Options(std::uint8_t flags) {
    return {.cache = (flags & 1) != 0,
            .infinite = (flags & 2) != 0,
            .authoritative = (flags & 4) != 0,
            .commit_rows_max = kRowsMax[(flags >> 3) % 4]};
  }

  // An address in or next to one of the pools.
  Ipv4Address ReadAddress() {
    const std::uint8_t octet = reader_.ReadU8();
    return Ipv4Address(((octet & 0x20) != 0 ? 0xC6336400 : 0xC0000200) + (octet & 0x1F));
  }

  static void Set(Octets& payload, std::size_t at, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      payload[at++] = static_cast<std::uint8_t>(number >> shift);
    }
  }
  static void Add(Octets& payload, int code, const Octets& value) {
    payload.push_back(static_cast<std::uint8_t>(code));
    payload.push_back(static_cast<std::uint8_t>(value.size()));
    payload.insert(payload.end(), value.begin(), value.end());
  }
  static void Add(Octets& payload, int code, std::uint32_t number) {
    Octets value(4);
    Set(value, 0, number);
    Add(payload, code, value);
  }

  struct Part {
    std::optional<Ipv4Address> requested = {};
    std::optional<Ipv4Address> server = {};
    Ipv4Address ciaddr = {};
    Octets options = {};  // more of them, well formed or not
  };

  // Bits of `who`: 0-2 client, 3 through a relay, 4 a lease time, 5 a host name, 6 option 82, 7 a
  // long client identifier.
  void Send(MessageType type, std::uint8_t who, const Part& part) {
    const std::uint32_t client = who & 7;
    static const Octets header = ClientMessage().WithoutEnd().WithoutPadding().Build();
    Octets payload = header;
    Add(payload, 53, Octets{static_cast<std::uint8_t>(type)});
    if (part.requested) Add(payload, 50, part.requested->value);
    if (part.server) Add(payload, 54, part.server->value);
    if ((who & 0x10) != 0) Add(payload, 51, std::uint32_t{reader_.ReadU8()} << (who & 0xF));
    if ((who & 0x20) != 0) Add(payload, 12, Octets(1 + client, 'n'));
    if (client % 3 == 0) {
      const Octets id((who & 0x80) != 0 ? 200 : 5, static_cast<std::uint8_t>(client));
      Add(payload, 61, id);
      if ((who & 0x80) != 0) Add(payload, 61, id);
    }
    if ((who & 0x40) != 0) Add(payload, 82, Octets{1, 2, 'p', static_cast<std::uint8_t>(client)});
    payload.insert(payload.end(), part.options.begin(), part.options.end());
    payload.push_back(255);
    if ((who & 8) != 0) Set(payload, kGiaddrAt, EngineModel::kRelay.value);
    Set(payload, kCiaddrAt, part.ciaddr.value);
    Set(payload, kChaddrAt + 2, client);
    model_.Deliver(payload);
  }

  Octets ReadSome(std::size_t size) {
    return ToOctets(reader_.ReadOctets(std::min(size, reader_.remaining())));
  }

  void Step();
  void Message(std::uint8_t command, std::uint8_t who);

  ByteReader reader_;
  std::uint8_t flags_;
  EngineModel model_;
};

void Script::Message(std::uint8_t command, std::uint8_t who) {
  constexpr Ipv4Address kServer = EngineModel::kServer;
  switch (command) {
    case 0:
      return Send(MessageType::kDiscover, who, {});
    case 1:
      return Send(MessageType::kDiscover, who, {.requested = ReadAddress()});
    case 2:
    case 3:  // what it was offered last; 02:00 and the client's number is its address
      return Send(MessageType::kRequest, who,
                  {.requested = model_.LastOffer(who & 7), .server = kServer});
    case 4:
      return Send(MessageType::kRequest, who, {.requested = ReadAddress(), .server = kServer});
    case 5:
      return Send(MessageType::kRequest, who, {.requested = ReadAddress()});
    case 6:
      return Send(MessageType::kRequest, who, {.ciaddr = ReadAddress()});
    case 7:
      return Send(MessageType::kRequest, who,
                  {.requested = ReadAddress(), .server = Ipv4Address(0xC00002C8)});
    case 8:
      return Send(MessageType::kRelease, who, {.server = kServer, .ciaddr = ReadAddress()});
    case 9:
      return Send(MessageType::kDecline, who, {.requested = ReadAddress(), .server = kServer});
    case 10:
      return Send(MessageType::kInform, who, {.ciaddr = ReadAddress()});
    default:
      break;
  }
  const std::uint8_t size = reader_.ReadU8();
  const MessageType type = (size & 1) != 0 ? MessageType::kRequest : MessageType::kDiscover;
  Part part{.ciaddr = (size & 2) != 0 ? ReadAddress() : Ipv4Address()};
  part.options = ReadSome(size >> 2);
  Send(type, who, part);
}

void Script::Step() {
  const std::uint8_t command = reader_.ReadU8() % 20;
  const std::uint8_t argument = reader_.ReadU8();
  switch (command) {
    case 12: {  // any payload
      const Octets payload = ReadSome(std::size_t{argument} * 2);
      return model_.Deliver(payload);
    }
    case 13:
    case 14:
      model_.Submit();
      return model_.Finish(EngineModel::Outcome::kDurable);
    case 15:
      model_.Submit();
      if ((argument & 4) == 0) model_.Finish(EngineModel::Outcome{std::uint8_t(argument % 4)});
      return;
    case 16:
      return model_.Advance(argument * 250, (argument & 1) == 0);
    case 17:
      return model_.Advance(argument * std::int64_t{20'000}, (argument & 1) == 0);
    case 18:
      return model_.Stall((argument & 1) != 0);
    case 19:
      return model_.Crash((argument & 1) != 0);
    default:
      return Message(command, argument);
  }
}

}  // namespace
}  // namespace ringdhcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size != 0) ringdhcp::Script({data, size}).Run();
  return 0;
}
