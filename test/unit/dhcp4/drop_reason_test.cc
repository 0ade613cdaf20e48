#include "server/dhcp4/drop_reason.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace ringdhcp {
namespace {

// Two reasons with one label would be added up in one metric.
TEST(DropReasonTest, EveryReasonHasItsOwnLabelOfMetricCharacters) {
  std::set<std::string_view> labels;
  for (std::size_t i = 0; i < kDropReasonCount; ++i) {
    const std::string_view label = DropReasonLabel(static_cast<DropReason>(i));
    EXPECT_TRUE(labels.insert(label).second) << label;
    EXPECT_FALSE(label.empty());
    EXPECT_TRUE(std::all_of(label.begin(), label.end(), [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z');
    })) << label;
  }
  EXPECT_EQ(DropReasonLabel(DropReason::kTruncated), "truncated");
  EXPECT_EQ(DropReasonLabel(DropReason::kInterfaceGone), "interface_gone");
}

}  // namespace
}  // namespace ringdhcp
