/// A target of libFuzzer (preset `libfuzzer`): inputs are chosen by the code that they reach.
///
/// ASTROLABE_FORMAT names the format (`fuzz_readers --list`). Mutations are libFuzzer's own and, every second
/// time, those of mutate.hpp. A refusal that is not as it should be ends the process, as a crash does.
/// Inputs stand where one of the format's seeds does, number ASTROLABE_SEED from 0, the first where it is not
/// said; without a corpus they begin with that seed.
#include "format.hpp"
#include "input_tree.hpp"
#include "mutate.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace astrolabe::fuzzing {
namespace {

const Format& format() {
    static const Format kFormat = [] {
        const char* name = std::getenv("ASTROLABE_FORMAT");
        for (Format& each : all_formats(ASTROLABE_SOURCE_DIR)) {
            const char* given = std::getenv("ASTROLABE_SEED");
            const std::size_t seed = given == nullptr ? 0 : std::strtoul(given, nullptr, 10);
            if (name != nullptr && each.name == name && seed < each.seeds.size()) {
                each.seeds = {each.seeds[seed]};
                return std::move(each);
            }
        }
        std::fprintf(stderr,
                     "ASTROLABE_FORMAT and ASTROLABE_SEED name no format and seed (fuzz_readers --list)\n");
        std::exit(2);
    }();
    return kFormat;
}

/// Where the input stands: beside what its seed names, in a tree of links, which stays as long as the
/// process.
const InputTree& tree() {
    static const InputTree kTree(ASTROLABE_SOURCE_DIR);
    return kTree;
}

}  // namespace
}  // namespace astrolabe::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace astrolabe::fuzzing;
    const Format& the = format();
    const std::filesystem::path& file = the.seeds.front().file;
    const Verdict verdict =
        the.read(tree().put({file, std::string(reinterpret_cast<const char*>(data), size)}));
    tree().restore(file);
    if (const std::string defect = defect_of(the, verdict); !defect.empty()) {
        std::fprintf(stderr, "%s\n", defect.c_str());
        std::abort();
    }
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
    using namespace astrolabe::fuzzing;
    if (seed % 2 == 0 && size > 1) {
        return LLVMFuzzerMutate(data, size, most);
    }
    const Format& the = format();
    Draw draw(seed);
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.size() <= 1) {  // what libFuzzer begins with where it has no corpus
        bytes = the.seeds.front().bytes;
    }
    change(bytes, the, draw);
    bytes.resize(std::min(bytes.size(), most));
    std::copy(bytes.begin(), bytes.end(), data);
    return bytes.size();
}
