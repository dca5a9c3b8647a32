#include "slot_counters.hpp"

namespace astrolabe::network::rotor {

void SlotCounters::repeat(const SlotCounters& from, const SlotCounters& to, std::uint64_t times) {
    second_hops += times * (to.second_hops - from.second_hops);
    direct += times * (to.direct - from.direct);
    intra_rack += times * (to.intra_rack - from.intra_rack);
    first_hops += times * (to.first_hops - from.first_hops);
}

}  // namespace astrolabe::network::rotor
