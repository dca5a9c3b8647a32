#include "known_paths.hpp"

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>

namespace astrolabe::network {

namespace {

constexpr std::size_t kFewestSlots = 64;
constexpr std::size_t kBytesOfAHost = 4;
constexpr std::size_t kRoom = 1'024;  // for the paths of a pair, as a rule

std::size_t host_at(const std::uint8_t* code) {
    std::size_t host = 0;
    for (std::size_t i = kBytesOfAHost; i-- > 0;) {
        host = host << 8U | code[i];
    }
    return host;
}

}  // namespace

KnownPaths::KnownPaths(const Fabric& fabric, std::size_t most_bytes)
    : fabric_(&fabric),
      most_bytes_(most_bytes) {
    ASTROLABE_ASSERT(most_bytes < std::size_t{1} << 31U, "a place has 32 bits");
    forget();
}

void KnownPaths::forget() {
    pairs_ = 0;
    code_ = std::vector<std::uint8_t>{0};  // an assignment would keep the room
    places_ = std::vector<std::uint32_t>(kFewestSlots, 0);
}

std::size_t KnownPaths::slot_of(HostId source, HostId destination) const {
    const std::size_t last = places_.size() - 1;  // a power of two, less one
    std::size_t slot = mix_bits(std::uint64_t{source.index()} << 32 | destination.index()) & last;
    while (places_[slot] != 0) {
        const std::uint8_t* pair = &code_[places_[slot]];
        if (host_at(pair) == source.index() && host_at(pair + kBytesOfAHost) == destination.index()) {
            break;
        }
        slot = (slot + 1) & last;
    }
    return slot;
}

std::optional<PathReader> KnownPaths::find(HostId source, HostId destination) const {
    const std::uint32_t place = places_[slot_of(source, destination)];
    if (place == 0) {
        return std::nullopt;
    }
    return PathReader(*fabric_, &code_[place + 2 * kBytesOfAHost], fabric_->node_of(source));
}

void KnownPaths::write(std::size_t value) {
    for (; value >= 0x80U; value >>= 7U) {
        code_.push_back(static_cast<std::uint8_t>(value | 0x80U));
    }
    code_.push_back(static_cast<std::uint8_t>(value));
}

PathReader KnownPaths::add(HostId source, HostId destination, const std::vector<std::vector<LinkId>>& paths) {
    if (bytes() > most_bytes_) {
        forget();
    }
    if (4 * (pairs_ + 1) > 3 * places_.size()) {
        const std::vector<std::uint32_t> old = std::move(places_);
        places_.assign(2 * old.size(), 0);
        for (const std::uint32_t place : old) {
            if (place != 0) {
                const std::uint8_t* pair = &code_[place];
                places_[slot_of(HostId(host_at(pair)), HostId(host_at(pair + kBytesOfAHost)))] = place;
            }
        }
    }
    const std::size_t place = code_.size();
    if (code_.capacity() - place < kRoom) {
        code_.reserve(place + place / 4 + kRoom);  // twice as much would be up to half of it for nothing
    }
    places_[slot_of(source, destination)] = static_cast<std::uint32_t>(place);
    ++pairs_;
    for (const HostId host : {source, destination}) {
        for (std::size_t i = 0; i < kBytesOfAHost; ++i) {
            code_.push_back(static_cast<std::uint8_t>(std::size_t{host.index()} >> 8 * i));
        }
    }
    write(paths.size());
    for (const std::vector<LinkId>& path : paths) {
        write(path.size());
        for (const LinkId link : path) {
            write(link.index() - fabric_->first_link(fabric_->source(link)).index());
        }
    }
    return PathReader(*fabric_, &code_[place + 2 * kBytesOfAHost], fabric_->node_of(source));
}

}  // namespace astrolabe::network
