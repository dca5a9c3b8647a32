/// What `training: torchrec` computes and exchanges (workload/src/dlrm/torchrec/): buckets, launches, the
/// worked example byte for byte, and the recorded step on eight V100.
#include "workload/src/dlrm/torchrec/torchrec.hpp"

#include "torchrec_golden.hpp"
#include "workload/src/dlrm/torchrec/buckets.hpp"
#include "workload/src/dlrm/torchrec/torchrec_loop.hpp"

#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <process.hpp>
#include <rapidcheck/gtest.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::PairSizes;
using system::Program;
using torchrec::ddp_buckets;

std::vector<Bytes> sizes_of(const std::vector<torchrec::DdpBucket>& buckets) {
    std::vector<Bytes> sizes;
    for (const torchrec::DdpBucket& bucket : buckets) {
        sizes.push_back(bucket.size);
    }
    return sizes;
}

std::vector<Bytes> gradients(const DlrmModel& model) {
    std::vector<Bytes> sizes;
    for (const DenseTensor& tensor : dense_tensors(model)) {
        sizes.push_back(tensor.parameters * 4_B);
    }
    return sizes;
}

/// The model of the recorded step: facebookresearch/param, et_replay/tests/inputs/dlrm_kineto.tar.gz.
DlrmModel recorded_model() {
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

TEST(DdpBuckets, AreThoseOfTheRecordedStep) {
    // Last layers first: 1,028 + 525,312 + 1,050,624 >= 1 MiB; the rest, of 367·512 + 512, 128·16 + 16,
    // 256·128 + 128 and 13·256 + 256 values.
    EXPECT_EQ(sizes_of(ddp_buckets(gradients(recorded_model()), torchrec::kFirstBucket, torchrec::kBucket)),
              (std::vector<Bytes>{1'576'964_B, 907'840_B}));
    // Tables of 3 and 4 rows of 16.
    EXPECT_EQ(sizes_of(ddp_buckets({192_B, 256_B}, torchrec::kFirstBucket, torchrec::kBucket)),
              (std::vector<Bytes>{448_B}));
}

TEST(DdpBuckets, AreThoseOfDcnV2) {
    DlrmModel model;
    model.dense_features = 13;
    model.bottom_mlp = {512, 256, 128};
    model.top_mlp = {1024, 1024, 512, 256, 1};
    model.tables = {{.count = 26, .rows = 1000, .dimension = 128, .pooling = 1}};
    model.interaction = Interaction::kDcnV2;
    model.cross = {.layers = 3, .rank = 512};
    model.biases = true;
    EXPECT_EQ(sizes_of(ddp_buckets(gradients(model), torchrec::kFirstBucket, torchrec::kBucket)),
              (std::vector<Bytes>{2'625'540_B, 32'555'520_B, 28'311'552_B, 685'568_B}));
}

RC_GTEST_PROP(DdpBucketsProperty, HoldEveryTensorOnceAndCloseAtTheCap, ()) {
    const auto count = *rc::gen::inRange<std::size_t>(1, 60);
    const auto values =
        *rc::gen::container<std::vector<std::int64_t>>(count, rc::gen::inRange<std::int64_t>(1, 5000));
    const Bytes first(*rc::gen::inRange<std::int64_t>(1, 4000));
    const Bytes cap(*rc::gen::inRange<std::int64_t>(1, 20000));
    std::vector<Bytes> sizes;
    for (const std::int64_t value : values) {
        sizes.emplace_back(value);
    }
    const auto buckets = ddp_buckets(sizes, first, cap);
    std::size_t next = count;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        Bytes sum;
        for (const std::size_t tensor : buckets[i].tensors) {
            RC_ASSERT(tensor == --next);
            sum += sizes[tensor];
        }
        RC_ASSERT(sum == buckets[i].size);
        const Bytes limit = i == 0 ? first : cap;
        RC_ASSERT(sum - sizes[buckets[i].tensors.back()] < limit);
        RC_ASSERT(sum >= limit || i + 1 == buckets.size());
    }
    RC_ASSERT(next == 0U);
}

/// Collectives in the order of issue, and what each pair of ranks of the first group exchanges.
struct Issued {
    std::string name;
    CollectiveKind kind;
    Bytes size;
};

std::vector<const Operation*> collectives(const Program& program) {
    std::vector<const Operation*> found;
    for (const Operation& operation : program.operations) {
        if (!operation.is_compute()) {
            found.push_back(&operation);
        }
    }
    return found;
}

const Operation& named(const Program& program, const std::string& name, int iteration = 0) {
    for (const Operation& operation : program.operations) {
        if (operation.name == name && operation.iteration == iteration) {
            return operation;
        }
    }
    throw std::out_of_range("no operation " + name);
}

using Matrix = std::vector<std::vector<std::int64_t>>;

Matrix matrix(const Operation& operation, std::int64_t element, std::size_t group = 0) {
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

TEST(TorchrecGolden, EveryCollectiveIsThatOfTheWorkedExample) {
    const testing::GoldenExample golden;
    ASSERT_TRUE(validation_errors(golden.training, golden.model, 4).empty());
    const torchrec::TorchrecPlan plan = golden.plan();
    const Program program = torchrec::torchrec_loop(plan, TorchrecPipeline::kSparseDist, golden.device);
    std::vector<std::string> names;
    for (const Operation* operation : collectives(program)) {
        names.push_back(operation->name);
    }
    const std::vector<std::string> expected{"Input.indices.all_to_all.splits",
                                            "Input.indices.all_to_all.table_wise.lengths",
                                            "Input.indices.all_to_all.table_wise.values",
                                            "Input.indices.all_to_all.column_wise.lengths",
                                            "Input.indices.all_to_all.column_wise.values",
                                            "Input.indices.all_to_all.row_wise.lengths",
                                            "Input.indices.all_to_all.row_wise.values",
                                            "Input.indices.all_to_all.table_row_wise.lengths",
                                            "Input.indices.all_to_all.table_row_wise.values",
                                            "Embedding_table_wise.forward.all_to_all",
                                            "Embedding_column_wise.forward.all_to_all",
                                            "Embedding_row_wise.forward.reduce_scatter",
                                            "Embedding_table_row_wise.forward.all_to_all.within_hosts",
                                            "Embedding_table_row_wise.forward.all_to_all.across_hosts",
                                            "Embedding_table_row_wise.input_gradient.all_to_all.across_hosts",
                                            "Embedding_table_row_wise.input_gradient.all_to_all.within_hosts",
                                            "Embedding_row_wise.input_gradient.all_gather",
                                            "Embedding_column_wise.input_gradient.all_to_all",
                                            "Embedding_table_wise.input_gradient.all_to_all",
                                            "Bucket_replicas_0.weight_gradient.all_reduce",
                                            "Bucket_0.weight_gradient.all_reduce"};
    EXPECT_EQ(names, expected);

    const auto at = [&](const std::string& name) -> const Operation& { return named(program, name); };
    // Splits: 12 numbers of 8 bytes for each peer, 288 B leave a rank.
    EXPECT_EQ(at(names[0]).collective().size, 4 * 96_B);
    EXPECT_EQ(matrix(at(names[1]), 4), (Matrix{{0, 2, 0, 0}, {0, 2, 0, 0}, {0, 2, 0, 0}, {0, 2, 0, 0}}));
    EXPECT_EQ(matrix(at(names[2]), 8), (Matrix{{0, 3, 0, 0}, {0, 3, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 0}}));
    EXPECT_EQ(matrix(at(names[3]), 4), (Matrix{{2, 0, 0, 2}, {2, 0, 0, 2}, {2, 0, 0, 2}, {2, 0, 0, 2}}));
    EXPECT_EQ(matrix(at(names[4]), 8), (Matrix{{3, 0, 0, 3}, {3, 0, 0, 3}, {1, 0, 0, 1}, {3, 0, 0, 3}}));
    EXPECT_EQ(matrix(at(names[5]), 4), (Matrix{{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}}));
    EXPECT_EQ(matrix(at(names[6]), 8), (Matrix{{1, 1, 0, 1}, {1, 1, 1, 0}, {0, 0, 0, 1}, {2, 1, 1, 0}}));
    EXPECT_EQ(matrix(at(names[7]), 4), (Matrix{{0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 2, 2}}));
    EXPECT_EQ(matrix(at(names[8]), 8), (Matrix{{0, 0, 2, 1}, {0, 0, 1, 2}, {0, 0, 1, 1}, {0, 0, 2, 0}}));
    // Pooled: A from rank 1, B from ranks 0 and 3, each 2 samples; backward the columns.
    EXPECT_EQ(matrix(at(names[9]), 4), (Matrix{{0, 0, 0, 0}, {16, 16, 16, 16}, {0, 0, 0, 0}, {0, 0, 0, 0}}));
    EXPECT_EQ(matrix(at(names[10]), 4), (Matrix{{8, 8, 8, 8}, {0, 0, 0, 0}, {0, 0, 0, 0}, {8, 8, 8, 8}}));
    EXPECT_EQ(matrix(at(names[18]), 4), (Matrix{{0, 16, 0, 0}, {0, 16, 0, 0}, {0, 16, 0, 0}, {0, 16, 0, 0}}));
    EXPECT_EQ(matrix(at(names[17]), 4), (Matrix{{8, 0, 0, 8}, {8, 0, 0, 8}, {8, 0, 0, 8}, {8, 0, 0, 8}}));
    // C: 32 elements of partial sums become 8 on every rank; backward 8 from each.
    EXPECT_EQ(at(names[11]).collective().size, 32 * 4_B);
    EXPECT_EQ(at(names[16]).collective().size, 8 * 4_B);
    // D: inside host 1 16 elements for each; across 8 from rank 2 to 0 and 2, from 3 to 1 and 3.
    EXPECT_EQ(matrix(at(names[12]), 4, 0), (Matrix{{0, 0}, {0, 0}}));
    EXPECT_EQ(matrix(at(names[12]), 4, 1), (Matrix{{16, 16}, {16, 16}}));
    for (const std::size_t place : {0, 1}) {
        EXPECT_EQ(matrix(at(names[13]), 4, place), (Matrix{{0, 0}, {8, 8}}));
        EXPECT_EQ(matrix(at(names[14]), 4, place), (Matrix{{0, 8}, {0, 8}}));
    }
    EXPECT_EQ(matrix(at(names[15]), 4, 1), (Matrix{{16, 16}, {16, 16}}));
    // E: 12 values. Dense: 4·4 + 4 + 32 + 1 = 53 values.
    EXPECT_EQ(at(names[19]).collective().size, 12 * 4_B);
    EXPECT_EQ(at(names[20]).collective().size, 53 * 4_B);
}

// The same from the file of the worked example: elements by pair of ranks, or held before and after.
TEST(TorchrecGolden, EveryCollectiveIsThatOfTheFile) {
    const std::filesystem::path file =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/dlrm/golden-4-ranks.json";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "no " << file;
    }
    const nlohmann::json example = nlohmann::json::parse(astrolabe::testing::read_file(file));
    const testing::GoldenExample golden;
    const Program program =
        torchrec::torchrec_loop(golden.plan(), TorchrecPipeline::kSparseDist, golden.device);
    const std::vector<const Operation*> issued = collectives(program);
    // The file lists the backward pass from the first group on.
    const std::vector<std::size_t> order{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                         10, 11, 12, 13, 18, 17, 16, 14, 15, 19};
    ASSERT_EQ(example.at("collectives").size(), order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const nlohmann::json& expected = example.at("collectives").at(i);
        const system::CollectiveOperation& found = issued[order[i]]->collective();
        const system::Partition& partition = program.partitions[found.partition];
        const Bytes element(expected.at("element") == "int64" ? 8 : 4);
        const LayerCommunication communication{.kind = found.kind,
                                               .size = found.size,
                                               .partition = found.partition,
                                               .pair_sizes = found.pair_sizes};
        const std::vector<Bytes> held = torchrec::held_by_rank(communication, partition);
        const std::vector<Bytes> received = torchrec::received_by_rank(communication, partition);
        for (std::size_t rank = 0; rank < 4; ++rank) {
            if (expected.contains("elements")) {
                EXPECT_EQ(held[rank], expected["elements"][rank].get<std::int64_t>() * element);
            } else if (expected.contains("input_elements")) {
                // Inside hosts that differ, a pair exchanges the block of one for the other: two blocks are
                // held where the file has the one that is gathered, and come where it has their sum.
                const std::int64_t blocks = found.is_uneven() ? 2 : 1;
                const bool gathers = expected["kind"] == "all_gather";
                EXPECT_EQ(held[rank], (gathers ? blocks : 1) *
                                          expected["input_elements"][rank].get<std::int64_t>() * element);
                EXPECT_EQ(
                    received[rank],
                    (gathers ? 1 : blocks) * expected["output_elements"][rank].get<std::int64_t>() * element);
            } else {
                std::int64_t sum = 0;
                for (std::size_t other = 0; other < 4; ++other) {
                    sum += expected["send_elements"][rank][other].get<std::int64_t>();
                }
                EXPECT_EQ(held[rank], sum * element) << expected["name"];
                if (found.is_uneven() && partition.groups.size() == 1) {
                    for (std::size_t other = 0; other < 4; ++other) {
                        EXPECT_EQ(found.pair_sizes->front()(rank, other),
                                  expected["send_elements"][rank][other].get<std::int64_t>() * element)
                            << expected["name"];
                    }
                }
            }
        }
    }
}

TEST(TorchrecGolden, CollectivesOfAGroupFollowOneAnother) {
    const testing::GoldenExample golden;
    for (const TorchrecPipeline pipeline :
         {TorchrecPipeline::kBase, TorchrecPipeline::kSparseDistLite, TorchrecPipeline::kSparseDist,
          TorchrecPipeline::kSparseDist2023, TorchrecPipeline::kFusedSparseDist, TorchrecPipeline::kSemiSync,
          TorchrecPipeline::kPrefetch}) {
        for (const int iterations : {1, 2, 5}) {
            torchrec::TorchrecPlan plan = golden.plan();
            plan.iterations = iterations;
            const Program program = torchrec::torchrec_loop(plan, pipeline, golden.device);
            std::map<system::PartitionId, system::OperationId> last;
            std::map<int, int> of_iteration;
            for (std::size_t index = 0; index < program.operations.size(); ++index) {
                const Operation& operation = program.operations[system::OperationId(index)];
                if (operation.is_compute()) {
                    continue;
                }
                EXPECT_TRUE(operation.collective().begins_together);
                ++of_iteration[operation.iteration];
                const system::PartitionId group = operation.collective().partition;
                if (last.contains(group)) {
                    EXPECT_NE(std::find(operation.dependencies.begin(), operation.dependencies.end(),
                                        last.at(group)),
                              operation.dependencies.end());
                }
                last[group] = system::OperationId(index);
            }
            // 1 + 2·4 of the input (base: 4 splits), 5 forward, 5 backward, 1 of E and 1 dense bucket.
            for (const auto& [iteration, count] : of_iteration) {
                EXPECT_EQ(count, pipeline == TorchrecPipeline::kBase ? 24 : 21);
            }
            EXPECT_EQ(of_iteration.size(), static_cast<std::size_t>(iterations));
        }
    }
}

TEST(TorchrecGroups, WeightedTablesAreAGroupThatSendsItsWeights) {
    testing::GoldenExample golden;
    golden.model.tables[0].traits.weighted = true;
    // A second table like A, unweighted, on rank 2.
    golden.model.tables.push_back({.count = 1, .rows = 100, .dimension = 8, .pooling = 2});
    golden.training.sharding.tables.push_back(
        {.first = 5, .sharding = TableSharding::kTableWise, .ranks = {2}});
    ASSERT_TRUE(validation_errors(golden.training, golden.model, 4).empty());
    const Program program = build_dlrm_program(golden.model, golden.training, golden.device, 4);
    // Four groups with 3 numbers and one with 4, of 8 bytes, for each of 4 ranks.
    EXPECT_EQ(named(program, "Input.indices.all_to_all.splits").collective().size,
              Bytes(4 * (4 * 3 + 4) * 8));
    const Matrix of_a{{0, 4, 0, 0}, {0, 4, 0, 0}, {0, 4, 0, 0}, {0, 4, 0, 0}};  // 2 samples, 2 lookups
    EXPECT_EQ(matrix(named(program, "Input.indices.all_to_all.table_wise_weighted.values"), 8), of_a);
    EXPECT_EQ(matrix(named(program, "Input.indices.all_to_all.table_wise_weighted.weights"), 4), of_a);
    const Matrix of_other{{0, 0, 4, 0}, {0, 0, 4, 0}, {0, 0, 4, 0}, {0, 0, 4, 0}};
    EXPECT_EQ(matrix(named(program, "Input.indices.all_to_all.table_wise.values"), 8), of_other);
    EXPECT_THROW((void)named(program, "Input.indices.all_to_all.table_wise.weights"), std::out_of_range);
    EXPECT_EQ(matrix(named(program, "Embedding_table_wise_weighted.forward.all_to_all"), 4)[1],
              (std::vector<std::int64_t>{16, 16, 16, 16}));
}

TEST(TorchrecGroups, GridTablesAreExchangedInsideHostsAndAcross) {
    testing::GoldenExample golden;
    golden.model.tables.push_back({.count = 1, .rows = 100, .dimension = 8, .pooling = 2});
    golden.training.sharding.tables.push_back(
        {.first = 5, .sharding = TableSharding::kGrid, .shards = 2, .hosts = {0, 1}});
    ASSERT_TRUE(validation_errors(golden.training, golden.model, 4).empty());
    const Program program = build_dlrm_program(golden.model, golden.training, golden.device, 4);
    // 2 samples to both ranks of both hosts, 4 lookups of which each block of rows has half, to both hosts.
    EXPECT_EQ(matrix(named(program, "Input.indices.all_to_all.grid.lengths"), 4), Matrix(4, {2, 2, 2, 2}));
    EXPECT_EQ(matrix(named(program, "Input.indices.all_to_all.grid.values"), 8), Matrix(4, {2, 2, 2, 2}));
    const Operation& inside = named(program, "Embedding_grid.forward.reduce_scatter.within_hosts");
    const Operation& across = named(program, "Embedding_grid.forward.all_to_all.across_hosts");
    // 4 columns of 8 samples are summed in the host; a rank sends the 4 columns of 2 samples to each place.
    EXPECT_EQ(inside.collective().size, Bytes(4 * 8 * 4));
    EXPECT_EQ(across.collective().size, Bytes(2 * 2 * 4 * 4));
    // They share the streams of the row-wise table of host 1.
    EXPECT_EQ(
        across.collective().partition,
        named(program, "Embedding_table_row_wise.forward.all_to_all.across_hosts").collective().partition);
}

TEST(TorchrecGroups, MoveTheirDataAtTheMemorysBandwidth) {
    testing::GoldenExample golden;
    golden.device.memory_bandwidth = 8_Gbps;  // 1 ns a byte
    golden.device.host_link = 8_Gbps;
    const Program program = build_dlrm_program(golden.model, golden.training, golden.device, 4);
    const auto on = [&program](const std::string& name, std::size_t rank) {
        return named(program, name).compute().duration[system::RankId(rank)];
    };
    // A, of 2 samples with 2 lookups each: lengths 2·4 and values 4·8 bytes leave every rank for rank 1.
    EXPECT_EQ(on("Embedding_table_wise.permute_indices", 0), 2 * 40_ns);
    EXPECT_EQ(on("Embedding_table_wise.permute_received", 1), 2 * 160_ns);
    EXPECT_EQ(on("Embedding_table_wise.permute_received", 0), 0_ns);
    // 2 samples of 8 pooled values come to every rank, and their gradients for 8 samples to rank 1.
    EXPECT_EQ(on("Embedding_table_wise.concatenate", 3), 2 * 64_ns);
    EXPECT_EQ(on("Embedding_table_wise.split_gradients", 3), 2 * 64_ns);
    EXPECT_EQ(on("Embedding_table_wise.divide_gradients", 1), 2 * 256_ns);
    EXPECT_EQ(on("Embedding_table_wise.divide_gradients", 3), 0_ns);
    // C gathers 4 values of all 8 samples; D brings 4 of 2 samples, and those of its place, 4 samples, twice.
    EXPECT_EQ(on("Embedding_row_wise.divide_gradients", 0), 2 * 128_ns);
    EXPECT_EQ(on("Embedding_table_row_wise.concatenate", 0), 2 * 32_ns);
    EXPECT_EQ(on("Embedding_table_row_wise.divide_gradients", 2), 2 * 128_ns);
    // All 28 columns and 4 of the bottom MLP.
    EXPECT_EQ(on("Embedding.concatenate", 0), 2 * Bytes(2 * 32 * 4).count() * 1_ns);
    // A sample: 4 dense features and a label of 4 bytes, 5 tables with 2 indices of 8 and a length of 4.
    EXPECT_EQ(on("Input.copy", 0), 2 * (20 + 5 * 20) * 1_ns);
}

TEST(TorchrecKeys, AreReadByNameOrAsMapping) {
    Registry<Job> registry("workload");
    register_builtin_workloads(registry);
    const auto read = [&registry](const std::string& training) {
        ReadContext context;
        const auto job = registry.read(
            *parse_config(
                "kind: dlrm\nmodel: {dense_features: 4, bottom_mlp: [8], top_mlp: [1], tables: {count: "
                "4, rows: 10, dimension: 8, pooling: 1}}\nbatch: {local: 4}\nsharding: {plan: "
                "round_robin}\n" +
                    training,
                "torchrec.yaml"),
            context);
        return job ? to_yaml(job->resolved) : render(context.errors());
    };
    const auto training_of = [](const std::string& resolved) {
        const std::size_t start = resolved.find("training:");
        return start == std::string::npos ? "" : resolved.substr(start, resolved.find("batch:") - start);
    };
    EXPECT_EQ(training_of(read("")), "");
    EXPECT_EQ(training_of(read("training: torchrec\n")),
              "training:\n  kind: torchrec\n  pipeline: sparse_dist\n");
    EXPECT_EQ(training_of(read("training: {kind: torchrec, pipeline: semi_sync}\n")),
              "training:\n  kind: torchrec\n  pipeline: semi_sync\n");
    EXPECT_NE(read("training: torchrek\n").find("did you mean 'torchrec'"), std::string::npos);
    EXPECT_NE(read("training: {pipeline: base}\n").find("'training' does not say its kind"),
              std::string::npos);
    EXPECT_NE(read("training: {kind: torchrec, pipelines: base}\n").find("did you mean 'pipeline'"),
              std::string::npos);
    EXPECT_NE(read("training: {kind: torchrec, pipeline: bases}\n").find("did you mean 'base'"),
              std::string::npos);
}

/// The recorded step: 8 ranks, 16 samples each, 24 tables whole, 3 a rank, tables 5 and 16 replicated.
class RecordedStep : public ::testing::Test {
protected:
    RecordedStep() {
        training_.local_batch = 16;
        training_.iterations = 2;
        training_.interaction_time = true;
        training_.dense_optimizer = DenseOptimizer::kAdagrad;
        training_.framework = TorchrecTraining{.pipeline = TorchrecPipeline::kSparseDist2023};
        training_.sharding.plan = ShardingMethod::kExplicit;
        training_.sharding.input_distribution = InputDistribution{.index = 4_B, .length = 4_B};
        // Lookups of the three tables of ranks 0 to 7: 6, 14, 18, 104, 37, 6, 12 and 15.
        training_.sharding.tables = {
            {.first = 0,
             .count = 26,
             .sharding = TableSharding::kTableWise,
             .ranks = {3, 0, 3, 5, 7, 0, 4, 2, 7, 1, 0, 7, 1, 1, 4, 2, 0, 6, 6, 2, 3, 4, 6, 5, 0, 5}},
            {.first = 5, .sharding = TableSharding::kDataParallel},
            {.first = 16, .sharding = TableSharding::kDataParallel}};
        device_.peak = 14_TFLOPS;
        device_.memory_bandwidth = Bandwidth(8 * 900'000'000'000);
    }

    [[nodiscard]] Program program() const {
        EXPECT_TRUE(validation_errors(training_, model_, 8).empty());
        EXPECT_TRUE(validation_errors(device_, training_, model_).empty());
        return build_dlrm_program(model_, training_, device_, 8);
    }
    /// Time of the host with these costs.
    [[nodiscard]] Time host_time(const HostCosts& costs) {
        device_.host = costs;
        training_.iterations = 1;
        Time sum;
        const Program program = this->program();
        for (const Operation& operation : program.operations) {
            if (operation.is_compute() && program.streams[operation.compute().stream] == "host") {
                sum += operation.compute().duration[system::RankId(0)];
            }
        }
        return sum;
    }

    DlrmModel model_ = recorded_model();
    DlrmTraining training_;
    Device device_;
};

TEST_F(RecordedStep, HasTheCollectivesOfTheTraceInTheirOrder) {
    std::vector<std::pair<std::string, Bytes>> issued;
    const Program program = this->program();
    for (const Operation* operation : collectives(program)) {
        issued.emplace_back(operation->name, operation->collective().size);
    }
    // The first three distribute the first batch; then the step begins that the trace shows.
    ASSERT_EQ(issued.size(), 3U + 8U + 5U);
    const std::vector<std::pair<std::string, Bytes>> step(issued.begin() + 3, issued.begin() + 11);
    const std::vector<std::pair<std::string, Bytes>> recorded{
        {"Embedding_table_wise.forward.all_to_all", 24'576_B},  // 16 samples, 3 tables of 16, for 8 ranks
        {"Input.indices.all_to_all.splits", 192_B},
        {"Input.indices.all_to_all.table_wise.lengths", 1'536_B},  // 16 samples, 24 tables, int32
        {"Input.indices.all_to_all.table_wise.values", 13'568_B},  // 16 samples, 212 lookups, int32
        {"Bucket_0.weight_gradient.all_reduce", 1'576'964_B},
        {"Embedding_table_wise.input_gradient.all_to_all", 24'576_B},
        {"Bucket_replicas_0.weight_gradient.all_reduce", 448_B},
        {"Bucket_1.weight_gradient.all_reduce", 907'840_B}};
    EXPECT_EQ(step, recorded);
}

TEST_F(RecordedStep, EveryPairExchangesWhatTheTraceSays) {
    const Program program = this->program();
    const Matrix values = matrix(named(program, "Input.indices.all_to_all.table_wise.values"), 4);
    const Matrix lengths = matrix(named(program, "Input.indices.all_to_all.table_wise.lengths"), 4);
    for (std::size_t rank = 0; rank < 8; ++rank) {
        EXPECT_EQ(values[rank], (std::vector<std::int64_t>{96, 224, 288, 1664, 592, 96, 192, 240}));
        EXPECT_EQ(lengths[rank], std::vector<std::int64_t>(8, 48));
    }
    // Alike on all ranks: 16 samples of 3 tables of 16 columns for each.
    EXPECT_FALSE(named(program, "Embedding_table_wise.forward.all_to_all").collective().is_uneven());
}

// The host traces of that step (dlrm_pytorch_et.tar.gz), five of eight ranks: elements, their size, and for
// uneven exchanges the elements for and from each rank.
TEST_F(RecordedStep, IsThatOfTheHostTraces) {
    const std::filesystem::path folder =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/dlrm/param";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "no " << folder;
    }
    const Program program = this->program();
    std::vector<const Operation*> step = collectives(program);
    step.erase(step.begin(), step.begin() + 3);
    for (const std::size_t rank : {0, 1, 2, 4, 7}) {
        const auto file = folder / ("dlrm-pytorch-et-rank" + std::to_string(rank) + ".json.gz");
        const nlohmann::json trace =
            nlohmann::json::parse(astrolabe::testing::run_program("gzip", {"-dc", file.string()}).out);
        std::size_t next = 0;
        for (const nlohmann::json& node : trace.at("nodes")) {
            if (node.at("name") != "record_param_comms" || node.at("inputs").at(3) == "wait") {
                continue;
            }
            ASSERT_LT(next, 8U);
            const Operation& operation = *step[next++];
            const bool reduces = operation.collective().kind == CollectiveKind::kAllReduce;
            EXPECT_EQ(node.at("inputs").at(4).get<std::string>().starts_with("allreduce"), reduces);
            nlohmann::json tensor = node.at("inputs").at(0);
            while (tensor.at(0).is_array()) {
                tensor = nlohmann::json(tensor.at(0));
            }
            const Bytes element(tensor.at(4).get<std::int64_t>());
            EXPECT_EQ(tensor.at(3).get<std::int64_t>() * element, operation.collective().size);
            const auto sent = node.at("inputs").at(5).get<std::vector<std::int64_t>>();
            const auto received = node.at("inputs").at(6).get<std::vector<std::int64_t>>();
            for (std::size_t other = 0; other < sent.size(); ++other) {
                const auto between = [&](std::size_t source, std::size_t destination) {
                    return operation.collective().is_uneven()
                               ? operation.collective().pair_sizes->front()(source, destination)
                               : Bytes(operation.collective().size.count() / 8);
                };
                EXPECT_EQ(sent[other] * element, between(rank, other)) << operation.name;
                EXPECT_EQ(received[other] * element, between(other, rank)) << operation.name;
            }
        }
        EXPECT_EQ(next, 8U);
    }
}

TEST_F(RecordedStep, LaunchesWhatTheTraceLaunches) {
    // The trace: 63 kernels forward (of which cuBLAS cut two), 8, 102 (again two cut) and 64; collectives 1,
    // 3 and 4; two copies that block the host forward, two backward.
    EXPECT_EQ(host_time({.forward_launch = 1_us}), 61_us);
    EXPECT_EQ(host_time({.input_launch = 1_us}), 8_us);
    EXPECT_EQ(host_time({.backward_launch = 1_us}), 100_us);
    EXPECT_EQ(host_time({.optimizer_launch = 1_us}), 64_us);
    EXPECT_EQ(host_time({.collective = 1_us}), 8_us);
    EXPECT_EQ(host_time({.blocking_copy = 1_us}), 4_us);
    EXPECT_EQ(host_time({.iteration = 1_us}), 1_us);
    EXPECT_EQ(host_time({.batch = 1_us}), 1_us);
}

TEST_F(RecordedStep, TheDotInteractionBlocksTheHostUntilItsDeviceIsDone) {
    const Program program = this->program();
    for (const std::string pass : {"forward", "input_gradient"}) {
        const Operation& block = named(program, "Interaction." + pass + "_copy.block");
        EXPECT_EQ(program.streams[block.compute().stream], "host");
        const Operation& awaited = program.operations[block.dependencies.back()];
        EXPECT_EQ(awaited.name, "Interaction." + pass + "_start");
    }
    // What follows is launched behind that.
    const Operation& gather = named(program, "Interaction.forward");
    EXPECT_EQ(program.operations[gather.dependencies.back()].name, "Interaction.forward_copy.block");
}

TEST_F(RecordedStep, WaitsForTheSplitsBeforeItIssuesLengths) {
    const Program program = this->program();
    const Operation& block = named(program, "Input.splits_0.block", 1);
    EXPECT_EQ(program.operations[block.dependencies.front()].name, "Input.indices.all_to_all.splits");
    const Operation& lengths = named(program, "Input.indices.all_to_all.table_wise.lengths", 1);
    const bool follows = std::any_of(
        lengths.dependencies.begin(), lengths.dependencies.end(),
        [&](system::OperationId id) { return program.operations[id].name == "Input.splits_0.block"; });
    EXPECT_TRUE(follows);
}

// 16 samples of 3 tables of 16 values for each of 8 ranks.
TEST_F(RecordedStep, PooledEmbeddingsTravelAsTheCodecsPackThem) {
    constexpr std::int64_t kValues = 16 * 3 * 16;  // for each rank
    constexpr std::int64_t kRows = 16 * 3;
    const auto sent = [this](WireFormat format) {
        training_.wire_formats = {.forward_all_to_all = format};
        return named(program(), "Embedding_table_wise.forward.all_to_all").collective().size;
    };
    EXPECT_EQ(sent(WireFormat::kFp16), 8 * Bytes(2 * kValues));
    EXPECT_EQ(sent(WireFormat::kInt8Blocks), 8 * Bytes(kValues / 32 * 40));
    EXPECT_EQ(sent(WireFormat::kFp8Rows), 8 * Bytes(kRows * (16 + 8)));
    EXPECT_EQ(sent(WireFormat::kMx4), 8 * Bytes(kRows * 17));  // 16 values fill half a block of 32
    const Program packed = program();
    EXPECT_EQ(named(packed, "Embedding_table_wise.forward.encode").compute().stream, 0U);
    EXPECT_EQ(named(packed, "Embedding_table_wise.forward.decode").compute().stream, 0U);
    // Backward as before.
    EXPECT_EQ(named(packed, "Embedding_table_wise.input_gradient.all_to_all").collective().size, 24'576_B);
}

TEST_F(RecordedStep, WhatSumsOnTheWayIsNotSentInEightBits) {
    training_.sharding.tables.push_back({.first = 0, .sharding = TableSharding::kRowWise});
    training_.wire_formats = {.forward_reduce_scatter = WireFormat::kMx4,
                              .backward_all_gather = WireFormat::kFp8Rows};
    const Program program = this->program();
    // 128 samples of 16 values of 2 bytes; backward 16 samples.
    EXPECT_EQ(named(program, "Embedding_row_wise.forward.reduce_scatter").collective().size, 4096_B);
    EXPECT_EQ(named(program, "Embedding_row_wise.input_gradient.all_gather").collective().size, 512_B);
}

TEST_F(RecordedStep, PrefetchTakesTheRowsThatCachesMissOutOfTheLookup) {
    model_.tables[0].traits.memory = TableMemory::kCached;
    model_.tables[0].traits.cache = {.load_factor = 0.2, .hit_rate = 0.75};
    training_.embedding_time = EmbeddingTime::kFbgemm;
    device_.lookup = LookupRates{};
    device_.host_link = Bandwidth(8 * 16'000'000'000);
    const auto with = [this](TorchrecPipeline pipeline) {
        training_.framework = TorchrecTraining{.pipeline = pipeline};
        return program();
    };
    const Program whole = with(TorchrecPipeline::kSparseDist);
    const Program ahead = with(TorchrecPipeline::kPrefetch);
    const Operation& fetch = named(ahead, "Embedding_table_wise.fetch", 1);
    EXPECT_EQ(ahead.streams[fetch.compute().stream], "prefetch");
    for (std::size_t index = 0; index < 8; ++index) {
        const system::RankId rank(index);
        EXPECT_GT(fetch.compute().duration[rank], Time(0));
        EXPECT_EQ(named(whole, "Embedding_table_wise.forward").compute().duration[rank],
                  named(ahead, "Embedding_table_wise.forward").compute().duration[rank] +
                      fetch.compute().duration[rank]);
    }
    // Behind the forward pass of the batch before; the lookup waits for it.
    const Operation& lookup = named(ahead, "Embedding_table_wise.forward", 1);
    EXPECT_TRUE(std::any_of(lookup.dependencies.begin(), lookup.dependencies.end(), [&](auto id) {
        return ahead.operations[id].name == "Embedding_table_wise.fetch";
    }));
}

TEST_F(RecordedStep, OneMeasuredTimeIsNotThatOfSeveralGroups) {
    device_.measured["Embedding"] = {.forward = 10_us, .weight_gradient = 20_us};
    EXPECT_TRUE(validation_errors(device_, training_, model_).empty());
    training_.sharding.tables.push_back(
        {.first = 0, .sharding = TableSharding::kColumnWise, .shards = 2, .ranks = {0, 1}});
    const ValidationErrors errors = validation_errors(device_, training_, model_);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().key, "layers.Embedding");
}

TEST_F(RecordedStep, PlacedTablesNeedARateEvenWhereTheirLayerWasMeasured) {
    device_.measured["Embedding"] = {.forward = 10_us, .weight_gradient = 20_us};
    training_.dense_optimizer.reset();
    device_.memory_bandwidth.reset();
    const ValidationErrors errors = validation_errors(device_, training_, model_);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.front().key, "memory_bandwidth");
}

TEST_F(RecordedStep, RefusesWhatTorchRecDoesNotHave) {
    const auto key_of = [this](const auto& change) {
        DlrmTraining training = training_;
        change(training);
        const ValidationErrors errors = validation_errors(training, model_, 8);
        return errors.empty() ? std::string() : errors.front().key;
    };
    EXPECT_EQ(key_of([](DlrmTraining&) {}), "");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.sharding = {}; }), "training");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.priorities["Top_0"] = 3; }), "priorities");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.sharding.input_distribution->ahead = false; }),
              "sharding.input_distribution.ahead");
    EXPECT_EQ(key_of([](DlrmTraining& each) {
                  each.gradient_buckets = GradientBuckets{.order = BucketOrder::kForward};
              }),
              "gradient_buckets.order");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.wire_formats.forward_all_to_all = WireFormat::kInt8; }),
              "wire_formats.forward_all_to_all");
    EXPECT_EQ(key_of([](DlrmTraining& each) { each.wire_formats.all_reduce = WireFormat::kMx4; }),
              "wire_formats.all_reduce");
}

}  // namespace
}  // namespace astrolabe::workload
