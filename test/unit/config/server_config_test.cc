// What a good configuration becomes.
#include "server/config/server_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "server/config/loader.h"

namespace ringdhcp {
namespace {

std::string Everything(const LoadResult& result) {
  std::string text;
  for (const Diagnostic& diagnostic : result.diagnostics) text += diagnostic.ToString() + '\n';
  return text;
}

ServerConfig MustLoad(const std::string& text) {
  LoadResult result = LoadConfigText(text, "test.yaml");
  EXPECT_TRUE(result.ok()) << Everything(result);
  return std::move(result.config);
}

Ipv4Address Address(const char* text) { return Ipv4Address::Parse(text).value(); }

// "name" or "block.name" -> the comment above the field in proto/config.proto.
std::map<std::string, std::string> FieldDocs() {
  std::ifstream file(RINGDHCP_SOURCE_DIR "/proto/config.proto");
  const std::regex message("message (\\w+) \\{");
  const std::regex field("(?:optional |repeated )?\\w+ (\\w+) = \\d+;");
  std::map<std::string, std::string> docs;
  std::string line, block, comment;
  std::smatch match;
  while (std::getline(file, line)) {
    const std::size_t slashes = line.find("// ");
    if (slashes != std::string::npos) {
      comment += (comment.empty() ? "" : " ") + line.substr(slashes + 3);
    } else if (std::regex_search(line, match, message)) {
      block = match[1] == "Config" ? "" : match[1].str() + '.';
      comment.clear();
    } else {
      if (std::regex_search(line, match, field)) docs[block + match[1].str()] = comment;
      comment.clear();
    }
  }
  return docs;
}

// The text after "Default: " up to the end of its sentence.
std::string DocumentedDefault(const std::string& field) {
  const std::string doc = FieldDocs()[field];
  const std::size_t at = doc.find("Default: ");
  if (at == std::string::npos) return "none in: " + doc;
  const std::string rest = doc.substr(at + 9);
  return rest.ends_with('.') ? rest.substr(0, rest.size() - 1) : rest;
}

std::string Shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

TEST(ServerConfigTest, DefaultsAreThoseOfTheSchema) {
  const ServerConfig config = MustLoad("subnets: [{id: 1, prefix: 192.0.2.0/24}]");
  ASSERT_EQ(config.subnets.size(), 1U);
  const Subnet& subnet = config.subnets[0];
  EXPECT_EQ(DocumentedDefault("authoritative"), subnet.authoritative ? "true" : "false");
  EXPECT_EQ(DocumentedDefault("server_identifier"), "the address of the arrival interface");
  EXPECT_FALSE(subnet.server_identifier.has_value());
  EXPECT_EQ(DocumentedDefault("durability"), "local");
  EXPECT_EQ(config.durability, Durability::kLocal);
  EXPECT_EQ(DocumentedDefault("offer_hold"), std::to_string(config.offer_hold_s));
  EXPECT_EQ(DocumentedDefault("decline_probation"), std::to_string(config.decline_probation_s));
  EXPECT_EQ(DocumentedDefault("cache_threshold"), Shown(config.cache_threshold));
  EXPECT_EQ(DocumentedDefault("stale_after_ms"), std::to_string(config.stale_after_ms));
  EXPECT_EQ(DocumentedDefault("LeaseTimes.min"), std::to_string(subnet.lease_times.min_s));
  EXPECT_EQ(DocumentedDefault("LeaseTimes.default"), std::to_string(subnet.lease_times.default_s));
  EXPECT_EQ(DocumentedDefault("LeaseTimes.max"), std::to_string(subnet.lease_times.max_s));
  EXPECT_EQ(DocumentedDefault("LeaseTimes.t1"), Shown(subnet.lease_times.t1));
  EXPECT_EQ(DocumentedDefault("LeaseTimes.t2"), Shown(subnet.lease_times.t2));
  EXPECT_EQ(DocumentedDefault("Storage.type"), "local");
  EXPECT_EQ(config.storage, StorageType::kLocal);
  EXPECT_EQ(DocumentedDefault("Storage.directory"), config.storage_directory);
  EXPECT_EQ(DocumentedDefault("Log.level"), "info");
  EXPECT_EQ(config.log_level, LogLevel::kInfo);
  EXPECT_EQ(DocumentedDefault("Log.format"), "text");
  EXPECT_EQ(config.log_format, LogFormat::kText);
  EXPECT_EQ(DocumentedDefault("Http.listen"),
            config.http_host + ':' + std::to_string(config.http_port));
  EXPECT_EQ(DocumentedDefault("Interfaces.include"), "every interface but loopback");
  EXPECT_TRUE(ServesInterface(config, "eth0"));
  EXPECT_FALSE(ServesInterface(config, "lo"));
  EXPECT_EQ(DocumentedDefault("Subnet.interface"), "found by the interface's addresses");
  EXPECT_EQ(subnet.interface, "");
  EXPECT_TRUE(subnet.options.empty());
}

TEST(ServerConfigTest, DefaultsOfPostgresqlAreThoseOfTheSchema) {
  const PostgresqlConfig section;
  const auto number = [](const char* field) {
    return std::to_string(std::stoul(DocumentedDefault(field)));
  };
  EXPECT_EQ(DocumentedDefault("Storage.postgresql"), "no PostgreSQL");
  EXPECT_EQ(DocumentedDefault("Postgresql.connection"),
            "libpq's environment variables and defaults");
  EXPECT_EQ(section.connection, "");
  EXPECT_EQ(DocumentedDefault("Postgresql.server_id"), "the host name");
  EXPECT_EQ(section.server_id, "");
  EXPECT_EQ(DocumentedDefault("Postgresql.migrate"), "true");
  EXPECT_TRUE(section.migrate);
  EXPECT_EQ(number("Postgresql.connect_timeout"), std::to_string(section.connect_timeout_s));
  EXPECT_EQ(number("Postgresql.statement_timeout"), std::to_string(section.statement_timeout_s));
  EXPECT_EQ(number("Postgresql.batch_rows_max"), std::to_string(section.batch_rows_max));
  EXPECT_EQ(number("Postgresql.outbox_rows_max"), std::to_string(section.outbox_rows_max));
  EXPECT_EQ(number("Postgresql.history_days"), std::to_string(section.history_days));
}

TEST(ServerConfigTest, EveryDocumentedDefaultIsTested) {
  std::vector<std::string> fields;
  for (const auto& [field, doc] : FieldDocs()) {
    if (doc.find("Default: ") != std::string::npos) fields.push_back(field);
  }
  // A field that is new in the schema needs a line in one of the tests above; the two that
  // inherit the server-wide value are in ASubnetInheritsWhatItDoesNotWrite.
  EXPECT_EQ(fields.size(), 30U) << testing::PrintToString(fields);
}

TEST(ServerConfigTest, EndsOfRangesAreAccepted) {
  for (const char* text :
       {"offer_hold: 1", "offer_hold: 3600", "decline_probation: 1", "decline_probation: 604800",
        "cache_threshold: 0", "cache_threshold: 0.5", "stale_after_ms: 10", "stale_after_ms: 60000",
        "lease_times: {min: 1, default: 1, max: 1}",
        "lease_times: {min: 4294967295, default: 4294967295, max: 4294967295}",
        "lease_times: {t1: 0, t2: 0.999}", "subnets: [{id: 4294967294, prefix: 10.0.0.0/8}]",
        "subnets: [{id: 1, prefix: 192.0.2.4/30, pools: [192.0.2.5-192.0.2.6]}]",
        "http: {listen: 0.0.0.0:65535}", "http: {listen: localhost:1}"}) {
    EXPECT_TRUE(LoadConfigText(text, "f").ok()) << text << Everything(LoadConfigText(text, "f"));
  }
}

TEST(ServerConfigTest, ReadsEveryServerWideField) {
  const ServerConfig config = MustLoad(R"(
interfaces: {include: [eth0, "v*"], exclude: v9}
durability: relaxed
storage: {type: memory}
log: {level: error, format: json}
http: {listen: "10.0.0.1:80"}
offer_hold: 11
decline_probation: 12
cache_threshold: 0.25
stale_after_ms: 14
)");
  EXPECT_EQ(config.interfaces_include, (std::vector<std::string>{"eth0", "v*"}));
  EXPECT_EQ(config.interfaces_exclude, (std::vector<std::string>{"v9"}));
  EXPECT_EQ(config.durability, Durability::kRelaxed);
  EXPECT_EQ(config.storage, StorageType::kMemory);
  EXPECT_EQ(config.log_level, LogLevel::kError);
  EXPECT_EQ(config.log_format, LogFormat::kJson);
  EXPECT_EQ(config.http_host, "10.0.0.1");
  EXPECT_EQ(config.http_port, 80);
  EXPECT_EQ(config.offer_hold_s, 11U);
  EXPECT_EQ(config.decline_probation_s, 12U);
  EXPECT_EQ(config.cache_threshold, 0.25);
  EXPECT_EQ(config.stale_after_ms, 14U);
}

TEST(ServerConfigTest, EveryLogLevelHasItsName) {
  const std::map<std::string, LogLevel> levels = {{"trace", LogLevel::kTrace},
                                                  {"debug", LogLevel::kDebug},
                                                  {"info", LogLevel::kInfo},
                                                  {"warning", LogLevel::kWarning},
                                                  {"error", LogLevel::kError}};
  for (const auto& [name, level] : levels) {
    EXPECT_EQ(MustLoad("log: {level: " + name + "}").log_level, level) << name;
  }
}

TEST(ServerConfigTest, EmptyListenSwitchesHttpOff) {
  EXPECT_EQ(MustLoad("http: {listen: \"\"}").http_host, "");
  EXPECT_EQ(MustLoad("http: {listen: localhost:8080}").http_host, "127.0.0.1");
}

TEST(ServerConfigTest, SubnetsAndPoolsAreSorted) {
  const ServerConfig config = MustLoad(R"(
subnets:
- {id: 9, prefix: 198.51.100.0/24}
- id: 3
  prefix: 192.0.2.128/25
  pools: [192.0.2.200-192.0.2.210, 192.0.2.130, 192.0.2.131 - 192.0.2.140]
- {id: 5, prefix: 192.0.2.0/25}
)");
  ASSERT_EQ(config.subnets.size(), 3U);
  EXPECT_EQ(config.subnets[0].id, SubnetId(5));
  EXPECT_EQ(config.subnets[1].id, SubnetId(3));
  EXPECT_EQ(config.subnets[1].prefix.ToString(), "192.0.2.128/25");
  EXPECT_EQ(config.subnets[2].id, SubnetId(9));
  const std::vector<Pool> pools = {{Address("192.0.2.130"), Address("192.0.2.130")},
                                   {Address("192.0.2.131"), Address("192.0.2.140")},
                                   {Address("192.0.2.200"), Address("192.0.2.210")}};
  EXPECT_EQ(config.subnets[1].pools, pools);
}

// RFC 2132 sections 3.5, 3.8, 3.17 and 8.3: addresses in network order, names without a final 0.
TEST(ServerConfigTest, OptionsAreWireValues) {
  const ServerConfig config = MustLoad(R"(
subnets:
- id: 1
  prefix: 192.0.2.0/24
  options:
    ntp_servers: 192.0.2.3
    domain_name: lab.example
    domain_name_servers: [192.0.2.2, 203.0.113.53]
    routers: [192.0.2.1]
)");
  const std::vector<ConfiguredOption> options = {
      {3, {192, 0, 2, 1}},
      {6, {192, 0, 2, 2, 203, 0, 113, 53}},
      {15, {'l', 'a', 'b', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'}},
      {42, {192, 0, 2, 3}}};
  EXPECT_EQ(config.subnets.at(0).options, options);
}

TEST(ServerConfigTest, ASubnetInheritsWhatItDoesNotWrite) {
  const ServerConfig config = MustLoad(R"(
authoritative: true
server_identifier: 192.0.2.1
options:
  domain_name: example.net
  domain_name_servers: [192.0.2.2]
  ntp_servers: [192.0.2.3]
lease_times: {min: 100, default: 200, max: 300, t1: 0.25, t2: 0.75}
subnets:
- {id: 1, prefix: 192.0.2.0/24}
- id: 2
  prefix: 198.51.100.0/24
  authoritative: false
  server_identifier: 198.51.100.1
  interface: eth7
  options:
    domain_name_servers: 198.51.100.2
    ntp_servers: []
  lease_times: {max: 250}
)");
  ASSERT_EQ(config.subnets.size(), 2U);
  const Subnet& plain = config.subnets[0];
  EXPECT_TRUE(plain.authoritative);
  EXPECT_EQ(plain.server_identifier, Address("192.0.2.1"));
  EXPECT_EQ(plain.lease_times, (LeaseTimes{100, 200, 300, 0.25, 0.75}));
  const ConfiguredOption name{15, {'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'n', 'e', 't'}};
  EXPECT_EQ(plain.options,
            (std::vector<ConfiguredOption>{{6, {192, 0, 2, 2}}, name, {42, {192, 0, 2, 3}}}));
  const Subnet& own = config.subnets[1];
  EXPECT_FALSE(own.authoritative);
  EXPECT_EQ(own.server_identifier, Address("198.51.100.1"));
  EXPECT_EQ(own.interface, "eth7");
  EXPECT_EQ(own.lease_times, (LeaseTimes{100, 200, 250, 0.25, 0.75}));
  // An empty list takes an inherited option away; an absent one leaves it.
  EXPECT_EQ(own.options, (std::vector<ConfiguredOption>{{6, {198, 51, 100, 2}}, name}));
}

TEST(ServerConfigTest, OnlyTheInheritedListThatIsReplacedIsForgotten) {
  // Both lists hold servers; the one of option 6 is replaced, that of option 42 still warns.
  const LoadResult result = LoadConfigText(R"(
options: {domain_name_servers: 192.0.2.10, ntp_servers: 192.0.2.12}
subnets:
- id: 1
  prefix: 192.0.2.0/24
  pools: 192.0.2.10-192.0.2.12
  options: {domain_name_servers: 192.0.2.2}
)",
                                           "test.yaml");
  ASSERT_EQ(result.diagnostics.size(), 1U) << Everything(result);
  EXPECT_NE(result.diagnostics[0].message.find("the server 192.0.2.12"), std::string::npos);
}

TEST(ServerConfigTest, JsonIsYamlToo) {
  const ServerConfig config = MustLoad(
      "{\"subnets\": [{\"id\": 1, \"prefix\": \"192.0.2.0/24\",\n"
      "\t\"pools\": [\"192.0.2.9\"]}], \"authoritative\": true}");
  EXPECT_TRUE(config.subnets.at(0).authoritative);
}

TEST(ServerConfigTest, AnchorsLineEndsAndByteOrderMark) {
  const ServerConfig config = MustLoad(
      "\xEF\xBB\xBFsubnets:\r\n- {id: 1, prefix: 192.0.2.0/24, options: &o {routers: "
      "192.0.2.1}}\r\n- {id: 2, prefix: 192.0.3.0/24, options: *o}\r\n");
  ASSERT_EQ(config.subnets.size(), 2U);
  EXPECT_EQ(config.subnets[0].options, config.subnets[1].options);
}

TEST(ServesInterfaceTest, PatternsAndExclusions) {
  struct Case {
    std::vector<std::string> include, exclude;
    const char* name;
    bool served;
  };
  const Case kCases[] = {
      {{}, {}, "eth0", true},
      {{}, {}, "lo", false},
      {{}, {}, "lo0", true},
      {{"lo"}, {}, "lo", true},
      {{"*"}, {}, "lo", true},
      {{}, {"eth*"}, "eth0", false},
      {{}, {"eth*"}, "veth0", true},
      {{"eth0"}, {}, "eth0", true},
      {{"eth0"}, {}, "eth01", false},
      {{"eth0"}, {}, "eth", false},
      {{"eth*"}, {}, "eth", true},
      {{"*.10"}, {}, "eth0.10", true},
      {{"*.10"}, {}, "eth0.100", false},
      {{"e*0.*1"}, {}, "eth0.0.11", true},
      {{"e*0.*1"}, {}, "eth0.10", false},
      {{"**"}, {}, "x", true},
      {{"a*a"}, {}, "a", false},
      {{"a*b*c"}, {}, "abbcbc", true},
      {{"vlan*"}, {"vlan99"}, "vlan99", false},
      {{"vlan*"}, {"vlan99"}, "vlan9", true},
      {{"x", "y"}, {}, "y", true},
  };
  for (const Case& c : kCases) {
    ServerConfig config;
    config.interfaces_include = c.include;
    config.interfaces_exclude = c.exclude;
    EXPECT_EQ(ServesInterface(config, c.name), c.served)
        << testing::PrintToString(c.include) << ' ' << c.name;
  }
}

TEST(LoadConfigFileTest, TheExampleLoadsWithoutAWarning) {
  const LoadResult result = LoadConfigFile(RINGDHCP_SOURCE_DIR "/deploy/examples/ringdhcp.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(Everything(result), "");
  const ServerConfig& config = result.config;
  EXPECT_EQ(config.subnets.size(), 2U);
  EXPECT_FALSE(config.interfaces_include.empty());
  EXPECT_EQ(config.storage_directory, "ringdhcp-data");
  EXPECT_EQ(config.http_host, "127.0.0.1");
  EXPECT_EQ(config.http_port, 9547);
}

TEST(LoadConfigFileTest, FiveMistakesAreFiveErrorsWithAdvice) {
  const std::string path = RINGDHCP_SOURCE_DIR "/deploy/examples/five-mistakes.yaml";
  const LoadResult result = LoadConfigFile(path);
  EXPECT_FALSE(result.ok());
  const std::vector<std::string> expected = {
      ":4:3: error: interfaces.inclde: unknown field (did you mean 'include'?)",
      ":8:13: error: subnets[0].prefix: 192.0.2.1/24 has host bits set "
      "(did you mean 192.0.2.0/24?)",
      ":14:13: error: subnets[1].pools[0]: 198.51.100.10-198.51.100.200 is not inside "
      "198.51.100.0/25 (did you mean 198.51.100.10-198.51.100.126?)",
      ":18:13: error: offer_hold: must be 1-3600 seconds, not 7200 (did you mean 3600?)",
      ":23:13: error: durability: unknown value 'locall' (did you mean 'local'?)"};
  ASSERT_EQ(result.diagnostics.size(), expected.size()) << Everything(result);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(result.diagnostics[i].ToString(), path + expected[i]);
  }
}

TEST(LoadConfigFileTest, AnUnreadableFileIsOneDiagnostic) {
  for (const char* path : {"/nonexistent/ringdhcp.yaml", "/"}) {
    const LoadResult result = LoadConfigFile(path);
    ASSERT_EQ(result.diagnostics.size(), 1U);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.diagnostics[0].line, 0);
    EXPECT_EQ(result.diagnostics[0].file, path);
    EXPECT_NE(result.diagnostics[0].message.find("can't be read: "), std::string::npos);
  }
}

TEST(LoadConfigFileTest, AFileWithoutEndIsTooLarge) {
  // /dev/zero never ends; the size is looked at before the contents.
  const LoadResult result = LoadConfigFile("/dev/zero");
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].ToString(), "/dev/zero: error: larger than 64 MiB");
}

}  // namespace
}  // namespace ringdhcp
