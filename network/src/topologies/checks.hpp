/// Checks that several topologies make, in one wording.
#pragma once

#include <string>
#include <string_view>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network::detail {

class ParameterCheck {
public:
    void report(std::string_view key, std::string message, std::string hint);
    /// Is `value` in [least, most]?
    bool count(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most,
               std::string_view hint);
    /// Of a cable that must be there; `key` is that of the value itself.
    void rate(std::string_view key, Bandwidth rate);
    void latency(std::string_view key, Time latency);
    /// Both of the section `key`.
    void cable(std::string_view key, const HostLinkParameters& link);
    void uplink(std::string_view key, const UplinkParameters& uplink);
    void switch_buffer(Bytes buffer);
    /// Uplink rate and oversubscription say the same thing twice: they must agree to a part in 10^6.
    /// `below` is what can enter the switch, `cables` how many carry it upwards.
    void oversubscription(std::string_view key, double oversubscription, std::string_view uplink_key,
                          Bandwidth uplink_rate, Bandwidth below_rate, std::int64_t below,
                          std::int64_t cables);
    /// Is what was counted so far right?
    [[nodiscard]] bool sound() const { return problems_.empty(); }
    [[nodiscard]] ValidationErrors take() && { return std::move(problems_); }

private:
    void rate_limit(std::string_view key, Bandwidth rate);

    ValidationErrors problems_;
};

/// The rate of one of `cables` uplinks that together carry below·below_rate / oversubscription, rounded up;
/// the rate as given if there is one, `below_rate` if neither is given.
[[nodiscard]] Bandwidth resolve_uplink_rate(Bandwidth given, double oversubscription, Bandwidth below_rate,
                                            std::int64_t below, std::int64_t cables);

}  // namespace astrolabe::network::detail
