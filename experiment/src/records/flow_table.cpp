#include <iterator>
#include <utility>

#include <astrolabe/experiment/records/flow_table.hpp>
#include <astrolabe/experiment/results/csv.hpp>

namespace astrolabe::experiment {

FlowTable::FlowTable(const Experiment& experiment, OutputFile file)
    : ideal_(experiment.fabric, experiment.backend),
      file_(std::move(file)) {
    for (const system::Operation& operation : experiment.program.operations) {
        operations_.push_back(fmt::format("{},{}", operation.iteration, csv_field(operation.name)));
    }
    operations_.push_back(experiment.flows != nullptr ? "0,flows" : "0,background");
    file_.append(
        "source,destination,bytes,traffic_class,iteration,operation,sent_s,delivered_s,time_s,ideal_s,"
        "slowdown\n");
}

void FlowTable::message(const network::MessageRecord& record) {
    const Time time = record.delivered - record.sent;
    const Time ideal = ideal_.of(record.source, record.destination, record.size);
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
