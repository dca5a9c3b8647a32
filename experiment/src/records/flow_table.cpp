#include <algorithm>
#include <cmath>
#include <iterator>

#include <astrolabe/experiment/records/flow_table.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {

FlowTable::FlowTable(const Experiment& experiment, OutputFile file)
    : fabric_(*experiment.fabric),
      file_(std::move(file)) {
    for (const system::Operation& operation : experiment.program.operations) {
        operations_.push_back(fmt::format("{},{}", operation.iteration, csv_field(operation.name)));
    }
    operations_.push_back(experiment.flows != nullptr ? "0,flows" : "0,background");
    file_.append(
        "source,destination,bytes,traffic_class,iteration,operation,sent_s,delivered_s,time_s,ideal_s,"
        "slowdown\n");
}

Time FlowTable::ideal_time(const network::MessageRecord& record) {
    std::uint32_t pair = pairs_.find(record.source, record.destination);
    if (pair == network::PairIndex::kNone) {
        const network::Route route = fabric_.routing().route(record.source, record.destination);
        Path path{route.latency, Bandwidth(std::numeric_limits<std::int64_t>::max())};
        if (route.legs.empty()) {
            // A pair that waits for circuits to move: it has one of its own then.
            const network::Link& circuit = fabric_.link(fabric_.first_link(fabric_.node_of(record.source)));
            path = {circuit.latency, circuit.rate};
        }
        for (const network::RouteLeg& leg : route.legs) {
            const double rate = static_cast<double>(fabric_.link(leg.link).rate.count());
            const double most = std::min(std::floor(rate / leg.share), 0x1p62);
            path.rate = std::min(path.rate, Bandwidth(static_cast<std::int64_t>(most)));
        }
        pair = static_cast<std::uint32_t>(paths_.size());
        paths_.push_back(path);
        pairs_.insert(record.source, record.destination, pair);
    }
    return paths_[pair].latency + record.size / paths_[pair].rate;
}

void FlowTable::message(const network::MessageRecord& record) {
    const Time time = record.delivered - record.sent;
    const Time ideal = ideal_time(record);
    times_.add(time);
    row_.clear();
    const auto out = std::back_inserter(row_);
    fmt::format_to(out, "{},{},{},{},{}", record.source.index(), record.destination.index(),
                   record.size.count(), record.traffic_class, operations_[record.label]);
    for (const Time column : {record.sent, record.delivered, time, ideal}) {
        fmt::format_to(out, ",{}.{:012}", column.count() / kPicosecondsPerSecond,
                       column.count() % kPicosecondsPerSecond);
    }
    if (ideal > Time(0)) {
        fmt::format_to(out, ",{:.6g}",
                       static_cast<double>(time.count()) / static_cast<double>(ideal.count()));
    } else {
        row_.push_back(',');
    }
    row_.push_back('\n');
    file_.append({row_.data(), row_.size()});
}

}  // namespace astrolabe::experiment
