#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::system {

std::vector<unsigned> CollectiveAlgorithm::variant_sequence(CollectiveKind kind, const Shape& shape,
                                                            std::uint32_t chunks) const {
    const unsigned count = variants(kind, shape);
    std::vector<unsigned> sequence(chunks);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        sequence[chunk] = chunk % count;
    }
    return sequence;
}

}  // namespace astrolabe::system
