#include <cmath>
#include <limits>

#include <astrolabe/network/fluid/transport.hpp>

namespace astrolabe::network {

namespace {

constexpr double kBitsPerByte = 8.0;
constexpr auto kPicoseconds = static_cast<double>(kPicosecondsPerSecond);

}  // namespace

std::vector<ParameterProblem> problems(const TransportParameters& parameters) {
    std::vector<ParameterProblem> problems;
    const auto at_least_one = [&](const char* key, const std::optional<Bytes>& value) {
        if (value && *value < Bytes(1)) {
            problems.push_back({key, std::string(key) + " must be positive, got " + to_string(*value),
                                "leave it out to switch the term off"});
        }
    };
    at_least_one("mtu", parameters.mtu);
    at_least_one("window", parameters.window);
    at_least_one("initial_window", parameters.initial_window);
    if (parameters.header && *parameters.header < Bytes(0)) {
        problems.push_back(
            {"header", "header must not be negative, got " + to_string(*parameters.header), {}});
    }
    if (parameters.mtu.has_value() != parameters.header.has_value()) {
        problems.push_back({parameters.mtu ? "mtu" : "header",
                            "framing takes both the payload of a packet and its header",
                            parameters.mtu ? "add header: 58B, as TCP over Ethernet has"
                                           : "add mtu: 9000B, the payload of a packet"});
    }
    const bool has_round_trip = parameters.latency || parameters.mtu;
    if (!has_round_trip && (parameters.window || parameters.initial_window)) {
        problems.push_back({parameters.window ? "window" : "initial_window",
                            "without latency and packets a round trip takes no time, so windows do nothing",
                            "leave latency on, or add mtu and header"});
    }
    if (parameters.window && parameters.initial_window && *parameters.initial_window > *parameters.window) {
        problems.push_back({"initial_window",
                            "initial_window is " + to_string(*parameters.initial_window) +
                                ", more than the window, " + to_string(*parameters.window),
                            "choose one that is not larger than window"});
    }
    return problems;
}

Bytes Transport::on_wire(Bytes size) const {
    if (!parameters_.mtu) {
        return size;
    }
    const std::int64_t packets = size / *parameters_.mtu + (size % *parameters_.mtu == Bytes(0) ? 0 : 1);
    return size + packets * *parameters_.header;
}

Time Transport::round_trip(Time latency, Bandwidth rate) const {
    const Time both = parameters_.latency ? latency : Time(0);
    return parameters_.mtu ? both + on_wire(*parameters_.mtu) / rate : both;
}

double Transport::cap(Time round_trip) const {
    if (!parameters_.window || round_trip == Time(0)) {
        return std::numeric_limits<double>::infinity();
    }
    return kBitsPerByte * kPicoseconds * static_cast<double>(on_wire(*parameters_.window).count()) /
           static_cast<double>(round_trip.count());
}

Time Transport::slow_start_delay(Bytes size, double rate, Time round_trip) const {
    if (!parameters_.initial_window) {
        return Time(0);
    }
    const auto trip = static_cast<double>(round_trip.count());
    auto left = static_cast<double>(on_wire(size).count());
    double delay = 0.0;
    for (auto window = static_cast<double>(on_wire(*parameters_.initial_window).count()); left > window;
         window *= 2.0) {
        const double wait = trip - kBitsPerByte * kPicoseconds * window / rate;
        if (wait <= 0.0) {
            break;
        }
        delay += wait;
        left -= window;
    }
    return Time(std::llround(delay));
}

}  // namespace astrolabe::network
