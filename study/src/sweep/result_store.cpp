#include "detail_rows.hpp"
#include "point_claims.hpp"
#include "result_json.hpp"
#include "sqlite_database.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLayout = 3;             // user_version of the file
constexpr int kLayoutWithoutSums = 2;  // which has no table `checksums`

constexpr const char* kTables = R"sql(
CREATE TABLE studies (
    name TEXT PRIMARY KEY,
    report TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE points (
    study TEXT NOT NULL,
    number INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    key TEXT NOT NULL,
    predicted_wall_s REAL,
    predicted_memory_bytes REAL,
    PRIMARY KEY (study, number)
) WITHOUT ROWID;
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    error TEXT NOT NULL,
    fingerprint TEXT,
    summary TEXT,
    resolved TEXT NOT NULL,
    wall_s REAL,
    peak_rss_bytes INTEGER
) WITHOUT ROWID;
CREATE TABLE resolutions (
    written TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    predicted_wall_s REAL,
    predicted_memory_bytes REAL
) WITHOUT ROWID;
CREATE TABLE details (
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (key, kind)
) WITHOUT ROWID;
CREATE VIEW study_rows AS
    SELECT study, number, parameters, points.key AS key, coalesce(status, 'missing') AS status, error,
        fingerprint,
        json_extract(summary, '$.seed') AS seed,
        json_extract(summary, '$.ranks') AS ranks,
        json_extract(summary, '$.hosts') AS hosts,
        json_extract(summary, '$.network_kind') AS network_kind,
        json_extract(summary, '$.backend_kind') AS backend_kind,
        json_extract(summary, '$.mean_iteration_time_s') AS mean_iteration_time_s,
        json_extract(summary, '$.total_time_s') AS total_time_s,
        json_extract(summary, '$.lower_bound_s') AS lower_bound_s,
        json_extract(summary, '$.compute_s') AS compute_s,
        json_extract(summary, '$.drain_s') AS drain_s,
        json_extract(summary, '$.all_reduce_share') AS all_reduce_share,
        json_extract(summary, '$.network.max_link_utilization') AS max_link_utilization,
        json_extract(summary, '$.network.mean_link_utilization') AS mean_link_utilization,
        summary, resolved, predicted_wall_s, predicted_memory_bytes, wall_s, peak_rss_bytes
    FROM points LEFT JOIN results ON results.key = points.key;
)sql";

// Of a row of `results` where kind is kResultSum, of a study with its points where it is kStudySum, else of a
// row of `details`. Each of these has one.
constexpr const char* kChecksums = R"sql(
CREATE TABLE checksums (
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    crc32 TEXT NOT NULL,
    PRIMARY KEY (key, kind)
) WITHOUT ROWID;
)sql";

constexpr const char* kResultSum = "";
constexpr const char* kStudySum = "study";

/// CRC-32 of texts, each with its length before it.
class TextSum {
public:
    TextSum& add(const std::string& text) {
        const std::string sized = fmt::format("{}:{}", text.size(), text);
        crc_ = static_cast<std::uint32_t>(
            crc32_z(crc_, reinterpret_cast<const Bytef*>(sized.data()), sized.size()));
        return *this;
    }
    [[nodiscard]] std::string text() const { return fmt::format("{:08x}", crc_); }

private:
    std::uint32_t crc_ = 0;
};

/// What has a checksum, as errors name it.
std::string name_of(const std::string& kind) {
    return kind == kResultSum ? "the result" : fmt::format("'{}'", kind);
}

std::string crc_of(const std::string& text) {
    return TextSum().add(text).text();
}

/// `what` is the row that has the text, as the error names it.
void check_nesting(const std::string& text, const std::string& what) {
    if (place_of_deep_nesting(text)) {
        throw SqliteDamage(
            fmt::format("it is damaged: {} has more than {} lists and objects inside each other", what,
                        limits::kNesting));
    }
}

/// Throws what nlohmann::json does.
Json json_in(const std::string& text, const std::string& what) {
    check_nesting(text, what);
    return Json::parse(text);
}

PointStatus status_of(const std::string& text) {
    for (const PointStatus status : {PointStatus::kMissing, PointStatus::kDone, PointStatus::kFailed}) {
        if (text == to_string(status)) {
            return status;
        }
    }
    throw SqliteDamage(fmt::format("it is damaged: '{}' is no status of a point", text));
}

/// Columns status, error, fingerprint, summary, resolved, wall_s, peak_rss_bytes from `column` on.
StoredResult read_result(const Statement& row, std::string key, int column) {
    StoredResult result;
    result.key = std::move(key);
    result.status = status_of(row.text(column));
    result.error = row.text(column + 1);
    result.fingerprint = row.text(column + 2);
    const std::string summary = row.text(column + 3);
    result.summary =
        summary.empty() ? Json() : json_in(summary, fmt::format("the summary of '{}'", result.key));
    result.resolved = row.text(column + 4);
    result.wall_seconds = row.number(column + 5);
    result.peak_rss_bytes = row.number(column + 6) ? row.count(column + 6, 0) : 0;
    if (result.status == PointStatus::kDone) {
        if (const std::string defect = summary_defect(result.summary); !defect.empty()) {
            throw SqliteDamage(fmt::format("it is damaged: the summary of '{}': {}", result.key, defect));
        }
    }
    return result;
}

/// Of the columns of a result that say what the run gave.
std::string crc_of_result(const Statement& row, int column) {
    TextSum sum;
    for (int i = column; i < column + 5; ++i) {
        sum.add(row.text(i));
    }
    return sum.text();
}

void add_scalars(const Json& object, const std::string& prefix, Json& found) {
    for (const auto& [key, value] : object.items()) {
        if (value.is_object()) {
            add_scalars(value, prefix + key + ".", found);
        } else if (!value.is_array()) {
            found[prefix + key] = value;
        }
    }
}

}  // namespace

class ResultStore::Database : public SqliteDatabase {
public:
    using SqliteDatabase::SqliteDatabase;

    /// That the file has no table, view, index or trigger but those that this program makes: SQLite carries
    /// out what they say, such as a view that never ends, in place of what is asked for.
    void check_schema() {
        const std::string known = std::string(kTables) + kChecksums;
        Statement rows(*this, "SELECT sql, name FROM sqlite_master WHERE sql IS NOT NULL");
        while (rows.step()) {
            if (known.find("\n" + rows.text(0) + ";\n") == std::string::npos) {
                throw SqliteDamage(
                    fmt::format("it is damaged: '{}' is not as this program makes it", rows.text(1)));
            }
        }
    }

    /// That this is a store, and whole. O(size).
    void check_store() {
        has_sums_ = layout() == kLayout;
        if (!has_sums_ && layout() != kLayoutWithoutSums) {
            throw SqliteError(fmt::format("it is of layout {}, this program has {}", layout(), kLayout));
        }
        check_schema();
        check_pages();
        // Preparing a statement looks for its tables and columns.
        for (const char* sql :
             {"SELECT name, report FROM studies", "SELECT content FROM details WHERE key = '' AND kind = ''",
              "SELECT number, parameters, key, predicted_wall_s, predicted_memory_bytes, status, error, "
              "fingerprint, summary, resolved, wall_s, peak_rss_bytes FROM study_rows",
              "SELECT written, key, predicted_wall_s, predicted_memory_bytes FROM resolutions"}) {
            const Statement found(*this, sql);
        }
        if (has_sums_) {
            const Statement found(*this, "SELECT key, kind, crc32 FROM checksums");
        }
    }

    /// What `read` gives of one state of the file, whatever others put; damage that it meets is of this file.
    template <class Read>
    auto reading(const Read& read) {
        try {
            return at_once(read);
        } catch (const SqliteDamage& failure) {
            throw StoreDamage(damage_error(file(), failure.what()));
        } catch (const SqliteError& failure) {
            throw StoreDamage(store_error(file(), failure.what()));
        } catch (const Json::exception& failure) {
            throw StoreDamage(damage_error(file(), failure.what()));
        }
    }

    void put_crc(const std::string& key, const std::string& kind, const std::string& crc) {
        Statement(*this, "INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)")
            .bind(1, key)
            .bind(2, kind)
            .bind(3, crc)
            .run();
    }

    /// Nothing of a store of an earlier layout, and of what was not put.
    std::optional<std::string> crc(const std::string& key, const std::string& kind) {
        if (!has_sums_) {
            return std::nullopt;
        }
        Statement row(*this, "SELECT crc32 FROM checksums WHERE key = ? AND kind = ?");
        row.bind(1, key).bind(2, kind);
        return row.step() ? std::optional(row.text(0)) : std::nullopt;
    }

    /// Throws where another one was put, or none.
    void check_crc(const std::string& key, const std::string& kind, const std::string& found) {
        if (has_sums_ && crc(key, kind) != found) {
            throw SqliteDamage(fmt::format("it is damaged: {} of '{}' has CRC-32 {}, and {} was put",
                                           name_of(kind), key, found, crc(key, kind).value_or("nothing")));
        }
    }

    /// Throws where there is something that was not put.
    void check_has_sum(const std::string& key, const std::string& kind) {
        if (has_sums_ && !crc(key, kind)) {
            throw SqliteDamage(fmt::format("it is damaged: {} of '{}' was not put", name_of(kind), key));
        }
    }

    /// Throws where something was put that is not there.
    void check_was_not_put(const std::string& key, const std::string& kind) {
        if (crc(key, kind)) {
            throw SqliteDamage(
                fmt::format("it is damaged: {} of '{}' was put and is not there", name_of(kind), key));
        }
    }

    /// Of a study and its points as they are in the file.
    std::string crc_of_study(const std::string& study) {
        TextSum sum;
        Statement report(*this, "SELECT report FROM studies WHERE name = ?");
        sum.add(report.bind(1, study).step() ? report.text(0) : "");
        Statement points(*this, "SELECT number, parameters, key FROM points WHERE study = ? ORDER BY number");
        points.bind(1, study);
        while (points.step()) {
            sum.add(fmt::to_string(points.count(0, 1))).add(points.text(1)).add(points.text(2));
        }
        return sum.text();
    }

    /// Of all that an earlier layout put.
    void add_sums() {
        Statement studies(*this, "SELECT name FROM studies");
        while (studies.step()) {
            put_crc(studies.text(0), kStudySum, crc_of_study(studies.text(0)));
        }
        Statement results(*this, "SELECT key, status, error, fingerprint, summary, resolved FROM results");
        while (results.step()) {
            put_crc(results.text(0), kResultSum, crc_of_result(results, 1));
        }
        Statement details(*this, "SELECT key, kind, content FROM details");
        while (details.step()) {
            put_crc(details.text(0), details.text(1), crc_of(details.text(2)));
        }
    }

private:
    bool has_sums_ = false;
};

std::string_view to_string(PointStatus status) {
    constexpr std::array<std::string_view, 3> kNames{"missing", "done", "failed"};
    return kNames[static_cast<std::size_t>(status)];
}

ResultStore::ResultStore(std::unique_ptr<Database> database)
    : database_(std::move(database)) {}
ResultStore::ResultStore(ResultStore&&) noexcept = default;
ResultStore& ResultStore::operator=(ResultStore&&) noexcept = default;
ResultStore::~ResultStore() = default;

Result<ResultStore> ResultStore::open(const std::filesystem::path& folder) {
    if (const Result<experiment::OutputFolder> writable = experiment::OutputFolder::open(folder); !writable) {
        return writable.error();
    }
    const std::filesystem::path claims = folder / kLockName;
    std::error_code ignored;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(claims, ignored))) {
        return store_error(claims, "it is a link, through which nothing is written");
    }
    const std::filesystem::path file = folder / kStoreName;
    try {
        auto database = std::make_unique<Database>(file, SqliteDatabase::Access::kWrite);
        // Whoever comes first makes the tables; a second process waits for it here.
        database->change([&] {
            const bool is_new = database->layout() == 0;
            if (is_new && database->has_tables()) {
                throw SqliteError("it is a database of another program");
            }
            if (is_new) {
                database->run(kTables);
            }
            if (is_new || database->layout() == kLayoutWithoutSums) {
                database->check_schema();
                database->run(kChecksums);
                database->add_sums();
                database->run(fmt::format("PRAGMA user_version = {}", kLayout));
            }
        });
        database->check_store();
        return ResultStore(std::move(database));
    } catch (const SqliteDamage& failure) {
        return damage_error(file, failure.what());
    } catch (const SqliteError& failure) {
        return store_error(file, failure.what());
    }
}

Result<ResultStore> ResultStore::open_to_read(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / kStoreName;
    try {
        std::error_code unknown;
        if (!std::filesystem::exists(file, unknown)) {
            throw SqliteError(unknown ? unknown.message() : "there is none");
        }
        auto database = std::make_unique<Database>(file, SqliteDatabase::Access::kRead);
        database->check_store();
        return ResultStore(std::move(database));
    } catch (const SqliteDamage& failure) {
        return damage_error(file, failure.what());
    } catch (const SqliteError& failure) {
        return store_error(file, failure.what());
    }
}

std::optional<Diagnostic> ResultStore::put(const StudyRecord& study) {
    return database_->try_change([&] {
        Statement(*database_, "INSERT OR REPLACE INTO studies VALUES (?, ?)")
            .bind(1, study.name)
            .bind(2, text_of(study.report))
            .run();
        Statement(*database_, "DELETE FROM points WHERE study = ? AND number > ?")
            .bind(1, study.name)
            .bind(2, static_cast<std::int64_t>(study.points.size()))
            .run();
        Statement insert(*database_,
                         "INSERT INTO points VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (study, number) DO "
                         "UPDATE SET predicted_wall_s = iif(key = ?4, coalesce(?5, predicted_wall_s), ?5), "
                         "predicted_memory_bytes = iif(key = ?4, coalesce(?6, predicted_memory_bytes), ?6), "
                         "parameters = ?3, key = ?4");
        for (const StudyPointRecord& point : study.points) {
            insert.bind(1, study.name)
                .bind(2, static_cast<std::int64_t>(point.number))
                .bind(3, text_of(point.parameters))
                .bind(4, point.key)
                .bind(5, point.predicted_wall_seconds)
                .bind(6, point.predicted_memory_bytes)
                .run();
        }
        database_->put_crc(study.name, kStudySum, database_->crc_of_study(study.name));
    });
}

std::optional<Diagnostic> ResultStore::put(const StoredResult& result) {
    return put(std::span(&result, 1));
}

std::optional<Diagnostic> ResultStore::put(std::span<const StoredResult> results) {
    return database_->try_change([&] {
        Statement insert(
            *database_,
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
            "status = excluded.status, error = excluded.error, fingerprint = excluded.fingerprint, "
            "summary = excluded.summary, resolved = excluded.resolved, wall_s = excluded.wall_s, "
            "peak_rss_bytes = excluded.peak_rss_bytes WHERE status <> 'done'");
        Statement insert_detail(*database_, "INSERT OR REPLACE INTO details VALUES (?, ?, ?)");
        for (const StoredResult& result : results) {
            Statement old(*database_,
                          "SELECT status, error, fingerprint, summary, resolved FROM results WHERE key = ?");
            if (old.bind(1, result.key).step() && old.text(0) == to_string(PointStatus::kDone)) {
                database_->check_crc(result.key, kResultSum, crc_of_result(old, 0));  // it stays
            }
            const bool is_done = result.status == PointStatus::kDone;
            insert.bind(1, result.key)
                .bind(2, std::string(to_string(result.status)))
                .bind(3, result.error)
                .bind(4, is_done ? std::optional(result.fingerprint) : std::nullopt)
                .bind(5, is_done ? std::optional(text_of(result.summary)) : std::nullopt)
                .bind(6, result.resolved)
                .bind(7, result.wall_seconds)
                .bind(8, result.peak_rss_bytes > 0
                             ? std::optional(static_cast<std::int64_t>(result.peak_rss_bytes))
                             : std::nullopt)
                .run();
            for (const auto& [kind, content] : result.details) {
                insert_detail.bind(1, result.key).bind(2, kind).bind(3, content).run();
                database_->put_crc(result.key, kind, crc_of(content));
            }
            // Of what the row has now, which may be an earlier result.
            Statement row(*database_,
                          "SELECT status, error, fingerprint, summary, resolved FROM results WHERE key = ?");
            row.bind(1, result.key);
            if (row.step()) {
                database_->put_crc(result.key, kResultSum, crc_of_result(row, 0));
            }
        }
    });
}

std::optional<Diagnostic> ResultStore::forget_failures(std::span<const std::string> keys) {
    return database_->try_change([&] {
        Statement remove_sum(*database_,
                             "DELETE FROM checksums WHERE key = ?1 AND kind = '' AND EXISTS (SELECT 1 FROM "
                             "results WHERE key = ?1 AND status = 'failed')");
        Statement remove(*database_, "DELETE FROM results WHERE key = ? AND status = 'failed'");
        for (const std::string& key : keys) {
            remove_sum.bind(1, key).run();
            remove.bind(1, key).run();
        }
    });
}

std::optional<Diagnostic> ResultStore::remember(
    std::span<const std::pair<std::string, Resolution>> resolutions) {
    return database_->try_change([&] {
        Statement insert(*database_, "INSERT OR REPLACE INTO resolutions VALUES (?, ?, ?, ?)");
        for (const auto& [written, resolution] : resolutions) {
            insert.bind(1, written)
                .bind(2, resolution.key)
                .bind(3, resolution.predicted_wall_seconds)
                .bind(4, resolution.predicted_memory_bytes)
                .run();
        }
    });
}

std::vector<std::string> ResultStore::studies() const {
    return database_->reading([&] {
        std::vector<std::string> names;
        Statement rows(*database_, "SELECT name FROM studies ORDER BY name");
        while (rows.step()) {
            names.push_back(rows.text(0));
            database_->check_has_sum(names.back(), kStudySum);
        }
        return names;
    });
}

std::vector<std::string> ResultStore::report_of(const std::string& study) const {
    return database_->reading([&] {
        Statement row(*database_, "SELECT report FROM studies WHERE name = ?");
        row.bind(1, study);
        return row.step() ? json_in(row.text(0), fmt::format("the report of study '{}'", study))
                                .get<std::vector<std::string>>()
                          : std::vector<std::string>{};
    });
}

std::vector<StudyRow> ResultStore::rows(const std::string& study) const {
    return database_->reading([&] {
        std::vector<StudyRow> found;
        Statement rows(
            *database_,
            "SELECT number, parameters, key, predicted_wall_s, predicted_memory_bytes, status, error, "
            "fingerprint, summary, resolved, wall_s, peak_rss_bytes FROM study_rows WHERE study = ? "
            "ORDER BY number");
        rows.bind(1, study);
        while (rows.step()) {
            const std::uint64_t number = rows.count(0, 1);
            Json parameters = json_in(rows.text(1), fmt::format("point {} of study '{}'", number, study));
            if (!parameters.is_object() && !parameters.is_null()) {  // null: nothing varies
                throw SqliteDamage("it is damaged: the parameters of a point are none");
            }
            found.push_back({{number, std::move(parameters), rows.text(2), rows.number(3), rows.number(4)},
                             read_result(rows, rows.text(2), 5)});
            if (found.back().result.status != PointStatus::kMissing) {
                database_->check_crc(rows.text(2), kResultSum, crc_of_result(rows, 5));
            } else {
                database_->check_was_not_put(rows.text(2), kResultSum);
            }
        }
        if (!found.empty() || database_->crc(study, kStudySum)) {
            database_->check_crc(study, kStudySum, database_->crc_of_study(study));
        }
        return found;
    });
}

std::optional<StoredResult> ResultStore::result(const std::string& key) const {
    return database_->reading([&] {
        Statement row(
            *database_,
            "SELECT status, error, fingerprint, summary, resolved, wall_s, peak_rss_bytes FROM results "
            "WHERE key = ?");
        row.bind(1, key);
        if (!row.step()) {
            return std::optional<StoredResult>();
        }
        database_->check_crc(key, kResultSum, crc_of_result(row, 0));
        return std::optional(read_result(row, key, 0));
    });
}

PointStatus ResultStore::status(const std::string& key) const {
    return database_->reading([&] {
        Statement row(*database_, "SELECT status FROM results WHERE key = ?");
        row.bind(1, key);
        return row.step() ? status_of(row.text(0)) : PointStatus::kMissing;
    });
}

bool ResultStore::has_details(const std::string& key, const std::vector<std::string>& kinds) const {
    return database_->reading([&] {
        return std::all_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
            Statement row(*database_, "SELECT 1 FROM details WHERE key = ? AND kind = ?");
            return row.bind(1, key).bind(2, kind).step();
        });
    });
}

std::string ResultStore::detail(const std::string& key, const std::string& kind) const {
    return database_->reading([&] {
        Statement row(*database_, "SELECT content FROM details WHERE key = ? AND kind = ?");
        row.bind(1, key).bind(2, kind);
        if (!row.step()) {
            database_->check_was_not_put(key, kind);
            return std::string();
        }
        database_->check_crc(key, kind, crc_of(row.text(0)));
        check_nesting(row.text(0), fmt::format("{} of '{}'", name_of(kind), key));
        return row.text(0);
    });
}

std::optional<Resolution> ResultStore::resolution(const std::string& written) const {
    return database_->reading([&] {
        Statement row(
            *database_,
            "SELECT key, predicted_wall_s, predicted_memory_bytes FROM resolutions WHERE written = ?");
        row.bind(1, written);
        return row.step() ? std::optional(Resolution{row.text(0), row.number(1), row.number(2)})
                          : std::nullopt;
    });
}

nlohmann::ordered_json scalar_keys(const nlohmann::ordered_json& summary) {
    Json found = Json::object();
    if (summary.is_object()) {
        add_scalars(summary, "", found);
        for (const char* constant : {"schema", "name", "version"}) {
            found.erase(constant);
        }
    }
    return found;
}

}  // namespace astrolabe::study
