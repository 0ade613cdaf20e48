#ifndef RINGDHCP_SERVER_ADMIN_JSON_TEXT_H_
#define RINGDHCP_SERVER_ADMIN_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace ringdhcp {

/// `octets` as a JSON string with its quotes (RFC 8259 section 7). Octets outside printable ASCII,
/// which clients may send in any encoding or none, stand as \u00NN, so the result is always valid
/// and the octets can be told from it.
std::string JsonQuote(std::string_view octets);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_JSON_TEXT_H_
