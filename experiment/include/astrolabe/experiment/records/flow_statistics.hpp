/// What became of flows: times of completion and slowdowns by size class.
///
/// The time of a flow is from its start to its last byte; slowdown = time / ideal (ideal_time.hpp).
///
/// Of n values in order, v_0 <= … <= v_(n-1), the percentile p is v_⌊p·n⌋. Its confidence interval of 95 % is
/// by order statistics: the number of values below the true percentile is binomial, so that it lies between
/// v_⌊np - d⌋ and v_⌈np + d⌉, d = 1.96 √(n p (1-p)); an end beyond the values is unknown. That of the mean is
/// mean ± 1.96 s / √n. Both take values for independent, which those of flows that met are not quite: repeat
/// with other seeds where it matters. Intervals of fewer than 30 values are not given.
///
/// Throughput: what was offered and what was completed in each of up to 64 intervals, each the same power of
/// two of a microsecond; a flow's bytes count where it starts, and where it ends.
///
/// Memory: 24 bytes for each flow delivered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/records/ideal_time.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>
#include <astrolabe/system/flows/flow_injector.hpp>

namespace astrolabe::experiment {

/// Of a confidence of 95 %; an end that is unknown is none.
struct Estimate {
    double value = 0;
    std::optional<double> low;
    std::optional<double> high;
};

/// Of one quantity over the flows of a class.
struct ValueSummary {
    Estimate mean;
    std::vector<Estimate> percentiles;  ///< by kFlowPercentiles
    double max = 0;
};

struct NamedShare {
    const char* name;
    double share;
};
inline constexpr std::array<NamedShare, 4> kFlowPercentiles{
    {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}};

/// Flows of more than `above` bytes and at most `to`.
struct SizeClass {
    Bytes above;
    std::optional<Bytes> to;  ///< none of the last class, which has no end
    std::uint64_t flows = 0;
    Bytes bytes;
    ValueSummary seconds;   ///< of no flows: all 0
    ValueSummary slowdown;  ///< likewise
};

struct FlowResults {
    std::uint64_t started = 0;
    std::uint64_t delivered = 0;
    Bytes started_bytes;
    Bytes delivered_bytes;
    bool is_at_limit = false;  ///< the run was ended at its time limit
    std::vector<system::UnfinishedFlow> unfinished;  ///< the first of them
    SizeClass all;
    std::vector<SizeClass> classes;
    Time interval;                        ///< of the two below
    std::vector<double> offered;          ///< B/s
    std::vector<double> completed;        ///< likewise
    Time ports_bound;                     ///< no run that delivers the same takes less
    std::string fingerprint;
};

/// Of values in any order; sorts them.
[[nodiscard]] ValueSummary summarise(std::vector<double>& values);

class FlowStatistics final : public system::FlowObserver {
public:
    explicit FlowStatistics(const Experiment& experiment, const std::vector<Bytes>& size_limits);

    void flow_delivered(const system::DeliveredFlow& flow) override;

    [[nodiscard]] FlowResults results(const system::FlowInjector& injector, Time end) const;

private:
    struct Delivered {
        Bytes size;
        Time time;
        double slowdown;
    };
    struct Port {
        Time since = Time::max();  ///< start of its first flow
        Bytes bytes;
    };
    /// Sums over intervals that double when there are too many.
    class Series {
    public:
        void add(Time at, Bytes bytes);
        void widen();
        [[nodiscard]] Time interval() const { return interval_; }
        [[nodiscard]] std::vector<double> rates(Time interval, Time end) const;

    private:
        Time interval_{1'000'000};
        std::vector<Bytes> sums_;
    };

    [[nodiscard]] SizeClass summary_of(Bytes above, std::optional<Bytes> to) const;
    [[nodiscard]] Time ports_bound() const;

    const network::Fabric& fabric_;
    bool shares_links_;
    IdealTimes ideal_;
    std::vector<Bytes> size_limits_;
    std::vector<Delivered> delivered_;
    std::vector<Port> sources_;
    std::vector<Port> destinations_;
    Series offered_;
    Series completed_;
    Time longest_;  ///< of start + ideal
    Fingerprint print_;
};

}  // namespace astrolabe::experiment
