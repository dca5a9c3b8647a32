/// An SQLite file and statements on it; <sqlite3.h> is included here and nowhere else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <astrolabe/core/diagnostic.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace astrolabe::study {

/// Of what is counted in a file: 2^53, as far as a double counts.
inline constexpr std::uint64_t kLargestCount = std::uint64_t{1} << 53;

/// What SQLite says went wrong.
class SqliteError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Of a file whose content is not what was written.
class SqliteDamage : public SqliteError {
public:
    using SqliteError::SqliteError;
};

[[nodiscard]] Diagnostic store_error(const std::filesystem::path& file, const std::string& reason);

/// Of a file whose content is not what was written.
[[nodiscard]] Diagnostic damage_error(const std::filesystem::path& file, const std::string& reason);

/// All but `try_change` throw SqliteError. To write, the file itself must not be a link.
class SqliteDatabase {
public:
    enum class Access : std::uint8_t { kRead, kWrite };

    SqliteDatabase(std::filesystem::path file, Access access);
    SqliteDatabase(const SqliteDatabase&) = delete;
    SqliteDatabase& operator=(const SqliteDatabase&) = delete;
    ~SqliteDatabase();

    /// Statements that give no rows.
    void run(const std::string& sql);
    /// `user_version`: 0 of a new file.
    [[nodiscard]] int layout();
    /// All of what `body` does, or nothing.
    void change(const std::function<void()>& body);
    /// The same; what goes wrong as a diagnostic.
    [[nodiscard]] std::optional<Diagnostic> try_change(const std::function<void()>& body);
    /// What `read` gives, all of it of the same moment.
    template <class Read>
    auto at_once(const Read& read) {
        const Snapshot snapshot(*this);
        return read();
    }
    /// Looks through all pages of the file; throws where one is damaged. O(size).
    void check_pages();
    /// Whether there are tables, of whomever.
    [[nodiscard]] bool has_tables();

    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    friend class Statement;
    /// From the first read on, until it is destroyed.
    class Snapshot {
    public:
        explicit Snapshot(SqliteDatabase& database);
        Snapshot(const Snapshot&) = delete;
        Snapshot& operator=(const Snapshot&) = delete;
        ~Snapshot();

    private:
        SqliteDatabase& database_;
    };
    void check(int code) const;
    /// That the file that was opened still has its name: SQLite goes on writing to one that was removed.
    void check_is_there() const;
    /// Asks again where another process switches the file at the same moment: SQLite gives up at once there,
    /// so that two that want the same lock do not wait for each other.
    void use_wal();

    std::filesystem::path file_;
    sqlite3* handle_ = nullptr;
    std::uint64_t device_ = 0;  ///< and number of the file
    std::uint64_t inode_ = 0;
};

/// A prepared statement. Places of `bind` count from 1, columns from 0.
class Statement {
public:
    Statement(SqliteDatabase& database, const char* sql);
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();

    Statement& bind(int place, const std::string& text);
    Statement& bind(int place, std::int64_t number);
    Statement& bind(int place, double number);
    template <class T>
    Statement& bind(int place, const std::optional<T>& value) {
        return value ? bind(place, *value) : bind_null(place);
    }

    /// To the next row; false: there is none.
    [[nodiscard]] bool step();
    /// Carries out a statement without rows; it can be bound again then.
    void run();

    /// Empty where there is none; throws where there is no text but something else.
    [[nodiscard]] std::string text(int column) const;
    /// Nothing where there is none; throws where there is no number but something else.
    [[nodiscard]] std::optional<double> number(int column) const;
    /// A whole number from `least` to kLargestCount; throws where there is none, or another one.
    [[nodiscard]] std::uint64_t count(int column, std::uint64_t least) const;

private:
    Statement& bind_null(int place);
    [[nodiscard]] SqliteError not_of_type(int column, const char* expected) const;

    SqliteDatabase& database_;
    sqlite3_stmt* handle_ = nullptr;
};

}  // namespace astrolabe::study
