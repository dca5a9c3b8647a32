/// Every documented numeric range at both ends, on every engine: a run or a refusal with its place, and a
/// prediction that is finite. Keys without a range are tried at the ends of what can be written.
///
/// Each case is a process of its own, so that an abort in it is a failure of the case. A process that
/// computes for longer than kProcessorSeconds, or asks for more than kMemory, is stopped: with an iteration
/// count at its upper end a run is long and large. These are counted, and no more than a tenth may be so.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <process.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

constexpr rlim_t kProcessorSeconds = 2;
constexpr rlim_t kMemory = rlim_t{3} << 30;
constexpr unsigned kWallSeconds = 300;  // of a process that waits for something that never comes

struct NumericKey {
    std::string path;  ///< "network.link.latency"
    std::vector<std::string> values;
};

/// The ends of what can be written, of a type without a range or with one that is open on a side.
std::vector<std::string> ends_of_type(const std::string& type) {
    if (type == "time") {
        return {"0ps", "9223372s"};
    }
    if (type == "size") {
        return {"0B", "7EiB"};
    }
    if (type == "bandwidth") {
        return {"1bps", "9000000Tbps"};
    }
    if (type == "compute rate") {
        return {"1FLOPS", "9000000TFLOPS"};
    }
    if (type == "integer") {
        return {"0", "9223372036854775807"};
    }
    return type == "number" ? std::vector<std::string>{"0", "1e308"} : std::vector<std::string>{};
}

/// Both ends of "A to B", "at least A", "at most B" or no range.
std::vector<std::string> ends_of(const std::string& type, const std::string& range) {
    std::vector<std::string> ends = ends_of_type(type);
    constexpr std::string_view kLeast = "at least ";
    constexpr std::string_view kMost = "at most ";
    if (ends.empty()) {
        return ends;
    }
    if (const std::size_t to = range.find(" to "); to != std::string::npos) {
        return {range.substr(0, to), range.substr(to + 4)};
    }
    if (range.starts_with(kLeast)) {
        ends.front() = range.substr(kLeast.size());
    } else if (range.starts_with(kMost)) {
        ends.back() = range.substr(kMost.size());
    } else if (range == "more than 0 and at most 1") {
        ends = {"1e-300", "1"};
    }
    return ends;
}

void collect(const std::string& section, const std::vector<ParameterDescriptor>& parameters,
             std::vector<NumericKey>& keys) {
    for (const ParameterDescriptor& parameter : parameters) {
        const std::string path = section + "." + parameter.key;
        if (parameter.type == "mapping") {
            collect(path, parameter.parameters, keys);
            continue;
        }
        // "integer", "list of integer", "time, or list of time".
        constexpr std::string_view kList = "list of ";
        std::string type = parameter.type.substr(0, parameter.type.find(", or list of "));
        const bool is_list = type.starts_with(kList);
        type = is_list ? type.substr(kList.size()) : type;
        std::vector<std::string> ends = ends_of(type, parameter.range);
        for (std::string& end : ends) {
            end = is_list ? "[" + end + "]" : end;
        }
        if (!ends.empty()) {
            keys.push_back({path, ends});
        }
    }
}

template <class Product>
void collect_kind(const Registry<Product>& registry, const std::string& section, const std::string& kind,
                  std::vector<NumericKey>& keys) {
    const std::vector<ComponentDescription> all = registry.descriptions();
    const auto found = std::ranges::find(all, kind, &ComponentDescription::name);
    ASSERT_NE(found, all.end()) << kind;
    collect(section, found->parameters, keys);
}

enum Outcome : int {
    kRan = 10,
    kRefused,
    kRefusedWithoutPlace,
    kPredictedNoNumber,
    kOutOfMemory,
    kThrew,
};

/// What a process does with the file and the override; ends it.
[[noreturn]] void try_case(const experiment::Components& components, const std::string& file,
                           const std::vector<std::string>& overrides) {
    const rlimit processor{kProcessorSeconds, kProcessorSeconds + 1};
    const rlimit memory{kMemory, kMemory};
    const rlimit core{0, 0};
    ::setrlimit(RLIMIT_CPU, &processor);
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &core);
    ::alarm(kWallSeconds);
    int outcome = kThrew;
    try {
        const Result<experiment::Experiment> loaded =
            experiment::load_experiment(file, {.overrides = overrides, .seed = {}}, components);
        if (!loaded) {
            outcome = kRefused;
            for (const Diagnostic& error : loaded.error()) {
                if (error.where.line <= 0 || error.message.empty()) {
                    std::fprintf(stderr, "%s", error.render().c_str());
                    outcome = kRefusedWithoutPlace;
                }
            }
            ::_exit(outcome);
        }
        const experiment::Prediction cost = experiment::predict(*loaded);
        const bool is_finite = std::isfinite(cost.events) && std::isfinite(cost.memory_bytes) &&
                               std::isfinite(cost.wall_seconds) && cost.events >= 0 &&
                               cost.memory_bytes > 0 && cost.wall_seconds >= 0;
        outcome = kPredictedNoNumber;
        if (is_finite) {
            static_cast<void>(experiment::run_experiment(*loaded, {}));
            outcome = kRan;
        }
    } catch (const std::bad_alloc&) {
        outcome = kOutOfMemory;
    } catch (const std::exception& defect) {
        std::fprintf(stderr, "%s\n", defect.what());
    }
    ::_exit(outcome);
}

class Ranges : public ::testing::Test {
protected:
    /// `overrides` make the small experiment one of these sections; `keys` are tried on the engines.
    void try_all(const std::string& text, const std::vector<std::string>& engines,
                 const std::vector<NumericKey>& keys) {
        const TemporaryFolder folder;
        const std::string file = folder.write("experiment.yaml", text).string();
        for (const std::string& engine : engines) {
            for (const NumericKey& key : keys) {
                for (const std::string& value : key.values) {
                    run_case(file, engine, key.path + "=" + value);
                }
            }
        }
        fmt::print("{} ran, {} refused, {} stopped for time, {} for memory\n", ran_, refused_, long_, large_);
        EXPECT_LE(10 * (long_ + large_), ran_ + refused_ + long_ + large_);
    }

    void run_case(const std::string& file, const std::string& engine, const std::string& assignment) {
        std::vector<std::string> overrides{"backend.kind=" + engine};
        if (assignment.starts_with("backend.")) {
            // Together with its kind, so that keys of another kind are not in the file.
            overrides = {"backend={kind: " + engine + "}"};
        }
        overrides.push_back(assignment);
        std::fflush(stdout);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            try_case(components_, file, overrides);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        const std::string what = fmt::format("{} on {}", assignment, engine);
        if (WIFSIGNALED(status)) {
            const bool is_long = WTERMSIG(status) == SIGXCPU;
            EXPECT_TRUE(is_long) << what << ": signal " << WTERMSIG(status);
            long_ += is_long ? 1 : 0;
            return;
        }
        switch (WEXITSTATUS(status)) {
            case kRan:
                ++ran_;
                break;
            case kRefused:
                ++refused_;
                break;
            case kOutOfMemory:
                ++large_;
                break;
            case kRefusedWithoutPlace:
                ADD_FAILURE() << what << ": refused without a place";
                break;
            case kPredictedNoNumber:
                ADD_FAILURE() << what << ": a prediction that is not finite";
                break;
            default:
                ADD_FAILURE() << what << ": ended with " << WEXITSTATUS(status);
        }
    }

    const experiment::Components components_ = experiment::builtin_components();
    int ran_ = 0;
    int refused_ = 0;
    int long_ = 0;
    int large_ = 0;
};

const std::vector<std::string> kEngines{"fluid", "congestion_free", "packet", "tcp"};

std::string with_network(const std::string& network, int ranks = 4) {
    return fmt::format(
        "schema: astrolabe/1\n"
        "workload:\n"
        "  kind: dlrm\n"
        "  model:\n"
        "    dense_features: 16\n"
        "    bottom_mlp: [32, 8]\n"
        "    top_mlp: [32, 1]\n"
        "    tables: {{count: 4, rows: 100, dimension: 8, pooling: 2}}\n"
        "  batch: {{global: 64}}\n"
        "  iterations: 1\n"
        "cluster:\n"
        "  ranks: {}\n"
        "  device: {{kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}}\n"
        "  collectives:\n"
        "    all_reduce: {{algorithm: ring, chunks: 1}}\n"
        "    all_to_all: {{algorithm: direct, chunks: 1}}\n"
        "network: {}\n"
        "backend: {{kind: fluid}}\n",
        ranks, network);
}

const std::string kFlat = "{kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 500ns}}";

TEST_F(Ranges, OfClusters) {
    std::vector<NumericKey> keys;
    collect("cluster", experiment::cluster_description(components_).parameters, keys);
    collect_kind(components_.devices, "cluster.device", "roofline", keys);
    ASSERT_GT(keys.size(), 5u);
    try_all(with_network(kFlat), kEngines, keys);
}

TEST_F(Ranges, OfEngines) {
    for (const std::string& engine : kEngines) {
        std::vector<NumericKey> keys;
        collect_kind(components_.backends, "backend", engine, keys);
        if (!keys.empty()) {
            try_all(with_network(kFlat), {engine}, keys);
        }
    }
}

TEST_F(Ranges, OfWorkloads) {
    std::vector<NumericKey> keys;
    collect_kind(components_.workloads, "workload", "dlrm", keys);
    ASSERT_GT(keys.size(), 5u);
    try_all(with_network(kFlat), {"fluid", "packet"}, keys);
}

TEST_F(Ranges, OfStaticNetworks) {
    const std::string link = "link: {rate: 100Gbps, latency: 500ns}";
    for (const auto& [kind, rest] : std::map<std::string, std::string>{
             {"flat", "hosts: 4, " + link},
             {"leaf_spine", "leaves: 2, spines: 2, hosts_per_leaf: 2, " + link},
             {"fat_tree", "k: 4, " + link},
             {"ring", "hosts: 4, " + link},
             {"torus", "sizes: [2, 2], " + link},
             {"mesh", "sizes: [2, 2], " + link},
             {"hypercube", "dimensions: 2, " + link},
             {"fully_connected", "hosts: 4, " + link},
             {"dragonfly", "hosts_per_router: 2, " + link}}) {
        std::vector<NumericKey> keys;
        collect_kind(components_.networks, "network", kind, keys);
        ASSERT_FALSE(keys.empty()) << kind;
        fmt::print("{}: ", kind);
        try_all(with_network(fmt::format("{{kind: {}, {}}}", kind, rest)), kEngines, keys);
    }
}

TEST_F(Ranges, OfRotorNetworks) {
    for (const char* kind : {"opera", "rotornet"}) {
        std::vector<NumericKey> keys;
        collect_kind(components_.networks, "network", kind, keys);
        ASSERT_FALSE(keys.empty()) << kind;
        try_all(with_network(
                    fmt::format("{{kind: {}, racks: 8, uplinks: 4, hosts_per_rack: 2, link: {{rate: 100Gbps, "
                                "latency: 500ns}}, seed: 1}}",
                                kind),
                    16),
                {"fluid", "packet"}, keys);
    }
}

}  // namespace
}  // namespace astrolabe::testing
