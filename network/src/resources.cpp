#include <map>

#include <astrolabe/network/resources.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network {

Resources::Resources(const Fabric& fabric) {
    for (const char* name : {"compute", "end points", "latency", "network", "circuits", "transport"}) {
        names_.push_back(name);
    }
    std::map<std::string, ResourceId> classes;
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const auto [entry, is_new] = classes.try_emplace(link_class_name(fabric, LinkId(i)));
        if (is_new) {
            entry->second = names_.push_back(entry->first + " links");
        }
        of_link_.push_back(entry->second);
    }
}

}  // namespace astrolabe::network
