#include "waits.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

namespace astrolabe::workload::pytorch {

Waits waits_of(std::span<const CommCall> calls) {
    Waits waits;
    waits.target.resize(calls.size());
    waits.is_awaited.resize(calls.size());
    // By sequence number, whether of messages alone, and group, "" being all: what a wait may ask for. A call
    // that another list has given to a wait is taken out when it is met.
    using Asked = std::tuple<std::int64_t, bool, std::string_view>;
    std::map<Asked, std::vector<std::size_t>> open;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const CommCall& call = calls[i];
        const std::int64_t number = call.sequence.value_or(-1);
        if (!call.is_wait()) {
            const CallKind kind = call.meaning.kind;
            const bool is_message = kind == CallKind::kSend || kind == CallKind::kReceive;
            for (const bool of_messages : {false, true}) {
                if (of_messages && !is_message) {
                    continue;
                }
                open[{number, of_messages, {}}].push_back(i);
                if (!call.group.empty()) {
                    open[{number, of_messages, call.group}].push_back(i);
                }
            }
            continue;
        }
        std::vector<std::size_t>& asked = open[{number, call.is_message, call.group}];
        while (!asked.empty() && waits.is_awaited[asked.back()]) {
            asked.pop_back();
        }
        if (asked.empty()) {
            ++waits.before;
            continue;
        }
        waits.target[i] = asked.back();
        waits.is_awaited[asked.back()] = true;
        asked.pop_back();
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
        waits.open += !calls[i].is_wait() && !waits.is_awaited[i] ? 1 : 0;
    }
    return waits;
}

}  // namespace astrolabe::workload::pytorch
