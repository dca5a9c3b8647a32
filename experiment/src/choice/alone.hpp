// A collective by itself on the network of an experiment, and what trials run on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

using MethodPointer = std::shared_ptr<const system::CollectiveMethod>;

/// The engine of trials: where the experiment's engine has packets, the fluid one, with their headers where
/// it takes them, if that runs the network; else the experiment's own.
[[nodiscard]] network::BackendMaker trial_engine(const Experiment& experiment, const Components& components);

/// A program that does `work`, on `partition`, once by each of the methods; nothing depends on anything.
[[nodiscard]] system::Program program_of(const Experiment& experiment,
                                         const system::CollectiveOperation& work,
                                         const system::Partition& partition,
                                         const std::vector<MethodPointer>& methods);

/// The time until all ranks have done the program of `alone`, on its engine; nothing where they have not by
/// `most` (looked at every few thousand messages) or never will.
[[nodiscard]] std::optional<Time> time_of(const Experiment& alone, Time most);

}  // namespace astrolabe::experiment
