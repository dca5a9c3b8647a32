/// What embedding kernels move, how many rows are unique, and lookups that are drawn
/// (docs/models/embedding-cost.md).
#include "workload/src/dlrm/embedding/embedding_kernels.hpp"

#include "workload/src/dlrm/dlrm_training.hpp"
#include "workload/src/dlrm/embedding/drawn_lookups.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

// 1 GB/s: a byte takes 1 ns.
const Device kSlow{.memory_bandwidth = 8_Gbps};

/// Two tables of 100 rows, B = 4 samples: 10 lookups of 8 distinct rows.
LookupShard shard() {
    return {.rows = 100, .columns = 64, .bags = 4, .lookups = 10, .unique_rows = 8};
}

LookupTimes call(const Device& device, const LookupFormat& format, const std::vector<LookupShard>& shards) {
    return call_times(device, format, shards);
}

TEST(EmbeddingKernels, ForwardMovesRowsIndicesAndOutput) {
    const LookupTimes times = shard_times(kSlow, {}, shard(), 1);
    // Indices, once for the bounds and once for the lookup: 2·(10·8 + 5·8) = 240; rows 10·64·4 = 2,560;
    // output 4·64·4 = 1,024.
    EXPECT_EQ(times.forward, (240 + 2560 + 1024) * 1_ns);
    EXPECT_EQ(times.fetch, 0_ns);
}

TEST(EmbeddingKernels, BackwardSortsAndUpdatesEveryRowOnce) {
    // Linearise 10·(8 + 12) = 200; two passes 2·24·10 = 480; runs 12·(10 + 8) = 216; gradients of 4 bags
    // 4·64·4 = 1,024; 8 rows read and written 2·8·256 = 4,096.
    const LookupTimes sgd = shard_times(kSlow, {}, shard(), 2);
    EXPECT_EQ(sgd.backward, (200 + 480 + 216 + 1024 + 4096) * 1_ns);
    // Adagrad reads and writes as many values of state again; row-wise one sector of 32 B a row.
    const auto with = [](EmbeddingOptimizer optimizer) {
        return shard_times(kSlow, {.optimizer = optimizer}, shard(), 2).backward;
    };
    EXPECT_EQ(with(EmbeddingOptimizer::kSgd), sgd.backward);
    EXPECT_EQ(with(EmbeddingOptimizer::kAdagrad), sgd.backward + 4096_ns);
    EXPECT_EQ(with(EmbeddingOptimizer::kAdam), sgd.backward + 2 * 4096_ns);
    EXPECT_EQ(with(EmbeddingOptimizer::kRowWiseAdagrad), sgd.backward + 2 * 8 * 32_ns);
    EXPECT_EQ(with(EmbeddingOptimizer::kPartialRowWiseAdam), sgd.backward + 4096_ns + 2 * 8 * 32_ns);
    // A copy of a table writes the gradients of 8 rows instead.
    EXPECT_EQ(shard_times(kSlow, {.updates = false}, shard(), 2).backward, sgd.backward - 8 * 256_ns);
}

TEST(EmbeddingKernels, NarrowRowsCostAsMuchAs32Columns) {
    LookupShard narrow = shard();
    narrow.columns = 4;
    // Rows 10·32·4 = 1,280 B of lanes; output 4·4·4 = 64 B.
    EXPECT_EQ(shard_times(kSlow, {}, narrow, 1).forward, (240 + 1280 + 64) * 1_ns);
    // A row of 16 B is read and written as a sector of 32: 200 + 240 + 216 + 64 + 2·8·32.
    EXPECT_EQ(shard_times(kSlow, {}, narrow, 1).backward, (200 + 240 + 216 + 64 + 512) * 1_ns);
}

TEST(EmbeddingKernels, WeightsLearnForAboutAForwardMore) {
    LookupShard weighted = shard();
    weighted.weighted = true;
    const LookupTimes without = shard_times(kSlow, {}, shard(), 1);
    const LookupTimes with = shard_times(kSlow, {}, weighted, 1);
    EXPECT_EQ(with.forward, without.forward + 40_ns);              // 4 B a lookup
    EXPECT_EQ(with.backward, without.backward + 40_ns + 2560_ns);  // and the rows again
}

TEST(EmbeddingKernels, RowsOfTheHostGoOverItsLink) {
    Device device = kSlow;
    device.host_link = Bandwidth(4'000'000'000);  // 2 ns a byte
    LookupShard remote = shard();
    remote.memory = TableMemory::kHost;
    const LookupTimes local = shard_times(device, {}, shard(), 1);
    const LookupTimes host = shard_times(device, {}, remote, 1);
    EXPECT_EQ(host.forward, local.forward + 2560_ns);  // 2 ns for a byte of a row instead of 1
    // Rows go and come over the link at once, 8·256 B each: 4,096 ns, as long as both in the memory.
    EXPECT_EQ(host.backward, local.backward);

    LookupShard cached = shard();
    cached.memory = TableMemory::kCached;
    cached.hit_rate = 0.75;
    const LookupFormat adagrad{.optimizer = EmbeddingOptimizer::kAdagrad};
    const LookupTimes times = shard_times(device, adagrad, cached, 1);
    EXPECT_EQ(times.fetch, 2 * 256 * 2_ns);  // a quarter of 8 rows
    EXPECT_EQ(times.forward, local.forward + times.fetch);
    // The state, as wide as the row, stays with the host: 8·256 B at 2 ns instead of 2·8·256 at 1.
    EXPECT_EQ(times.backward, shard_times(device, adagrad, shard(), 1).backward);
}

TEST(EmbeddingKernels, KeysOfACallAreSortedInPassesOf8Bits) {
    EXPECT_EQ(sort_passes(1), 1);
    EXPECT_EQ(sort_passes(256), 1);
    EXPECT_EQ(sort_passes(257), 2);
    EXPECT_EQ(sort_passes(65'536), 2);
    EXPECT_EQ(sort_passes(204'184'588), 4);  // 28 bits
    // Two tables of 200 rows have 400 keys, 9 bits: two passes for both.
    LookupShard table = shard();
    table.rows = 200;
    const std::vector<LookupShard> both{table, table};
    EXPECT_EQ(call(kSlow, {}, both).backward, 2 * shard_times(kSlow, {}, table, 2).backward);
    table.count = 2;
    EXPECT_EQ(call(kSlow, {}, {table}).backward, call(kSlow, {}, both).backward);
}

TEST(EmbeddingKernels, CallsAreNotFasterThanTheFloor) {
    Device device = kSlow;
    device.lookup = LookupRates{.floor = 100_us, .backward_floor = 300_us};
    EXPECT_EQ(call(device, {}, {shard()}).forward, 100_us);
    EXPECT_EQ(call(device, {}, {shard()}).backward, 300_us);
    EXPECT_EQ(call(device, {}, {}).forward, 0_us);  // without tables there is no call
    // Kernels on 64 columns at 2 GB/s: rows and output take half as long.
    device.lookup = LookupRates{.bandwidth = ByNumber<Bandwidth>(16_Gbps)};
    EXPECT_EQ(call(device, {}, {shard()}).forward, 240_ns + (2560 + 1024) / 2 * 1_ns);
}

TEST(EmbeddingKernels, MemoryHoldsWeightsStateAndCache) {
    const LookupFormat format{.optimizer = EmbeddingOptimizer::kPartialRowWiseAdam};
    LookupTraits traits;
    // 100 rows of 64·4 B, 64·4 B and 4 B of state.
    EXPECT_EQ(memory_of_shard(format, traits, 100, 64).device, 100 * 516_B);
    traits.memory = TableMemory::kHost;
    EXPECT_EQ(memory_of_shard(format, traits, 100, 64).device, 400_B);
    EXPECT_EQ(memory_of_shard(format, traits, 100, 64).host, 100 * 512_B);
    traits.memory = TableMemory::kCached;
    traits.cache.load_factor = 0.35;
    // ceil(35 / 32) = 2 sets of 32 slots of 256 + 16 B; 4 B of state and 4 B of the map a row.
    EXPECT_EQ(memory_of_shard(format, traits, 100, 64).device, 100 * 8_B + 64 * 272_B);
}

RC_GTEST_PROP(EmbeddingKernelsProperty, MoreLookupsAndRowsNeverTakeLess, ()) {
    const auto any = [](std::int64_t low, std::int64_t high) { return *rc::gen::inRange(low, high); };
    LookupShard small{.rows = any(1, 100'000),
                      .columns = any(1, 512),
                      .bags = any(1, 10'000),
                      .lookups = any(0, 100'000),
                      .weighted = *rc::gen::arbitrary<bool>()};
    small.unique_rows = unique_rows({}, small.rows, small.lookups, small.bags);
    LookupShard large = small;
    large.lookups += any(0, 1000);
    large.unique_rows = unique_rows({}, small.rows, large.lookups, small.bags);
    const LookupFormat format{.optimizer = EmbeddingOptimizer::kRowWiseAdagrad};
    const LookupTimes less = call(kSlow, format, {small});
    const LookupTimes more = call(kSlow, format, {large});
    RC_ASSERT(less.forward <= more.forward);
    RC_ASSERT(less.backward <= more.backward);
    // At least what must be moved: every row that is met, and every sum that is written.
    const Bytes met = small.unique_rows * small.columns * 4_B + small.bags * small.columns * 4_B;
    RC_ASSERT(less.forward >= met / *kSlow.memory_bandwidth);
}

TEST(UniqueRows, AreThoseOfEvenDrawsUnlessSaid) {
    // 100 draws of 100 rows: 100·(1 - 0.99^100) = 63.397, rounded up.
    EXPECT_EQ(unique_rows({}, 100, 100, 1), 64);
    EXPECT_EQ(unique_rows({}, 3, 1'000'000, 1), 3);
    EXPECT_EQ(unique_rows({}, 1'000'000'000, 5, 1), 5);
    EXPECT_EQ(unique_rows({}, 100, 0, 1), 0);
    LookupTraits traits;
    traits.unique_share = 0.25;
    EXPECT_EQ(unique_rows(traits, 1000, 10, 1), 3);
    EXPECT_EQ(unique_rows(traits, 2, 1000, 1), 2);
}

// Of 100 lookups, 40 meet a row once, 60 one of 20 rows three times: 60 rows, 5/3 lookups each.
ReuseHistogram small_histogram() {
    return {.batch = 10,
            .lookups_per_row = 100.0 / 60,
            .rows = {40.0 / 60, 0, 20.0 / 60},
            .lookups = {0.4, 0, 0.6}};
}

TEST(UniqueRows, GrowWithTheBatchAsTheHistogramSays) {
    LookupTraits traits;
    traits.reuse = std::make_shared<const ReuseHistogram>(small_histogram());
    ASSERT_TRUE(validation_errors(*traits.reuse).empty());
    EXPECT_EQ(unique_rows(traits, 1000, 100, 10), 60);
    // Half of the batch has 50 lookups: 40/2 + 20·(1 - 1/8) = 37.5 rows.
    EXPECT_EQ(unique_rows(traits, 1000, 50, 5), 38);
    // A table with a tenth of the lookups has a tenth of the rows.
    EXPECT_EQ(unique_rows(traits, 1000, 10, 10), 6);
    // Twice the batch, rates as counted: 40·(1 - e^-2)/(1 - e^-1) + 20·(1 - e^-6)/(1 - e^-3).
    const double twice =
        40 * (1 - std::exp(-2.0)) / (1 - std::exp(-1.0)) + 20 * (1 - std::exp(-6.0)) / (1 - std::exp(-3.0));
    EXPECT_EQ(unique_rows(traits, 1000, 200, 20), std::ceil(twice));
    EXPECT_EQ(unique_rows(traits, 50, 200, 20), 50);
}

RC_GTEST_PROP(UniqueRowsProperty, GrowAndStayBelowTheLookups, ()) {
    LookupTraits traits;
    if (*rc::gen::arbitrary<bool>()) {
        traits.reuse = std::make_shared<const ReuseHistogram>(small_histogram());
    }
    const auto rows = *rc::gen::inRange<std::int64_t>(1, 5000);
    const auto samples = *rc::gen::inRange<std::int64_t>(1, 100);
    const std::int64_t few = unique_rows(traits, rows, samples * 10, samples);
    const std::int64_t more = unique_rows(traits, rows, (samples + 1) * 10, samples + 1);
    RC_ASSERT(1 <= few);
    RC_ASSERT(few <= std::min(rows, samples * 10));
    RC_ASSERT(few <= more);
}

class PublishedReuse : public ::testing::Test {
protected:
    /// The traits of a table with `reuse`, or what is wrong with it.
    static std::pair<std::shared_ptr<const ReuseHistogram>, std::string> read(const std::string& reuse) {
        Registry<Job> registry("workload");
        register_builtin_workloads(registry);
        ReadContext context;
        const auto configured = registry.read(
            *parse_config(
                "kind: dlrm\nbatch: {local: 4}\nembedding_time: fbgemm\nmodel: {include: "
                "models/dlrm-mini16.yaml, tables: {count: 16, rows: 1000, dimension: 64, pooling: 60, "
                "reuse: " +
                    reuse + "}}\n",
                ASTROLABE_SOURCE_DIR "/inputs/job.yaml", ASTROLABE_SOURCE_DIR "/inputs"),
            context);
        if (!configured) {
            return {nullptr, render(context.errors())};
        }
        // What was resolved lists the histogram, whatever it was read from.
        const std::string text = to_yaml(*configured->resolved.find_path("model.tables.reuse"));
        ReadContext again;
        ReuseHistogram histogram;
        const Result<ConfigNode> listed = parse_config(text, "reuse.yaml");
        histogram.batch = *read_scalar<std::int64_t>(*listed->find("batch"), "batch", again);
        histogram.lookups_per_row = *read_scalar<double>(*listed->find("lookups_per_row"), "reuse", again);
        for (const auto& [key, shares] :
             {std::pair("rows", &histogram.rows), std::pair("lookups", &histogram.lookups)}) {
            for (const ConfigNode& share : listed->find(key)->items) {
                shares->push_back(*read_scalar<double>(share, key, again));
            }
        }
        return {std::make_shared<const ReuseHistogram>(histogram), ""};
    }
};

TEST_F(PublishedReuse, ReadsTheFilesOfTheDataSets) {
    const std::filesystem::path file =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/dlrm/locality/locality_stats_2021.txt";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "the data are not here";
    }
    const auto [reuse, error] = read("{file: " + file.string() + ", set: fbgemm_t856_bs65536.pt}");
    ASSERT_TRUE(reuse) << error;
    EXPECT_EQ(reuse->batch, 65'536);
    EXPECT_EQ(reuse->rows.size(), 17U);
    // 887,017,990 lookups of 128,435,723 rows.
    EXPECT_NEAR(reuse->lookups_per_row, 6.906, 0.001);
    EXPECT_NEAR(1 / reuse->unique_share(65'536), 6.906, 0.001);
    // Half of a batch meets rows less often again.
    EXPECT_LT(1 / reuse->unique_share(32'768), 6.906);
    EXPECT_GT(1 / reuse->unique_share(131'072), 6.906);
    EXPECT_NE(read("{file: " + file.string() + ", set: fbgemm_t856_bs65537.pt}").second.find("did you mean"),
              std::string::npos);
}

TEST_F(PublishedReuse, SaysWhatIsWrong) {
    EXPECT_NE(read("{file: nowhere.txt}").second.find("cannot read"), std::string::npos);
    EXPECT_NE(read("{batch: 1, lookups_per_row: 2, rows: [0.5, 0.5], lookups: [1]}").second.find("2 of rows"),
              std::string::npos);
    EXPECT_NE(read("{batch: 1, lookups_per_row: 2, rows: [0.5], lookups: [1]}").second.find("sum to 0.5"),
              std::string::npos);
    EXPECT_NE(read("{batch: 1}").second.find("needs 'rows'"), std::string::npos);
}

// 64 MiB and a byte, none of them on the disk.
TEST_F(PublishedReuse, FilesAreRegularAndBounded) {
    const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "large_reuse.txt";
    std::ofstream(file) << "a.pt\n";
    std::filesystem::resize_file(file, (std::uintmax_t{64} << 20) + 1);
    const std::string error = read("{file: " + file.string() + "}").second;
    std::filesystem::remove(file);
    EXPECT_NE(error.find("large_reuse.txt: 67108865 bytes, expected at most 67108864"), std::string::npos)
        << error;
    EXPECT_NE(read("{file: /dev/zero}").second.find("cannot read /dev/zero"), std::string::npos);

    std::ofstream(file) << "a.pt\ncaf\xE9\n";
    const std::string place = file.string() + ":2:4: byte 0xe9";
    EXPECT_NE(read("{file: " + file.string() + "}").second.find(place), std::string::npos);
    std::filesystem::remove(file);
}

class Drawn : public ::testing::Test {
protected:
    Drawn() {
        tables_ = {{.rows = 1000, .pooling = 20}, {.rows = 7, .pooling = 3}, {.rows = 10, .pooling = 5}};
        tables_[0].traits.spread = PoolingSpread{};
        tables_[1].traits.spread = PoolingSpread{.deviation = 2.0, .seed = 5};
    }
    std::vector<EqualTables> tables_;
};

TEST_F(Drawn, BlocksHaveAllLookupsOfTheirTable) {
    DrawnLookups lookups(tables_, 8, 256);
    for (std::size_t table = 0; table < tables_.size(); ++table) {
        std::int64_t all = 0;
        for (std::size_t rank = 0; rank < 8; ++rank) {
            for (const std::int64_t blocks : {1, 2, 8}) {
                std::int64_t sum = 0;
                for (std::int64_t block = 0; block < blocks; ++block) {
                    sum += lookups.of_rank(rank, table, block, blocks);
                }
                EXPECT_EQ(sum, lookups.of_rank(rank, table, 0, 1));
            }
            all += lookups.of_rank(rank, table, 0, 1);
        }
        EXPECT_EQ(lookups.of_all(table, 0, 1), all);
    }
    // 7 rows in 8 blocks of one row: the last one is empty.
    EXPECT_EQ(lookups.of_rank(3, 1, 7, 8), 0);
    // Tables without spread are even.
    EXPECT_EQ(lookups.of_rank(3, 2, 0, 1), 256 * 5);
}

TEST_F(Drawn, SumsHaveTheMeanAndDeviationOfTheirSamples) {
    constexpr std::size_t kRanks = 4096;
    DrawnLookups lookups(tables_, kRanks, 100);
    for (const auto& [table, mean, variance] :
         {std::tuple(0, 2000.0, 100 * 20.0), std::tuple(1, 300.0, 100 * 4.0)}) {
        double sum = 0;
        double squares = 0;
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            const auto value =
                static_cast<double>(lookups.of_rank(rank, static_cast<std::size_t>(table), 0, 1));
            sum += value;
            squares += (value - mean) * (value - mean);
        }
        // Of 4,096 draws the mean errs by σ/64, four of which are allowed, the variance by 2.2 %, also four.
        EXPECT_NEAR(sum / kRanks, mean, 4 * std::sqrt(variance) / 64);
        EXPECT_NEAR(squares / kRanks / variance, 1, 4 * 0.022);
    }
}

TEST_F(Drawn, NumbersDependOnTheSeedAlone) {
    DrawnLookups lookups(tables_, 4, 64);
    DrawnLookups again(tables_, 4, 64);
    EXPECT_EQ(lookups.of_rank(2, 0, 1, 4), again.of_rank(2, 0, 1, 4));
    // What others were asked for before changes nothing.
    EXPECT_EQ(drawn_lookups(tables_, 4, 64)(3, 1, 0, 1), lookups.of_rank(3, 1, 0, 1));
    // Of 1,280 in the mean, seed 1: the same on every machine.
    EXPECT_EQ(lookups.of_rank(0, 0, 0, 1), 1268);
    EXPECT_EQ(lookups.of_rank(1, 0, 0, 1), 1290);
    const std::int64_t of_seed_1 = lookups.of_rank(2, 0, 0, 1);
    tables_[0].traits.spread->seed = 2;
    EXPECT_NE(DrawnLookups(tables_, 4, 64).of_rank(2, 0, 0, 1), of_seed_1);
}

class KernelTraining : public ::testing::Test {
protected:
    KernelTraining() {
        model_.dense_features = 4;
        model_.bottom_mlp = {8, 16};
        model_.top_mlp = {4, 1};
        model_.tables = {{.count = 6, .rows = 1000, .dimension = 16, .pooling = 4}};
        model_.interaction = Interaction::kConcatenation;
        model_.element_size = 4_B;
        training_.local_batch = 64;
        training_.embedding_time = EmbeddingTime::kFbgemm;
        training_.sharding.plan = ShardingMethod::kRoundRobin;
    }

    [[nodiscard]] TrainingLayer layer(std::string_view name) const {
        const TrainingPlan plan = dlrm_training_plan(model_, training_, device_, 4);
        for (const TrainingLayer& layer : plan.layers) {
            if (layer.name == name) {
                return layer;
            }
        }
        throw std::logic_error("there is no such layer");
    }

    DlrmModel model_;
    DlrmTraining training_;
    Device device_{.peak = 1_TFLOPS, .memory_bandwidth = 8_Gbps, .host_link = 8_Gbps};
};

TEST_F(KernelTraining, ARankCallsItsTablesTogether) {
    // Ranks 0 and 1 have two tables, 2 and 3 one; 4·64 bags, 1,024 lookups, 1000·(1 - 0.999^1024) = 641.01…
    const LookupShard table{.rows = 1000, .columns = 16, .bags = 256, .lookups = 1024, .unique_rows = 642};
    const TrainingLayer tables = layer("Embedding");
    const LookupTimes one = call(device_, {}, {table});
    const std::vector<LookupShard> both{table, table};
    const LookupTimes two = call(device_, {}, both);
    EXPECT_EQ(tables.forward[system::RankId(0)], two.forward);
    EXPECT_EQ(tables.forward[system::RankId(3)], one.forward);
    EXPECT_EQ((*tables.weight_gradient)[system::RankId(1)], two.backward);
    EXPECT_FALSE(tables.fetch);
}

TEST_F(KernelTraining, RowsPoolEverySampleButLookUpTheirShare) {
    training_.sharding.tables = {{.first = 0, .count = 6, .sharding = TableSharding::kRowWise}};
    // 250 rows a rank and table, 256 lookups, 250·(1 - 0.996^256) = 160.4…
    LookupShard rows{.rows = 250, .columns = 16, .bags = 256, .lookups = 256, .unique_rows = 161, .count = 6};
    EXPECT_EQ(layer("Embedding_rows").forward[system::RankId(2)], call(device_, {}, {rows}).forward);
}

TEST_F(KernelTraining, DrawnLookupsMakeRanksDiffer) {
    model_.tables[0].count = 4;
    EXPECT_TRUE(layer("Embedding").forward.uniform());
    model_.tables[0].traits.spread = PoolingSpread{};
    EXPECT_FALSE(layer("Embedding").forward.uniform());
    training_.sharding.input_distribution = InputDistribution{};
    const system::Program program = build_dlrm_program(model_, training_, device_, 4);
    const system::Operation* values = nullptr;
    for (const system::Operation& operation : program.operations) {
        if (operation.name == "Input.indices.all_to_all.table_wise.values") {
            values = &operation;
        }
    }
    ASSERT_NE(values, nullptr);
    const system::PairSizes& pairs = values->collective().pair_sizes->front();
    EXPECT_NE(pairs(0, 1), pairs(2, 1));  // two ranks have as many samples but not as many lookups
    // What arrives is what is looked up: the bytes of rank 1's column are its lookups.
    const std::vector<EqualTables> tables(
        4, {.rows = 1000, .dimension = 16, .pooling = 4, .traits = model_.tables[0].traits});
    const LookupCount drawn = drawn_lookups(tables, 4, 64);
    for (std::size_t source = 0; source < 4; ++source) {
        EXPECT_EQ(pairs(source, 1), drawn(source, 1, 0, 1) * 8_B);
    }
}

TEST_F(KernelTraining, CachedTablesSayWhatTheyFetch) {
    model_.tables[0].traits.memory = TableMemory::kCached;
    model_.tables[0].traits.cache.hit_rate = 0.5;
    const TrainingLayer tables = layer("Embedding");
    ASSERT_TRUE(tables.fetch);
    // Half of 642 rows of 64 B at 1 ns a byte, of one table.
    EXPECT_EQ((*tables.fetch)[system::RankId(3)], 321 * 64_ns);
    EXPECT_GT(tables.forward[system::RankId(3)], 321 * 64_ns);

    device_.host_link.reset();
    ASSERT_EQ(validation_errors(device_, training_, model_).size(), 1U);
    EXPECT_EQ(validation_errors(device_, training_, model_).front().key, "host_link");
    training_.embedding_time = EmbeddingTime::kBandwidth;
    ASSERT_EQ(validation_errors(training_, model_, 4).size(), 1U);
    EXPECT_EQ(validation_errors(training_, model_, 4).front().key, "model.tables.0.memory");
}

TEST_F(KernelTraining, TheBalancedPlanSharesRowsEvenly) {
    training_.sharding = {};
    // Of six tables: 250 rows a rank, 64 samples' bags and lookups.
    LookupShard share{.rows = 250, .columns = 16, .bags = 64, .lookups = 256, .unique_rows = 161, .count = 6};
    EXPECT_EQ(layer("Embedding").forward[system::RankId(0)], call(device_, {}, {share}).forward);
    EXPECT_EQ((*layer("Embedding").weight_gradient)[system::RankId(0)], call(device_, {}, {share}).backward);
}

class TableLists : public ::testing::Test {
protected:
    TableLists() {
        model_.dense_features = 4;
        model_.bottom_mlp = {8};
        model_.top_mlp = {1};
        model_.interaction = Interaction::kConcatenation;
        model_.tables = {{.count = 3, .rows = 100, .dimension = 8, .pooling = 2},
                         {.count = 2,
                          .rows = TableValues(std::vector<std::int64_t>{10, 20}),
                          .dimension = 4,
                          .pooling = 1}};
    }
    /// "rows x dimension x pooling" of every table.
    [[nodiscard]] std::vector<std::string> tables() const {
        std::vector<std::string> all;
        for (const EqualTables& run : equal_tables(model_)) {
            const std::string table = std::to_string(run.rows) + "x" + std::to_string(run.dimension) + "x" +
                                      std::to_string(run.pooling);
            all.insert(all.end(), static_cast<std::size_t>(run.count), table);
        }
        return all;
    }
    [[nodiscard]] std::string complaint() const {
        const ValidationErrors errors = validation_errors(model_);
        return errors.empty() ? "" : errors.front().key;
    }
    DlrmModel model_;
};

TEST_F(TableLists, AreCutRepeatedAndScaled) {
    model_.slice = TableSlice{.from = 2, .count = 2};
    EXPECT_EQ(tables(), (std::vector<std::string>{"100x8x2", "10x4x1"}));
    EXPECT_EQ(table_count(model_), 2);
    model_.repeat = 2;
    EXPECT_EQ(tables(), (std::vector<std::string>{"100x8x2", "10x4x1", "100x8x2", "10x4x1"}));
    // 10·0.25 = 2.5 rounds up; a pooling of 0.4 stays 1.
    model_.scale = TableScale{.rows = 0.25, .dimension = 2, .pooling = 0.4};
    EXPECT_EQ(tables(), (std::vector<std::string>{"25x16x1", "3x8x1", "25x16x1", "3x8x1"}));
    EXPECT_EQ(pooled_width(model_), 2 * (16 + 8));
    model_.slice = TableSlice{.from = 4};
    model_.repeat = 1;
    EXPECT_EQ(tables(), (std::vector<std::string>{"5x8x1"}));
    EXPECT_TRUE(validation_errors(model_).empty());
}

TEST_F(TableLists, RefuseWhatCannotBe) {
    model_.slice = TableSlice{.from = 5};
    EXPECT_EQ(complaint(), "slice.from");
    model_.slice = TableSlice{.from = 4, .count = 2};
    EXPECT_EQ(complaint(), "slice.count");
    model_.slice.reset();
    model_.repeat = 13'108;  // 13,108·5 tables are more than 65,536
    EXPECT_EQ(complaint(), "repeat");
    model_.repeat = 1;
    model_.scale = TableScale{.pooling = 0};
    EXPECT_EQ(complaint(), "scale.pooling");
    model_.tables[0].rows = std::int64_t{1} << 40;
    model_.tables[0].dimension = 1;
    model_.scale = TableScale{.rows = 2};
    EXPECT_EQ(complaint(), "scale");
}

RC_GTEST_PROP(TableListsProperty, SlicesOfAListTogetherAreTheList, ()) {
    DlrmModel model;
    model.tables = {{.count = *rc::gen::inRange(1, 9), .rows = 5},
                    {.count = *rc::gen::inRange(1, 9), .rows = 7}};
    const std::int64_t all = table_count(model);
    const auto cut = *rc::gen::inRange<std::int64_t>(1, all);
    const std::int64_t rows = row_count(model);
    model.slice = TableSlice{.from = 0, .count = cut};
    const std::int64_t first = row_count(model);
    model.slice = TableSlice{.from = cut};
    RC_ASSERT(first + row_count(model) == rows);
    model.repeat = 3;
    RC_ASSERT(row_count(model) == 3 * (rows - first));
}

}  // namespace
}  // namespace astrolabe::workload
