#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {

ValidationErrors validation_errors(const EndPoint& end_point) {
    ValidationErrors found;
    if (end_point.injection_latency < Time(0)) {
        found.push_back({"injection_latency", "a latency is not negative", ""});
    }
    if (end_point.reduction_bandwidth && *end_point.reduction_bandwidth <= Bandwidth(0)) {
        found.push_back({"reduction_bandwidth", "memory has a bandwidth above 0",
                         "leave the key out if additions are to be free"});
    }
    if (end_point.rendezvous_threshold && *end_point.rendezvous_threshold <= Bytes(0)) {
        found.push_back(
            {"rendezvous_threshold", "a message without bytes needs no request", "1B asks for all others"});
    }
    if (end_point.timing == EndPointTiming::kAstraSim1 && end_point.copy_engine == CopyEngine::kSerial) {
        found.push_back({"copy_engine", "the timing of ASTRA-sim 1.0 has no copies that could be serial",
                         "timing: per_message, or copy_engine: parallel"});
    }
    return found;
}

}  // namespace astrolabe::system
