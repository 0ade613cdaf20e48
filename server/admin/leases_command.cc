#include <iostream>
#include <span>
#include <string>

#include "absl/strings/escaping.h"
#include "server/admin/commands.h"
#include "server/admin/json_text.h"
#include "storage/local/local_lease_store.h"

namespace ringdhcp {
namespace {

std::string_view AsText(std::span<const std::uint8_t> octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

std::string Hex(std::span<const std::uint8_t> octets) {
  const std::string_view text = AsText(octets);
  return absl::BytesToHexString({text.data(), text.size()});
}

std::string ColonHex(std::span<const std::uint8_t> octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    if (!text.empty()) text += ':';
    text += Hex({&octet, 1});
  }
  return text;
}

std::string_view StateName(LeaseState state) {
  switch (state) {
    case LeaseState::kFree:
      return "free";
    case LeaseState::kOffered:
      return "offered";
    case LeaseState::kBound:
      return "bound";
    case LeaseState::kReleased:
      return "released";
    case LeaseState::kExpired:
      return "expired";
    case LeaseState::kDeclined:
      return "declined";
  }
  return "unknown";
}

void PrintRow(const LeaseRecord& row) {
  std::cout << "{\"address\":\"" << row.address.ToString() << "\",\"subnet\":" << row.subnet.value
            << ",\"state\":\"" << StateName(row.state) << "\",\"version\":" << row.version
            << ",\"starts\":" << row.starts_wall_s << ",\"expires\":";
  if (row.expires_wall_s == kNeverExpires) {
    std::cout << "null";
  } else {
    std::cout << row.expires_wall_s;
  }
  std::cout << ",\"hardware_type\":" << unsigned{row.htype} << ",\"hardware_address\":\""
            << ColonHex(row.HardwareAddress()) << "\",\"client_id\":\"" << Hex(row.ClientId())
            << "\",\"host_name\":" << JsonQuote(AsText(row.HostName()))
            << ",\"relay_information\":\"" << Hex(row.RelayInformation()) << "\"}\n";
}

}  // namespace

int PrintLeases(const std::string& data_directory) {
  // Else a typing error would make a directory, and look like "no leases".
  auto store = OpenLocalLeaseStore({.directory = data_directory, .create_if_missing = false});
  if (!store.ok()) {
    std::cerr << "ringdhcp: " << store.status().message() << "\n";
    return 1;
  }
  const absl::Status status = (*store)->LoadAll(PrintRow);
  if (!status.ok()) {
    std::cerr << "ringdhcp: " << status.message() << "\n";
    return 1;
  }
  std::cout.flush();
  return std::cout.good() ? 0 : 1;
}

}  // namespace ringdhcp
