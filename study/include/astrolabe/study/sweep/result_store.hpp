/// Where results of studies are kept: one SQLite file, `results.sqlite` in a folder, in WAL mode.
///
/// A result belongs to an experiment, not to a study: its key is a hash of the experiment as it was resolved
/// (without its name, files it reads by what is in them) and of the program's version. Studies are lists of
/// points that refer to keys, so that studies in one folder share what they have in common, and a study that
/// was changed finds again what it had.
///
///     studies      name → report, the figures it asks for
///     points       (study, number) → parameters, key, predicted cost
///     results      key → status, error, fingerprint, summary, resolved experiment, wall time, memory
///     details      (key, kind) → what figures of a single run are drawn from, where its study asked for one
///     resolutions  hash of an experiment as written → key and predicted cost, so that it need not be read
///                  again
///     study_rows   a view: points with their results
///
/// docs/studies.md has their columns.
///
/// Every change is one transaction: whichever process is killed, and whenever, the store is whole, and a
/// result that was put is there. Processes may use a store at the same time; a writer waits for another. What
/// goes wrong (a full disk, say) is a diagnostic `store.…`, and what was there before stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe::study {

/// The file within a folder of results.
inline constexpr std::string_view kStoreName = "results.sqlite";

enum class PointStatus : std::uint8_t { kMissing, kDone, kFailed };
[[nodiscard]] std::string_view to_string(PointStatus status);

/// What figures of a single run are drawn from, by kind (docs/report.md): texts of JSON objects.
using RunDetails = std::map<std::string, std::string>;

/// What one run gave.
struct StoredResult {
    std::string key;
    PointStatus status = PointStatus::kMissing;
    std::string error;                   ///< of one that failed: all that is known
    std::string fingerprint;             ///< empty of one that failed
    nlohmann::ordered_json summary;      ///< summary.json without `engine`; null of one that failed
    std::string resolved;                ///< the experiment as YAML, with defaults
    std::optional<double> wall_seconds;  ///< of the process
    std::uint64_t peak_rss_bytes = 0;    ///< of the process; 0: unknown
    RunDetails details;                  ///< to be put; not read with the rest
};

/// A point of a study as it is put.
struct StudyPointRecord {
    std::size_t number = 0;                                                ///< from 1, in the study's order
    nlohmann::ordered_json parameters = nlohmann::ordered_json::object();  ///< and derived values, by name
    std::string key;
    std::optional<double> predicted_wall_seconds;
    std::optional<double> predicted_memory_bytes;
};

struct StudyRecord {
    std::string name;
    std::vector<std::string> report;  ///< names of figures; none: the default ones
    std::vector<StudyPointRecord> points;
};

/// A point of a study with its result, as it is read.
struct StudyRow {
    StudyPointRecord point;
    StoredResult result;  ///< kMissing and nothing else where there is none
};

/// What is known of an experiment without reading it.
struct Resolution {
    std::string key;
    std::optional<double> predicted_wall_seconds;
    std::optional<double> predicted_memory_bytes;
};

/// What is in a store is not what was put there: bytes that were lost or changed, or another program's
/// tables.
class StoreDamage : public std::runtime_error {
public:
    explicit StoreDamage(Diagnostic diagnostic)
        : std::runtime_error(diagnostic.message),
          diagnostic_(std::move(diagnostic)) {}
    /// Names the file.
    [[nodiscard]] const Diagnostic& diagnostic() const { return diagnostic_; }

private:
    Diagnostic diagnostic_;
};

/// Opening a store looks through its pages (O(size), once), and every result and detail is compared with the
/// CRC-32 that was put beside it when it is read. What is wrong with a store when it is opened or changed is
/// a diagnostic, and so are a folder that is gone and a disk that refuses; damage that is met in reading is
/// thrown as StoreDamage. After a fork only the process that opened the store may use it.
class ResultStore {
public:
    /// Opens the store of a folder, which is made if need be, to read and write.
    [[nodiscard]] static Result<ResultStore> open(const std::filesystem::path& folder);
    /// Opens a store that is there, to read, also where nothing may be written.
    [[nodiscard]] static Result<ResultStore> open_to_read(const std::filesystem::path& folder);
    ResultStore(ResultStore&&) noexcept;
    ResultStore& operator=(ResultStore&&) noexcept;
    ~ResultStore();

    /// Puts a study in the place of the one with its name; its results stay. Predictions that are left out
    /// stay as they were.
    [[nodiscard]] std::optional<Diagnostic> put(const StudyRecord& study);
    /// Puts a result in the place of one that failed; one that is done stays as it is. Details are put in
    /// either case.
    [[nodiscard]] std::optional<Diagnostic> put(const StoredResult& result);
    /// The same for several, all in one transaction.
    [[nodiscard]] std::optional<Diagnostic> put(std::span<const StoredResult> results);
    /// Of these keys those that failed have no result then.
    [[nodiscard]] std::optional<Diagnostic> forget_failures(std::span<const std::string> keys);
    [[nodiscard]] std::optional<Diagnostic> remember(
        std::span<const std::pair<std::string, Resolution>> resolutions);

    /// Names, sorted.
    [[nodiscard]] std::vector<std::string> studies() const;
    /// Figures that a study asks for.
    [[nodiscard]] std::vector<std::string> report_of(const std::string& study) const;
    /// Points of a study, in order. O(points), all summaries in memory.
    [[nodiscard]] std::vector<StudyRow> rows(const std::string& study) const;
    [[nodiscard]] std::optional<StoredResult> result(const std::string& key) const;
    /// Without reading the rest.
    [[nodiscard]] PointStatus status(const std::string& key) const;
    /// Whether details of all these kinds are there.
    [[nodiscard]] bool has_details(const std::string& key, const std::vector<std::string>& kinds) const;
    /// Empty where there is none.
    [[nodiscard]] std::string detail(const std::string& key, const std::string& kind) const;
    [[nodiscard]] std::optional<Resolution> resolution(const std::string& written) const;

private:
    class Database;
    explicit ResultStore(std::unique_ptr<Database> database);

    std::unique_ptr<Database> database_;
};

/// A summary's values by dotted name ("exposed_s.all_reduce"), for tables: all but lists and what is the same
/// in all (schema, name, version).
[[nodiscard]] nlohmann::ordered_json scalar_keys(const nlohmann::ordered_json& summary);

}  // namespace astrolabe::study
