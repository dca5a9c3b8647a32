#include "sqlite_database.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

namespace astrolabe::study {
namespace {

constexpr std::chrono::milliseconds kPatience{60'000};  // that a change waits for that of another process
constexpr std::chrono::milliseconds kPause{5};

/// SQLite writes beside a file in WAL mode even to read it, unless it is opened as a file that no process
/// changes.
std::string read_only_name(const std::filesystem::path& file) {
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    const bool is_still =
        ::access(folder.c_str(), W_OK) != 0 && !std::filesystem::exists(file.string() + "-wal");
    std::string name = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
        name += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<int>(c))
                                                 : std::string(1, c);
    }
    return name + (is_still ? "?immutable=1" : "?mode=ro");
}

}  // namespace

Diagnostic store_error(const std::filesystem::path& file, const std::string& reason) {
    return {
        "store.failed",
        {},
        fmt::format("the results in '{}' cannot be used: {}", file.string(), reason),
        "what was finished stays: see that the folder is writable and the disk has room, or choose another",
        {}};
}

SqliteDatabase::SqliteDatabase(std::filesystem::path file, Access access)
    : file_(std::move(file)) {
    const bool writes = access == Access::kWrite;
    const std::string name = writes ? file_.string() : read_only_name(file_);
    const int flags =
        writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
    try {
        check(code);
        sqlite3_busy_timeout(handle_, static_cast<int>(kPatience.count()));
        if (writes) {
            use_wal();
            run("PRAGMA synchronous = FULL");
        }
    } catch (const SqliteError&) {
        sqlite3_close(handle_);
        throw;
    }
}

SqliteDatabase::~SqliteDatabase() {
    sqlite3_close(handle_);
}

void SqliteDatabase::check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        throw SqliteError(handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code));
    }
}

void SqliteDatabase::run(const std::string& sql) {
    check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

void SqliteDatabase::use_wal() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    const auto ask = [&] {
        return sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    };
    int code = ask();
    while (code == SQLITE_BUSY && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kPause);
        code = ask();
    }
    check(code);
}

int SqliteDatabase::layout() {
    Statement row(*this, "PRAGMA user_version");
    return row.step() ? static_cast<int>(row.number(0).value_or(0)) : 0;
}

void SqliteDatabase::change(const std::function<void()>& body) {
    run("BEGIN IMMEDIATE");
    try {
        body();
        run("COMMIT");
    } catch (...) {
        sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

std::optional<Diagnostic> SqliteDatabase::try_change(const std::function<void()>& body) {
    try {
        change(body);
        return std::nullopt;
    } catch (const SqliteError& failure) {
        return store_error(file_, failure.what());
    }
}

Statement::Statement(SqliteDatabase& database, const char* sql)
    : database_(database) {
    database_.check(sqlite3_prepare_v2(database.handle_, sql, -1, &handle_, nullptr));
}

Statement::~Statement() {
    sqlite3_finalize(handle_);
}

Statement& Statement::bind(int place, const std::string& text) {
    database_.check(
        sqlite3_bind_text64(handle_, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind(int place, std::int64_t number) {
    database_.check(sqlite3_bind_int64(handle_, place, number));
    return *this;
}

Statement& Statement::bind(int place, double number) {
    database_.check(sqlite3_bind_double(handle_, place, number));
    return *this;
}

Statement& Statement::bind_null(int place) {
    database_.check(sqlite3_bind_null(handle_, place));
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(handle_);
    database_.check(code);
    return code == SQLITE_ROW;
}

void Statement::run() {
    const bool has_row = step();
    database_.check(sqlite3_reset(handle_));
    if (has_row) {
        throw SqliteError("a change gave rows");
    }
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes == nullptr
               ? std::string()
               : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)));
}

std::optional<double> Statement::number(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL
               ? std::nullopt
               : std::optional(sqlite3_column_double(handle_, column));
}

}  // namespace astrolabe::study
