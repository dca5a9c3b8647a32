#include "system/src/executor/pairs_of_instant.hpp"

#include <cstdint>
#include <map>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace {

using astrolabe::network::HostId;
using astrolabe::system::detail::PairsOfInstant;

/// Instants of very different sizes, so that the table grows and becomes small again.
RC_GTEST_PROP(PairsOfInstant, AreThoseOfAMapThatIsEmptiedAtEachInstant, ()) {
    const int instants = *rc::gen::inRange(1, 12);
    PairsOfInstant pairs;
    std::uint64_t number = 0;
    for (int instant = 0; instant < instants; ++instant) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> model;
        const int messages = *rc::gen::element(0, 1, 5, 40, 3000);
        const std::uint32_t hosts = *rc::gen::element(2U, 30U, 20000U);
        std::uint32_t draw = *rc::gen::arbitrary<std::uint32_t>();
        for (int message = 0; message < messages; ++message) {
            draw = draw * 1664525U + 1013904223U;
            const std::pair pair((draw >> 16) % hosts, (draw >> 8) % hosts);
            number += draw >> 31;
            const auto [entry, is_new] = model.try_emplace(pair, number);
            RC_ASSERT(pairs.replace(HostId(pair.first), HostId(pair.second), number) ==
                      (is_new ? number : entry->second));
            entry->second = number;
        }
        pairs.clear();
    }
}

}  // namespace
