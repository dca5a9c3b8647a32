#include "sqlite_database.hpp"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace astrolabe::study {
namespace {

constexpr std::chrono::milliseconds kPatience{60'000};  // that a change waits for that of another process
constexpr std::chrono::milliseconds kPause{5};

/// SQLite writes beside a file in WAL mode even to read it, unless it is opened as a file that no process
/// changes.
std::string read_only_name(const std::filesystem::path& file) {
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    std::error_code unknown;
    const bool is_still =
        ::access(folder.c_str(), W_OK) != 0 && !std::filesystem::exists(file.string() + "-wal", unknown);
    std::string name = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
        name += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<int>(c))
                                                 : std::string(1, c);
    }
    return name + (is_still ? "?immutable=1" : "?mode=ro");
}

/// Whoever opens a pipe waits for its other end. SQLite opens the files beside its own, too.
void check_files_are_regular(const std::filesystem::path& file) {
    for (const char* beside : {"", "-journal", "-wal", "-shm"}) {
        std::error_code unknown;
        const std::filesystem::file_status status = std::filesystem::status(file.string() + beside, unknown);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
            throw SqliteError(fmt::format("'{}{}' is no regular file", file.filename().string(), beside));
        }
    }
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

Diagnostic damage_error(const std::filesystem::path& file, const std::string& reason) {
    return {"store.damaged",
            {},
            fmt::format("the results in '{}' cannot be read: {}", file.string(), reason),
            "restore it from a copy; or move it aside, and the same sweep computes all of it again",
            {}};
}

SqliteDatabase::SqliteDatabase(std::filesystem::path file, Access access)
    : file_(std::move(file)) {
    const bool writes = access == Access::kWrite;
    // SQLite's own refusal of links is one of links to folders, too.
    std::error_code ignored;
    if (writes && std::filesystem::is_symlink(std::filesystem::symlink_status(file_, ignored))) {
        throw SqliteError("it is a link, through which nothing is written");
    }
    check_files_are_regular(file_);
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
            struct stat status {};
            if (::stat(file_.c_str(), &status) != 0) {
                throw SqliteError("it is not there any more");
            }
            device_ = status.st_dev;
            inode_ = status.st_ino;
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
        const std::string reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
        if ((code & 0xff) == SQLITE_CORRUPT) {  // of which there are extended codes
            throw SqliteDamage(reason);
        }
        throw SqliteError(reason);
    }
}

void SqliteDatabase::check_is_there() const {
    struct stat status {};
    if (::stat(file_.c_str(), &status) != 0 || status.st_dev != device_ || status.st_ino != inode_) {
        throw SqliteError("it was removed or replaced while this program used it");
    }
}

SqliteDatabase::Snapshot::Snapshot(SqliteDatabase& database)
    : database_(database) {
    database_.run("BEGIN");
}

SqliteDatabase::Snapshot::~Snapshot() {
    sqlite3_exec(database_.handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteDatabase::check_pages() {
    Statement rows(*this, "PRAGMA quick_check(1)");
    if (const std::string found = rows.step() ? rows.text(0) : "nothing was checked"; found != "ok") {
        throw SqliteDamage("it is damaged: " + found);
    }
}

bool SqliteDatabase::has_tables() {
    Statement row(*this, "SELECT 1 FROM sqlite_master LIMIT 1");
    return row.step();
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
        check_is_there();
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
    } catch (const SqliteDamage& failure) {
        return damage_error(file_, failure.what());
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

SqliteError Statement::not_of_type(int column, const char* expected) const {
    return SqliteError(
        fmt::format("it is damaged: a '{}' is no {}", sqlite3_column_name(handle_, column), expected));
}

std::string Statement::text(int column) const {
    if (const int type = sqlite3_column_type(handle_, column); type != SQLITE_TEXT && type != SQLITE_NULL) {
        throw not_of_type(column, "text");
    }
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes == nullptr
               ? std::string()
               : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)));
}

std::optional<double> Statement::number(int column) const {
    switch (sqlite3_column_type(handle_, column)) {
        case SQLITE_NULL:
            return std::nullopt;
        case SQLITE_INTEGER:
        case SQLITE_FLOAT:
            return sqlite3_column_double(handle_, column);
        default:
            throw not_of_type(column, "number");
    }
}

std::uint64_t Statement::count(int column, std::uint64_t least) const {
    constexpr auto kMost = static_cast<double>(kLargestCount);
    const std::optional<double> value = number(column);
    if (!value || !(*value >= static_cast<double>(least)) || *value > kMost ||
        static_cast<double>(static_cast<std::uint64_t>(*value)) != *value) {
        throw not_of_type(column, "count");
    }
    return static_cast<std::uint64_t>(*value);
}

}  // namespace astrolabe::study
