/// What the program wrote and reads again. Its seeds are made here, of fixed contents, or stand in the
/// corpus: what a machine's speed or its SQLite puts into a file would give every machine its own inputs.
#include "format_list.hpp"
#include "study/src/slurm/slurm_records.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <process.hpp>

#include <astrolabe/study/report/report.hpp>
#include <astrolabe/study/reproduce/reproduce.hpp>
#include <astrolabe/study/sweep/result_store.hpp>
#include <astrolabe/study/sweep/spool.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::fuzzing {
namespace {

using Path = std::filesystem::path;

constexpr const char* kRunFolder = "tests/fuzz/corpus/run";
constexpr const char* kStoreFolder = "tests/fuzz/corpus/store";
constexpr const char* kSpoolFolder = "tests/fuzz/corpus/spooled";
constexpr const char* kSlurmFolder = "tests/fuzz/corpus/submitted";
constexpr const char* kSpooledStudy = "sizes";

/// Of two batch sizes, the second of which failed.
study::StoredResult result_of_point(const Path& root, std::size_t number) {
    study::StoredResult result;
    result.key = std::string(16, number == 1 ? '1' : '2');
    if (number == 2) {
        result.status = study::PointStatus::kFailed;
        result.error = "memory: it takes more than there is";
        return result;
    }
    result.status = study::PointStatus::kDone;
    result.summary = nlohmann::ordered_json::parse(testing::read_file(root / kRunFolder / "summary.json"));
    result.fingerprint = result.summary.at("fingerprint");
    result.resolved = testing::read_file(root / kRunFolder / "resolved.yaml");
    result.wall_seconds = 0.25;
    result.peak_rss_bytes = 1U << 20U;
    result.details = {{"links", R"({"rows": [["a", "b", 0.5]], "of": 1})"}};
    return result;
}

std::string store_of_two_points(const Path& root) {
    const testing::TemporaryFolder scratch;
    {
        Result<study::ResultStore> store = study::ResultStore::open(scratch.path());
        study::StudyRecord study{"sizes", {"iteration_time"}, {}};
        for (std::size_t number = 1; store && number <= 2; ++number) {
            const study::StoredResult result = result_of_point(root, number);
            study.points.push_back({number, {{"workload.batch.global", 512 * number}}, result.key, 1.0, 2.0});
            (void)store->put(result);
        }
        if (store) {
            (void)store->put(study);
        }
    }
    return testing::read_file(scratch.path() / study::kStoreName);
}

std::string spooled_result(const Path& root) {
    const testing::TemporaryFolder scratch;
    const Result<study::Spool> spool = study::Spool::open(scratch.path(), "w");
    if (spool) {
        (void)spool->put(result_of_point(root, 1));
    }
    return testing::read_file(scratch.path() / "spool" / ("w-" + std::string(16, '1') + ".json"));
}

std::pair<std::string, std::string> submission() {
    const testing::TemporaryFolder scratch;
    study::SlurmArray array{1, "17", {{{1, {"1111", 0.5, 1e6}}}, {{2, {"2222", {}, {}}}}}};
    (void)study::write_shares(scratch.path(), array);
    (void)study::write_job(scratch.path(), array);
    const Path folder = study::submission_folder(scratch.path(), 1);
    return {testing::read_file(folder / "shares.json"), testing::read_file(folder / "job.json")};
}

Verdict read_store(const Path& path) {
    std::error_code ignored;  // what the input before it left beside the file
    std::filesystem::remove(path.string() + "-wal", ignored);
    std::filesystem::remove(path.string() + "-shm", ignored);
    return verdict_of(study::read_report(path.parent_path(), {}, components()));
}

/// Reads back what was merged, as `sweep --status` and `report` do: a result that the spool takes can be
/// read.
Verdict read_back(const Path& folder, const study::ResultStore& store) {
    const std::vector<study::StudyRow> rows = store.rows(kSpooledStudy);
    (void)study::study_text(kSpooledStudy, rows);
    (void)study::study_json(kSpooledStudy, rows);
    return rows.front().result.status == study::PointStatus::kDone
               ? verdict_of(study::read_report(folder, {}, components()))
               : Verdict{};
}

/// Into a new store: a result that is done would stay, whatever comes after it.
Verdict read_spooled(const Path& path) {
    const Path folder = path.parent_path().parent_path();
    for (const char* end : {"", "-wal", "-shm"}) {
        std::error_code ignored;
        std::filesystem::remove((folder / study::kStoreName).string() + end, ignored);
    }
    Result<study::ResultStore> store = study::ResultStore::open(folder);
    if (!store) {
        return store.error();
    }
    // The key of the spooled result; a result of another key is merged, and of no study.
    const study::StudyRecord study{
        kSpooledStudy, {"breakdown"}, {{1, {{"workload.batch.global", 512}}, std::string(16, '1'), {}, {}}}};
    if (std::optional<Diagnostic> error = store->put(study)) {
        return {*std::move(error)};
    }
    const Verdict verdict = verdict_of(study::merge_spool(folder, *store));
    return verdict.empty() ? read_back(folder, *store) : verdict;
}

Verdict read_published_record(const Path& path) {
    study::PublishedStudy published;
    published.name = path.stem().string();
    published.file = path.parent_path().parent_path() / (published.name + ".yaml");
    return verdict_of(study::read_record(published));
}

Verdict read_run(const Path& path) {
    return verdict_of(study::read_report(path.parent_path(), {}, components()));
}

}  // namespace

void add_results(std::vector<Format>& formats, const Path& root) {
    formats.push_back({"published-record", Syntax::kJson, Place::kFile,
                       files(root, {"reproduce/expected/hoti2020.json", "reproduce/expected/mlperf.json"}),
                       read_published_record});
    formats.push_back({"store",
                       Syntax::kBytes,
                       Place::kFile,
                       {{Path(kStoreFolder) / study::kStoreName, store_of_two_points(root)}},
                       read_store});
    formats.push_back({"spool",
                       Syntax::kJson,
                       Place::kFile,
                       {{Path(kSpoolFolder) / "spool" / "w-1.json", spooled_result(root)}},
                       read_spooled});
    // The job's file stands beside the shares while these change.
    const auto [shares, job] = submission();
    formats.push_back({"submission",
                       Syntax::kJson,
                       Place::kFile,
                       {{Path(kSlurmFolder) / "slurm/1/shares.json", shares}},
                       [job = job](const Path& path) {
                           std::ofstream(path.parent_path() / "job.json", std::ios::binary) << job;
                           return verdict_of(
                               study::read_submission(path.parent_path().parent_path().parent_path(), 1));
                       }});
    formats.push_back({"run-summary", Syntax::kJson, Place::kFile,
                       files(root, {"tests/fuzz/corpus/run/summary.json"}), read_run});
    formats.push_back({"run-tables", Syntax::kLines, Place::kFile,
                       files(root, {"tests/fuzz/corpus/run/operations.csv", "tests/fuzz/corpus/run/links.csv",
                                    "tests/fuzz/corpus/run/resolved.yaml"}),
                       read_run});
}

}  // namespace astrolabe::fuzzing
