/// Time that the host of a device spends to keep it busy.
///
/// Model. One thread of the host runs the training loop. It launches the kernels of a device one after the
/// other; within a phase of the iteration a launch follows the one before after the phase's *gap*, which holds
/// everything that the framework does in between (Python, dispatch, autograd, allocation). The device starts
/// a kernel when the kernel before it has ended and its launch is over, so an operation of k kernels and w of
/// work, of which no kernel takes less than `Device::kernel`, takes
///
///     on the host k·gap,  on the device max(w, k·kernel)
///
/// A step takes the longer of the two paths, with the points at which one waits for the other
/// (docs/models/torchrec.md).
///
/// Source: the 8-GPU step of facebookresearch/param (dlrm_kineto.tar.gz, September 2023): 51 to 53 us a launch
/// in the forward pass, 41 to 47 us in the backward pass, 22 us in the optimizer, 126 to 131 us in the
/// distribution of the input; a collective call 70 to 88 us, a wait 4 us.
///
/// Limits: a thread does one thing at a time and is never preempted; every launch of a phase has the same gap,
/// on every rank. A graph that is launched as a whole has one launch.
#pragma once

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

/// 0: not modelled.
struct HostCosts {
    // From one launch to the next.
    Time forward_launch = Time(0);
    Time backward_launch = Time(0);
    Time optimizer_launch = Time(0);
    Time input_launch = Time(0);  ///< of the distribution of the input

    Time collective = Time(0);     ///< to issue one, its kernel's launch included
    Time wait = Time(0);           ///< to have a stream wait for a collective
    Time iteration = Time(0);      ///< once an iteration: gradients set to zero and the like
    Time batch = Time(0);          ///< to load the next batch, and to start its copy to the device
    Time blocking_copy = Time(0);  ///< of a copy that the host waits for, beside that wait

    bool operator==(const HostCosts&) const = default;
};

}  // namespace astrolabe::workload
