#ifndef RINGDHCP_SERVER_CONFIG_SUGGEST_H_
#define RINGDHCP_SERVER_CONFIG_SUGGEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ringdhcp {

/// Edits between two words: insert, delete or replace a character, or swap two neighbours (the
/// "optimal string alignment" distance). Case doesn't count, and '-' equals '_'.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// The candidate that `word` is most likely a misspelling of; empty if none is near.
std::string_view Closest(std::string_view word, std::span<const std::string_view> candidates);

/// "did you mean 'X'?" for the closest candidate, else "one of: A, B, C".
std::string SuggestOneOf(std::string_view word, std::span<const std::string_view> candidates);

/// `text` for a message: cut after `octets_max`, control characters replaced by '?'.
std::string Printable(std::string_view text, std::size_t octets_max = 60);
/// The same in quotes.
std::string Quote(std::string_view text);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_SUGGEST_H_
