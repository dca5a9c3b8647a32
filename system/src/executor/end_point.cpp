#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {

ValidationErrors validation_errors(const EndPoint& end_point) {
    ValidationErrors found;
    require(found, end_point.injection_latency >= Time(0), "injection_latency", "a latency is not negative");
    require(found, !end_point.reduction_bandwidth || *end_point.reduction_bandwidth > Bandwidth(0),
            "reduction_bandwidth", "memory has a bandwidth above 0",
            "leave the key out if additions are to be free");
    require(found, !end_point.rendezvous_threshold || *end_point.rendezvous_threshold > Bytes(0),
            "rendezvous_threshold", "a message without bytes needs no request", "1B asks for all others");
    require(found,
            end_point.timing != EndPointTiming::kAstraSim1 || end_point.copy_engine != CopyEngine::kSerial,
            "copy_engine", "the timing of ASTRA-sim 1.0 has no copies that could be serial",
            "timing: per_message, or copy_engine: parallel");
    return found;
}

}  // namespace astrolabe::system
