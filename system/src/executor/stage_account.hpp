/// Traffic and times of the stages of one (dimension, kind) of an operation.
#pragma once

#include <algorithm>
#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

/// A sum of intervals that needs no record of any single one: Σ ends - Σ starts, exact in 128 bits.
class Elapsed {
public:
    void begin(Time now) {
        balance_ -= now.count();
        ++open_;
    }
    void end(Time now) {
        balance_ += now.count();
        --open_;
    }
    /// `times` the sum; intervals that have not ended count up to `now`. At most Time::max().
    [[nodiscard]] Time total(Time now, std::size_t times) const {
        const Wide sum = (balance_ + static_cast<Wide>(open_) * now.count()) * static_cast<Wide>(times);
        return Time(static_cast<std::int64_t>(std::min<Wide>(sum, Time::max().count())));
    }

private:
    using Wide = astrolabe::detail::Int128;
    Wide balance_ = 0;
    std::int64_t open_ = 0;
};

struct StageAccount {
    explicit StageAccount(Stage stage)
        : record{.stage = stage, .first_start = Time::max()} {}

    /// Every rank counts `class_size` times.
    [[nodiscard]] StageRecord at(Time now, std::size_t class_size) const {
        StageRecord result = record;
        result.bytes_sent = record.bytes_sent * class_size;
        result.messages = record.messages * class_size;
        result.first_start = result.first_start == Time::max() ? Time(0) : result.first_start;
        result.in_flight = in_flight.total(now, class_size);
        result.waiting = waiting.total(now, class_size);
        return result;
    }

    StageRecord record;  // traffic and instants
    Elapsed in_flight;
    Elapsed waiting;
};

}  // namespace astrolabe::system::detail
