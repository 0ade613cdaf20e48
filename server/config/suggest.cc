#include "server/config/suggest.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ringdhcp {

namespace {

// A longer word is no misspelling of any field of ours; this bounds the work per unknown key.
constexpr std::size_t kWordMax = 64;

char Fold(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = Fold(a[i - 1]), y = Fold(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0U : 1U)});
      if (i > 1 && j > 1 && x == Fold(b[j - 2]) && Fold(a[i - 2]) == y) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string_view Closest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kWordMax) return {};
  std::string_view best;
  std::size_t best_distance = word.size();  // as many edits as characters: nothing in common
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    const std::size_t near = std::max<std::size_t>(1, std::min(word.size(), candidate.size()) / 3);
    if (distance <= near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string SuggestOneOf(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view closest = Closest(word, candidates);
  if (!closest.empty()) return "did you mean '" + std::string(closest) + "'?";
  std::string list;
  for (const std::string_view candidate : candidates) {
    list += (list.empty() ? "one of: " : ", ") + std::string(candidate);
  }
  return list;
}

std::string Printable(std::string_view text, std::size_t octets_max) {
  std::string shown(text.substr(0, octets_max));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (text.size() > octets_max) {
    // Don't leave half a UTF-8 character behind.
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80) {
      shown.pop_back();
    }
    if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0) shown.pop_back();
    shown += "...";
  }
  return shown;
}

std::string Quote(std::string_view text) { return '\'' + Printable(text) + '\''; }

}  // namespace ringdhcp
