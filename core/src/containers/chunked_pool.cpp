#include <cstdlib>
#include <new>

#include <sys/mman.h>

#include <astrolabe/core/containers/chunked_pool.hpp>

namespace astrolabe {

void* allocate_pool_block(bool in_large_pages) {
    void* const block = std::aligned_alloc(kPoolBlockBytes, kPoolBlockBytes);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    if (in_large_pages) {
        static_cast<void>(madvise(block, kPoolBlockBytes, MADV_HUGEPAGE));  // small pages will do
    }
    return block;
}

}  // namespace astrolabe
