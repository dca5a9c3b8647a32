/// The fit of kernel_table.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/experiment/calibration/kernel_table.hpp>

namespace astrolabe::experiment {
namespace {

constexpr double kContradiction = 1.2;
constexpr double kLeastValueSize = 2;  // bytes

double seconds_of(Time time) {
    return to_seconds(time);
}

Time time_of_seconds(double seconds) {
    return Time(std::llround(seconds * static_cast<double>(kPicosecondsPerSecond)));
}

/// Σ (a·shared + b·own[group] - 1)² at its least with nothing negative.
struct Equation {
    double a;
    double b;
    std::int64_t group;
};
struct Solution {
    double shared = 0;
    std::map<std::int64_t, double> own;
};

Solution solve(const std::vector<Equation>& equations) {
    struct Sums {
        double bb = 0;
        double ab = 0;
        double b = 0;
        bool is_zero = false;  // held at zero
    };
    std::map<std::int64_t, Sums> groups;
    for (const Equation& equation : equations) {
        Sums& sums = groups[equation.group];
        sums.bb += equation.b * equation.b;
        sums.ab += equation.a * equation.b;
        sums.b += equation.b;
    }
    Solution solution;
    for (bool again = true; again;) {
        again = false;
        double upper = 0;
        double lower = 0;
        for (const Equation& equation : equations) {
            const Sums& sums = groups[equation.group];
            const bool is_free = !sums.is_zero && sums.bb > 0;
            const double a = equation.a - (is_free ? equation.b * sums.ab / sums.bb : 0);
            const double target = 1 - (is_free ? equation.b * sums.b / sums.bb : 0);
            upper += a * target;
            lower += a * a;
        }
        // A single sample count in a group says nothing of what is shared.
        solution.shared =
            lower > 1e-18 * static_cast<double>(equations.size()) ? std::max(0.0, upper / lower) : 0;
        for (auto& [group, sums] : groups) {
            const double own =
                sums.is_zero || sums.bb == 0 ? 0 : (sums.b - sums.ab * solution.shared) / sums.bb;
            if (own < 0) {
                sums.is_zero = true;
                again = true;
            }
            solution.own[group] = std::max(0.0, own);
        }
    }
    return solution;
}

struct Sample {
    const KernelPoint* point;
    bool is_backward;
    double seconds;

    [[nodiscard]] double flops_a_sample() const {
        return (is_backward ? 4.0 : 2.0) * static_cast<double>(point->inputs) *
               static_cast<double>(point->columns);
    }
};

struct GemmModel {
    Solution line;  // shared 1/r, own m½/r
    double floor = 0;
    double backward_floor = 0;

    [[nodiscard]] double line_at(const Sample& sample) const {
        const auto own = line.own.find(sample.point->columns);
        return sample.flops_a_sample() * (static_cast<double>(sample.point->samples) * line.shared +
                                          (own == line.own.end() ? 0 : own->second));
    }
    [[nodiscard]] double floor_of(const Sample& sample) const {
        return sample.is_backward ? backward_floor : floor;
    }
    [[nodiscard]] double at(const Sample& sample) const {
        return std::max(line_at(sample), floor_of(sample));
    }
};

double squares(const GemmModel& model, const std::vector<Sample>& samples) {
    double sum = 0;
    for (const Sample& sample : samples) {
        const double error = model.at(sample) / sample.seconds - 1;
        sum += error * error;
    }
    return sum;
}

/// With floors near those given: which points lie on them and what the others say are found in turn.
/// Columns whose points are flat: half of the rate with more rows than any of them has is no line, but a
/// floor.
std::set<std::int64_t> flat_columns(const Solution& line, const std::vector<Sample>& samples) {
    std::map<std::int64_t, double> most_samples;
    for (const Sample& sample : samples) {
        double& most = most_samples[sample.point->columns];
        most = std::max(most, static_cast<double>(sample.point->samples));
    }
    std::set<std::int64_t> flat;
    for (const auto& [columns, own] : line.own) {
        if (own > line.shared * most_samples[columns]) {
            flat.insert(columns);
        }
    }
    return flat;
}

/// With floors near those given: which points are on them and what the others say are found in turn.
GemmModel fit_gemm_at(const std::vector<Sample>& samples, double floor, double backward_floor) {
    GemmModel model{{}, floor, backward_floor};
    constexpr double kAbove = 1.15;
    constexpr int kRounds = 4;
    std::set<std::int64_t> flat;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<Equation> equations;
        for (const Sample& sample : samples) {
            const bool is_above = round == 0 ? sample.seconds > kAbove * model.floor_of(sample)
                                             : model.line_at(sample) > model.floor_of(sample);
            if (is_above && !flat.contains(sample.point->columns)) {
                const double c = sample.flops_a_sample() / sample.seconds;
                equations.push_back(
                    {c * static_cast<double>(sample.point->samples), c, sample.point->columns});
            }
        }
        if (equations.empty()) {
            break;
        }
        model.line = solve(equations);
        flat.merge(flat_columns(model.line, samples));
        for (const std::int64_t columns : flat) {
            model.line.own.erase(columns);
        }
        // Least squares of the relative error of a constant: Σ(1/t) / Σ(1/t²).
        for (const bool is_backward : {false, true}) {
            double first = 0;
            double second = 0;
            for (const Sample& sample : samples) {
                const bool is_on_floor =
                    flat.contains(sample.point->columns) || model.line_at(sample) <= model.floor_of(sample);
                if (sample.is_backward == is_backward && is_on_floor) {
                    first += 1 / sample.seconds;
                    second += 1 / (sample.seconds * sample.seconds);
                }
            }
            (is_backward ? model.backward_floor : model.floor) = second > 0 ? first / second : 0;
        }
    }
    return model;
}

/// Times that may be a floor: none, and those up to a few times the least, a twentieth apart.
std::vector<double> floor_candidates(const std::vector<Sample>& samples, bool is_backward) {
    constexpr double kMost = 3;
    constexpr double kApart = 1.05;
    std::set<double> times;
    for (const Sample& sample : samples) {
        if (sample.is_backward == is_backward) {
            times.insert(sample.seconds);
        }
    }
    std::vector<double> candidates{0};
    for (const double time : times) {
        if (time <= kMost * *times.begin() && time > kApart * candidates.back()) {
            candidates.push_back(time);
        }
    }
    return candidates;
}

GemmModel fit_gemm(const std::vector<Sample>& samples) {
    GemmModel best;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<double> backward_floors = floor_candidates(samples, true);
    for (const double floor : floor_candidates(samples, false)) {
        for (const double backward_floor : backward_floors) {
            const GemmModel model = fit_gemm_at(samples, floor, backward_floor);
            const double sum = squares(model, samples);
            if (sum < least) {
                best = model;
                least = sum;
            }
        }
    }
    return best;
}

double lookup_bytes(const KernelPoint& point, const KernelTableOptions& options) {
    const auto columns = static_cast<double>(point.columns);
    return static_cast<double>(point.samples) *
           (static_cast<double>(point.lookups) * (8 + columns * static_cast<double>(options.element_size)) +
            8 + columns * 4);
}

/// shared: the floor; own: seconds a byte, by columns.
Solution fit_lookups(const std::vector<Sample>& samples, const KernelTableOptions& options) {
    std::vector<Equation> equations;
    equations.reserve(samples.size());
    for (const Sample& sample : samples) {
        equations.push_back({1 / sample.seconds, lookup_bytes(*sample.point, options) / sample.seconds,
                             sample.point->columns});
    }
    return solve(equations);
}

class DefectFinder {
public:
    DefectFinder(const std::vector<KernelTable>& tables, const KernelTableOptions& options)
        : options_(options) {
        for (const KernelTable& table : tables) {
            for (const KernelPoint& point : table.points) {
                kernels_[point.kernel].push_back(&point);
            }
        }
    }

    void find() {
        for (auto& [name, points] : kernels_) {
            leave_out_slow_parts(name, points);
            leave_out_faster_than_memory(name, points);
            if (points.empty()) {
                continue;
            }
            if (points.front()->kind == KernelKind::kOther) {
                defects.push_back(
                    {points.front()->where, fmt::format("{} has no model and is left out", name)});
                continue;
            }
            const bool doubles = std::ranges::all_of(points, [](const KernelPoint* point) {
                return point->backward && is_double(point->forward, *point->backward);
            });
            if (doubles && points.size() > 1) {
                defects.push_back(
                    {points.front()->where,
                     fmt::format("{}: backward is twice forward at all {} points, so it was not "
                                 "measured and is left out",
                                 name, points.size())});
            }
            for (const KernelPoint* point : points) {
                auto& samples = point->kind == KernelKind::kDense ? dense : lookups;
                samples.push_back({point, false, seconds_of(point->forward)});
                if (point->backward && !doubles && point->kind == KernelKind::kDense) {
                    dense.push_back({point, true, seconds_of(*point->backward)});
                }
            }
        }
    }

    std::vector<Sample> dense;
    std::vector<Sample> lookups;
    std::vector<KernelDefect> defects;

private:
    using Points = std::vector<const KernelPoint*>;

    /// To the five or six digits that are printed.
    static bool is_double(Time forward, Time backward) {
        return std::abs(seconds_of(backward) / seconds_of(forward) - 2) < 4e-3 &&
               std::abs(backward.count() - 2 * forward.count()) <=
                   std::max<std::int64_t>(2, backward.count() / 500);
    }

    void leave_out_slow_parts(const std::string& name, Points& points) {
        std::map<std::int64_t, Time> fastest;  // by samples
        std::map<std::int64_t, std::set<std::int64_t>> parts_of;
        for (const KernelPoint* point : points) {
            const auto [found, is_new] = fastest.emplace(point->samples, point->forward);
            found->second = is_new ? found->second : std::min(found->second, point->forward);
            parts_of[point->samples].insert(point->parts);
        }
        std::map<std::int64_t, std::pair<std::size_t, std::size_t>> slow;  // by parts: of how many
        for (const KernelPoint* point : points) {
            if (parts_of[point->samples].size() < 2) {
                continue;
            }
            auto& [count, all] = slow[point->parts];
            ++all;
            count +=
                seconds_of(point->forward) > kContradiction * seconds_of(fastest[point->samples]) ? 1 : 0;
        }
        for (const auto& [parts, counted] : slow) {
            if (counted.first == 0 || 2 * counted.first < counted.second) {
                continue;
            }
            const auto is_of = [parts = parts](const KernelPoint* point) { return point->parts == parts; };
            const auto first = std::ranges::find_if(points, is_of);
            const auto count = std::ranges::count_if(points, is_of);
            defects.push_back(
                {(*first)->where,
                 fmt::format(
                     "{} with {} parts contradicts other parts: {} of {} comparable points take more than "
                     "{} times as long for the same samples; its {} points are left out",
                     name, parts, counted.first, counted.second, kContradiction, count)});
            std::erase_if(points, is_of);
        }
    }

    void leave_out_faster_than_memory(const std::string& name, Points& points) {
        if (!options_.memory_bandwidth) {
            return;
        }
        const auto rate = [](const KernelPoint* point) {
            const auto m = static_cast<double>(point->samples);
            const auto k = static_cast<double>(point->inputs);
            const auto n = static_cast<double>(point->columns);
            double bytes = 0;
            switch (point->kind) {
                case KernelKind::kDense:
                    bytes = kLeastValueSize * (m * k + k * n + m * n);
                    break;
                case KernelKind::kLookup:
                    // Rows that are looked up again may be cached: the results alone are certain.
                    bytes = kLeastValueSize * m * n;
                    break;
                case KernelKind::kOther:
                    bytes = point->memory ? static_cast<double>(point->memory->count()) : 0;
                    break;
            }
            return bytes / seconds_of(point->forward);
        };
        const double most = to_bytes_per_second(*options_.memory_bandwidth);
        std::vector<const KernelPoint*> out;
        std::ranges::copy_if(points, std::back_inserter(out),
                             [&](const KernelPoint* point) { return rate(point) > most; });
        if (out.empty()) {
            return;
        }
        const KernelPoint* least =
            *std::ranges::min_element(out, {}, [](const KernelPoint* point) { return point->samples; });
        defects.push_back(
            {least->where, fmt::format("{} from {} samples up moves more than the memory's {:.0f} GB/s "
                                       "({:.0f} GB/s at least): {} points are left out",
                                       name, least->samples, most / 1e9, rate(least) / 1e9, out.size())});
        std::erase_if(points, [&](const KernelPoint* point) { return rate(point) > most; });
    }

    const KernelTableOptions& options_;
    std::map<std::string, Points> kernels_;
};

/// Prediction of every sample in `asked` by a fit to `given`, in order.
std::vector<double> predictions(const std::vector<Sample>& given, const std::vector<Sample>& asked,
                                const KernelTableOptions& options) {
    std::vector<Sample> dense;
    std::vector<Sample> lookups;
    for (const Sample& sample : given) {
        (sample.point->kind == KernelKind::kDense ? dense : lookups).push_back(sample);
    }
    const GemmModel gemm = dense.empty() ? GemmModel{} : fit_gemm(dense);
    const Solution lookup = lookups.empty() ? Solution{} : fit_lookups(lookups, options);
    std::vector<double> predicted;
    for (const Sample& sample : asked) {
        if (sample.point->kind == KernelKind::kDense) {
            predicted.push_back(gemm.at(sample));
        } else {
            const auto own = lookup.own.find(sample.point->columns);
            const double per_byte = own == lookup.own.end() ? 0 : own->second;
            predicted.push_back(lookup.shared + lookup_bytes(*sample.point, options) * per_byte);
        }
    }
    return predicted;
}

double left_out_error_of(const std::vector<Sample>& samples, const KernelTableOptions& options) {
    std::set<std::pair<std::string, std::int64_t>> keys;
    for (const Sample& sample : samples) {
        keys.emplace(sample.point->kernel, sample.point->samples);
    }
    double sum = 0;
    std::size_t count = 0;
    for (const auto& key : keys) {
        std::vector<Sample> given;
        std::vector<Sample> asked;
        for (const Sample& sample : samples) {
            const bool is_out = sample.point->kernel == key.first && sample.point->samples == key.second;
            (is_out ? asked : given).push_back(sample);
        }
        const bool is_known = std::ranges::any_of(given, [&](const Sample& sample) {
            return sample.point->kind == asked.front().point->kind &&
                   sample.point->columns == asked.front().point->columns;
        });
        if (!is_known) {
            continue;  // the only samples of its columns say nothing of others
        }
        const std::vector<double> predicted = predictions(given, asked, options);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            sum += std::abs(predicted[i] / asked[i].seconds - 1);
            ++count;
        }
    }
    return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace

Result<KernelFit> fit_kernels(const std::vector<KernelTable>& tables, const KernelTableOptions& options) {
    DefectFinder finder(tables, options);
    finder.find();
    std::vector<Sample> samples = finder.dense;
    samples.insert(samples.end(), finder.lookups.begin(), finder.lookups.end());
    if (samples.empty()) {
        return Diagnostic{
            "calibrate.kernels", {}, "no kernel is left to fit", "name kernels Dense_K_N or Embed_RxD", {}};
    }
    KernelFit fit;
    fit.defects = std::move(finder.defects);
    if (!finder.dense.empty()) {
        const GemmModel gemm = fit_gemm(finder.dense);
        if (gemm.line.shared > 0) {
            fit.rate = FlopRate(std::llround(1 / gemm.line.shared));
            for (const auto& [columns, own] : gemm.line.own) {
                fit.half_rows[columns] = std::llround(own / gemm.line.shared);
            }
        }
        fit.gemm_floor = time_of_seconds(gemm.floor);
        fit.gemm_backward_floor = time_of_seconds(gemm.backward_floor);
    }
    if (!finder.lookups.empty()) {
        const Solution lookup = fit_lookups(finder.lookups, options);
        fit.lookup_floor = time_of_seconds(lookup.shared);
        for (const auto& [columns, own] : lookup.own) {
            if (own > 0) {
                constexpr double kMostBitsPerSecond = 1e18;
                fit.lookup_bandwidth.emplace(columns,
                                             Bandwidth(std::llround(std::min(8 / own, kMostBitsPerSecond))));
            }
        }
    }
    const std::vector<double> fitted = predictions(samples, samples, options);
    fit.least_samples = samples.front().point->samples;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const Sample& sample = samples[i];
        fit.residuals.push_back(
            {sample.point, sample.is_backward, time_of_seconds(sample.seconds), time_of_seconds(fitted[i])});
        const double error = std::abs(fitted[i] / sample.seconds - 1);
        fit.mean_error += error / static_cast<double>(samples.size());
        fit.largest_error = std::max(fit.largest_error, error);
        fit.least_samples = std::min(fit.least_samples, sample.point->samples);
        fit.most_samples = std::max(fit.most_samples, sample.point->samples);
    }
    fit.left_out_error = left_out_error_of(samples, options);
    return fit;
}

ConfigNode device_keys(const KernelFit& fit, workload::Precision precision) {
    const auto by_columns = [](const auto& values, const auto& text) {
        if (values.size() == 1) {
            return ConfigNode::scalar(text(values.begin()->second));
        }
        ConfigNode node = ConfigNode::mapping();
        for (const auto& [columns, value] : values) {
            node.set(std::to_string(columns), ConfigNode::scalar(text(value)));
        }
        return node;
    };
    constexpr std::array<const char*, 4> kPrecisions{"fp32", "tf32", "bf16", "fp16"};
    ConfigNode keys = ConfigNode::mapping();
    if (fit.rate) {
        ConfigNode rate = ConfigNode::mapping();
        rate.set(kPrecisions[static_cast<std::size_t>(precision)], ConfigNode::scalar(to_string(*fit.rate)));
        ConfigNode gemm = ConfigNode::mapping();
        gemm.set("rate", std::move(rate));
        gemm.set("half_rows",
                 by_columns(fit.half_rows, [](std::int64_t rows) { return std::to_string(rows); }));
        gemm.set("floor", ConfigNode::scalar(to_string(fit.gemm_floor)));
        gemm.set("backward_floor", ConfigNode::scalar(to_string(fit.gemm_backward_floor)));
        keys.set("gemm", std::move(gemm));
    }
    if (!fit.lookup_bandwidth.empty()) {
        ConfigNode lookup = ConfigNode::mapping();
        lookup.set("bandwidth",
                   by_columns(fit.lookup_bandwidth, [](Bandwidth rate) { return to_string(rate); }));
        lookup.set("floor", ConfigNode::scalar(to_string(fit.lookup_floor)));
        keys.set("lookup", std::move(lookup));
    }
    return keys;
}

}  // namespace astrolabe::experiment
