/// The section `scaled` of an experiment: its resources times factors, whatever the keys of its components
/// are called.
///
///     scaled: {links: {host-leaf: 2}, latency: 0, compute: inf, reconfiguration: 0.1, end_points: 2}
///
/// Limits first. What was fitted to the job keeps its shape: a topology that is found for the job and rings
/// on it are those of the network as it is. Costs of end points on the wire, a request of a rendezvous for
/// instance, are latency.
///
/// Model. Links, latency and reconfiguration are those of network/scaling.hpp. With k the factor of
/// `compute`, every time on a rank's compute engine and every local update behind a collective is t / k;
/// with k that of `end_points`, the copy of a message into the interface and the least time of a measured
/// collective take t / k, and memory adds up at k times its rate. Divided times are rounded to a picosecond,
/// and infinite factors make them 0.
///
/// Errors: a class of links that the network does not have, circuits that do not go down, and rates that no
/// link may have, each at its key.
#pragma once

#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// A number of times, or infinitely many.
struct Factor {
    double times = 1;

    friend auto operator<=>(const Factor&, const Factor&) = default;
};

struct ScaledKeys {
    std::map<std::string, double> links;  ///< by class
    double latency = 1;
    double reconfiguration = 1;
    Factor compute;
    Factor end_points;
};

[[nodiscard]] Schema<ScaledKeys> scaled_schema();

/// Of the fabric, which is there; `section` is where the keys were read.
void scale_network(Experiment& experiment, const ScaledKeys& keys, const ConfigNode& section,
                   ReadContext& context);
/// Of computations and end points; the program is there.
void scale_ranks(Experiment& experiment, const ScaledKeys& keys);

}  // namespace astrolabe::experiment

namespace astrolabe {

template <>
struct ValueTraits<experiment::Factor> {
    static std::string type() { return "number or inf"; }
    static Parsed<experiment::Factor> parse(std::string_view text) {
        if (text == "inf") {
            return experiment::Factor{std::numeric_limits<double>::infinity()};
        }
        const Parsed<double> number = parse_number(text);
        if (const auto* failure = std::get_if<ParseFailure>(&number)) {
            return ParseFailure{failure->message, "write a decimal number, such as 0.5, or inf"};
        }
        return experiment::Factor{std::get<double>(number)};
    }
    static std::string format(experiment::Factor value) { return ValueTraits<double>::format(value.times); }
};

}  // namespace astrolabe
