#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/scaling.hpp>
#include <astrolabe/study/what_if/what_if.hpp>
#include <astrolabe/system/components.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::study {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The number at a path of the resolved experiment; nothing where there is none above 0.
std::optional<std::int64_t> count_at(const ConfigNode& root, const std::string& path) {
    const ConfigNode* node = root.find_path(path);
    if (node == nullptr || !node->is_scalar()) {
        return std::nullopt;
    }
    const Parsed<std::int64_t> parsed = parse_integer(node->text);
    const auto* number = std::get_if<std::int64_t>(&parsed);
    return number != nullptr && *number > 0 ? std::optional(*number) : std::nullopt;
}

/// "x2", "x1/2", "unlimited".
std::string times_text(double factor) {
    return factor == kUnlimited ? "unlimited"
           : factor < 1         ? fmt::format("x1/{:g}", 1 / factor)
                                : fmt::format("x{:g}", factor);
}

class Suggestions {
public:
    Suggestions(const experiment::Experiment& experiment, const experiment::Components& components)
        : experiment_(experiment),
          components_(components) {}

    std::vector<Change> all() {
        links();
        speeds();
        collectives();
        cables();
        work();
        return std::move(changes_);
    }

private:
    Change& add(std::string group, std::string name, std::vector<std::string> overrides) {
        Change& change = changes_.emplace_back();
        change.group = std::move(group);
        change.name = std::move(name);
        change.overrides = std::move(overrides);
        return change;
    }

    /// Of a key of `scaled`, times what the file says already.
    [[nodiscard]] std::string scaled_by(const std::string& key, double factor) const {
        double before = 1;
        if (const ConfigNode* given = experiment_.resolved.find_path("scaled." + key)) {
            const Parsed<double> number = parse_number(given->text);
            before = std::holds_alternative<double>(number) ? std::get<double>(number) : kUnlimited;
        }
        return fmt::format("scaled.{}={}", key, before * factor);
    }

    void resource(const std::string& group, const std::string& what, const std::vector<std::string>& keys,
                  double factor) {
        std::vector<std::string> overrides;
        for (const std::string& key : keys) {
            overrides.push_back(scaled_by(key, factor));
        }
        Change& change = add(group, what + " " + times_text(factor), std::move(overrides));
        change.is_unlimited = factor == kUnlimited;
        change.factor = change.is_unlimited ? 0 : factor;
        change.has_price = group == "links" && !change.is_unlimited;
    }

    void links() {
        std::vector<std::string> classes = network::link_class_names(*experiment_.fabric);
        std::vector<std::pair<std::string, std::vector<std::string>>> resources;
        if (experiment_.fabric->family().has_one_rate() && classes.size() > 1) {
            for (std::string& name : classes) {
                name.insert(0, "links.");
            }
            resources.emplace_back("all links", std::move(classes));
        } else {
            for (const std::string& name : classes) {
                resources.push_back({name + " links", {"links." + name}});
            }
        }
        for (const auto& [name, keys] : resources) {
            for (const double factor : {2.0, 0.5, kUnlimited}) {
                resource("links", name, keys, factor);
            }
        }
    }

    [[nodiscard]] bool computes() const {
        return std::any_of(experiment_.program.operations.begin(), experiment_.program.operations.end(),
                           [](const system::Operation& operation) { return operation.is_compute(); });
    }

    void speeds() {
        if (experiment_.fabric->link_count() > 0) {
            add("latency", "latency 0", {"scaled.latency=0"}).is_unlimited = true;
        }
        if (computes()) {
            resource("compute", "compute", {"compute"}, 2);
            resource("compute", "compute", {"compute"}, kUnlimited);
        }
        if (!experiment_.fabric->is_static()) {
            Change& change =
                add("reconfiguration", "reconfiguration x1/10", {scaled_by("reconfiguration", 0.1)});
            change.factor = 0.1;
        }
        const system::EndPoint& end_point = experiment_.cluster.options.end_point;
        if (end_point.injection_latency > Time(0) || end_point.reduction_bandwidth) {
            resource("end_points", "end points", {"end_points"}, 2);
            resource("end_points", "end points", {"end_points"}, kUnlimited);
        }
    }

    /// Groups of ranks over which collectives of a kind communicate, each shape once.
    [[nodiscard]] std::vector<system::Shape> shapes_of(std::size_t kind) const {
        std::vector<system::Shape> shapes;
        std::map<std::string, bool> known;
        for (const system::Operation& operation : experiment_.program.operations) {
            if (!operation.is_collective() || static_cast<std::size_t>(operation.collective().kind) != kind) {
                continue;
            }
            for (const auto& group :
                 experiment_.program.partitions[operation.collective().partition].groups) {
                system::Shape shape = system::group_shape(group, experiment_.cluster.options);
                if (group.size() > 1 && known.emplace(shape.text(), true).second) {
                    shapes.push_back(std::move(shape));
                }
            }
        }
        return shapes;
    }

    /// Why this experiment cannot take the algorithm, or an empty text.
    [[nodiscard]] std::string refusal_of(const system::CollectiveAlgorithm& algorithm,
                                         system::CollectiveKind kind,
                                         const std::vector<system::Shape>& shapes) const {
        for (const system::Shape& shape : shapes) {
            if (const std::optional<std::string> refusal = algorithm.unsupported(kind, shape)) {
                return fmt::format("over {} ranks: {}", shape.text(), *refusal);
            }
        }
        if (algorithm.circuit_use() != system::CircuitUse::kNone &&
            experiment_.cluster.options.circuit_windows == nullptr) {
            return "the network has no circuits that come and go";
        }
        return "";
    }

    void algorithms(std::size_t kind, const std::string& key, const std::vector<system::Shape>& shapes) {
        constexpr system::Position kProbedRanks = 4;
        const auto which = static_cast<system::CollectiveKind>(kind);
        for (const std::string& name : components_.algorithms.names()) {
            ConfigNode node = ConfigNode::mapping();
            node.set(components_.algorithms.discriminator(), ConfigNode::scalar(name));
            ReadContext context;
            const auto configured = components_.algorithms.read(node, context);
            if (name == experiment_.cluster.algorithms[kind] || !configured) {
                continue;
            }
            const system::AlgorithmPointer algorithm = configured->make();
            if (system::takes_kind(*algorithm, which, kProbedRanks)) {
                add("algorithms", fmt::format("{} {}", key, name),
                    {fmt::format("cluster.collectives.{}.algorithm={}", key, name)})
                    .unsupported = refusal_of(*algorithm, which, shapes);
            }
        }
    }

    /// Twice as many and half as many of something that is counted.
    void counts(const std::string& group, const std::string& name, const std::string& path,
                std::int64_t present) {
        add(group, fmt::format("{} {} instead of {}", name, 2 * present, present),
            {fmt::format("{}={}", path, 2 * present)});
        if (present > 1) {
            add(group, fmt::format("{} {} instead of {}", name, present / 2, present),
                {fmt::format("{}={}", path, present / 2)});
        }
    }

    void collectives() {
        for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
            const std::vector<system::Shape> shapes = shapes_of(kind);
            if (shapes.empty()) {
                continue;
            }
            const std::string key = experiment::collective_key(kind);
            const std::string section = "cluster.collectives." + key;
            algorithms(kind, key, shapes);
            counts("chunks", key + " chunks", section + ".chunks",
                   experiment_.cluster.options.collectives[kind].chunks);
            if (const auto window = count_at(experiment_.resolved, section + ".window")) {
                counts("windows", key + " window", section + ".window", *window);
            }
            has_collectives_ = true;
        }
        if (has_collectives_) {
            counts("windows", "active chunks", "cluster.active_chunks",
                   experiment_.cluster.options.active_chunks);
        }
    }

    /// What speaks against other numbers in the network section, or an empty text.
    [[nodiscard]] std::string refusal_of(const std::vector<std::string>& overrides) const {
        ConfigNode root = experiment_.resolved;
        for (const std::string& assignment : overrides) {
            if (const Diagnostics errors = apply_override(root, assignment); !errors.empty()) {
                return errors.front().message;
            }
        }
        const Result<experiment::Experiment> changed =
            experiment::read_experiment(std::move(root), {}, experiment_.name, experiment_.seed, components_);
        return changed ? "" : changed.error().front().message;
    }

    /// The next number above (below) the present one that the network can have, within a few steps.
    void next_count(const std::string& key, std::int64_t present, std::int64_t step) {
        constexpr std::int64_t kSteps = 8;
        Change change;
        for (std::int64_t i = 1; i <= kSteps && present + i * step > 0; ++i) {
            std::vector<std::string> overrides{fmt::format("network.{}={}", key, present + i * step)};
            // Left at 0 they would follow.
            const ConfigNode* hosts = experiment_.resolved.find_path("network.hosts_per_rack");
            const auto racks = count_at(experiment_.resolved, "network.racks");
            if (hosts != nullptr && hosts->text == "0" && racks) {
                overrides.push_back(
                    fmt::format("network.hosts_per_rack={}",
                                static_cast<std::int64_t>(experiment_.fabric->host_count()) / *racks));
            }
            const std::string refusal = refusal_of(overrides);
            if (refusal.empty() || change.name.empty()) {
                change.group = "cables";
                change.name = fmt::format("{} {} instead of {}", key, present + i * step, present);
                change.overrides = std::move(overrides);
                change.has_price = true;
                change.unsupported = refusal;
            }
            if (refusal.empty()) {
                break;
            }
        }
        if (!change.name.empty()) {
            changes_.push_back(std::move(change));
        }
    }

    void cables() {
        // Half the ports of a radix are uplinks.
        for (const auto& [key, step] :
             {std::pair{"degree", 1}, std::pair{"random.degree", 1}, std::pair{"uplinks", 1},
              std::pair{"radix", 2}, std::pair{"spines", 1}}) {
            if (const auto present = count_at(experiment_.resolved, std::string("network.") + key)) {
                next_count(key, *present, step);
                next_count(key, *present, -step);
            }
        }
    }

    void work() {
        for (const char* path : {"workload.batch", "workload.batch.global", "workload.batch.local"}) {
            if (const auto batch = count_at(experiment_.resolved, path)) {
                const std::size_t first = changes_.size();
                counts("batch", "batch", path, *batch);
                for (std::size_t i = first; i < changes_.size(); ++i) {
                    changes_[i].samples =
                        i == first ? 2.0 : static_cast<double>(*batch / 2) / static_cast<double>(*batch);
                    changes_[i].factor = changes_[i].samples;
                }
            }
        }
        if (const auto tables = count_at(experiment_.resolved, "workload.model.tables.count")) {
            counts("tables", "tables", "workload.model.tables.count", *tables);
        }
    }

    const experiment::Experiment& experiment_;
    const experiment::Components& components_;
    std::vector<Change> changes_;
    bool has_collectives_ = false;
};

}  // namespace

const std::vector<std::string>& change_groups() {
    static const std::vector<std::string> kGroups{"links",      "latency",    "compute", "reconfiguration",
                                                  "end_points", "algorithms", "chunks",  "windows",
                                                  "cables",     "batch",      "tables"};
    return kGroups;
}

std::vector<Change> possible_changes(const experiment::Experiment& experiment,
                                     const experiment::Components& components) {
    return Suggestions(experiment, components).all();
}

}  // namespace astrolabe::study
