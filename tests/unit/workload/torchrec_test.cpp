/// What `training: torchrec` computes and exchanges (workload/src/dlrm/torchrec/): buckets, groups, and the
/// worked example byte for byte.
#include "workload/src/dlrm/torchrec/torchrec.hpp"

#include "torchrec_golden.hpp"
#include "torchrec_program.hpp"
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
using system::Program;
using testing::collectives;
using testing::Matrix;
using testing::matrix;
using testing::named;
using testing::recorded_model;
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

}  // namespace
}  // namespace astrolabe::workload
