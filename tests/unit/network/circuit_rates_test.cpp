/// Rates in every interval against a solver that knows nothing but that interval.
#include "network/src/engines/fluid/circuit_rates.hpp"

#include "random_seed.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

using FlowId = CircuitRates::FlowId;

/// A chain of switches, one link of 1 to 9 Gb/s after the other, some of which come and go.
struct Chain {
    std::shared_ptr<const Fabric> fabric;
    std::vector<LinkId> forward;  ///< by place in the chain
};

Chain random_chain(std::mt19937_64& random) {
    const auto pick = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    FabricBuilder builder("chain");
    NodeId last(builder.add_host("host").index());
    const auto links = static_cast<std::size_t>(pick(1, 8));
    std::vector<CircuitInterval<std::uint32_t>> intervals(static_cast<std::size_t>(pick(1, 5)));
    Time period;
    for (auto& interval : intervals) {
        interval.duration = Time(pick(1, 1000));
        period += interval.duration;
    }
    std::vector<NodeId> nodes{last};
    for (std::size_t i = 0; i < links; ++i) {
        const NodeId next = builder.add_switch("switch");
        const auto cable =
            builder.connect(last, next, {Bandwidth(pick(1, 9) * 1'000'000'000), 1_us, Bytes(0)});
        if (pick(0, 1) == 0) {
            for (auto& interval : intervals) {
                if (pick(0, 2) > 0) {
                    interval.links.push_back(cable.forward);
                }
            }
        }
        nodes.push_back(next);
        last = next;
    }
    builder.set_circuits(period, std::move(intervals));
    Chain chain{std::move(builder).build(), {}};
    for (std::size_t i = 0; i < links; ++i) {
        const LinkId first = chain.fabric->first_link(nodes[i]);
        for (std::size_t k = 0; k < chain.fabric->out_degree(nodes[i]); ++k) {
            const LinkId link(first.index() + k);
            if (chain.fabric->target(link) == nodes[i + 1]) {
                chain.forward.push_back(link);
            }
        }
    }
    return chain;
}

RC_GTEST_PROP(CircuitRatesProperty, EveryIntervalHasTheRatesOfItsOwnLinks, ()) {
    std::mt19937_64 random(random_seed());
    const auto pick = [&](std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(least, most)(random);
    };
    const Chain chain = random_chain(random);
    RC_PRE(!chain.fabric->is_static());
    const CircuitSchedule& circuits = chain.fabric->circuits();
    const LinkClasses classes(chain.fabric);
    CircuitRates rates(classes);

    struct Known {
        FlowId id;
        std::vector<ClassLeg> route;
        bool is_active = false;
        bool was_told = false;
        PeriodicRate last;
    };
    std::vector<Known> flows(pick(1, 12));
    for (Known& flow : flows) {
        const std::size_t begin = pick(0, chain.forward.size() - 1);
        const std::size_t end = pick(begin, chain.forward.size() - 1);
        for (std::size_t i = begin; i <= end; ++i) {
            flow.route.push_back({classes.class_of(chain.forward[i]), static_cast<double>(pick(1, 2)) / 2.0});
        }
        flow.id = rates.add_flow(flow.route, {});
    }
    for (int round = 0; round < 12; ++round) {
        for (Known& flow : flows) {
            if (pick(0, 2) == 0) {
                flow.is_active ? rates.stop(flow.id) : rates.start(flow.id);
                flow.is_active = !flow.is_active;
            }
            flow.was_told = false;
        }
        for (const CircuitRates::Change& told : rates.update()) {
            flows[told.flow.index()].was_told = true;
            RC_ASSERT(told.before == flows[told.flow.index()].last);
        }
        Time begin;
        for (std::size_t interval = 0; interval < circuits.intervals().size(); ++interval) {
            std::vector<double> capacities;
            for (std::uint32_t c = 0; c < classes.size(); ++c) {
                const LinkId link = classes.example(c);
                capacities.push_back(circuits.exists(link, interval)
                                         ? static_cast<double>(chain.fabric->link(link).rate.count())
                                         : 0.0);
            }
            MaxMinSolver alone(capacities);
            for (const Known& flow : flows) {
                const MaxMinSolver::FlowId id = alone.add_flow(flow.route);
                if (flow.is_active) {
                    alone.start(id);
                }
            }
            alone.update();
            for (std::size_t i = 0; i < flows.size(); ++i) {
                if (flows[i].is_active) {
                    const double expected = alone.rate(MaxMinSolver::FlowId(i));
                    const double found = rates.rate(flows[i].id).rate_at(begin);
                    RC_ASSERT(std::abs(found - expected) <= 1e-9 * expected);
                }
            }
            begin += circuits.intervals()[interval].duration;
        }
        for (Known& flow : flows) {
            // Whoever's rate changed is told of, and nobody else.
            const PeriodicRate now = flow.is_active ? rates.rate(flow.id) : PeriodicRate();
            RC_ASSERT(flow.was_told == (flow.is_active && now != flow.last));
            flow.last = now;
        }
    }
}

}  // namespace
}  // namespace astrolabe::network
