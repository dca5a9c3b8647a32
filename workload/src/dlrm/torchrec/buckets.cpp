#include "buckets.hpp"

namespace astrolabe::workload::torchrec {

std::vector<DdpBucket> ddp_buckets(const std::vector<Bytes>& sizes, Bytes first, Bytes cap) {
    std::vector<DdpBucket> buckets;
    bool is_open = false;
    for (std::size_t tensor = sizes.size(); tensor-- > 0;) {
        if (!is_open) {
            buckets.emplace_back();
        }
        DdpBucket& bucket = buckets.back();
        bucket.tensors.push_back(tensor);
        bucket.size += sizes[tensor];
        is_open = bucket.size < (buckets.size() == 1 ? first : cap);
    }
    return buckets;
}

}  // namespace astrolabe::workload::torchrec
