#include <astrolabe/network/opera/slot_counters.hpp>

namespace astrolabe::network::opera {

void SlotCounters::count(Grant::Kind kind, std::uint64_t packets) {
    switch (kind) {
        case Grant::Kind::kSecondHop:
            second_hops += packets;
            break;
        case Grant::Kind::kDirect:
            direct += packets;
            break;
        case Grant::Kind::kOwnRack:
            own_rack += packets;
            break;
        case Grant::Kind::kFirstHop:
            first_hops += packets;
            break;
    }
}

void SlotCounters::repeat(const SlotCounters& before, std::uint64_t times) {
    second_hops += times * (second_hops - before.second_hops);
    direct += times * (direct - before.direct);
    own_rack += times * (own_rack - before.own_rack);
    first_hops += times * (first_hops - before.first_hops);
}

}  // namespace astrolabe::network::opera
