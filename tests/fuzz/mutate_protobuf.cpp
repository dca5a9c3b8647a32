/// Protobuf's wire format: a field is a varint (number * 8 + type) and its value.
#include "mutations.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace astrolabe::fuzzing {
namespace {

std::optional<std::uint64_t> take_varint(const std::string& bytes, std::size_t& at) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes[at++]);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    return std::nullopt;
}

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) {
        bytes += static_cast<char>((value & 0x7fU) | 0x80U);
    }
    return bytes + static_cast<char>(value);
}

struct Field {
    std::uint64_t key = 0;
    std::string value;  ///< without its length
};

/// Fields up to the first that is none.
std::vector<Field> fields_of(const std::string& message) {
    std::vector<Field> fields;
    for (std::size_t at = 0; at < message.size();) {
        const std::optional<std::uint64_t> key = take_varint(message, at);
        const std::size_t begin = at;
        std::optional<std::uint64_t> size;
        if (key && (*key & 7U) == 0 && take_varint(message, at)) {
            fields.push_back({*key, message.substr(begin, at - begin)});
            continue;
        }
        if (key && (*key & 7U) == 2) {
            size = take_varint(message, at);
        } else if (key && ((*key & 7U) == 1 || (*key & 7U) == 5)) {
            size = (*key & 7U) == 1 ? 8 : 4;
        }
        if (!size || *size > message.size() - at) {
            break;
        }
        fields.push_back({*key, message.substr(at, *size)});
        at += *size;
    }
    return fields;
}

std::string message_of(const std::vector<Field>& fields) {
    std::string bytes;
    for (const Field& field : fields) {
        bytes += varint(field.key);
        bytes += (field.key & 7U) == 2 ? varint(field.value.size()) : "";
        bytes += field.value;
    }
    return bytes;
}

void change_message(std::string& message, Draw& draw, int depth) {
    std::vector<Field> fields = fields_of(message);
    if (fields.empty()) {
        message += varint(draw.bits());
        return;
    }
    const std::size_t chosen = draw.below(fields.size());
    Field& field = fields[chosen];
    if ((field.key & 7U) == 2 && depth > 0 && !draw.one_in(3)) {
        change_message(field.value, draw, depth - 1);
        message = message_of(fields);
        return;
    }
    const Field copy = field;
    switch (draw.below(5)) {
        case 0:
            fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(chosen));
            break;
        case 1:
            fields.insert(fields.end(), draw.one_in(10) ? 1000 : 1, copy);
            break;
        case 2:
            field.key = draw.below(40) * 8 + (draw.one_in(3) ? draw.below(8) : (field.key & 7U));
            break;
        case 3:
            std::swap(field.value, fields[draw.below(fields.size())].value);
            break;
        default:
            if ((field.key & 7U) == 2) {
                field.value = edge_value(draw);
            } else if ((field.key & 7U) == 0) {
                constexpr std::array<std::uint64_t, 7> kValues = {0,
                                                                  1,
                                                                  ~std::uint64_t{0},
                                                                  std::uint64_t{1} << 63U,
                                                                  (std::uint64_t{1} << 63U) - 1,
                                                                  0x7fffffff,
                                                                  1000};
                field.value = varint(draw.one_in(3) ? draw.bits() >> draw.below(64)
                                                    : kValues[draw.below(kValues.size())]);
            } else {
                change_bytes(field.value, draw);
            }
            break;
    }
    message = message_of(fields);
}

}  // namespace

void change_record(std::string& bytes, Draw& draw) {
    std::vector<Range> records;  // behind their lengths
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t begin = at;
        const std::optional<std::uint64_t> size = take_varint(bytes, at);
        if (!size || *size > bytes.size() - at) {
            break;
        }
        begins.push_back(begin);
        records.push_back({at, at + *size});
        at += *size;
    }
    if (records.empty()) {
        return;
    }
    const std::size_t chosen = draw.below(records.size());
    const Range record = records[chosen];
    std::string message = bytes.substr(record.begin, record.size());
    const std::size_t begin = begins[chosen];
    switch (draw.below(8)) {
        case 0:
            bytes.erase(begin, record.end - begin);
            break;
        case 1:
            bytes.insert(begin, bytes.substr(begin, record.end - begin));
            break;
        case 2:
            bytes.replace(begin, record.begin - begin, varint(draw.bits() >> draw.below(64)));
            break;
        default:
            change_message(message, draw, 4);
            bytes.replace(begin, record.end - begin, varint(message.size()) + message);
            break;
    }
}

}  // namespace astrolabe::fuzzing
