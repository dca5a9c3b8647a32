#include "detail_rows.hpp"
#include "sqlite_database.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLayout = 2;  // user_version of the file

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

Json json_or_null(const std::string& text) {
    return text.empty() ? Json() : Json::parse(text);
}

PointStatus status_of(const std::string& text) {
    return text == "done"     ? PointStatus::kDone
           : text == "failed" ? PointStatus::kFailed
                              : PointStatus::kMissing;
}

/// Columns status, error, fingerprint, summary, resolved, wall_s, peak_rss_bytes from `column` on.
StoredResult read_result(const Statement& row, std::string key, int column) {
    StoredResult result;
    result.key = std::move(key);
    result.status = status_of(row.text(column));
    result.error = row.text(column + 1);
    result.fingerprint = row.text(column + 2);
    result.summary = json_or_null(row.text(column + 3));
    result.resolved = row.text(column + 4);
    result.wall_seconds = row.number(column + 5);
    result.peak_rss_bytes = static_cast<std::uint64_t>(row.number(column + 6).value_or(0));
    return result;
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
    const std::filesystem::path file = folder / kStoreName;
    try {
        auto database = std::make_unique<Database>(file, SqliteDatabase::Access::kWrite);
        // Whoever comes first makes the tables; a second process waits for it here.
        database->change([&] {
            if (database->layout() == 0) {
                database->run(kTables);
                database->run(fmt::format("PRAGMA user_version = {}", kLayout));
            }
        });
        if (database->layout() != kLayout) {
            throw SqliteError(
                fmt::format("it is of layout {}, this program has {}", database->layout(), kLayout));
        }
        return ResultStore(std::move(database));
    } catch (const SqliteError& failure) {
        return store_error(file, failure.what());
    }
}

Result<ResultStore> ResultStore::open_to_read(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / kStoreName;
    try {
        if (!std::filesystem::exists(file)) {
            throw SqliteError("there is none");
        }
        auto database = std::make_unique<Database>(file, SqliteDatabase::Access::kRead);
        if (database->layout() != kLayout) {
            throw SqliteError(
                fmt::format("it is of layout {}, this program has {}", database->layout(), kLayout));
        }
        return ResultStore(std::move(database));
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
            }
        }
    });
}

std::optional<Diagnostic> ResultStore::forget_failures(std::span<const std::string> keys) {
    return database_->try_change([&] {
        Statement remove(*database_, "DELETE FROM results WHERE key = ? AND status = 'failed'");
        for (const std::string& key : keys) {
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
    std::vector<std::string> names;
    Statement rows(*database_, "SELECT name FROM studies ORDER BY name");
    while (rows.step()) {
        names.push_back(rows.text(0));
    }
    return names;
}

std::vector<std::string> ResultStore::report_of(const std::string& study) const {
    Statement row(*database_, "SELECT report FROM studies WHERE name = ?");
    row.bind(1, study);
    return row.step() ? Json::parse(row.text(0)).get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<StudyRow> ResultStore::rows(const std::string& study) const {
    std::vector<StudyRow> found;
    Statement rows(*database_,
                   "SELECT number, parameters, key, predicted_wall_s, predicted_memory_bytes, status, error, "
                   "fingerprint, summary, resolved, wall_s, peak_rss_bytes FROM study_rows WHERE study = ? "
                   "ORDER BY number");
    rows.bind(1, study);
    while (rows.step()) {
        found.push_back({{static_cast<std::size_t>(rows.number(0).value()), Json::parse(rows.text(1)),
                          rows.text(2), rows.number(3), rows.number(4)},
                         read_result(rows, rows.text(2), 5)});
    }
    return found;
}

std::optional<StoredResult> ResultStore::result(const std::string& key) const {
    Statement row(*database_,
                  "SELECT status, error, fingerprint, summary, resolved, wall_s, peak_rss_bytes FROM results "
                  "WHERE key = ?");
    row.bind(1, key);
    return row.step() ? std::optional(read_result(row, key, 0)) : std::nullopt;
}

PointStatus ResultStore::status(const std::string& key) const {
    Statement row(*database_, "SELECT status FROM results WHERE key = ?");
    row.bind(1, key);
    return row.step() ? status_of(row.text(0)) : PointStatus::kMissing;
}

bool ResultStore::has_details(const std::string& key, const std::vector<std::string>& kinds) const {
    return std::all_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
        Statement row(*database_, "SELECT 1 FROM details WHERE key = ? AND kind = ?");
        return row.bind(1, key).bind(2, kind).step();
    });
}

std::string ResultStore::detail(const std::string& key, const std::string& kind) const {
    Statement row(*database_, "SELECT content FROM details WHERE key = ? AND kind = ?");
    row.bind(1, key).bind(2, kind);
    return row.step() ? row.text(0) : "";
}

std::optional<Resolution> ResultStore::resolution(const std::string& written) const {
    Statement row(*database_,
                  "SELECT key, predicted_wall_s, predicted_memory_bytes FROM resolutions WHERE written = ?");
    row.bind(1, written);
    return row.step() ? std::optional(Resolution{row.text(0), row.number(1), row.number(2)}) : std::nullopt;
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
