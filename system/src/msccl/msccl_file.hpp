/// MSCCL's schedules as they are in their XML files: GPUs, thread blocks, steps.
///
/// Reading checks what a file says about itself: numbering, peers, that the other end of every connection
/// exists, has as many receives as there are sends, each of as many chunks, that chunks are inside their
/// buffers, and that steps which others wait for exist and are marked. What the steps do is run in
/// symbolic_run.hpp.
///
/// Buffers. C = nchunksperloop chunks are the whole: the vector (allreduce, broadcast, reduce), the result
/// (allgather), the input (reducescatter, alltoall). In place the output is the input, of an allgather rank
/// r's input is its part of the output, of a reducescatter its output that of its input. A buffer that the
/// file gives no chunks in place has those of its other name.
///
/// Errors: "msccl.file", the first one found, at its element.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::msccl {

enum class StepType : std::uint8_t {
    kSend,               ///< s
    kReceive,            ///< r
    kReceiveSend,        ///< rcs: store and send on
    kReceiveReduce,      ///< rrc: add src, store in dst
    kReduceSend,         ///< rrs: add src, send on, store nothing
    kReceiveReduceSend,  ///< rrcs: add src, store, send on
    kCopy,               ///< cpy
    kReduce,             ///< re: dst += src
    kNothing             ///< nop: carries a dependency
};

[[nodiscard]] bool receives(StepType type);
[[nodiscard]] bool sends(StepType type);
[[nodiscard]] bool reads_source(StepType type);        ///< src is a place of the own GPU
[[nodiscard]] bool writes_destination(StepType type);  ///< dst is

enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

struct Place {
    Buffer buffer = Buffer::kInput;
    std::uint32_t offset = 0;  ///< in chunks
};

/// A step by its thread block and its number there.
struct StepId {
    std::uint32_t block = 0;
    std::uint32_t step = 0;

    friend auto operator<=>(const StepId&, const StepId&) = default;
};

struct Step {
    StepType type = StepType::kNothing;
    Place source{};
    Place destination{};
    std::uint32_t chunks = 0;
    bool has_dependency = false;
    StepId dependency{};
    bool is_waited_for = false;  ///< hasdep
    SourceRange where{};
};

struct ThreadBlock {
    static constexpr Position kNobody = 0xffffffffU;

    Position send_peer = kNobody;
    Position receive_peer = kNobody;
    std::uint32_t channel = 0;
    std::vector<Step> steps{};
    SourceRange where{};
};

struct Gpu {
    std::array<std::uint32_t, 3> chunks{};  ///< by buffer
    std::vector<ThreadBlock> blocks{};
    SourceRange where{};
};

struct File {
    std::string name;  ///< of the file
    CollectiveKind kind{};
    std::uint32_t chunks = 0;  ///< C
    bool in_place = false;
    std::vector<Gpu> gpus{};
    SourceRange where{};

    [[nodiscard]] Position ranks() const { return static_cast<Position>(gpus.size()); }
};

/// The names that files have for what we call otherwise: ("allreduce", kAllReduce), …
inline constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kCollectiveNames{
    {{"allreduce", CollectiveKind::kAllReduce},
     {"allgather", CollectiveKind::kAllGather},
     {"reducescatter", CollectiveKind::kReduceScatter},
     {"alltoall", CollectiveKind::kAllToAll},
     {"broadcast", CollectiveKind::kBroadcast},
     {"reduce", CollectiveKind::kReduce}}};

/// Thrown while a file is read, run and made a schedule; never leaves `schedule_of`.
struct Defect {
    Diagnostic diagnostic;
};

[[noreturn]] void refuse(const SourceRange& where, std::string message, std::string hint);

/// "step 3 of thread block 1 of GPU 0"
[[nodiscard]] std::string name_of(Position gpu, StepId step);

/// Throws Defect.
[[nodiscard]] File parse(const std::shared_ptr<const SourceText>& text);

}  // namespace astrolabe::system::msccl
