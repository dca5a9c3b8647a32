#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::Program;
using system::RankId;

const Device kDevice{.peak = 60_TFLOPS, .memory_bandwidth = Bandwidth(8 * 900'000'000'000)};  // 900 GB/s

class DlrmInputs : public ::testing::Test {
protected:
    DlrmInputs() { register_builtin_workloads(registry_); }

    /// A job on one of inputs/models, with further keys; also what was resolved reads back to itself.
    [[nodiscard]] Job job(const std::string& model, const std::string& keys) {
        Result<ConfigNode> node =
            parse_config("kind: dlrm\nmodel: {include: models/" + model + ".yaml}\n" + keys,
                         ASTROLABE_SOURCE_DIR "/inputs/job.yaml", ASTROLABE_SOURCE_DIR "/inputs");
        EXPECT_TRUE(node);
        ReadContext context;
        const auto configured = registry_.read(*node, context);
        if (!configured) {
            throw std::runtime_error(render(context.errors()));
        }
        const std::string resolved = to_yaml(configured->resolved);
        ReadContext again;
        const auto reread = registry_.read(*parse_config(resolved, "resolved.yaml"), again);
        EXPECT_TRUE(reread) << render(again.errors());
        EXPECT_EQ(to_yaml(reread->resolved), resolved);
        return configured->make();
    }
    /// The first complaint about a dlrm job of these lines.
    [[nodiscard]] std::string complaint(const std::string& keys) {
        Result<ConfigNode> node =
            parse_config("kind: dlrm\nbatch: {local: 4}\nmodel: {include: models/dlrm-mini16.yaml}\n" + keys,
                         "job.yaml", ASTROLABE_SOURCE_DIR "/inputs");
        ReadContext context;
        EXPECT_FALSE(registry_.read(*node, context));
        return context.errors().empty() ? "" : context.errors().front().message;
    }
    static std::string fact(const Job& job, std::size_t ranks, const std::string& name) {
        for (const auto& [key, value] : job.facts(kDevice, ranks)) {
            if (key == name) {
                return value;
            }
        }
        return "no fact " + name;
    }
    static Bytes traffic(const Program& program, CollectiveKind kind) {
        Bytes sum;
        for (const Operation& operation : program.operations) {
            if (!operation.is_compute() && operation.collective().kind == kind) {
                sum += operation.collective().size;
            }
        }
        return sum;
    }
    static std::vector<std::int64_t> durations(const Program& program, const std::string& name) {
        for (const Operation& operation : program.operations) {
            if (operation.name == name) {
                std::vector<std::int64_t> each;
                for (std::size_t rank = 0; rank < program.ranks; ++rank) {
                    each.push_back(operation.compute().duration[RankId(rank)].count());
                }
                return each;
            }
        }
        return {};
    }

    Registry<Job> registry_{"workload"};
};

// Model A: 800·3375 + 6·3375² bottom; 3375 + 1000·93 = 96375 into the top: 96375·3375 + 11·3375² + 3375.
constexpr std::int64_t kDenseOfModelA = 800 * 3375 + 17 * 3375 * 3375 + 96'375LL * 3375 + 3375;

TEST_F(DlrmInputs, ModelAHasItsPublishedSize) {
    const Job job = this->job("dlrm-model-a", "batch: {local: 512}\n");
    ASSERT_TRUE(job.validation_errors(kDevice, 128).empty());
    const std::string parameters = fact(job, 128, "parameters");
    EXPECT_EQ(parameters.substr(0, parameters.find(" dense")), std::to_string(kDenseOfModelA));
    const std::size_t start = parameters.find(", ") + 2;
    const double embeddings = std::stod(parameters.substr(start));
    EXPECT_NEAR(embeddings, 793e9, 0.001 * 793e9) << parameters;
}

TEST_F(DlrmInputs, ModelAExchangesWhatItsLayerListSays) {
    const Job job = this->job("dlrm-model-a", "batch: {local: 512}\n");
    const Program program = job.program(kDevice, 128);
    EXPECT_EQ(traffic(program, CollectiveKind::kAllReduce), kDenseOfModelA * 4_B);
    // 512 samples · 93,000 values · 4 bytes, forward and backward.
    EXPECT_EQ(traffic(program, CollectiveKind::kAllToAll), 2 * 512 * 93'000LL * 4_B);
}

TEST_F(DlrmInputs, ModelAIsUnevenByTablesAndLessSoByColumns) {
    const auto plan = [this](const std::string& sharding) {
        return job("dlrm-model-a", "batch: {local: 512}\nsharding: " + sharding + "\n").program(kDevice, 128);
    };
    struct Loads {
        double imbalance = 0;
        double total = 0;
    };
    const auto lookups = [](const Program& program) {
        const std::vector<std::int64_t> each = durations(program, "Embedding.forward");
        const double total = std::accumulate(each.begin(), each.end(), 0.0);
        const auto most = static_cast<double>(*std::max_element(each.begin(), each.end()));
        return Loads{.imbalance = most * 128 / total, .total = total};
    };
    const Program tables = plan("{plan: round_robin}");
    const Program placed = plan("{plan: planner}");
    const Program columns = plan("{plan: planner, widest_shard: 16}");
    EXPECT_GT(lookups(tables).imbalance, 2.0);
    EXPECT_LT(lookups(placed).imbalance, lookups(tables).imbalance);
    EXPECT_LT(lookups(columns).imbalance, lookups(placed).imbalance);
    EXPECT_LT(lookups(columns).imbalance, 1.02);
    // The cost: every shard reads the indices again.
    EXPECT_GT(lookups(columns).total, lookups(placed).total);

    for (const Program* program : {&tables, &placed, &columns}) {
        Bytes held;
        for (const Operation& operation : program->operations) {
            if (operation.name == "Embedding.forward.all_to_all") {
                ASSERT_TRUE(operation.collective().is_uneven());
                for (std::size_t rank = 0; rank < 128; ++rank) {
                    held += operation.collective().pair_sizes->front().held(rank);
                }
            }
        }
        EXPECT_EQ(held, 128 * 512 * 93'000LL * 4_B);  // together what the balanced plan sends
    }
}

TEST_F(DlrmInputs, ModelAOnAThousandRanksIsBuiltAtOnce) {
    const Job job =
        this->job("dlrm-model-a", "batch: {local: 512}\nsharding: {plan: planner, widest_shard: 64}\n");
    const auto start = std::chrono::steady_clock::now();
    const Program program = job.program(kDevice, 1024);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(program.ranks, 1024U);
    EXPECT_LT(elapsed.count(), 10.0);  // about 0.1 s; sanitizers and busy machines take longer
}

TEST_F(DlrmInputs, Dcnv2SmallHasTheShapeOfMlperfs) {
    const Job job = this->job("dlrm-dcnv2-small", "batch: {local: 2048}\n");
    ASSERT_TRUE(job.validation_errors(kDevice, 8).empty());
    // Dense: 13·512 + 512·256 + 256·128 + (128 + 26·128)·1024 + 1024·1024 + 1024·512 + 512·256 + 256.
    // Rows: 5·400,000 + 391 + 173 + 75 + 203 + 72 + 16 + 30,680 + 4,053 + 23 + 120 + 2 + 10 + 5,902 + 130 + 2
    //       + 6 of one row = 2,041,858, of 128 values.
    const std::int64_t dense =
        13 * 512 + 512 * 256 + 256 * 128 + 27 * 128 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256;
    const std::string parameters = fact(job, 8, "parameters");
    EXPECT_EQ(parameters.substr(0, parameters.find(" (")),
              std::to_string(dense) + " dense, " + std::to_string(2'041'858LL * 128) + " in embeddings");
    EXPECT_EQ(traffic(job.program(kDevice, 8), CollectiveKind::kAllToAll), 2 * 2048 * 26 * 128 * 4_B);
}

TEST_F(DlrmInputs, EveryKeyReadsBack) {
    const Job job = this->job("dlrm-dcnv2-small", R"(batch: {local: 64}
iterations: 2
sharding:
  plan: planner
  search: greedy
  link_rate: 100Gbps
  widest_shard: 64
  data_parallel_up_to: 1KB
  row_wise_from: 1GB
  ranks_per_host: 2
  memory: 16GB
  index_size: 4B
  tables:
    - {first: 0, sharding: table_row_wise, hosts: [1]}
    - {first: 1, count: 2, sharding: column_wise, shards: 2, ranks: [0, 1, 2, 3]}
gradient_buckets: {size: 1MB, order: forward}
wire_formats: {forward_all_to_all: int8, backward_all_to_all: fp16, all_reduce: bf16}
priorities: {Embedding: 5, Top_0: -3}
)");
    EXPECT_TRUE(job.validation_errors(kDevice, 4).empty());
    EXPECT_TRUE(job.device_errors(kDevice).empty());
    job.program(kDevice, 4).check();
    // Of 26 tables one lies on a host and six have one row of 512 B, copied; the others are cut in two.
    EXPECT_EQ(fact(job, 4, "embedding shards").substr(0, 3), "38 ");
}

TEST_F(DlrmInputs, UnknownAndWrongKeysAreNamed) {
    EXPECT_NE(complaint("sharding: {plam: planner}\n").find("'plam' is not a key of sharding"),
              std::string::npos);
    EXPECT_NE(complaint("sharding: {plan: planned}\n").find("'planned' is not one of balanced"),
              std::string::npos);
    EXPECT_NE(complaint("wire_formats: {all_reduce: fp4}\n").find("'fp4' is not one of"), std::string::npos);
    EXPECT_NE(complaint("gradient_buckets: 25MB\n").find("takes a mapping"), std::string::npos);
    EXPECT_NE(complaint("priorities: {Top_0: high}\n").find("priority of 'Top_0'"), std::string::npos);
}

TEST(MeasuredDevice, ReadsTimesByRowsAndByTable) {
    Registry<Device> registry("device");
    register_builtin_devices(registry);
    const auto read = [&registry](const std::string& text) {
        ReadContext context;
        const auto configured = registry.read(*parse_config(text, "device.yaml"), context);
        if (!configured) {
            throw std::runtime_error(render(context.errors()));
        }
        ReadContext again;
        EXPECT_EQ(to_yaml(registry.read(configured->resolved, again)->resolved),
                  to_yaml(configured->resolved));
        return configured->make();
    };
    const Device device = read(
        "kind: measured\nlayers: {Top_0: {forward: {1024: 916us, 2048: 1853us}, weight_gradient: 2ms}}\n"
        "tables: {samples: 524288, forward: [34ms], backward: [390ms]}\n");
    // 916 + 937·(1536 - 1024)/1024 = 1384.5 us.
    EXPECT_EQ(device.measured_time("Top_0", &LayerTimes::forward, 1536), 1'384'500_ns);
    EXPECT_EQ(device.measured_time("Top_0", &LayerTimes::weight_gradient, 7), 2_ms);
    EXPECT_EQ(device.tables->samples, 524'288);
    EXPECT_EQ(device.tables->time(&TableTimes::backward, 999), 390_ms);
    EXPECT_THROW((void)read("kind: measured\n"), std::runtime_error);
    EXPECT_THROW((void)read("kind: measured\nlayers: {Top_0: {forward: {8: 1us, 4: 2us}}}\n"),
                 std::runtime_error);
    EXPECT_THROW((void)read("kind: measured\nlayers: {Top_0: {forward: {}}}\n"), std::runtime_error);
}

}  // namespace
}  // namespace astrolabe::workload
