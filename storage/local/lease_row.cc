#include "storage/local/lease_row.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <span>

namespace ringdhcp {

namespace {

std::string_view AsText(std::span<const std::uint8_t> octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

/// False when `text` is longer than `octets`.
template <std::size_t kSize>
bool CopyOctets(const std::string& text, std::array<std::uint8_t, kSize>& octets,
                std::uint8_t& length) {
  static_assert(kSize <= std::numeric_limits<std::uint8_t>::max());
  if (text.size() > kSize) return false;
  length = static_cast<std::uint8_t>(text.size());
  std::transform(text.begin(), text.end(), octets.begin(),
                 [](char c) { return static_cast<std::uint8_t>(c); });
  return true;
}

class LargerVersionWins final : public rocksdb::MergeOperator {
 public:
  // Stored with the database; a database opens only with an operator of this name.
  const char* Name() const override { return "ringdhcp.LargerVersionWins"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    Choice choice;
    if (in.existing_value != nullptr) choice.Offer(*in.existing_value);
    for (const rocksdb::Slice& operand : in.operand_list) choice.Offer(operand);
    out->existing_operand = choice.best;
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice& /*key*/, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger* /*logger*/) const override {
    Choice choice;
    for (const rocksdb::Slice& operand : operands) choice.Offer(operand);
    new_value->assign(choice.best.data(), choice.best.size());
    return true;
  }

 private:
  struct Choice {
    storage::LeaseRow row;
    rocksdb::Slice best;
    std::uint64_t best_version = 0;

    void Offer(const rocksdb::Slice& value) {
      // A damaged row loses to any other; left alone it stays, for LoadAll to report.
      const bool intact =
          value.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
          row.ParseFromArray(value.data(), static_cast<int>(value.size()));
      const std::uint64_t version = intact ? row.version() : 0;
      if (version < best_version) return;
      best = value;
      best_version = version;
    }
  };
};

}  // namespace

std::string_view LeaseRowCodec::Encode(const LeaseRecord& record) {
  const auto assign = [](std::string* field, std::span<const std::uint8_t> octets) {
    field->assign(AsText(octets));
  };
  row_.set_version(record.version);
  row_.set_address(record.address.value);
  row_.set_state(static_cast<storage::LeaseRowState>(record.state));
  row_.set_subnet(record.subnet.value);
  row_.set_starts(record.starts_wall_s);
  row_.set_expires(record.expires_wall_s);
  row_.set_hardware_type(record.htype);
  assign(row_.mutable_hardware_address(), record.HardwareAddress());
  assign(row_.mutable_client_id(), record.ClientId());
  assign(row_.mutable_host_name(), record.HostName());
  assign(row_.mutable_relay_information(), record.RelayInformation());
  row_.SerializeToString(&buffer_);
  return buffer_;
}

bool LeaseRowCodec::Parse(std::string_view value) {
  return value.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         row_.ParseFromArray(value.data(), static_cast<int>(value.size()));
}

std::optional<LeaseRecord> LeaseRowCodec::Decode(std::string_view key, std::string_view value) {
  if (!Parse(value) || ParseBigEndianKey<std::uint32_t>(key) != row_.address()) return std::nullopt;
  return ToRecord();
}

std::optional<LeaseRecord> LeaseRowCodec::DecodeOutbox(std::string_view value) {
  if (!Parse(value)) return std::nullopt;
  return ToRecord();
}

std::optional<LeaseRecord> LeaseRowCodec::ToRecord() const {
  if (!storage::LeaseRowState_IsValid(row_.state())) return std::nullopt;
  if (row_.hardware_type() > std::numeric_limits<std::uint8_t>::max()) return std::nullopt;

  LeaseRecord record;
  record.address = Ipv4Address(row_.address());
  record.subnet = SubnetId(row_.subnet());
  record.state = static_cast<LeaseState>(row_.state());
  record.version = row_.version();
  record.starts_wall_s = row_.starts();
  record.expires_wall_s = row_.expires();
  record.htype = static_cast<std::uint8_t>(row_.hardware_type());
  if (!CopyOctets(row_.hardware_address(), record.chaddr, record.hlen) ||
      !CopyOctets(row_.client_id(), record.client_id, record.client_id_length) ||
      !CopyOctets(row_.host_name(), record.host_name, record.host_name_length) ||
      !CopyOctets(row_.relay_information(), record.relay_information,
                  record.relay_information_length)) {
    return std::nullopt;
  }
  return record;
}

std::shared_ptr<rocksdb::MergeOperator> MakeLargerVersionWins() {
  return std::make_shared<LargerVersionWins>();
}

}  // namespace ringdhcp
