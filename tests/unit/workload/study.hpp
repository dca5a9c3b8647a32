/// The profiles of the HOTI 2020 study (docs/theory/hoti20-study.md, "Model" and "Profiles"), as written
/// there.
#pragma once

#include "workload/src/dlrm/dlrm_training.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload::testing {

struct Profile {
    DlrmModel model;
    DlrmTraining training;
    Device device;
    std::size_t ranks = 0;
};

/// "a + 2 layers": one from the dense features, `inner` of width × width, one to the embedding dimension 64;
/// "b + 2" likewise from the interaction to one value. The study does not give rows: 1,000,000.
inline Profile profile(std::size_t ranks, std::int64_t batch, std::int64_t tables, std::int64_t dense,
                       std::size_t inner_bottom, std::int64_t bottom_width, std::size_t inner_top,
                       std::int64_t top_width, FlopRate peak) {
    Profile made;
    made.model.dense_features = dense;
    made.model.bottom_mlp.assign(inner_bottom + 1, bottom_width);
    made.model.bottom_mlp.push_back(64);
    made.model.top_mlp.assign(inner_top + 1, top_width);
    made.model.top_mlp.push_back(1);
    made.model.tables = {{.count = tables, .rows = 1'000'000, .dimension = 64, .pooling = 60}};
    made.training.local_batch = batch;
    made.training.dense_feature_gradient = true;  // as the reference loop
    made.device.peak = peak;
    made.device.memory_bandwidth = Bandwidth(8 * 900'000'000'000);  // 900 GB/s
    made.ranks = ranks;
    return made;
}

inline Profile paper128() {
    using namespace astrolabe::literals;
    return profile(128, 512, 64, 1600, 5, 1024, 10, 2048, 60_TFLOPS);
}
inline Profile mid32() {
    using namespace astrolabe::literals;
    return profile(32, 512, 64, 1600, 5, 512, 10, 1024, 15_TFLOPS);
}
inline Profile mini16() {
    using namespace astrolabe::literals;
    return profile(16, 128, 16, 400, 2, 256, 4, 512, 15_TFLOPS);
}
inline Profile mini8() {
    using namespace astrolabe::literals;
    return profile(8, 128, 8, 128, 1, 128, 2, 256, 4_TFLOPS);
}

}  // namespace astrolabe::workload::testing
