#include "schedule_file.hpp"

#include "../msccl/msccl_schedule.hpp"
#include "file_algorithm.hpp"
#include "proof.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/source_text.hpp>
#include <astrolabe/system/components.hpp>

namespace astrolabe {

template <>
struct EnumNames<system::CollectiveKind> {
    static constexpr std::array<std::pair<std::string_view, system::CollectiveKind>, 7> kNames{
        {{"all_reduce", system::CollectiveKind::kAllReduce},
         {"reduce_scatter", system::CollectiveKind::kReduceScatter},
         {"all_gather", system::CollectiveKind::kAllGather},
         {"all_to_all", system::CollectiveKind::kAllToAll},
         {"broadcast", system::CollectiveKind::kBroadcast},
         {"reduce", system::CollectiveKind::kReduce},
         {"point_to_point", system::CollectiveKind::kPointToPoint}}};
};

template <>
struct EnumNames<system::Symmetry> {
    static constexpr std::array<std::pair<std::string_view, system::Symmetry>, 3> kNames{
        {{"none", system::Symmetry::kNone},
         {"rotation", system::Symmetry::kRotation},
         {"exclusive_or", system::Symmetry::kExclusiveOr}}};
};

}  // namespace astrolabe

namespace astrolabe::system {

namespace {

constexpr std::string_view kSchema = "astrolabe/1";
constexpr Position kMaxRanks = 4096;
constexpr std::uint64_t kMaxProofBytes = std::uint64_t{1} << 30;

struct FileBlock {
    BlockReference reference;
    bool is_pair = false;
    SourceRange where;
};

struct FileAction {
    std::optional<Position> send{};
    std::optional<Position> receive{};
    std::vector<FileBlock> blocks{};
    std::vector<ActionIndex> after{};
    bool reduce = false;
    std::uint16_t stage = 0;
    SourceRange where{};
};

struct FileProgram {
    std::vector<FileAction> actions{};
    SourceRange where{};
};

struct ScheduleFile {
    std::string schema{};
    CollectiveKind kind{};
    Position ranks = 0;
    std::optional<std::uint64_t> blocks{};
    Symmetry symmetry = Symmetry::kNone;
    std::vector<Position> dimensions{};
    std::vector<Stage> stages{};
    std::vector<FileProgram> programs{};

    [[nodiscard]] std::uint64_t block_count() const { return fixed_blocks().value_or(blocks.value_or(1)); }
    /// The number of blocks where kind and symmetry determine it.
    [[nodiscard]] std::optional<std::uint64_t> fixed_blocks() const {
        if (kind == CollectiveKind::kAllToAll) {
            return std::uint64_t{ranks} * ranks;
        }
        const bool is_free = has_root(kind) || kind == CollectiveKind::kAllReduce;
        return is_free && symmetry == Symmetry::kNone ? std::nullopt : std::optional<std::uint64_t>(ranks);
    }
    [[nodiscard]] std::size_t program_count() const { return symmetry == Symmetry::kNone ? ranks : 1; }
};

/// Whether `node` is a list; reports where it is not.
bool expect_list(const ConfigNode& node, const std::string& what, const std::string& hint,
                 ReadContext& context) {
    if (!node.is_sequence()) {
        context.error("config.type", node.where,
                      fmt::format("{} takes a list, found {}", what, node.kind_name()), hint);
    }
    return node.is_sequence();
}

std::optional<FileBlock> read_block(const ConfigNode& node, ReadContext& context) {
    const std::string what = "a block";
    if (!node.is_sequence()) {
        const std::optional<BlockIndex> block = read_scalar<BlockIndex>(node, what, context);
        return block ? std::optional(FileBlock{{0, *block}, false, node.where}) : std::nullopt;
    }
    if (node.items.size() != 2) {
        context.error("config.type", node.where, "a pair has a source and a destination",
                      "write [source, destination]");
        return std::nullopt;
    }
    const std::optional<Position> source = read_scalar<Position>(node.items[0], what, context);
    const std::optional<BlockIndex> destination = read_scalar<BlockIndex>(node.items[1], what, context);
    if (!source || !destination) {
        return std::nullopt;
    }
    return FileBlock{{*source, *destination}, true, node.where};
}

template <class T>
std::optional<ConfigNode> not_written(const T& /*value*/) {
    return std::nullopt;
}

Schema<FileAction> action_schema() {
    Schema<FileAction> schema("action", "one message of a rank, seen from this rank");
    schema.optional("send", &FileAction::send, "the rank to send to")
        .optional("receive", &FileAction::receive, "the rank to receive from")
        .field(
            {"blocks", "list of blocks", "", true, {}, "what the message carries", {}},
            [](FileAction& action, const ConfigNode& node, ReadContext& context) {
                if (!expect_list(node, "'blocks'", "write [0, 1]", context)) {
                    return;
                }
                for (const ConfigNode& item : node.items) {
                    if (std::optional<FileBlock> block = read_block(item, context)) {
                        action.blocks.push_back(std::move(*block));
                    }
                }
            },
            not_written<FileAction>)
        .list("after", &FileAction::after, "earlier actions of the rank that must be complete", false)
        .optional("reduce", &FileAction::reduce, "of a receive: add to the own blocks")
        .optional("stage", &FileAction::stage, "number of the stage it belongs to")
        .check([](const FileAction& action) -> ValidationErrors {
            if (action.send.has_value() == action.receive.has_value()) {
                return {
                    {"", "an action is a send or a receive", "write {send: peer, …} or {receive: peer, …}"}};
            }
            if (action.send && action.reduce) {
                return {{"reduce", "a send adds nothing", "the receive at the other end has 'reduce: true'"}};
            }
            return {};
        });
    return schema;
}

void read_programs(ScheduleFile& file, const ConfigNode& node, ReadContext& context) {
    static const std::string hint = "programs is a list of ranks, each a list of actions";
    if (!expect_list(node, "'programs'", hint, context)) {
        return;
    }
    const Schema<FileAction> schema = action_schema();
    for (const ConfigNode& program : node.items) {
        FileProgram& own = file.programs.emplace_back();
        own.where = program.where;
        if (!expect_list(program, "a program", hint, context)) {
            continue;
        }
        for (const ConfigNode& item : program.items) {
            if (std::optional<FileAction> action = schema.read(item, context)) {
                action->where = item.where;
                own.actions.push_back(std::move(*action));
            }
        }
    }
}

Schema<Stage> stage_schema() {
    Schema<Stage> schema("stage", "a part of the schedule inside one dimension");
    schema.required("dimension", &Stage::dimension, "it works in")
        .required("kind", &Stage::kind, "what it does there");
    return schema;
}

ValidationErrors validation_errors(const ScheduleFile& file) {
    ValidationErrors found;
    if (file.schema != kSchema) {
        add_error(found, "schema", fmt::format("'{}' is not a format of schedules", file.schema),
                  fmt::format("write schema: {}", kSchema));
    }
    if (file.symmetry == Symmetry::kExclusiveOr && (file.ranks & (file.ranks - 1)) != 0) {
        add_error(found, "symmetry", fmt::format("{} ranks are not a power of two", file.ranks),
                  "exclusive_or needs a power of two");
    }
    if (file.kind == CollectiveKind::kPointToPoint && file.ranks != 2) {
        add_error(found, "ranks", "point_to_point takes two ranks");
    }
    if (has_root(file.kind) && file.symmetry != Symmetry::kNone) {
        add_error(found, "symmetry",
                  fmt::format("the root of a {} does what no other rank does", to_string(file.kind)),
                  "write one program per rank");
    }
    if (file.blocks && *file.blocks != file.block_count()) {
        add_error(found, "blocks", fmt::format("is {}, expected {}", *file.blocks, file.block_count()),
                  "kind, ranks and symmetry leave no choice: leave it out");
    }
    if (file.programs.size() != file.program_count()) {
        add_error(found, "programs",
                  fmt::format("{} programs, expected {}", file.programs.size(), file.program_count()),
                  file.symmetry == Symmetry::kNone ? "write one per rank" : "under a symmetry there is one");
    }
    std::uint64_t grid = 1;
    for (const Position size : file.dimensions) {
        grid = std::min<std::uint64_t>(grid * size, kMaxRanks + 1);
    }
    if (!file.dimensions.empty() && grid != file.ranks) {
        add_error(found, "dimensions", fmt::format("do not multiply to {} ranks", file.ranks));
    }
    for (const Stage& stage : file.stages) {
        if (stage.dimension >= std::max<std::size_t>(file.dimensions.size(), 1)) {
            add_error(found, "stages", fmt::format("there is no dimension {}", stage.dimension),
                      "'dimensions' gives the shape of the group");
        }
    }
    if (file.ranks * file.block_count() > kMaxProofBytes / 8 / ((file.ranks + 63) / 64)) {
        add_error(found, "ranks",
                  fmt::format("{} ranks and {} blocks are too many to prove", file.ranks, file.block_count()),
                  "the proof may take 1 GiB: ranks · blocks · ⌈ranks / 64⌉ words of 8 bytes");
    }
    return found;
}

Schema<ScheduleFile> file_schema() {
    Schema<ScheduleFile> schema("schedule", "a collective algorithm, message by message");
    schema.required("schema", &ScheduleFile::schema, "format of the file: " + std::string(kSchema))
        .required("kind", &ScheduleFile::kind, "what the schedule does")
        .required("ranks", &ScheduleFile::ranks, "of the groups it serves", {2, kMaxRanks})
        .optional("blocks", &ScheduleFile::blocks, "equal parts of a rank's vector",
                  {1, std::uint64_t{kMaxRanks} * kMaxRanks})
        .optional("symmetry", &ScheduleFile::symmetry, "under which one program serves all ranks")
        .list("dimensions", &ScheduleFile::dimensions, "shape of the groups it serves", false, {1, kMaxRanks})
        .list("stages", &ScheduleFile::stages, stage_schema(), "parts inside one dimension",
              "[{dimension: 0, kind: reduce_scatter}, …]")
        .field({"programs", "list of lists of actions", "", true, {}, "of the ranks, in order", {}},
               read_programs, not_written<ScheduleFile>)
        .check(validation_errors);
    return schema;
}

/// Turns a file that its schema accepts into a proven schedule.
class Compiler {
public:
    explicit Compiler(const ScheduleFile& file)
        : file_(file) {}

    [[nodiscard]] Result<CollectiveSchedule> compile() {
        check_actions();
        if (!errors_.empty()) {
            return std::move(errors_);
        }
        std::optional<CollectiveSchedule> schedule = build();
        if (schedule) {
            check_lines(*schedule);
        }
        if (errors_.empty()) {
            if (const std::optional<ProofFailure> failure = prove(*schedule)) {
                error("schedule.proof", place_of(*failure, *schedule), failure->message,
                      fmt::format("a {} must hold whatever the order in which messages arrive",
                                  to_string(file_.kind)));
            }
        }
        if (!errors_.empty()) {
            return std::move(errors_);
        }
        return *std::move(schedule);
    }

private:
    void error(std::string code, const SourceRange& where, std::string message, std::string hint) {
        errors_.push_back({std::move(code), where, std::move(message), std::move(hint), {}});
    }

    [[nodiscard]] std::size_t stage_count() const { return std::max<std::size_t>(file_.stages.size(), 1); }

    void check_actions() {
        const bool has_pairs = file_.kind == CollectiveKind::kAllToAll;
        for (const FileProgram& program : file_.programs) {
            for (const FileAction& action : program.actions) {
                if (action.stage >= stage_count()) {
                    error("schedule.build", action.where, fmt::format("there is no stage {}", action.stage),
                          fmt::format("'stages' lists {}", file_.stages.size()));
                }
                for (const FileBlock& block : action.blocks) {
                    if (block.is_pair != has_pairs) {
                        error("schedule.build", block.where,
                              has_pairs ? "a block of an all_to_all is a pair"
                                        : fmt::format("a block of a {} is a number", to_string(file_.kind)),
                              has_pairs ? "write [source, destination]" : "write 0, 1, …");
                    }
                }
            }
        }
    }

    std::optional<CollectiveSchedule> build() {
        try {
            ScheduleBuilder builder(file_.kind, file_.ranks, file_.block_count(), file_.symmetry,
                                    file_.stages);
            for (Position rank = 0; rank < file_.programs.size(); ++rank) {
                for (const FileAction& action : file_.programs[rank].actions) {
                    add(builder, rank, action);
                }
            }
            return std::move(builder).build();
        } catch (const ScheduleError& defect) {
            error("schedule.build", file_.programs[defect.rank].actions[defect.action].where,
                  fmt::format("rank {} action {}: {}", defect.rank, defect.action, defect.reason),
                  "both ends of a message name the same blocks, in the order in which the pair exchanges "
                  "messages");
            return std::nullopt;
        }
    }

    static void add(ScheduleBuilder& builder, Position rank, const FileAction& action) {
        std::vector<BlockReference> blocks;
        for (const FileBlock& block : action.blocks) {
            blocks.push_back(block.reference);
        }
        builder.begin_stage(action.stage);
        if (action.send) {
            builder.send(rank, *action.send, blocks, action.after);
        } else {
            builder.receive(rank, *action.receive, blocks, action.after, action.reduce);
        }
    }

    /// A stage stays inside the lines of its dimension.
    void check_lines(const CollectiveSchedule& schedule) {
        if (file_.stages.empty() || file_.dimensions.empty()) {
            return;
        }
        const Shape shape(file_.dimensions);
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            const std::vector<Action>& actions = schedule.program(rank).actions;
            for (std::size_t index = 0; index < actions.size(); ++index) {
                const std::size_t dimension = schedule.stages()[actions[index].stage].dimension;
                const Position peer = schedule.resolve(rank, actions[index].peer);
                if (shape.with_coordinate(rank, dimension, shape.coordinate(peer, dimension)) != peer) {
                    error("schedule.build", action_of(rank, index).where,
                          fmt::format("ranks {} and {} differ not only in dimension {} of {}", rank, peer,
                                      dimension, shape.text()),
                          "a stage works inside its dimension");
                    return;
                }
            }
        }
    }

    [[nodiscard]] const FileProgram& program_of(Position rank) const {
        return file_.programs[file_.symmetry == Symmetry::kNone ? rank : 0];
    }
    [[nodiscard]] const FileAction& action_of(Position rank, std::size_t action) const {
        return program_of(rank).actions[action];
    }

    /// The failed action, else the last one by which the rank got the block, else the rank's program.
    [[nodiscard]] SourceRange place_of(const ProofFailure& failure,
                                       const CollectiveSchedule& schedule) const {
        if (failure.action) {
            return action_of(failure.rank, *failure.action).where;
        }
        const RankProgram& program = schedule.program(failure.rank);
        for (std::size_t index = program.actions.size(); index-- > 0;) {
            if (program.actions[index].is_send()) {
                continue;
            }
            for (const BlockReference block : program.blocks_of(program.actions[index])) {
                if (schedule.resolve(failure.rank, block) == failure.block) {
                    return action_of(failure.rank, index).where;
                }
            }
        }
        return program_of(failure.rank).where;
    }

    const ScheduleFile& file_;
    Diagnostics errors_;
};

}  // namespace

Result<std::shared_ptr<const CollectiveAlgorithm>> read_schedule(const ConfigNode& node) {
    ReadContext context;
    std::optional<ScheduleFile> file = file_schema().read(node, context);
    if (!file) {
        return context.errors();
    }
    Result<CollectiveSchedule> schedule = Compiler(*file).compile();
    if (!schedule) {
        return schedule.error();
    }
    const std::string name = node.where.source ? node.where.source->name : "this schedule";
    return std::shared_ptr<const CollectiveAlgorithm>(
        std::make_shared<FileAlgorithm>(*std::move(schedule), name, std::move(file->dimensions)));
}

namespace {

/// Whether a text is XML: what begins with < is no YAML of ours.
bool is_xml(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    return begin != std::string_view::npos && text[begin] == '<';
}

}  // namespace

Result<std::shared_ptr<const CollectiveAlgorithm>> read_schedule_file(const std::filesystem::path& path) {
    const Result<std::shared_ptr<const SourceText>> text = read_source(path, "schedule.file");
    if (!text || !is_xml((*text)->text)) {  // what cannot be read is reported like any other file
        return load_config(path).and_then([](const ConfigNode& node) { return read_schedule(node); });
    }
    Result<CollectiveSchedule> schedule = msccl::schedule_of(*text);
    if (!schedule) {
        return schedule.error();
    }
    return std::shared_ptr<const CollectiveAlgorithm>(std::make_shared<FileAlgorithm>(
        *std::move(schedule), path.filename().string(), std::vector<Position>{}));
}

namespace {

struct ScheduleParameters {
    std::string path;
    AlgorithmPointer algorithm;
};

void read_schedule_parameters(ScheduleParameters& parameters, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'file'", context);
    if (!given) {
        return;
    }
    const std::filesystem::path path = (directory_of(node) / *given).lexically_normal();
    Result<AlgorithmPointer> algorithm = read_schedule_file(path);
    if (!algorithm) {
        for (Diagnostic error : algorithm.error()) {
            if (!error.where.source) {
                error.where = node.where;
            }
            context.error(std::move(error));
        }
        return;
    }
    parameters.algorithm = *std::move(algorithm);
    parameters.path = std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

void register_builtin_algorithms(AlgorithmRegistry& registry) {
    register_computed_algorithms(registry);
    Schema<ScheduleParameters> schema(
        std::string(kScheduleFromFile),
        "a schedule of your own, proven before it is used (the kind and ranks of its file)");
    schema.field({"file", "path", "", true, {}, "the schedule, relative to the file that names it", {}},
                 read_schedule_parameters, [](const ScheduleParameters& parameters) {
                     return std::optional(ConfigNode::scalar(parameters.path));
                 });
    registry.add<ScheduleParameters>(
        schema, [](const ScheduleParameters& parameters) { return parameters.algorithm; });
}

}  // namespace astrolabe::system
