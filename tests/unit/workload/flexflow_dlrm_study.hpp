/// The models of the EuroMLSys 2024 Opera study (docs/theory/opera-dlrm-study.md, "Workloads" and "Compute
/// times"), as written there, and what a program of them sends.
#pragma once

#include "workload/src/flexflow/flexflow_dlrm.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload::testing {

/// Lists of `sizes` times `width`; the top list ends in one prediction more.
inline FlexflowModel opera_study_model(std::int64_t tables, std::int64_t dimension, std::size_t sizes,
                                       std::int64_t width) {
    FlexflowModel model{.tables = tables, .rows = 10'000'000, .dimension = dimension, .bag_size = 100};
    model.bottom_mlp.assign(sizes, width);
    model.top_mlp.assign(sizes, width);
    model.top_mlp.push_back(1);
    return model;
}

inline FlexflowModel model_a(std::int64_t dimension = 80) {
    return opera_study_model(1000, dimension, 20, 3375);
}
inline FlexflowModel model_i() {
    return opera_study_model(361, 92, 43, 682);
}

/// At 512k samples, with the times of "Compute times".
inline FlexflowTraining opera_study_training() {
    using namespace astrolabe::literals;
    FlexflowTraining training;
    training.batch = 524'288;
    training.element_size = 8_B;
    training.embedding = {.forward = 34_ms, .backward = 375'800_us, .samples = 524'288};
    training.gemm = {{1, 5_TFLOPS}, {512, 9'400_GFLOPS}, {4096, 17'400_GFLOPS}};
    return training;
}

inline Device a100() {
    Device device;
    device.memory_bandwidth = Bandwidth(8 * 1'555'000'000'000);  // 1555 GB/s
    return device;
}

/// What crosses between nodes, from the program alone.
struct Crossing {
    Bytes slices;
    Bytes all_reduce;
    std::int64_t tasks = 0;
};

inline Crossing crossing(const system::Program& program) {
    const auto nodes = static_cast<std::int64_t>(program.ranks);
    Crossing sum;
    for (const system::Operation& operation : program.operations) {
        if (operation.is_compute()) {
            for (std::size_t node = 0; node < program.ranks; ++node) {
                sum.tasks += operation.compute().duration[system::RankId(node)] > Time(0) ? 1 : 0;
            }
            continue;
        }
        const system::CollectiveOperation& collective = operation.collective();
        if (collective.kind == system::CollectiveKind::kAllReduce) {
            sum.all_reduce += 2 * (nodes - 1) * collective.size;
            ++sum.tasks;
        } else if (!collective.is_uneven()) {
            sum.slices += (nodes - 1) * collective.size;  // each of N holds size, N-1 parts of N leave it
            sum.tasks += nodes * (nodes - 1);
        } else {
            const system::PairSizes& sizes = collective.pair_sizes->front();
            sum.slices += sizes.crossing();
            for (std::size_t source = 0; source < program.ranks; ++source) {
                for (std::size_t destination = 0; destination < program.ranks; ++destination) {
                    sum.tasks += source != destination && sizes(source, destination) > Bytes(0) ? 1 : 0;
                }
            }
        }
    }
    return sum;
}

}  // namespace astrolabe::workload::testing
