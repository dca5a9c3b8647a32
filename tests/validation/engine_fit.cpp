#include "engine_fit.hpp"

#include "process.hpp"

#include <cstdio>
#include <random>

#include <fmt/format.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

using experiment::Experiment;
using experiment::NamedEngine;

struct Drawn {
    std::string name;
    std::string text;  ///< the file, without its backend
    std::string packet;
    std::string tcp;
};

/// Draws experiments.
class Drawing {
public:
    explicit Drawing(unsigned seed)
        : random_(seed) {}

    [[nodiscard]] Drawn draw() {
        const std::string kind = pick<std::string>({"flat", "leaf_spine", "hierarchical", "torus"});
        const int ranks = pick<int>({4, 8, 8, 16});
        const int rate = pick<int>({25, 100, 100, 400});
        const int latency = pick<int>({200, 500, 500, 2000});
        Drawn drawn;
        const std::string job = workload(ranks);
        const std::string fabric = network(kind, ranks, rate, latency);
        drawn.text = fmt::format("schema: astrolabe/1\n{}cluster:\n  ranks: {}\n{}network: {}\n", job, ranks,
                                 cluster(), fabric);
        const std::string mtu = pick<std::string>({"1460B", "4096B", "4096B", "8960B"});
        const std::string window = pick<std::string>({"", "", ", window: 100KB"});
        drawn.packet =
            pick<std::string>({"{kind: packet", "{kind: packet", "{kind: packet, recovery: selective",
                               "{kind: packet, switching: cut_through"}) +
            ", mtu: " + mtu + window + "}";
        drawn.tcp =
            "{kind: tcp, mtu: " + pick<std::string>({"1500B", "1500B", "4136B", "9000B"}) + window + "}";
        drawn.name = fmt::format("{} ranks, {} Gb/s, {} ns, {} | {} | {} | {}", ranks, rate, latency,
                                 job_name_, fabric, drawn.packet, drawn.tcp);
        return drawn;
    }

private:
    template <class T>
    [[nodiscard]] T pick(const std::vector<T>& from) {
        return from[random_() % from.size()];
    }

    [[nodiscard]] std::string workload(int ranks) {
        chunks_ = pick<int>({1, 1, 4, 256});
        algorithm_ = pick<std::string>({"ring", "direct", "halving_doubling", "double_binary_tree"});
        if (random_() % 5 < 3) {
            const std::string collective =
                pick<std::string>({"all_reduce", "all_reduce", "all_to_all", "all_gather", "reduce"});
            // Chunks of less than 16 kB would be messages of a few bytes.
            const std::string size = chunks_ > 4 ? pick<std::string>({"4MB", "8MB"})
                                                 : pick<std::string>({"16kB", "100kB", "1MB", "4MB"});
            job_name_ = fmt::format("{} {} {} in {}", size, collective, algorithm_, chunks_);
            return fmt::format("workload: {{kind: collective, collective: {}, size: {}}}\n", collective,
                               size);
        }
        chunks_ = std::min(chunks_, 4);
        const int width = pick<int>({64, 256, 512});
        const int batch = ranks * pick<int>({16, 64, 256});
        job_name_ = fmt::format("dlrm of {} {} in {}", width, algorithm_, chunks_);
        return fmt::format(
            "workload:\n  kind: dlrm\n  model: {{dense_features: 64, bottom_mlp: [{0}, 32], "
            "top_mlp: [{0}, 64, 1], tables: {{count: {1}, rows: 1000, dimension: 32, pooling: 4}}}}\n"
            "  batch: {{global: {2}}}\n  iterations: 2\n",
            width, ranks, batch);
    }

    [[nodiscard]] std::string cluster() {
        return fmt::format(
            "  device: {{kind: roofline, peak: {}TFLOPS, memory_bandwidth: 900GB/s}}\n"
            "  collectives:\n    all_reduce: {{algorithm: {}, chunks: {}}}\n"
            "    all_to_all: {{algorithm: direct, chunks: {}}}\n"
            "    all_gather: {{algorithm: {}, chunks: {}}}\n"
            "    reduce: {{algorithm: direct, chunks: 1}}\n",
            pick<int>({1, 10}), algorithm_, chunks_, std::min(chunks_, 4),
            algorithm_ == "double_binary_tree" ? "direct" : algorithm_, std::min(chunks_, 4));
    }

    [[nodiscard]] std::string network(const std::string& kind, int ranks, int rate, int latency) {
        const std::string link = fmt::format("link: {{rate: {}Gbps, latency: {}ns}}", rate, latency);
        const std::string buffer =
            pick<std::string>({"", "", ", switch_buffer: 1MB", ", switch_buffer: 8MB"});
        if (kind == "leaf_spine") {
            return fmt::format(
                "{{kind: leaf_spine, hosts: {}, hosts_per_leaf: {}, spines: 2, oversubscription: {}, "
                "{}{}{}}}",
                ranks, ranks / 2, pick<int>({1, 2, 4}), link, buffer,
                pick<std::string>({"", ", load_balancing: spray"}));
        }
        if (kind == "hierarchical") {
            return fmt::format(
                "{{kind: hierarchical, hosts: {}, hosts_per_package: {}, scale_up: {{rate: {}Gbps, "
                "latency: 300ns}}, scale_out: {{rate: {}Gbps, latency: {}ns}}{}}}",
                ranks, ranks / 2, rate * pick<int>({2, 6}), rate, latency, buffer);
        }
        if (kind == "torus") {
            return fmt::format("{{kind: torus, sizes: [{}, {}], {}{}}}", ranks / 2, 2, link,
                               pick<std::string>({"", "", ", load_balancing: spray"}));
        }
        return fmt::format("{{kind: flat, hosts: {}, {}{}}}", ranks, link, buffer);
    }

    std::mt19937 random_;
    std::string job_name_;
    std::string algorithm_;
    int chunks_ = 1;
};

class Comparing {
public:
    void compare(const Drawn& drawn, std::vector<EnginePair>& pairs) {
        struct Ran {
            std::string kind;
            Experiment experiment;
            experiment::Run run;
        };
        std::vector<Ran> ran;
        for (const std::string& backend : {std::string("{kind: fluid}"), drawn.packet, drawn.tcp}) {
            const TemporaryFolder folder;
            const auto file = folder.write("drawn.yaml", drawn.text + "backend: " + backend + "\n");
            auto loaded = experiment::load_experiment(file, {}, components_);
            if (!loaded) {
                const bool is_tcp_sprayed =
                    backend == drawn.tcp && drawn.text.find("spray") != std::string::npos;
                if (!is_tcp_sprayed) {
                    throw std::runtime_error(drawn.name + "\n" + render(loaded.error()));
                }
                continue;
            }
            experiment::Run run =
                experiment::run_experiment(*loaded, {}, {.causes = experiment::Causes::kNever});
            if (!run.execution.finished) {
                throw std::runtime_error(drawn.name + ": " + run.execution.stall);
            }
            ran.push_back({loaded->backend_kind, std::move(*loaded), std::move(run)});
        }
        for (std::size_t own = 0; own < ran.size(); ++own) {
            std::vector<NamedEngine> others;
            for (std::size_t other = own + 1; other < ran.size(); ++other) {
                others.push_back({ran[other].kind, ran[other].experiment.backend});
            }
            for (std::size_t other = own + 1; other < ran.size(); ++other) {
                EnginePair pair;
                pair.name = drawn.name;
                pair.own = ran[own].kind;
                pair.other = ran[other].kind;
                pair.ratio =
                    to_seconds(ran[other].run.execution.total) / to_seconds(ran[own].run.execution.total);
                pair.loses = ran[other].run.network.drops > 0 || ran[own].run.network.drops > 0;
                pair.terms =
                    experiment::terms_of(ran[own].experiment, ran[other].kind, ran[other].experiment.backend);
                pair.estimated += experiment::all_of(pair.terms);
                const NamedEngine alone = others[other - own - 1];
                pair.told = experiment::ignored_terms(ran[own].experiment, std::span(&alone, 1));
                pairs.push_back(std::move(pair));
            }
        }
    }

private:
    experiment::Components components_ = experiment::builtin_components();
};

}  // namespace

bool EnginePair::names_the_cause() const {
    if (told.empty()) {
        return false;
    }
    if (std::ranges::any_of(told, [](const auto& term) { return term.name == "buffers"; })) {
        return loses;
    }
    if (!told.front().error) {
        return true;
    }
    const double accounted = (estimated - 1) / (ratio - 1);
    return !loses && accounted > 1.0 / 3 && accounted < 3;
}

std::string EnginePair::text() const {
    std::string text = fmt::format("{} -> {}: measured {:.3f}, estimated {:.3f}{}{}; {}", own, other, ratio,
                                   estimated, loses ? ", loses" : "", told.empty() ? "" : ", TOLD", name);
    for (const experiment::EngineTerm& term : terms) {
        text += "\n      " + experiment::engine_term_text(term);
    }
    return text;
}

Fit judge(const std::vector<EnginePair>& pairs) {
    Fit fit;
    for (const EnginePair& pair : pairs) {
        const bool is_named = pair.differs() && pair.names_the_cause();
        const bool is_quiet = pair.agrees() && pair.told.empty();
        fit.differing += pair.differs() ? 1 : 0;
        fit.named += is_named ? 1 : 0;
        fit.agreeing += pair.agrees() ? 1 : 0;
        fit.quiet += is_quiet ? 1 : 0;
        if (pair.differs() != is_named || pair.agrees() != is_quiet) {
            std::printf("%s%s\n", pair.differs() ? "missed: " : "false alarm: ", pair.text().c_str());
        }
    }
    std::printf(
        "%zu pairs: %d differ by more than 10 %%, the cause of %d named; %d agree within 3 %%, %d without a "
        "word\n",
        pairs.size(), fit.differing, fit.named, fit.agreeing, fit.quiet);
    return fit;
}

std::vector<EnginePair> compare_engines(unsigned seed, int count) {
    Drawing drawing(seed);
    Comparing comparing;
    std::vector<EnginePair> pairs;
    for (int i = 0; i < count; ++i) {
        comparing.compare(drawing.draw(), pairs);
    }
    return pairs;
}

}  // namespace astrolabe::testing
