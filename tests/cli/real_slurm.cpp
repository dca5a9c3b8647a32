#include "real_slurm.hpp"

#include "process.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace astrolabe::testing {
namespace {

constexpr const char* kController = "slurmctld";

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

std::string user_name() {
    const passwd* user = ::getpwuid(::geteuid());
    return user != nullptr ? user->pw_name : "root";
}

/// Ports that nobody has now: all are held while they are chosen.
std::vector<int> free_ports(int count) {
    std::vector<int> ports;
    std::vector<int> sockets;
    for (int i = 0; i < count; ++i) {
        sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(sockets.back(), any, size) == 0 && ::getsockname(sockets.back(), any, &size) == 0) {
            ports.push_back(ntohs(address.sin_port));
        }
    }
    for (const int socket : sockets) {
        ::close(socket);
    }
    return ports;
}

std::vector<pid_t> processes_that(const std::function<bool(const std::filesystem::path&)>& hold) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }) &&
            hold(entry.path())) {
            found.push_back(std::stoi(name));
        }
    }
    return found;
}

/// Whether a process has a file open whose name begins so.
bool has_open(const std::filesystem::path& process, const std::string& beginning) {
    std::error_code failure;
    std::filesystem::directory_iterator files(process / "fd", failure);
    while (!failure && files != std::filesystem::directory_iterator()) {
        std::error_code gone;
        if (std::filesystem::read_symlink(files->path(), gone).string().starts_with(beginning)) {
            return true;
        }
        files.increment(failure);
    }
    return false;
}

/// 0 of one that is gone.
pid_t parent_of(const std::filesystem::path& process) {
    std::ifstream file(process / "status");
    for (std::string word; file >> word;) {
        pid_t parent = 0;
        if (word == "PPid:" && file >> parent) {
            return parent;
        }
    }
    return 0;
}

/// Processes that have such a file open, with all that descends from them; this one is never among them.
void kill_all_with(const std::string& beginning) {
    std::set<pid_t> doomed;
    for (std::size_t before = 1; before != doomed.size();) {
        before = doomed.size();
        for (const pid_t process : processes_that([&](const std::filesystem::path& path) {
                 return doomed.count(parent_of(path)) > 0 || has_open(path, beginning);
             })) {
            doomed.insert(process);
        }
        doomed.erase(::getpid());
    }
    for (const pid_t process : doomed) {
        ::kill(process, SIGKILL);
    }
}

std::string find_program(const std::string& name) {
    std::string path = run_shell("PATH=$PATH:/usr/sbin:/sbin command -v " + name).out;
    return path.substr(0, path.find('\n'));
}

}  // namespace

RealSlurm::RealSlurm(std::filesystem::path folder, int nodes)
    : folder_(std::move(folder)) {
    std::map<std::string, std::string> programs;
    for (const char* name : {kController, "slurmd", "sbatch", "squeue", "sinfo"}) {
        programs[name] = find_program(name);
        if (programs[name].empty()) {
            problem_ =
                fmt::format("there is no {}: Debian has it in slurmctld, slurmd and slurm-client", name);
            return;
        }
    }
    std::filesystem::create_directories(folder_ / "state");
    const std::vector<int> ports = free_ports(nodes + 1);
    if (ports.size() != static_cast<std::size_t>(nodes) + 1) {
        problem_ = "there are no ports to be had";
        return;
    }
    write_configuration(ports);
    ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
    start(kController, {programs[kController], "-D"});
    for (int i = 1; i <= nodes; ++i) {
        const std::string name = fmt::format("n{}", i);
        std::filesystem::create_directories(folder_ / ("spool." + name));
        start(name, {programs["slurmd"], "-D", "-N", name});
    }
    if (!becomes_idle(nodes)) {
        problem_ = "its nodes do not come up:";
        for (const auto& [name, process] : daemons_) {
            problem_ += "\n" + name + ": " + read_file(log_of(name));
        }
    }
}

RealSlurm::~RealSlurm() {
    for (const auto& [name, process] : daemons_) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
    if (!daemons_.empty()) {
        kill_all_with(folder_.string() + "/");
    }
    ::unsetenv("SLURM_CONF");
}

std::filesystem::path RealSlurm::log_of(const std::string& name) const {
    return folder_ / (name + ".log");
}

void RealSlurm::write_configuration(const std::vector<int>& ports) const {
    const std::string host = host_name();
    // No authentication, accounting or control groups: nothing but the queue and its tasks is wanted here. A
    // node that is silent for five seconds is down, as soon as the controller looks, and its tasks wait for
    // their credentials' five seconds before they start again.
    std::string text = fmt::format(
        "ClusterName=test\nSlurmctldHost={}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser={}\nSlurmdUser={}\n"
        "AuthType=auth/none\nCredType=cred/none\nAuthInfo=cred_expire=5\nStateSaveLocation={}/state\n"
        "SlurmctldPidFile={}/slurmctld.pid\nSlurmdPidFile={}/%n.pid\nSlurmdSpoolDir={}/spool.%n\n"
        "SlurmctldLogFile={}/slurmctld.log\nSlurmdLogFile={}/%n.log\n",
        host, ports.at(0), user_name(), user_name(), folder_.string(), folder_.string(), folder_.string(),
        folder_.string(), folder_.string(), folder_.string());
    text +=
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n"
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\n"
        "MpiDefault=none\nSwitchType=switch/none\nReturnToService=2\nSlurmdTimeout=5\nMessageTimeout=5\n"
        "KillWait=1\n";
    for (std::size_t i = 1; i < ports.size(); ++i) {
        text += fmt::format("NodeName=n{} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=1 State=UNKNOWN\n",
                            i, host, ports[i]);
    }
    text += "PartitionName=test Nodes=ALL Default=YES State=UP MaxTime=INFINITE\n";
    std::ofstream(folder_ / "slurm.conf") << text;
}

void RealSlurm::start(const std::string& name, const std::vector<std::string>& words) {
    std::vector<std::string> copies = words;
    std::vector<char*> arguments;
    for (std::string& word : copies) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const std::string said = (folder_ / (name + ".out")).string();
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = ::open(said.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (::getppid() == parent && ::dup2(out, STDOUT_FILENO) >= 0 && ::dup2(out, STDERR_FILENO) >= 0) {
            ::execv(arguments.front(), arguments.data());
        }
        ::_exit(127);
    }
    if (process > 0) {
        daemons_[name] = process;
    }
}

bool RealSlurm::becomes_idle(int nodes) const {
    std::string idle;
    for (int i = 0; i < nodes; ++i) {
        idle += "idle\n";
    }
    for (int tries = 0; tries < 150; ++tries) {
        if (run_shell("sinfo --noheader --Node --format=%T").out == idle) {
            return true;
        }
        ::usleep(200'000);
    }
    return false;
}

void RealSlurm::kill_node(const std::string& name) {
    const auto daemon = daemons_.find(name);
    if (daemon != daemons_.end()) {
        kill_all_with(log_of(name).string());  // steps write the log of their node too
        ::waitpid(daemon->second, nullptr, 0);
        daemons_.erase(daemon);
    }
}

}  // namespace astrolabe::testing
