#ifndef RINGDHCP_SERVER_CONFIG_SCALAR_H_
#define RINGDHCP_SERVER_CONFIG_SCALAR_H_

#include <cstdint>
#include <optional>

#include "server/config/report.h"
#include "server/config/yaml_document.h"

namespace ringdhcp {

/// What a number counts, so that "2s" can be suggested as the right number.
enum class NumberUnit : std::uint8_t { kSeconds, kMilliseconds, kNone };

/// Reads a plain decimal number, 0-4294967295, without sign, unit or leading zero.
std::optional<ValueError> ReadUint32(const YamlNode& scalar, NumberUnit unit, std::uint32_t* value);
/// Reads a finite, not negative decimal number.
std::optional<ValueError> ReadDouble(const YamlNode& scalar, double* value);
/// Reads true or false.
std::optional<ValueError> ReadBool(const YamlNode& scalar, bool* value);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_SCALAR_H_
