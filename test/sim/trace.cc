#include "test/sim/trace.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "absl/strings/str_format.h"
#include "server/dhcp4/message.h"
#include "test/sim/wire.h"

namespace ringdhcp::sim {
namespace {

const char* KindName(TraceKind kind) {
  switch (kind) {
    case TraceKind::kArrived:
      return "arrived";
    case TraceKind::kNotArrived:
      return "not arrived";
    case TraceKind::kReply:
      return "reply";
    case TraceKind::kSubmitted:
      return "batch submitted";
    case TraceKind::kStored:
      return "rows durable";
    case TraceKind::kStoreResult:
      return "store result";
    case TraceKind::kCrashed:
      return "SERVER CRASHED";
    case TraceKind::kStarted:
      return "SERVER STARTED";
    case TraceKind::kDrained:
      return "SERVER DRAINED";
    case TraceKind::kLink:
      return "link";
    case TraceKind::kWallStep:
      return "wall clock steps";
    case TraceKind::kHealed:
      return "FAULTS END";
    case TraceKind::kClientState:
      return "client";
  }
  return "?";
}

}  // namespace

std::string Describe(const TraceEvent& event) {
  std::string line = absl::StrFormat("%12.6f  %-16s if%u", static_cast<double>(event.at_ns) * 1e-9,
                                     KindName(event.kind), event.interface);
  if (event.message_type != 0) absl::StrAppendFormat(&line, " %s", TypeName(event.message_type));
  if (event.station != 0) absl::StrAppendFormat(&line, " station %012x", event.station);
  if (event.xid != 0) absl::StrAppendFormat(&line, " xid %08x", event.xid);
  if (!event.address.IsZero()) absl::StrAppendFormat(&line, " %s", event.address.ToString());
  absl::StrAppendFormat(&line, " [%d]", event.number);
  return line;
}

void Trace::Add(const TraceEvent& event) {
  Mix(static_cast<std::uint64_t>(event.at_ns));
  Mix(std::uint64_t{static_cast<std::uint8_t>(event.kind)} << 48 |
      std::uint64_t{event.message_type} << 40 | event.interface);
  Mix(std::uint64_t{event.xid} << 32 | event.address.value);
  Mix(event.station);
  Mix(static_cast<std::uint64_t>(event.number));
  last_[count_++ % kKept] = event;
  if (print_) std::cout << Describe(event) << "\n";
}

void Trace::Add(std::span<const std::uint8_t> octets) {
  std::uint64_t word = octets.size();
  for (const std::uint8_t octet : octets) word = word * 0x100000001B3ULL ^ octet;
  Mix(word);
}

std::string Trace::Last() const {
  std::string text;
  const std::uint64_t first = count_ > kKept ? count_ - kKept : 0;
  for (std::uint64_t i = first; i < count_; ++i) text += Describe(last_[i % kKept]) + "\n";
  return text;
}

}  // namespace ringdhcp::sim
