#include "msccl_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pugixml.hpp>

#include <astrolabe/core/source_text.hpp>

namespace astrolabe::system::msccl {

namespace {

constexpr std::array<std::pair<std::string_view, StepType>, 9> kStepNames{
    {{"s", StepType::kSend},
     {"r", StepType::kReceive},
     {"rcs", StepType::kReceiveSend},
     {"rrc", StepType::kReceiveReduce},
     {"rrs", StepType::kReduceSend},
     {"rrcs", StepType::kReceiveReduceSend},
     {"cpy", StepType::kCopy},
     {"re", StepType::kReduce},
     {"nop", StepType::kNothing}}};
constexpr std::array<std::string_view, 3> kBufferNames{"i", "o", "s"};
constexpr std::array<const char*, 3> kChunkAttributes{"i_chunks", "o_chunks", "s_chunks"};
constexpr std::uint32_t kMaxGpus = 4096;
constexpr std::uint32_t kMaxChunks = 1U << 20;

/// The other end of a connection, while both are looked for.
using Connection = std::tuple<Position, Position, std::uint32_t>;  // from, to, channel

struct Ends {
    std::vector<std::pair<Position, StepId>> sends;
    std::vector<std::pair<Position, StepId>> receives;
};

class Reader {
public:
    explicit Reader(const std::shared_ptr<const SourceText>& source)
        : source_(source),
          places_(source) {}

    [[nodiscard]] File read() {
        const pugi::xml_parse_result parsed =
            document_.load_buffer(source_->text.data(), source_->text.size(), pugi::parse_default);
        if (!parsed) {
            refuse(places_.at(parsed.offset), fmt::format("not XML: {}", parsed.description()),
                   "a schedule of MSCCL is <algo …><gpu …><tb …><step …/></tb></gpu></algo>");
        }
        const pugi::xml_node root = document_.document_element();
        if (std::strcmp(root.name(), "algo") != 0) {
            refuse(place(root), fmt::format("<{}>, expected <algo>", root.name()),
                   "a schedule of MSCCL is <algo …><gpu …><tb …><step …/></tb></gpu></algo>");
        }
        read_head(root);
        for (const pugi::xml_node child : root.children()) {
            expect(child, "gpu", "algo");
            read_gpu(child);
        }
        if (file_.gpus.size() != gpu_count_) {
            refuse(place(root), fmt::format("{} <gpu>, ngpus says {}", file_.gpus.size(), gpu_count_),
                   "there is one for each, numbered from 0");
        }
        check_dependencies();
        check_connections();
        return std::move(file_);
    }

private:
    [[nodiscard]] SourceRange place(pugi::xml_node node) const {
        SourceRange where = places_.at(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
        where.length = std::max(1, static_cast<int>(std::strlen(node.name())));
        return where;
    }

    void expect(pugi::xml_node child, const char* name, const char* parent) const {
        if (child.type() != pugi::node_element || std::strcmp(child.name(), name) != 0) {
            refuse(place(child),
                   fmt::format("'{}' in <{}>, expected <{}>",
                               *child.name() == '\0' ? child.value() : child.name(), parent, name),
                   "");
        }
    }

    [[nodiscard]] std::string_view text(pugi::xml_node node, const char* name) const {
        const pugi::xml_attribute found = node.attribute(name);
        if (!found) {
            refuse(place(node), fmt::format("<{}> lacks '{}'", node.name(), name), "");
        }
        return found.value();
    }

    [[nodiscard]] std::int64_t integer(pugi::xml_node node, const char* name, std::int64_t minimum,
                                       std::int64_t maximum) const {
        const std::string_view given = text(node, name);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
        if (error != std::errc{} || end != given.data() + given.size() || value < minimum ||
            value > maximum) {
            refuse(place(node),
                   fmt::format("{}=\"{}\" of <{}>, expected an integer from {} to {}", name, given,
                               node.name(), minimum, maximum),
                   "");
        }
        return value;
    }
    [[nodiscard]] std::uint32_t count(pugi::xml_node node, const char* name, std::int64_t minimum,
                                      std::int64_t maximum) const {
        return static_cast<std::uint32_t>(integer(node, name, minimum, maximum));
    }

    template <class T, std::size_t N>
    [[nodiscard]] T one_of(pugi::xml_node node, const char* name,
                           const std::array<std::pair<std::string_view, T>, N>& known,
                           const char* hint) const {
        const std::string_view given = text(node, name);
        const auto* found = std::ranges::find(known, given, &std::pair<std::string_view, T>::first);
        if (found == known.end()) {
            std::vector<std::string_view> names;
            for (const auto& entry : known) {
                names.push_back(entry.first);
            }
            refuse(place(node),
                   fmt::format("{}=\"{}\", expected one of {}", name, given, fmt::join(names, ", ")), hint);
        }
        return found->second;
    }

    void read_head(pugi::xml_node root) {
        file_.name = source_->name;
        file_.where = place(root);
        file_.kind = one_of(root, "coll", kCollectiveNames,
                            "what gather, scatter, send, recv and custom mean is in no definition that a "
                            "schedule could be proven against");
        file_.chunks = count(root, "nchunksperloop", 1, kMaxChunks);
        gpu_count_ = count(root, "ngpus", 2, kMaxGpus);
        file_.in_place = root.attribute("inplace") && integer(root, "inplace", 0, 1) == 1;
        const bool has_shares = file_.kind == CollectiveKind::kAllGather ||
                                file_.kind == CollectiveKind::kReduceScatter ||
                                file_.kind == CollectiveKind::kAllToAll;
        if (has_shares && file_.chunks % gpu_count_ != 0) {
            refuse(file_.where,
                   fmt::format("nchunksperloop={} is no multiple of ngpus={}", file_.chunks, gpu_count_),
                   "every GPU has as many chunks of the whole");
        }
    }

    /// Chunks of a buffer as kind, C and the number of GPUs have them; scratch: any.
    [[nodiscard]] std::optional<std::uint32_t> expected_chunks(Buffer buffer) const {
        const std::uint32_t share = file_.chunks / gpu_count_;
        switch (buffer) {
            case Buffer::kInput:
                return file_.kind == CollectiveKind::kAllGather ? share : file_.chunks;
            case Buffer::kOutput:
                return file_.kind == CollectiveKind::kReduceScatter ? share : file_.chunks;
            case Buffer::kScratch:
                break;
        }
        return std::nullopt;
    }

    void read_gpu(pugi::xml_node node) {
        if (count(node, "id", 0, kMaxGpus) != file_.gpus.size()) {
            refuse(place(node),
                   fmt::format("GPU {} where GPU {} is expected", text(node, "id"), file_.gpus.size()),
                   "GPUs are numbered from 0, in order");
        }
        Gpu& gpu = file_.gpus.emplace_back();
        gpu.where = place(node);
        for (const Buffer buffer : {Buffer::kInput, Buffer::kOutput, Buffer::kScratch}) {
            const auto index = static_cast<std::size_t>(buffer);
            gpu.chunks[index] = count(node, kChunkAttributes[index], 0, kMaxChunks);
            const std::optional<std::uint32_t> expected = expected_chunks(buffer);
            if (expected && gpu.chunks[index] == 0 && file_.in_place) {
                gpu.chunks[index] = *expected;
            }
            if (expected && gpu.chunks[index] != *expected && gpu.chunks[index] != 0) {
                refuse(gpu.where,
                       fmt::format("{}={} of GPU {}, expected {}", kChunkAttributes[index], gpu.chunks[index],
                                   file_.gpus.size() - 1, *expected),
                       "coll, nchunksperloop and ngpus leave no choice");
            }
        }
        for (const pugi::xml_node child : node.children()) {
            expect(child, "tb", "gpu");
            read_block(child, gpu);
        }
    }

    [[nodiscard]] Position peer(pugi::xml_node node, const char* name, Position own) const {
        const std::int64_t given = integer(node, name, -1, std::int64_t{gpu_count_} - 1);
        if (given == own) {
            refuse(place(node), fmt::format("{}=\"{}\" of <tb>: GPU {} is its own peer", name, given, own),
                   "-1 stands for nobody");
        }
        return given < 0 ? ThreadBlock::kNobody : static_cast<Position>(given);
    }

    void read_block(pugi::xml_node node, Gpu& gpu) {
        const auto own = static_cast<Position>(file_.gpus.size() - 1);
        if (count(node, "id", 0, kMaxChunks) != gpu.blocks.size()) {
            refuse(place(node),
                   fmt::format("thread block {} of GPU {} where thread block {} is expected",
                               text(node, "id"), own, gpu.blocks.size()),
                   "thread blocks of a GPU are numbered from 0, in order");
        }
        ThreadBlock& block = gpu.blocks.emplace_back();
        block.where = place(node);
        block.send_peer = peer(node, "send", own);
        block.receive_peer = peer(node, "recv", own);
        block.channel = count(node, "chan", 0, kMaxChunks);
        for (const pugi::xml_node child : node.children()) {
            expect(child, "step", "tb");
            read_step(child, gpu, block);
        }
    }

    [[nodiscard]] Place read_place(pugi::xml_node node, const char* buffer, const char* offset,
                                   std::uint32_t chunks, const Gpu& gpu) const {
        const std::string_view name = text(node, buffer);
        const auto* found = std::ranges::find(kBufferNames, name);
        if (found == kBufferNames.end()) {
            refuse(place(node), fmt::format("{}=\"{}\", expected i, o or s", buffer, name), "");
        }
        const auto index = static_cast<std::size_t>(found - kBufferNames.begin());
        const std::int64_t begin = integer(node, offset, 0, kMaxChunks);
        if (begin + chunks > gpu.chunks[index]) {
            refuse(place(node),
                   fmt::format("chunks {} to {} of '{}', which has {}", begin, begin + chunks - 1, name,
                               gpu.chunks[index]),
                   fmt::format("{} of the <gpu> is the number of chunks of the buffer",
                               kChunkAttributes[index]));
        }
        return {static_cast<Buffer>(index), static_cast<std::uint32_t>(begin)};
    }

    void read_step(pugi::xml_node node, const Gpu& gpu, ThreadBlock& block) {
        const auto own = static_cast<Position>(file_.gpus.size() - 1);
        const StepId id{static_cast<std::uint32_t>(gpu.blocks.size() - 1),
                        static_cast<std::uint32_t>(block.steps.size())};
        if (count(node, "s", 0, std::numeric_limits<std::uint32_t>::max()) != block.steps.size()) {
            refuse(place(node),
                   fmt::format("step {} where {} is expected", text(node, "s"), msccl::name_of(own, id)),
                   "steps of a thread block are numbered from 0, in order");
        }
        Step step;
        step.where = place(node);
        step.type = one_of(node, "type", kStepNames, "");
        const bool does_something = step.type != StepType::kNothing;
        step.chunks = does_something ? count(node, "cnt", 1, kMaxChunks) : 0;
        if (reads_source(step.type)) {
            step.source = read_place(node, "srcbuf", "srcoff", step.chunks, gpu);
        }
        if (writes_destination(step.type)) {
            step.destination = read_place(node, "dstbuf", "dstoff", step.chunks, gpu);
        }
        if (sends(step.type) && block.send_peer == ThreadBlock::kNobody) {
            refuse(step.where, fmt::format("{} sends to nobody", msccl::name_of(own, id)),
                   "its <tb> names the peer: send=\"1\"");
        }
        if (receives(step.type) && block.receive_peer == ThreadBlock::kNobody) {
            refuse(step.where, fmt::format("{} receives from nobody", msccl::name_of(own, id)),
                   "its <tb> names the peer: recv=\"1\"");
        }
        if (const std::int64_t waits_for = integer(node, "depid", -1, kMaxChunks); waits_for >= 0) {
            step.has_dependency = true;
            step.dependency = {static_cast<std::uint32_t>(waits_for),
                               count(node, "deps", 0, std::numeric_limits<std::uint32_t>::max())};
        }
        step.is_waited_for = integer(node, "hasdep", 0, 1) == 1;
        block.steps.push_back(std::move(step));
    }

    void check_dependencies() const {
        for (Position rank = 0; rank < file_.gpus.size(); ++rank) {
            const Gpu& gpu = file_.gpus[rank];
            for (std::uint32_t block = 0; block < gpu.blocks.size(); ++block) {
                for (std::uint32_t index = 0; index < gpu.blocks[block].steps.size(); ++index) {
                    const Step& step = gpu.blocks[block].steps[index];
                    if (step.has_dependency) {
                        check_dependency(gpu, rank, {block, index}, step);
                    }
                }
            }
        }
    }

    static void check_dependency(const Gpu& gpu, Position rank, StepId id, const Step& step) {
        const StepId other = step.dependency;
        if (other.block >= gpu.blocks.size() || other.step >= gpu.blocks[other.block].steps.size()) {
            refuse(step.where,
                   fmt::format("{} waits for step {} of thread block {}, which does not exist",
                               msccl::name_of(rank, id), other.step, other.block),
                   "depid is the thread block of the same GPU, deps the step there");
        }
        if (!gpu.blocks[other.block].steps[other.step].is_waited_for) {
            refuse(step.where,
                   fmt::format("{} waits for step {} of thread block {}, which has hasdep=\"0\"",
                               msccl::name_of(rank, id), other.step, other.block),
                   "a thread block only says that it is past a step where hasdep=\"1\"");
        }
    }

    void check_connections() const {
        std::map<Connection, Ends> connections;
        std::map<Connection, StepId> sending_block;
        std::map<Connection, StepId> receiving_block;
        const auto claim = [](std::map<Connection, StepId>& owners, const Connection& key,
                              std::uint32_t block, const SourceRange& where) {
            const auto [owner, is_new] = owners.try_emplace(key, StepId{block, 0});
            if (!is_new) {
                refuse(
                    where,
                    fmt::format("thread blocks {} and {} both have the connection from GPU {} to GPU {} on "
                                "channel {}",
                                owner->second.block, block, std::get<0>(key), std::get<1>(key),
                                std::get<2>(key)),
                    "a connection belongs to one thread block at each end: give the other another channel");
            }
        };
        for (Position rank = 0; rank < file_.gpus.size(); ++rank) {
            for (std::uint32_t number = 0; number < file_.gpus[rank].blocks.size(); ++number) {
                const ThreadBlock& block = file_.gpus[rank].blocks[number];
                const Connection out{rank, block.send_peer, block.channel};
                const Connection in{block.receive_peer, rank, block.channel};
                if (block.send_peer != ThreadBlock::kNobody) {
                    claim(sending_block, out, number, block.where);
                }
                if (block.receive_peer != ThreadBlock::kNobody) {
                    claim(receiving_block, in, number, block.where);
                }
                for (std::uint32_t index = 0; index < block.steps.size(); ++index) {
                    if (sends(block.steps[index].type)) {
                        connections[out].sends.emplace_back(rank, StepId{number, index});
                    }
                    if (receives(block.steps[index].type)) {
                        connections[in].receives.emplace_back(rank, StepId{number, index});
                    }
                }
            }
        }
        for (const auto& [connection, ends] : connections) {
            check_ends(connection, ends, sending_block, receiving_block);
        }
    }

    [[nodiscard]] const Step& step_of(const std::pair<Position, StepId>& end) const {
        return file_.gpus[end.first].blocks[end.second.block].steps[end.second.step];
    }

    void check_ends(const Connection& connection, const Ends& ends,
                    const std::map<Connection, StepId>& sending_block,
                    const std::map<Connection, StepId>& receiving_block) const {
        const auto [from, to, channel] = connection;
        const auto& first = ends.sends.empty() ? ends.receives.front() : ends.sends.front();
        if (!sending_block.contains(connection) || !receiving_block.contains(connection)) {
            const bool sends_there = !ends.sends.empty();
            refuse(step_of(first).where,
                   fmt::format("{} {} GPU {} on channel {}, which has no thread block for it",
                               msccl::name_of(first.first, first.second),
                               sends_there ? "sends to" : "receives from", sends_there ? to : from, channel),
                   fmt::format("GPU {} needs a <tb {}=\"{}\" chan=\"{}\">", sends_there ? to : from,
                               sends_there ? "recv" : "send", sends_there ? from : to, channel));
        }
        const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
        for (std::size_t k = 0; k < both; ++k) {
            const Step& send = step_of(ends.sends[k]);
            const Step& receive = step_of(ends.receives[k]);
            if (send.chunks != receive.chunks) {
                refuse(send.where,
                       fmt::format("{} sends {} chunks, {} receives {}",
                                   msccl::name_of(ends.sends[k].first, ends.sends[k].second), send.chunks,
                                   msccl::name_of(ends.receives[k].first, ends.receives[k].second),
                                   receive.chunks),
                       "the k-th send of a connection is what its k-th receive receives");
            }
        }
        if (ends.sends.size() != ends.receives.size()) {
            const bool is_send = ends.sends.size() > both;
            const auto& lone = is_send ? ends.sends[both] : ends.receives[both];
            refuse(step_of(lone).where,
                   fmt::format("{}: from GPU {} to GPU {} on channel {} there are {} sends and {} receives",
                               msccl::name_of(lone.first, lone.second), from, to, channel, ends.sends.size(),
                               ends.receives.size()),
                   "the k-th send of a connection is what its k-th receive receives");
        }
    }

    std::shared_ptr<const SourceText> source_;
    TextPlaces places_;
    pugi::xml_document document_;
    File file_;
    std::uint32_t gpu_count_ = 0;
};

}  // namespace

bool receives(StepType type) {
    return type == StepType::kReceive || type == StepType::kReceiveSend || type == StepType::kReceiveReduce ||
           type == StepType::kReduceSend || type == StepType::kReceiveReduceSend;
}

bool sends(StepType type) {
    return type == StepType::kSend || type == StepType::kReceiveSend || type == StepType::kReduceSend ||
           type == StepType::kReceiveReduceSend;
}

bool reads_source(StepType type) {
    return type != StepType::kReceive && type != StepType::kReceiveSend && type != StepType::kNothing;
}

bool writes_destination(StepType type) {
    return type != StepType::kSend && type != StepType::kReduceSend && type != StepType::kNothing;
}

void refuse(const SourceRange& where, std::string message, std::string hint) {
    throw Defect{{"msccl.file", where, std::move(message), std::move(hint), {}}};
}

std::string name_of(Position gpu, StepId step) {
    return fmt::format("step {} of thread block {} of GPU {}", step.step, step.block, gpu);
}

File parse(const std::shared_ptr<const SourceText>& text) {
    return Reader(text).read();
}

}  // namespace astrolabe::system::msccl
