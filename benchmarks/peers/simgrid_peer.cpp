/// Our fluid engine beside SimGrid on the same traffic, as a Markdown table; traffic.hpp says which and why.
///
///   simgrid_peer [LIMIT]    LIMIT: seconds of processor time for a case in one simulator, 100
///   simgrid_peer --smoke    16 hosts only
///
/// Every run is a process of its own; times are processor time without building the platform. A second table
/// has how they grow with hosts. The exit code is 1 if simulated times differ by more than 1 %, or if a
/// simulator fails, which ends the comparison.
#include "traffic.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace astrolabe::benchmarks {
namespace {

struct Simulator {
    std::string_view name;
    PeerOutcome (*run)(const PeerCase&);
};

/// Nothing if it took longer than the limit. What ends in any other way is a fault.
std::optional<PeerOutcome> in_a_process(const Simulator& simulator, const PeerCase& peer_case,
                                        unsigned limit_s) {
    int ends[2];
    if (::pipe(ends) != 0) {
        throw std::runtime_error("no pipe to a process of its own");
    }
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{limit_s, limit_s};
        ::setrlimit(RLIMIT_CPU, &limit);
        PeerOutcome outcome = simulator.run(peer_case);
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        outcome.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
        const bool written = ::write(ends[1], &outcome, sizeof outcome) == sizeof outcome;
        ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    PeerOutcome outcome;
    const bool is_whole = ::read(ends[0], &outcome, sizeof outcome) == sizeof outcome;
    ::close(ends[0]);
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    if (is_whole) {
        return outcome;
    }
    // The kernel ends a process at its limit with one of these signals; others may send the second one too.
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool time_is_up = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1 >= static_cast<time_t>(limit_s);
    if (signal == SIGXCPU || (signal == SIGKILL && time_is_up)) {
        return std::nullopt;
    }
    throw std::runtime_error(fmt::format(
        "{} ended with {} {} on: {}, {} hosts", simulator.name, signal != 0 ? "signal" : "exit code",
        signal != 0 ? signal : WEXITSTATUS(status), peer_case.name(), peer_case.hosts()));
}

/// What a simulator needed for the cases of one traffic, of those that it finished.
struct Costs {
    std::vector<double> hosts;
    std::vector<double> cpu_s;

    void add(const PeerCase& peer_case, const std::optional<PeerOutcome>& outcome) {
        // Less is mostly what starting takes.
        if (outcome && outcome->cpu_s >= 0.02) {
            hosts.push_back(static_cast<double>(peer_case.hosts()));
            cpu_s.push_back(outcome->cpu_s);
        }
    }
    /// x of the power law N^x through them (least squares of logarithms), as text; empty where there are
    /// fewer than two.
    [[nodiscard]] std::string exponent() const {
        const auto points = static_cast<double>(hosts.size());
        double x = 0;
        double y = 0;
        double xx = 0;
        double xy = 0;
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            const double log_hosts = std::log(hosts[i]);
            const double log_cost = std::log(cpu_s[i]);
            x += log_hosts;
            y += log_cost;
            xx += log_hosts * log_hosts;
            xy += log_hosts * log_cost;
        }
        return hosts.size() < 2 ? "" : fmt::format("N^{:.2f}", (points * xy - x * y) / (points * xx - x * x));
    }
};

struct CostsOfTraffic {
    std::string traffic;
    Costs fluid;
    Costs simgrid;
};

/// Prints the row of a case and adds its costs; false if simulated times differ by more than 1 %.
bool compare(const PeerCase& peer_case, unsigned limit_s, CostsOfTraffic& costs) {
    const auto fluid = in_a_process({"the fluid engine", run_fluid}, peer_case, limit_s);
    const auto simgrid = in_a_process({"SimGrid", run_simgrid}, peer_case, limit_s);
    costs.fluid.add(peer_case, fluid);
    costs.simgrid.add(peer_case, simgrid);
    const auto cell = [limit_s](const std::optional<PeerOutcome>& outcome) {
        return outcome ? fmt::format("{:.3f} s | {:.0f} MB", outcome->cpu_s, outcome->peak_bytes / 1e6)
                       : fmt::format("over {} s | ", limit_s);
    };
    std::string speed;
    std::string difference;
    bool agrees = true;
    if (fluid && simgrid) {
        const double off = fluid->simulated_s / simgrid->simulated_s - 1;
        agrees = std::abs(off) <= 0.01;
        // The processor clock of some machines cannot tell less than a millisecond.
        const double least = std::max(fluid->cpu_s, 1e-3);
        if (simgrid->cpu_s >= 0.01) {
            speed = fmt::format("{}{:.0f}", fluid->cpu_s < least ? "over " : "", simgrid->cpu_s / least);
        }
        difference = fmt::format("{:+.4f} %", 100 * off);
    } else if (fluid) {
        speed = fmt::format("over {:.0f}", limit_s / fluid->cpu_s);
    }
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", peer_case.name(), peer_case.hosts(), cell(fluid),
               cell(simgrid), speed, fluid ? fmt::format("{:.3f} us", fluid->simulated_s * 1e6) : "",
               difference);
    std::fflush(stdout);
    return agrees;
}

std::vector<PeerCase> cases(bool smoke) {
    std::vector<PeerCase> all;
    for (const std::int64_t k : {4, 8, 10, 16}) {
        if (smoke && k > 4) {
            break;
        }
        all.push_back({Pattern::kAllAtOnce, k});
        all.push_back({Pattern::kOnePeerAtATime, k});
        all.push_back({Pattern::kRing, k, 64});
        all.push_back({Pattern::kUneven, k});
    }
    return all;
}

int run(unsigned limit_s, bool smoke) {
    fmt::print(
        "| traffic | hosts | fluid | memory | SimGrid | memory | times faster | simulated | fluid − SimGrid "
        "|\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    std::fflush(stdout);
    bool all_agree = true;
    std::vector<CostsOfTraffic> costs;
    for (const PeerCase& peer_case : cases(smoke)) {
        const std::string traffic(peer_case.name());
        auto of_traffic = std::ranges::find(costs, traffic, &CostsOfTraffic::traffic);
        if (of_traffic == costs.end()) {
            of_traffic = costs.insert(costs.end(), {traffic, {}, {}});
        }
        all_agree = compare(peer_case, limit_s, *of_traffic) && all_agree;
    }
    fmt::print("\n| traffic | fluid ~ | SimGrid ~ |\n|---|---|---|\n");
    for (const CostsOfTraffic& of_traffic : costs) {
        fmt::print("| {} | {} | {} |\n", of_traffic.traffic, of_traffic.fluid.exponent(),
                   of_traffic.simgrid.exponent());
    }
    return all_agree ? 0 : 1;
}

}  // namespace
}  // namespace astrolabe::benchmarks

int main(int argc, char** argv) {
    const std::string_view argument = argc > 1 ? argv[1] : "100";
    const bool smoke = argument == "--smoke";
    const int limit = smoke ? 100 : std::atoi(argument.data());
    if (argc > 2 || limit <= 0) {
        fmt::print(stderr, "usage: simgrid_peer [SECONDS | --smoke]\n");
        return 2;
    }
    try {
        return astrolabe::benchmarks::run(static_cast<unsigned>(limit), smoke);
    } catch (const std::exception& failure) {
        fmt::print(stderr, "simgrid_peer: {}\n", failure.what());
        return 1;
    }
}
