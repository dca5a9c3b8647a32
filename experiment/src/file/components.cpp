#include <astrolabe/experiment/file/experiment.hpp>
#ifdef ASTROLABE_WITH_NS3
#include <astrolabe/ns3/components.hpp>
#endif

namespace astrolabe::experiment {

Components builtin_components() {
    Components components;
    workload::register_builtin_workloads(components.workloads);
    workload::register_builtin_devices(components.devices);
    network::register_builtin_topologies(components.networks);
    network::register_fluid_backend(components.backends);
    network::register_congestion_free_backend(components.backends);
#ifdef ASTROLABE_WITH_NS3
    ns3::register_backends(components.backends);
#endif
    system::register_builtin_algorithms(components.algorithms);
    return components;
}

}  // namespace astrolabe::experiment
