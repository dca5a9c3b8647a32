/// One statement over the strong types, given by the command line; CMakeLists.txt says which must be refused.
#include <cstdint>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

void visit(NodeId node);
Result<Bytes> read_size();

void perform(IndexedVector<NodeId, Time> per_node) {
    STATEMENT;
    visit(NodeId(per_node.size()));
}

}  // namespace astrolabe::network
