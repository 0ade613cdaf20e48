// One mistake per row: where it is reported, of what field, and with what advice.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "server/config/loader.h"

namespace ringdhcp {
namespace {

struct Row {
  const char* name;
  const char* yaml;
  int line, column;
  const char* path;
  const char* message_part;
  const char* suggestion_part;  // "" means that there is no suggestion
};

// A subnet without mistakes, as its last line an open flow map.
#define SUBNET "subnets:\n- {id: 1, prefix: 192.0.2.0/24, pools: [192.0.2.9-192.0.2.20]"

const Row kErrors[] = {
    // YAML syntax, with the position of the mistake.
    {"EmptyText", "", 0, 0, "", "the configuration is empty", "subnets:"},
    {"OnlyComments", "# nothing\n\n", 0, 0, "", "the configuration is empty", "subnets:"},
    {"OnlyNull", "~\n", 0, 0, "", "the configuration is empty", "subnets:"},
    {"OpenSequence", "interfaces:\n  include: [eth0\n", 2, 12, "", "not valid YAML", "']'"},
    {"OpenMap", "log: {level: info\n", 1, 6, "", "not valid YAML", "'}'"},
    {"OpenQuote", "durability: \"local\n\n", 1, 1, "", "illegal EOF in scalar", "closing quote"},
    {"Tab", "log:\n\tlevel: info\n", 2, 7, "", "not valid YAML", "spaces"},
    {"ColonInValue", "durability: local: x\n", 1, 18, "", "illegal map value", "quotes"},
    {"Indentation", "log:\n  level: info\n format: text\n", 3, 2, "", "end of map not found",
     "indentation"},
    {"StarWithoutQuotes", "interfaces: {include: [*]}\n", 1, 25, "", "alias", "\"*\""},
    {"PatternWithoutQuotes", "interfaces:\n  include: *lan\n", 2, 12, "", "anchor", "quotes"},
    {"AtSign", "server_identifier: @lan\n", 1, 20, "", "unknown token", "quotes"},
    {"SecondDocument", "durability: local\n---\nlog: {}\n", 2, 1, "", "one YAML document", ""},
    {"ControlCharacter", "log:\n  level: \x04info\n", 2, 10, "", "control character 4", "UTF-8"},
    {"RootIsList", "- durability: local\n", 1, 1, "", "found a list", "interfaces, subnets"},
    {"RootIsText", "serve everything\n", 1, 1, "", "found a single value", "subnets"},
    // Keys.
    {"MisspelledKey", "interfaces:\n  inclde: [eth0]\n", 2, 3, "interfaces.inclde", "unknown field",
     "did you mean 'include'?"},
    {"MisspelledTopKey", "durabilty: local\n", 1, 1, "durabilty", "unknown field", "'durability'"},
    {"MisspelledRequiredKeyIsOneError",
     "subnets:\n- {idd: 1, prefix: 192.0.2.0/24, pools: 192.0.2.9}\n", 2, 4, "subnets[0].idd",
     "unknown field", "did you mean 'id'?"},
    {"DashesForUnderscores", "lease-times: {max: 7200}\n", 1, 1, "lease-times", "unknown field",
     "'lease_times'"},
    {"WordOfAnotherServer", "options:\n  gateway: 192.0.2.1\n", 2, 3, "options.gateway",
     "unknown field", "'routers'"},
    {"KeyOfALevelBelow", SUBNET ", routers: 192.0.2.1}\n", 2, 64, "subnets[0].routers",
     "unknown field", "'options.routers'"},
    {"JoinedKey", "log_level: debug\n", 1, 1, "log_level", "unknown field", "'log.level'"},
    {"KeyOfTheTopLevel", "storage:\n  durability: local\n", 2, 3, "storage.durability",
     "unknown field", "belongs to the top level"},
    {"NothingNear", "log:\n  xyzzy: 1\n", 2, 3, "log.xyzzy", "unknown field",
     "one of: level, format"},
    {"DuplicateKey", "durability: local\nlog: {}\ndurability: relaxed\n", 3, 1, "durability",
     "written twice; the first is in line 1", "delete"},
    {"DuplicateNestedKey", SUBNET ", id: 2}\n", 2, 64, "subnets[0].id", "written twice", "delete"},
    {"MergeKey", "log: &l {level: info}\nhttp: {<<: *l}\n", 2, 8, "http.<<", "merge keys",
     "write the fields out"},
    {"KeyIsAList", "log: {[a]: b}\n", 1, 7, "log", "found a list", ""},
    {"ControlCharacterInKey", "\"a\\nb\": 1\n", 1, 1, "a?b", "unknown field", "one of"},
    // Types.
    {"NoValue", "durability:\nlog: {}\n", 1, 1, "durability", "has no value", "delete the line"},
    {"TextForNumber", "offer_hold: soon\n", 1, 13, "offer_hold", "whole number, found 'soon'", ""},
    {"QuotedNumber", "offer_hold: \"30\"\n", 1, 13, "offer_hold", "the text '30'",
     "without quotes"},
    {"TimeWithUnit", "lease_times:\n  max: 2h\n", 2, 8, "lease_times.max", "found '2h'", "7200"},
    {"MillisecondsWithUnit", "stale_after_ms: 2s\n", 1, 17, "stale_after_ms", "found '2s'", "2000"},
    {"Infinite", "lease_times: {max: infinite}\n", 1, 20, "lease_times.max", "found 'infinite'",
     "4294967295"},
    {"FractionForWhole", "offer_hold: 30.0\n", 1, 13, "offer_hold", "found '30.0'", "mean 30?"},
    {"LeadingZero", "offer_hold: 0030\n", 1, 13, "offer_hold", "must not begin with 0", "30"},
    {"NegativeNumber", "offer_hold: -5\n", 1, 13, "offer_hold", "must not be negative", ""},
    {"NumberTooLarge", "lease_times: {max: 4294967296}\n", 1, 20, "lease_times.max", "too large",
     "4294967295"},
    {"YesForTrue", "authoritative: yes\n", 1, 16, "authoritative", "expected true or false",
     "did you mean true?"},
    {"QuotedBool", "authoritative: 'true'\n", 1, 16, "authoritative", "expected true or false",
     "without quotes"},
    {"PercentForFraction", "cache_threshold: 10%\n", 1, 18, "cache_threshold", "found '10%'",
     "fraction"},
    {"NotANumberAtAll", "cache_threshold: .nan\n", 1, 18, "cache_threshold", "found '.nan'", ""},
    {"ListForMap", "interfaces: [eth0]\n", 1, 13, "interfaces", "found a list", "include, exclude"},
    {"ListForText", "http: {listen: [127.0.0.1:80]}\n", 1, 16, "http.listen", "found a list",
     "'127.0.0.1:80'"},
    {"MapForList", "subnets:\n  id: 1\n", 2, 3, "subnets", "expected a list, found a map", "'- '"},
    {"MapForText", "options:\n  routers: [{}]\n", 2, 13, "options.routers[0]", "found a map", ""},
    {"TextForSubnet", "subnets: [192.0.2.0/24]\n", 1, 11, "subnets[0]", "found a single value",
     "id, prefix, pools"},
    {"EmptyItem", "subnets: [~]\n", 1, 10, "subnets[0]", "is empty", "delete its '-'"},
    // Ranges: the first value outside of each end.
    {"OfferHoldLow", "offer_hold: 0\n", 1, 13, "offer_hold", "1-3600 seconds, not 0", "mean 1?"},
    {"OfferHoldHigh", "offer_hold: 3601\n", 1, 13, "offer_hold", "1-3600", "mean 3600?"},
    {"ProbationLow", "decline_probation: 0\n", 1, 20, "decline_probation", "1-604800", "1"},
    {"ProbationHigh", "decline_probation: 604801\n", 1, 20, "decline_probation", "1-604800",
     "604800"},
    {"StaleLow", "stale_after_ms: 9\n", 1, 17, "stale_after_ms", "10-60000 milliseconds", "10"},
    {"StaleHigh", "stale_after_ms: 60001\n", 1, 17, "stale_after_ms", "10-60000", "60000"},
    {"CacheThreshold", "cache_threshold: 0.51\n", 1, 18, "cache_threshold", "0-0.5", "0.5"},
    {"LeaseTimeZero", "lease_times: {min: 0}\n", 1, 20, "lease_times.min", "1-4294967295", "1"},
    {"T1Percent", "lease_times: {t1: 50}\n", 1, 19, "lease_times.t1", "0-1, not 50", "0.5"},
    {"T2One", "lease_times: {t2: 1}\n", 1, 19, "lease_times.t2", "below 1", "0.875"},
    {"SubnetIdZero", "subnets:\n- {id: 0, prefix: 192.0.2.0/24}\n", 2, 8, "subnets[0].id",
     "1-4294967294, not 0", "1"},
    {"SubnetIdReserved", "subnets:\n- {id: 4294967295, prefix: 192.0.2.0/24}\n", 2, 8,
     "subnets[0].id", "1-4294967294", "4294967294"},
    // Lease times against each other (RFC 2131 section 4.4.5 for T1 and T2).
    {"MinAboveDefault", "lease_times: {min: 600, default: 300}\n", 1, 34, "lease_times.default",
     "300 is below 'min', which is 600", "at most"},
    {"MinAboveTheAbsentDefault", "lease_times: {min: 7200}\n", 1, 20, "lease_times.min",
     "above 'default', which is 3600 by default", "write default: 7200"},
    {"DefaultAboveMax", "lease_times: {default: 600, max: 300}\n", 1, 34, "lease_times.max",
     "300 is below 'default', which is 600", "at most"},
    {"DefaultAboveTheAbsentMax", "lease_times: {default: 100000}\n", 1, 24, "lease_times.default",
     "above 'max', which is 86400 by default", "write max: 100000"},
    {"SubnetMaxBelowServerWideDefault",
     "lease_times: {default: 600}\n" SUBNET ", lease_times: {max: 300}}\n", 3, 83,
     "subnets[0].lease_times.max", "which is 600 server-wide", "write default: 300"},
    {"T1EqualsT2", "lease_times: {t1: 0.6, t2: 0.6}\n", 1, 28, "lease_times.t2",
     "0.6 is not above 't1'", "t1 must be below t2"},
    {"T1AboveTheAbsentT2", "lease_times: {t1: 0.9}\n", 1, 19, "lease_times.t1",
     "not below 't2', which is 0.875 by default", "write t2"},
    // Subnets.
    {"IdMissing", "subnets:\n- prefix: 192.0.2.0/24\n", 2, 3, "subnets[0].id", "is missing",
     "id: 1"},
    {"PrefixMissing", "subnets:\n- id: 1\n", 2, 3, "subnets[0].prefix", "is missing",
     "prefix: 192.0.2.0/24"},
    {"IdTwice", SUBNET "}\n- {id: 1, prefix: 192.0.3.0/24}\n", 3, 8, "subnets[1].id",
     "1 is the id of subnets[0] (line 2)", "mean 2?"},
    {"PrefixTwice", SUBNET "}\n- {id: 2, prefix: 192.0.2.0/24}\n", 3, 19, "subnets[1].prefix",
     "is the prefix of subnets[0] (line 2) already", "one subnet"},
    {"PrefixInside", SUBNET "}\n- {id: 2, prefix: 192.0.2.128/25}\n", 3, 19, "subnets[1].prefix",
     "overlaps 192.0.2.0/24 of subnets[0]", ""},
    {"PrefixAround", SUBNET "}\n- {id: 2, prefix: 192.0.0.0/16}\n", 3, 19, "subnets[1].prefix",
     "overlaps 192.0.2.0/24 of subnets[0]", ""},
    {"HostBits", "subnets:\n- {id: 1, prefix: 192.0.2.1/24}\n", 2, 19, "subnets[0].prefix",
     "has host bits set", "192.0.2.0/24"},
    {"PrefixTooLong", "subnets:\n- {id: 1, prefix: 192.0.2.0/31}\n", 2, 19, "subnets[0].prefix",
     "8-30, not '31'", "192.0.2.0/30"},
    {"PrefixTooShort", "subnets:\n- {id: 1, prefix: 10.0.0.0/7}\n", 2, 19, "subnets[0].prefix",
     "8-30, not '7'", "10.0.0.0/8"},
    {"Netmask", "subnets:\n- {id: 1, prefix: 192.0.2.0/255.255.254.0}\n", 2, 19,
     "subnets[0].prefix", "no length after the '/'", "192.0.2.0/23"},
    {"NoLength", "subnets:\n- {id: 1, prefix: 192.0.2.0}\n", 2, 19, "subnets[0].prefix",
     "has no length", "192.0.2.0/24"},
    {"NotANetwork", "subnets:\n- {id: 1, prefix: 2001:db8::/64}\n", 2, 19, "subnets[0].prefix",
     "is not a network", "address/length"},
    {"Loopback", "subnets:\n- {id: 1, prefix: 127.0.0.0/8}\n", 2, 19, "subnets[0].prefix",
     "no addresses that hosts can have", ""},
    {"Multicast", "subnets:\n- {id: 1, prefix: 224.0.0.0/24}\n", 2, 19, "subnets[0].prefix",
     "no addresses that hosts can have", ""},
    {"InterfacePattern", SUBNET ", interface: eth*}\n", 2, 75, "subnets[0].interface",
     "not a pattern", ""},
    {"InterfaceNameLong", "interfaces: {include: [abcdefghijklmnop]}\n", 1, 24,
     "interfaces.include[0]", "15 characters", ""},
    {"InterfacesWithComma", "interfaces: {include: \"eth0,eth1\"}\n", 1, 23,
     "interfaces.include[0]", "can't be the name", "[first, second]"},
    // Pools.
    {"PoolOutside",
     "subnets:\n- id: 1\n  prefix: 192.0.2.0/25\n  pools:\n"
     "  - 192.0.2.10-192.0.2.200\n",
     5, 5, "subnets[0].pools[0]", "is not inside 192.0.2.0/25", "192.0.2.10-192.0.2.126"},
    {"PoolElsewhere", "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: 192.0.3.1}]\n", 1, 48,
     "subnets[0].pools[0]", "is not inside", "usable: 192.0.2.1-192.0.2.126"},
    {"PoolWithNetwork", "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: 192.0.2.0-192.0.2.9}]\n", 1,
     48, "subnets[0].pools[0]", "the network address 192.0.2.0", "192.0.2.1-192.0.2.9"},
    {"PoolWithBroadcast",
     "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: 192.0.2.99-192.0.2.127}]\n", 1, 48,
     "subnets[0].pools[0]", "the broadcast address 192.0.2.127", "192.0.2.99-192.0.2.126"},
    {"PoolBackwards", "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: 192.0.2.9-192.0.2.5}]\n", 1,
     48, "subnets[0].pools[0]", "above the last", "192.0.2.5-192.0.2.9"},
    {"PoolAsPrefix", "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: 192.0.2.0/28}]\n", 1, 48,
     "subnets[0].pools[0]", "is not an address range", "192.0.2.1-192.0.2.14"},
    {"PoolShortEnd", "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: 192.0.2.5-20}]\n", 1, 48,
     "subnets[0].pools[0]", "is not an address range", "192.0.2.5-192.0.2.20"},
    {"PoolsOverlap",
     "subnets: [{id: 1, prefix: 192.0.2.0/25,\n  pools: [192.0.2.5-192.0.2.9,\n"
     "    192.0.2.9-192.0.2.20]}]\n",
     3, 5, "subnets[0].pools[1]", "overlaps 192.0.2.5-192.0.2.9 (line 2)", "192.0.2.10-192.0.2.20"},
    {"PoolsOverlapBackwards",
     "subnets: [{id: 1, prefix: 192.0.2.0/25,\n  pools: [192.0.2.9-192.0.2.20,\n"
     "    192.0.2.5-192.0.2.9]}]\n",
     3, 5, "subnets[0].pools[1]", "overlaps 192.0.2.9-192.0.2.20 (line 2)", "192.0.2.5-192.0.2.8"},
    {"PoolTwice", "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: [192.0.2.5, 192.0.2.5]}]\n", 1,
     60, "subnets[0].pools[1]", "192.0.2.5 overlaps 192.0.2.5", "delete it"},
    {"PoolAroundAnother",
     "subnets: [{id: 1, prefix: 192.0.2.0/25, pools: [192.0.2.5, 192.0.2.1-192.0.2.9]}]\n", 1, 60,
     "subnets[0].pools[1]", "overlaps 192.0.2.5", "delete the other one"},
    // Options (RFC 2132).
    {"RouterIsNoAddress", "options:\n  routers: [192.0.2.300]\n", 2, 13, "options.routers[0]",
     "is not an IPv4 address", ""},
    {"RouterWithLength", "options: {routers: 192.0.2.1/24}\n", 1, 20, "options.routers[0]",
     "is not an IPv4 address", "192.0.2.1?"},
    {"RouterWithZeros", "options: {routers: 192.0.002.1}\n", 1, 20, "options.routers[0]",
     "is not an IPv4 address", "192.0.2.1?"},
    {"RouterIsMulticast", "options: {routers: 224.0.0.2}\n", 1, 20, "options.routers[0]",
     "can't be the address of a host", ""},
    {"ServersWithComma", "options: {domain_name_servers: \"192.0.2.1,192.0.2.2\"}\n", 1, 32,
     "options.domain_name_servers[0]", "is not an IPv4 address", "[first, second]"},
    {"NtpServerByName", SUBNET ",\n   options: {ntp_servers: [time.example.net]}}\n", 3, 28,
     "subnets[0].options.ntp_servers[0]", "'time.example.net' is not an IPv4 address", ""},
    {"DomainNameEmpty", "options: {domain_name: \"\"}\n", 1, 24, "options.domain_name",
     "must not be empty", "delete"},
    {"DomainNameList", "options: {domain_name: a.example b.example}\n", 1, 24,
     "options.domain_name", "is not a domain name", "one name only"},
    {"DomainNameEmptyLabel", "options: {domain_name: a..example}\n", 1, 24, "options.domain_name",
     "empty label", ""},
    // The server.
    {"ServerIdentifier", "server_identifier: 192.0.2\n", 1, 20, "server_identifier",
     "is not an IPv4 address", ""},
    {"ServerIdentifierBroadcast", "server_identifier: 255.255.255.255\n", 1, 20,
     "server_identifier", "can't be the address of a host", ""},
    {"Durability", "durability: locall\n", 1, 13, "durability", "unknown value 'locall'",
     "'local'"},
    {"DurabilityUnknown", "durability: none\n", 1, 13, "durability", "unknown value",
     "one of: local, relaxed, postgresql"},
    {"StorageType", "storage: {type: memry}\n", 1, 17, "storage.type", "unknown value", "'memory'"},
    {"StorageDirectory", "storage: {directory: ''}\n", 1, 22, "storage.directory",
     "must not be empty", "/var/lib/ringdhcp"},
    {"LogLevel", "log: {level: warn}\n", 1, 14, "log.level", "unknown value 'warn'", "warning"},
    {"LogFormat", "log: {format: jsonl}\n", 1, 15, "log.format", "unknown value", "'json'"},
    {"ListenWithoutPort", "http: {listen: 127.0.0.1}\n", 1, 16, "http.listen", "expected host:port",
     "127.0.0.1:9547"},
    {"ListenWithoutHost", "http: {listen: \":9547\"}\n", 1, 16, "http.listen",
     "must be an IPv4 address", "0.0.0.0:9547"},
    {"ListenPort", "http: {listen: 127.0.0.1:65536}\n", 1, 16, "http.listen", "1-65535", ""},
};

const Row kWarnings[] = {
    {"NoSubnet", "durability: local\n", 0, 0, "subnets", "no client gets an address", ""},
    {"NoPool", "subnets:\n- {id: 1, prefix: 192.0.2.0/24}\n", 2, 3, "subnets[0].pools", "no pool",
     ""},
    {"EmptyPools", "subnets:\n- {id: 1, prefix: 192.0.2.0/24, pools: []}\n", 2, 40,
     "subnets[0].pools", "no pool", ""},
    {"PoolHoldsRouter", SUBNET ", options: {routers: 192.0.2.9}}\n", 2, 41, "subnets[0].pools[0]",
     "holds the router 192.0.2.9", "192.0.2.10-192.0.2.20"},
    {"PoolHoldsServerWideServer", "options: {ntp_servers: 192.0.2.20}\n" SUBNET "}\n", 3, 41,
     "subnets[0].pools[0]", "holds the server 192.0.2.20", "192.0.2.9-192.0.2.19"},
    {"PoolHoldsServerIdentifier", "server_identifier: 192.0.2.10\n" SUBNET "}\n", 3, 41,
     "subnets[0].pools[0]", "holds the server identifier 192.0.2.10",
     "192.0.2.9 and 192.0.2.11-192.0.2.20"},
    {"RouterOutside", SUBNET ", options: {routers: 192.0.3.1}}\n", 2, 83,
     "subnets[0].options.routers[0]", "is not inside 192.0.2.0/24", ""},
    {"InheritedRouterOutside", "options: {routers: 192.0.3.1}\n" SUBNET "}\n", 3, 3, "subnets[0]",
     "192.0.3.1 of options.routers[0] is not inside", "own options.routers"},
    {"AddressTwice", "options: {ntp_servers: [192.0.3.1, 192.0.3.1]}\n" SUBNET "}\n", 1, 36,
     "options.ntp_servers[1]", "listed twice", "delete"},
    {"InterfaceNotServed", "interfaces: {exclude: eth*}\n" SUBNET ", interface: eth0}\n", 3, 75,
     "subnets[0].interface", "'eth0' is not served", "interfaces.exclude"},
    {"T1Zero", "lease_times: {t1: 0}\n" SUBNET "}\n", 1, 19, "lease_times.t1", "without a pause",
     "0.5"},
    {"DirectoryOfMemory", "storage: {type: memory, directory: x}\n" SUBNET "}\n", 1, 36,
     "storage.directory", "is not used", ""},
};

std::string Everything(const LoadResult& result) {
  std::string text;
  for (const Diagnostic& diagnostic : result.diagnostics) text += diagnostic.ToString() + '\n';
  return text;
}

void ExpectDiagnostic(const Diagnostic& found, const Row& row) {
  EXPECT_EQ(found.file, "test.yaml");
  EXPECT_EQ(found.line, row.line);
  EXPECT_EQ(found.column, row.column);
  EXPECT_EQ(found.path, row.path);
  EXPECT_NE(found.message.find(row.message_part), std::string::npos) << found.message;
  if (*row.suggestion_part == '\0') {
    EXPECT_EQ(found.suggestion, "");
  } else {
    EXPECT_NE(found.suggestion.find(row.suggestion_part), std::string::npos) << found.suggestion;
  }
}

std::string RowName(const testing::TestParamInfo<Row>& row) { return row.param.name; }

class ConfigErrors : public testing::TestWithParam<Row> {};

TEST_P(ConfigErrors, IsReportedOnceAtItsPlace) {
  const LoadResult result = LoadConfigText(GetParam().yaml, "test.yaml");
  EXPECT_FALSE(result.ok());
  SCOPED_TRACE(Everything(result));
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::kError; };
  const auto& all = result.diagnostics;
  ASSERT_EQ(std::count_if(all.begin(), all.end(), is_error), 1);
  ExpectDiagnostic(*std::find_if(all.begin(), all.end(), is_error), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, ConfigErrors, testing::ValuesIn(kErrors), RowName);

class ConfigWarnings : public testing::TestWithParam<Row> {};

TEST_P(ConfigWarnings, IsReportedAndLoads) {
  const LoadResult result = LoadConfigText(GetParam().yaml, "test.yaml");
  SCOPED_TRACE(Everything(result));
  EXPECT_TRUE(result.ok());
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].severity, Severity::kWarning);
  ExpectDiagnostic(result.diagnostics[0], GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, ConfigWarnings, testing::ValuesIn(kWarnings), RowName);

TEST(ConfigDiagnosticsTest, AllMistakesAreReportedAtOnceInFileOrder) {
  std::string text = "subnets: []\n";
  int mistakes = 0;
  for (const char* line : {"durability: x", "offer_hold: 0", "http: {listen: x}", "log: {level: x}",
                           "bogus: 1", "authoritative: maybe", "options: {routers: [x, y]}"}) {
    text += std::string(line) + '\n';
    ++mistakes;
  }
  const LoadResult result = LoadConfigText(text, "test.yaml");
  int errors = 0, line = 0;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    EXPECT_GE(diagnostic.line, line) << diagnostic.ToString();
    line = diagnostic.line;
    errors += diagnostic.severity == Severity::kError ? 1 : 0;
  }
  EXPECT_EQ(errors, mistakes + 1) << Everything(result);  // two in the last line
}

TEST(ConfigDiagnosticsTest, TooManyErrorsAreCounted) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "bogus" + std::to_string(i) + ": 1\n";
  const LoadResult result = LoadConfigText(text, "test.yaml");
  EXPECT_FALSE(result.ok());
  const std::string all = Everything(result);
  EXPECT_NE(all.find("test.yaml: error: 500 more errors are not shown"), std::string::npos);
}

TEST(ConfigDiagnosticsTest, ToStringIsWhatEditorsRead) {
  Diagnostic diagnostic{
      Severity::kError,         "a.yaml", 3, 5, "log.level", "unknown value 'warn'",
      "did you mean 'warning'?"};
  EXPECT_EQ(diagnostic.ToString(),
            "a.yaml:3:5: error: log.level: unknown value 'warn' (did you mean 'warning'?)");
  diagnostic = {Severity::kWarning, "a.yaml", 0, 0, "", "is odd", ""};
  EXPECT_EQ(diagnostic.ToString(), "a.yaml: warning: is odd");
}

TEST(ConfigDiagnosticsTest, WarningsLeaveAResultOk) {
  LoadResult result;
  EXPECT_TRUE(result.ok());
  result.diagnostics.push_back({Severity::kWarning, "f", 1, 1, "", "m", ""});
  EXPECT_TRUE(result.ok());
  result.diagnostics.push_back({Severity::kError, "f", 1, 1, "", "m", ""});
  EXPECT_FALSE(result.ok());
}

TEST(ConfigDiagnosticsTest, TooManyAddressesForOneOption) {
  // 64 addresses are 256 octets; an option's length is one octet (RFC 2132 section 2).
  std::string list;
  for (int i = 1; i <= 63; ++i) list += "192.0.2." + std::to_string(i) + ", ";
  EXPECT_TRUE(LoadConfigText("options: {ntp_servers: [" + list + "]}", "test.yaml").ok());
  const LoadResult result =
      LoadConfigText("options: {ntp_servers: [" + list + "192.0.2.64]}", "test.yaml");
  EXPECT_FALSE(result.ok());
  EXPECT_NE(Everything(result).find("1:24: error: options.ntp_servers: has 64 addresses"),
            std::string::npos)
      << Everything(result);
}

}  // namespace
}  // namespace ringdhcp
