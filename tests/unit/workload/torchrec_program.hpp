/// What tests of `training: torchrec` ask of programs, and the model of the recorded step.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload::testing {

using namespace astrolabe::literals;
using system::Operation;
using system::PairSizes;
using system::Program;

/// The model of the recorded step: facebookresearch/param, et_replay/tests/inputs/dlrm_kineto.tar.gz.
inline DlrmModel recorded_model() {
    DlrmModel model;
    model.dense_features = 13;
    model.bottom_mlp = {256, 128, 16};
    model.top_mlp = {512, 512, 256, 1};
    model.biases = true;
    model.element_size = 4_B;
    EmbeddingTables tables;
    tables.count = 26;
    tables.rows = TableValues(std::vector<std::int64_t>{
        40'000'000, 39'060,     17'295,     7'424,      20'265,  3,      7'122, 1'543, 63,
        40'000'000, 3'067'956,  405'282,    10,         2'209,   11'938, 155,   4,     976,
        14,         40'000'000, 40'000'000, 40'000'000, 590'152, 12'973, 108,   36});
    tables.dimension = 16;
    tables.pooling = TableValues(std::vector<std::int64_t>{3, 2, 1, 2, 6, 1, 1,  1,   1,  7,  3, 8, 1,
                                                           6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1});
    model.tables = {tables};
    return model;
}

/// In the order of issue.
inline std::vector<const Operation*> collectives(const Program& program) {
    std::vector<const Operation*> found;
    for (const Operation& operation : program.operations) {
        if (!operation.is_compute()) {
            found.push_back(&operation);
        }
    }
    return found;
}

inline const Operation& named(const Program& program, const std::string& name, int iteration = 0) {
    for (const Operation& operation : program.operations) {
        if (operation.name == name && operation.iteration == iteration) {
            return operation;
        }
    }
    throw std::out_of_range("no operation " + name);
}

using Matrix = std::vector<std::vector<std::int64_t>>;

inline Matrix matrix(const Operation& operation, std::int64_t element, std::size_t group = 0) {
    const PairSizes& sizes = operation.collective().pair_sizes->at(group);
    Matrix elements(sizes.positions(), std::vector<std::int64_t>(sizes.positions()));
    for (std::size_t source = 0; source < sizes.positions(); ++source) {
        for (std::size_t destination = 0; destination < sizes.positions(); ++destination) {
            EXPECT_EQ(sizes(source, destination).count() % element, 0);
            elements[source][destination] = sizes(source, destination).count() / element;
        }
    }
    return elements;
}

}  // namespace astrolabe::workload::testing
