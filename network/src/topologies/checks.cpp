#include "checks.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network::detail {

void ParameterCheck::report(std::string_view key, std::string message, std::string hint) {
    problems_.push_back({std::string(key), std::move(message), std::move(hint)});
}

bool ParameterCheck::count(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most,
                           std::string_view hint) {
    if (value >= least && value <= most) {
        return true;
    }
    report(key, fmt::format("{} is {}, expected {} to {}", key, value, least, most), std::string(hint));
    return false;
}

void ParameterCheck::rate_limit(std::string_view key, Bandwidth rate) {
    if (rate > kMaxLinkRate) {
        report(key,
               fmt::format("{} is {}, expected at most {}", key, to_string(rate), to_string(kMaxLinkRate)),
               "check the unit of the rate");
    }
}

void ParameterCheck::rate(std::string_view key, Bandwidth rate) {
    if (rate <= Bandwidth(0)) {
        report(key, fmt::format("{} is {}, expected more than 0", key, to_string(rate)),
               "give the rate of a cable, for example 100Gbps");
    }
    rate_limit(key, rate);
}

void ParameterCheck::latency(std::string_view key, Time latency) {
    if (latency < Time(0) || latency > kMaxLinkLatency) {
        report(key,
               fmt::format("{} is {}, expected 0 to {}", key, to_string(latency), to_string(kMaxLinkLatency)),
               "latency is the one-way time of the cable, for example 500ns");
    }
}

void ParameterCheck::cable(std::string_view key, const HostLinkParameters& link) {
    rate(fmt::format("{}.rate", key), link.rate);
    latency(fmt::format("{}.latency", key), link.latency);
}

void ParameterCheck::uplink(std::string_view key, const UplinkParameters& uplink) {
    const std::string rate_key = fmt::format("{}.rate", key);
    if (uplink.rate < Bandwidth(0)) {
        report(rate_key, fmt::format("{} is {}, expected more than 0", rate_key, to_string(uplink.rate)),
               "leave the rate out to derive it");
    }
    rate_limit(rate_key, uplink.rate);
    latency(fmt::format("{}.latency", key), uplink.latency);
}

void ParameterCheck::switch_buffer(Bytes buffer) {
    if (buffer < Bytes(0)) {
        report("switch_buffer", fmt::format("switch_buffer is {}, expected 0 or more", to_string(buffer)),
               "0 stands for unlimited");
    }
}

void ParameterCheck::oversubscription(std::string_view key, double oversubscription,
                                      std::string_view uplink_key, Bandwidth uplink_rate,
                                      Bandwidth below_rate, std::int64_t below, std::int64_t cables) {
    if (oversubscription == 0.0) {
        return;
    }
    if (!(oversubscription > 0.0) || !std::isfinite(oversubscription)) {
        report(key, fmt::format("{} is {}, expected more than 0", key, oversubscription),
               "2 stands for 2:1, twice as much from below as upwards");
        return;
    }
    const double demand = static_cast<double>(below_rate.count()) * static_cast<double>(below);
    if (uplink_rate == Bandwidth(0)) {
        const double rate = demand / (oversubscription * static_cast<double>(cables));
        if (rate > static_cast<double>(kMaxLinkRate.count())) {
            report(key,
                   fmt::format("{} {} asks for uplinks of {:.4g} bit/s, more than {}", key, oversubscription,
                               rate, to_string(kMaxLinkRate)),
                   "raise it, or add uplinks");
        }
        return;
    }
    const double actual = demand / (static_cast<double>(uplink_rate.count()) * static_cast<double>(cables));
    if (std::abs(actual - oversubscription) > 1e-6 * oversubscription) {
        report(key,
               fmt::format("{} is {}, but {}.rate {} makes it {:.6g}", key, oversubscription, uplink_key,
                           to_string(uplink_rate), actual),
               fmt::format("give either {} or {}.rate", key, uplink_key));
    }
}

Bandwidth resolve_uplink_rate(Bandwidth given, double oversubscription, Bandwidth below_rate,
                              std::int64_t below, std::int64_t cables) {
    if (given > Bandwidth(0)) {
        return given;
    }
    if (oversubscription == 0.0) {
        return below_rate;
    }
    const double demand = static_cast<double>(below_rate.count()) * static_cast<double>(below);
    return Bandwidth(
        static_cast<std::int64_t>(std::ceil(demand / (oversubscription * static_cast<double>(cables)))));
}

}  // namespace astrolabe::network::detail
