#include "test/contract/postgres/cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <pqxx/pqxx>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/base/check.h"

namespace ringdhcp {

namespace {

constexpr char kPrograms[] = "/usr/lib/postgresql/15/bin/";

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  RINGDHCP_CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  RINGDHCP_CHECK(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

int AsPostgres(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"runuser", "-u", "postgres", "--"});
  return RunProgram(arguments);
}

/// A freshly made data directory, to copy: initdb takes a while.
const std::string& FreshData() {
  static const TemporaryDirectory directory;
  static const std::string path = [] {
    std::filesystem::permissions(directory.path(), std::filesystem::perms{0755});
    RINGDHCP_CHECK(RunProgram({"chown", "postgres", directory.path()}) == 0);
    const std::string data = directory.Child("data");
    RINGDHCP_CHECK(AsPostgres({std::string(kPrograms) + "initdb", "-D", data, "-U", "postgres",
                               "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"}) == 0);
    std::ofstream(data + "/postgresql.conf", std::ios::app)
        << "max_connections = 30\nshared_buffers = 32MB\nlisten_addresses = '127.0.0.1'\n"
           "max_wal_size = 256MB\nrecovery_init_sync_method = syncfs\n";
    std::ofstream(data + "/pg_hba.conf")
        << "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    return data;
  }();
  return path;
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 0);
    ::dup2(null, 1);
    ::dup2(null, 2);
    if (::chdir("/") != 0) ::_exit(126);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  RINGDHCP_CHECK(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

Cluster::Cluster() : port_(FreePort()) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms{0755});
  RINGDHCP_CHECK(RunProgram({"cp", "-a", FreshData(), directory_.Child("data")}) == 0);
  RINGDHCP_CHECK(RunProgram({"chown", "postgres", directory_.path()}) == 0);
  Start();
  Query("ALTER USER postgres PASSWORD 'secret'");
}

Cluster::~Cluster() { Crash(); }

void Cluster::Start() {
  RINGDHCP_CHECK(AsPostgres({std::string(kPrograms) + "pg_ctl", "start", "-w", "-t", "60", "-D",
                             directory_.Child("data"), "-l", directory_.Child("log"), "-o",
                             absl::StrCat("-p ", port_, " -k ", directory_.path())}) == 0);
}

void Cluster::Stop() {
  AsPostgres({std::string(kPrograms) + "pg_ctl", "stop", "-w", "-m", "fast", "-D",
              directory_.Child("data")});
}

std::vector<int> Cluster::Processes() const {
  std::ifstream file(directory_.Child("data") + "/postmaster.pid");
  int postmaster = 0;
  if (!(file >> postmaster)) return {};
  std::vector<int> found = {postmaster};
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) continue;
    std::istringstream rest(text.substr(end + 1));
    char state = 0;
    int parent = 0;
    if (rest >> state >> parent && parent == postmaster) found.push_back(std::stoi(name));
  }
  return found;
}

void Cluster::Signal(int signal) const {
  for (const int pid : Processes()) ::kill(pid, signal);
}

void Cluster::Crash() {
  const std::vector<int> all = Processes();
  for (const int pid : all) ::kill(pid, SIGKILL);
  for (const int pid : all) {
    for (int i = 0; i < 500 && ::kill(pid, 0) == 0; ++i) {
      // A killed child of nobody here stays a zombie until init has taken it.
      std::ifstream stat(absl::StrCat("/proc/", pid, "/stat"));
      std::string text;
      std::getline(stat, text);
      if (text.find(") Z") != std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  std::error_code ignored;
  std::filesystem::remove(directory_.Child("data") + "/postmaster.pid", ignored);
  std::filesystem::remove(directory_.Child(absl::StrCat(".s.PGSQL.", port_, ".lock")), ignored);
}

void Cluster::Pause() { Signal(SIGSTOP); }
void Cluster::Resume() { Signal(SIGCONT); }

std::string Cluster::connection() const {
  return absl::StrCat("host=", directory_.path(), " port=", port_,
                      " user=postgres dbname=postgres");
}

std::string Cluster::Query(const std::string& sql) const {
  try {
    pqxx::connection connection(this->connection());
    pqxx::nontransaction transaction(connection);
    const pqxx::result result = transaction.exec(sql);
    return result.empty() || result[0][0].is_null() ? "" : result[0][0].c_str();
  } catch (const std::exception& error) {
    ADD_FAILURE() << sql << ": " << error.what();
    return "";
  }
}

void Cluster::TerminateBackends() const {
  Query(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
      "WHERE application_name LIKE 'ringdhcp%'");
}

}  // namespace ringdhcp
