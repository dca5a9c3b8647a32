#include "../rank_graphs/trace_file.hpp"
#include "node_reader.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include <astrolabe/core/utf8.hpp>

namespace astrolabe::workload::chakra {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::uint32_t key(protozero::pbf_tag_type field, pbf_wire_type type) {
    return protozero::tag_and_type(field, type);
}

/// A list of varints, packed or one of them alone.
template <class Take>
void take_varints(pbf_reader& reader, const Take& take) {
    if (reader.wire_type() == pbf_wire_type::length_delimited) {
        for (const std::uint64_t value : reader.get_packed_uint64()) {
            take(value);
        }
    } else {
        take(reader.get_uint64());
    }
}

void set_unsigned(Attribute& attribute, std::uint64_t value) {
    attribute.kind = Attribute::Kind::kInteger;
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        attribute.kind = Attribute::Kind::kTooLarge;
    }
    attribute.integer = static_cast<std::int64_t>(value);
}

void set_signed(Attribute& attribute, std::int64_t value) {
    attribute.kind = Attribute::Kind::kInteger;
    attribute.integer = value;
}

void set_real(Attribute& attribute, double value) {
    attribute.kind = Attribute::Kind::kReal;
    attribute.real = value;
}

/// Values of lists are fields 1 of a message of their own.
void set_integers(Attribute& attribute, pbf_reader list) {
    attribute.kind = Attribute::Kind::kIntegers;
    attribute.integers.clear();
    while (list.next()) {
        if (list.tag() == 1 && (list.wire_type() == pbf_wire_type::length_delimited ||
                                list.wire_type() == pbf_wire_type::varint)) {
            take_varints(list, [&](std::uint64_t value) {
                attribute.integers.push_back(static_cast<std::int64_t>(value));
            });
        } else {
            list.skip();
        }
    }
}

std::string_view view_of(pbf_reader& reader) {
    const protozero::data_view data = reader.get_view();
    return {data.data(), data.size()};
}

/// The first byte that is not UTF-8; nullptr: there is none.
const char* bad_byte(std::string_view text) {
    const std::optional<std::size_t> offset = first_byte_not_utf8(text);
    return offset ? text.data() + *offset : nullptr;
}

/// Returns the first byte that is not UTF-8, as `bad_byte`.
const char* set_texts(Attribute& attribute, pbf_reader list) {
    const char* bad = nullptr;
    attribute.kind = Attribute::Kind::kTexts;
    attribute.texts.clear();
    while (list.next()) {
        if (list.tag_and_type() == key(1, pbf_wire_type::length_delimited)) {
            const std::string_view text = view_of(list);
            bad = bad != nullptr ? bad : bad_byte(text);
            attribute.texts.emplace_back(text);
        } else {
            list.skip();
        }
    }
    return bad;
}

/// Returns the first byte of its texts that is not UTF-8, as `bad_byte`.
const char* read_attribute(pbf_reader reader, Attribute& attribute) {
    const char* bad = nullptr;
    attribute.name = {};
    attribute.kind = Attribute::Kind::kNone;
    attribute.text = {};
    const auto view = [&] {
        const std::string_view text = view_of(reader);
        bad = bad != nullptr ? bad : bad_byte(text);
        return text;
    };
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case key(1, pbf_wire_type::length_delimited):
                attribute.name = view();
                break;
            case key(3, pbf_wire_type::fixed64):
                set_real(attribute, reader.get_double());
                break;
            case key(5, pbf_wire_type::fixed32):
                set_real(attribute, static_cast<double>(reader.get_float()));
                break;
            case key(7, pbf_wire_type::varint):
                set_signed(attribute, reader.get_int32());
                break;
            case key(9, pbf_wire_type::varint):
                set_signed(attribute, reader.get_int64());
                break;
            case key(11, pbf_wire_type::varint):
            case key(13, pbf_wire_type::varint):
                set_unsigned(attribute, reader.get_uint64());
                break;
            case key(15, pbf_wire_type::varint):
            case key(17, pbf_wire_type::varint):
                set_signed(attribute, reader.get_sint64());
                break;
            case key(19, pbf_wire_type::fixed32):
                set_unsigned(attribute, reader.get_fixed32());
                break;
            case key(21, pbf_wire_type::fixed64):
                set_unsigned(attribute, reader.get_fixed64());
                break;
            case key(23, pbf_wire_type::fixed32):
                set_signed(attribute, reader.get_sfixed32());
                break;
            case key(25, pbf_wire_type::fixed64):
                set_signed(attribute, reader.get_sfixed64());
                break;
            case key(27, pbf_wire_type::varint):
                set_signed(attribute, reader.get_bool() ? 1 : 0);
                break;
            case key(29, pbf_wire_type::length_delimited):
            case key(31, pbf_wire_type::length_delimited):
                attribute.kind = Attribute::Kind::kText;
                attribute.text = view();
                break;
            case key(8, pbf_wire_type::length_delimited):
            case key(10, pbf_wire_type::length_delimited):
            case key(12, pbf_wire_type::length_delimited):
            case key(14, pbf_wire_type::length_delimited):
            case key(28, pbf_wire_type::length_delimited):
                set_integers(attribute, reader.get_message());
                break;
            case key(30, pbf_wire_type::length_delimited): {
                const char* const found = set_texts(attribute, reader.get_message());
                bad = bad != nullptr ? bad : found;
                break;
            }
            default:
                reader.skip();
        }
    }
    return bad;
}

/// Field `values` of a tensor description.
std::string values_of(pbf_reader description) {
    std::string values;
    while (description.next()) {
        if (description.tag_and_type() == key(1, pbf_wire_type::length_delimited)) {
            values = printable_utf8(view_of(description));
        } else {
            description.skip();
        }
    }
    return values;
}

/// Records of a file.
class BinaryReader {
public:
    BinaryReader(TraceFile file, const NodeSink& sink)
        : file_(std::move(file)),
          sink_(sink) {}

    [[nodiscard]] Result<ChakraMetadata> read() {
        ChakraMetadata metadata;
        while (next_record()) {
            std::string wrong;
            try {
                wrong = record_ == 0 ? read_metadata(metadata) : read_node();
            } catch (const protozero::exception&) {
                return error("chakra.record", fmt::format("{} bytes are no {}", bytes_.size(),
                                                          record_ == 0 ? "metadata" : "node"));
            }
            if (!wrong.empty()) {
                return error("chakra.attribute", record_ == 0
                                                     ? wrong
                                                     : fmt::format("node {} '{}': {}", node_.id,
                                                                   printable_utf8(node_.name), wrong));
            }
            if (record_ > 0 && !sink_(node_)) {
                return metadata;
            }
            ++record_;
        }
        if (failure_) {
            return *std::move(failure_);
        }
        if (record_ == 0) {
            return error("chakra.empty", "the file is empty");
        }
        return metadata;
    }

private:
    [[nodiscard]] Diagnostic error(std::string code, const std::string& message) const {
        return trace_error(
            std::move(code), file_.name(), fmt::format("record {} at byte {}: {}", record_, begin_, message),
            "a Chakra trace is a file of metadata and nodes, each after its length as a varint");
    }

    /// Into bytes_; false at the end of the file, and with failure_ set where something is wrong.
    bool next_record() {
        begin_ = file_.position();
        const std::optional<std::uint64_t> length = next_length();
        if (!length) {
            return false;
        }
        if (*length > kMostHeldBytes) {
            failure_ = error("chakra.length",
                             fmt::format("its length is {} bytes, more than {}", *length, kMostHeldBytes));
            return false;
        }
        bytes_.clear();
        while (bytes_.size() < *length) {
            const std::size_t before = bytes_.size();
            const std::size_t wanted = std::min<std::size_t>(*length - before, kBytesAtOnce);
            bytes_.resize(before + wanted);
            const std::size_t come = file_.read(bytes_.data() + before, wanted);
            if (come < wanted) {
                failure_ =
                    error("chakra.truncated",
                          file_.failure().empty()
                              ? fmt::format("the file ends after {} of its {} bytes", before + come, *length)
                              : file_.failure());
                return false;
            }
        }
        return true;
    }

    std::optional<std::uint64_t> next_length() {
        constexpr unsigned kBitsOfByte = 7;
        std::uint64_t length = 0;
        for (unsigned shift = 0; shift < 64; shift += kBitsOfByte) {
            char byte = 0;
            if (file_.read(&byte, 1) == 0) {
                if (!file_.failure().empty() || shift > 0) {
                    failure_ =
                        error("chakra.truncated",
                              file_.failure().empty() ? "the file ends in its length" : file_.failure());
                }
                return std::nullopt;
            }
            length |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                return length;
            }
        }
        failure_ = error("chakra.length", "its length is no varint");
        return std::nullopt;
    }

    std::string take_text(pbf_reader& reader, std::string& wrong) const {
        const std::string_view text = view_of(reader);
        note_bad_byte(bad_byte(text), wrong);
        return std::string(text);
    }

    /// `bad`: a byte of the record; nullptr: there is none.
    void note_bad_byte(const char* bad, std::string& wrong) const {
        if (bad != nullptr && wrong.empty()) {
            const std::uint64_t record = file_.position() - bytes_.size();
            wrong = fmt::format("byte 0x{:02x} at offset {} of the file is not UTF-8",
                                static_cast<unsigned>(static_cast<unsigned char>(*bad)),
                                record + static_cast<std::uint64_t>(bad - bytes_.data()));
        }
    }

    std::string read_metadata(ChakraMetadata& metadata) {
        std::string wrong;
        pbf_reader reader(bytes_);
        while (reader.next() && wrong.empty()) {
            switch (reader.tag_and_type()) {
                case key(1, pbf_wire_type::length_delimited):
                    metadata.version = take_text(reader, wrong);
                    break;
                case key(2, pbf_wire_type::length_delimited):
                    note_bad_byte(read_attribute(reader.get_message(), attribute_), wrong);
                    if (wrong.empty()) {
                        wrong = take_attribute(metadata, attribute_);
                    }
                    break;
                default:
                    reader.skip();
            }
        }
        return wrong;
    }

    std::string read_node() {
        node_.clear();
        node_.place = record_;
        std::string wrong;
        std::optional<pbf_reader> inputs;
        pbf_reader reader(bytes_);
        while (reader.next()) {
            switch (reader.tag_and_type()) {
                case key(1, pbf_wire_type::varint):
                    node_.id = reader.get_uint64();
                    break;
                case key(2, pbf_wire_type::length_delimited):
                    node_.name = take_text(reader, wrong);
                    break;
                case key(3, pbf_wire_type::varint):
                    node_.type = reader.get_uint64();
                    break;
                case key(4, pbf_wire_type::varint):
                case key(4, pbf_wire_type::length_delimited):
                    take_varints(reader,
                                 [this](std::uint64_t id) { node_.control_dependencies.push_back(id); });
                    break;
                case key(5, pbf_wire_type::varint):
                case key(5, pbf_wire_type::length_delimited):
                    take_varints(reader, [this](std::uint64_t id) { node_.data_dependencies.push_back(id); });
                    break;
                case key(7, pbf_wire_type::varint):
                    node_.duration_micros = reader.get_uint64();
                    break;
                case key(8, pbf_wire_type::length_delimited):
                    inputs = reader.get_message();
                    break;
                case key(10, pbf_wire_type::length_delimited):
                    note_bad_byte(read_attribute(reader.get_message(), attribute_), wrong);
                    if (wrong.empty()) {
                        wrong = take_attribute(node_, attribute_);
                    }
                    break;
                default:
                    reader.skip();
            }
        }
        if (inputs && node_.type == static_cast<std::uint64_t>(NodeType::kMetadata)) {
            node_.input_values = values_of(*inputs);
        }
        return wrong;
    }

    static constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20U;

    TraceFile file_;
    const NodeSink& sink_;
    std::uint64_t record_ = 0;
    std::uint64_t begin_ = 0;
    std::string bytes_;
    ChakraNode node_;
    Attribute attribute_;
    std::optional<Diagnostic> failure_;
};

}  // namespace

Result<ChakraMetadata> read_binary_nodes(const std::filesystem::path& file, const NodeSink& sink) {
    Result<TraceFile> opened = TraceFile::open(file);
    if (!opened) {
        return opened.error();
    }
    return BinaryReader(*std::move(opened), sink).read();
}

}  // namespace astrolabe::workload::chakra
