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

/// What SQLite says went wrong.
class SqliteError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

[[nodiscard]] Diagnostic store_error(const std::filesystem::path& file, const std::string& reason);

/// All but `try_change` throw SqliteError.
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

private:
    friend class Statement;
    void check(int code) const;
    /// Asks again where another process switches the file at the same moment: SQLite gives up at once there,
    /// so that two that want the same lock do not wait for each other.
    void use_wal();

    std::filesystem::path file_;
    sqlite3* handle_ = nullptr;
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

    /// Empty where there is none.
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::optional<double> number(int column) const;

private:
    Statement& bind_null(int place);

    SqliteDatabase& database_;
    sqlite3_stmt* handle_ = nullptr;
};

}  // namespace astrolabe::study
