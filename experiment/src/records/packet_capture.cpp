#include <algorithm>
#include <array>

#include <astrolabe/experiment/records/packet_capture.hpp>

namespace astrolabe::experiment {
namespace {

using network::PacketKind;

constexpr std::uint32_t kNoInterface = 0xffffffffU;
constexpr std::int64_t kPicosecondsPerNanosecond = 1'000;
constexpr std::size_t kEthernet = 14;
constexpr std::size_t kIp = 20;

/// Blocks are little-endian, headers of packets in network order.
template <class Integer>
void put(std::string& to, Integer value) {
    for (std::size_t byte = 0; byte < sizeof(Integer); ++byte) {
        to += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * byte) & 0xff);
    }
}

void put_big(std::string& to, std::uint64_t value, int bytes) {
    for (int byte = bytes - 1; byte >= 0; --byte) {
        to += static_cast<char>(value >> (8 * byte) & 0xff);
    }
}

void pad(std::string& text) {
    text.resize((text.size() + 3) / 4 * 4, '\0');
}

/// Type, length, what it says, and the length again.
void put_block(std::string& to, std::uint32_t type, const std::string& body) {
    const auto length = static_cast<std::uint32_t>(body.size() + 12);
    put(to, type);
    put(to, length);
    to += body;
    put(to, length);
}

void put_option(std::string& to, std::uint16_t code, const std::string& value) {
    put(to, code);
    put(to, static_cast<std::uint16_t>(value.size()));
    to += value;
    pad(to);
}

std::string section_header() {
    std::string body;
    put(body, std::uint32_t{0x1a2b3c4d});  // byte order
    put(body, std::uint16_t{1});           // version 1.0
    put(body, std::uint16_t{0});
    put(body, std::int64_t{-1});  // length of the section: not said
    std::string block;
    put_block(block, 0x0a0d0d0a, body);
    return block;
}

std::string interface_description(const std::string& name) {
    constexpr std::uint16_t kEthernetLink = 1;
    constexpr std::uint16_t kName = 2;
    constexpr std::uint16_t kTimeResolution = 9;
    std::string body;
    put(body, kEthernetLink);
    put(body, std::uint16_t{0});
    put(body, std::uint32_t{0});  // no limit to what is captured
    put_option(body, kName, name);
    put_option(body, kTimeResolution, std::string(1, '\x09'));  // 10^-9 s
    put_option(body, 0, "");
    std::string block;
    put_block(block, 1, body);
    return block;
}

void put_ethernet(std::string& to, const network::PacketEvent& event) {
    for (const network::HostId host : {event.destination, event.source}) {
        put_big(to, 0x020000, 3);
        put_big(to, host.index(), 3);
    }
    put_big(to, 0x0800, 2);
}

/// Ones' complement of the ones' complement sum (RFC 1071).
std::uint16_t checksum(const std::string& text, std::size_t begin) {
    std::uint32_t sum = 0;
    for (std::size_t at = begin; at + 1 < text.size(); at += 2) {
        sum += static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]) << 8 |
                                          static_cast<unsigned char>(text[at + 1]));
    }
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

void put_ip(std::string& to, const network::PacketEvent& event, std::uint64_t length) {
    constexpr std::uint64_t kTenthNet = 10U << 24;
    constexpr std::uint64_t kUdp = 17;
    const std::size_t begin = to.size();
    put_big(to, 0x45, 1);
    put_big(to, static_cast<std::uint64_t>(event.priority) << 5 | (event.is_marked ? 3U : 2U), 1);
    put_big(to, std::min<std::uint64_t>(length, 0xffff), 2);
    put_big(to, 0x00004000, 4);  // whole: may not be fragmented
    put_big(to, 64 << 8 | kUdp, 2);
    put_big(to, 0, 2);
    put_big(to, kTenthNet | event.source.index(), 4);
    put_big(to, kTenthNet | event.destination.index(), 4);
    const std::uint16_t sum = checksum(to, begin);
    to[begin + 10] = static_cast<char>(sum >> 8);
    to[begin + 11] = static_cast<char>(sum & 0xff);
}

void put_udp(std::string& to, const network::PacketEvent& event, std::uint64_t length) {
    constexpr std::uint64_t kRoce = 4791;
    put_big(to, 49'152 + event.queue_pair % 16'384, 2);
    put_big(to, kRoce, 2);
    put_big(to, std::min<std::uint64_t>(length, 0xffff), 2);
    put_big(to, 0, 2);  // no checksum
}

void put_transport(std::string& to, const network::PacketEvent& event) {
    constexpr std::uint64_t kNumbers = 0xffffff;
    constexpr std::uint64_t kAcknowledged = 0x1f;
    constexpr std::uint64_t kMissing = 0x60;
    constexpr std::size_t kNotificationRest = 16;
    std::uint64_t opcode = 0x01;  // SEND middle
    std::uint64_t number = event.sequence;
    if (event.kind == PacketKind::kAcknowledgement || event.kind == PacketKind::kNegativeAcknowledgement) {
        opcode = 0x11;
        number -= event.kind == PacketKind::kAcknowledgement ? 1 : 0;  // of the last that has arrived
    } else if (event.kind == PacketKind::kCongestionNotification) {
        opcode = 0x81;
    } else if (event.kind == PacketKind::kPull) {
        opcode = 0xc0;
    }
    put_big(to, opcode, 1);
    put_big(to, 0, 1);
    put_big(to, 0xffff, 2);  // the default partition
    put_big(to, event.queue_pair & kNumbers, 4);
    put_big(to, number & kNumbers, 4);
    if (opcode == 0x11) {
        put_big(to, event.kind == PacketKind::kAcknowledgement ? kAcknowledged : kMissing, 1);
        put_big(to, 0, 3);
    } else if (opcode == 0x81) {
        to.append(kNotificationRest, '\0');
    }
}

}  // namespace

PacketCapture::PacketCapture(const network::Fabric& fabric, std::vector<bool> links, OutputFile file)
    : fabric_(fabric),
      links_(std::move(links)),
      file_(std::move(file)),
      interfaces_(fabric.link_count(), kNoInterface) {
    file_.append(section_header());
}

bool PacketCapture::wants(const network::PacketEvent& event) const {
    return event.what == network::PacketEventKind::kStarted && links_[event.link.index()];
}

std::uint32_t PacketCapture::interface_of(network::LinkId link) {
    std::uint32_t& number = interfaces_[link.index()];
    if (number == kNoInterface) {
        number = interface_count_++;
        file_.append(interface_description(link_name(fabric_, link)));
    }
    return number;
}

void PacketCapture::take(const network::PacketEvent& event) {
    constexpr std::size_t kUdpAndAbove = kEthernet + kIp;
    std::string transport;
    put_transport(transport, event);
    constexpr std::size_t kUdpHeader = 8;
    const std::uint64_t captured = kUdpAndAbove + kUdpHeader + transport.size();
    const std::uint64_t length = std::max(static_cast<std::uint64_t>(event.size.count()), captured);
    headers_.clear();
    put_ethernet(headers_, event);
    put_ip(headers_, event, length - kEthernet);
    put_udp(headers_, event, length - kUdpAndAbove);
    headers_ += transport;

    const auto time = static_cast<std::uint64_t>(event.time.count() / kPicosecondsPerNanosecond);
    std::string body;
    put(body, interface_of(event.link));
    put(body, static_cast<std::uint32_t>(time >> 32));
    put(body, static_cast<std::uint32_t>(time));
    put(body, static_cast<std::uint32_t>(captured));
    put(body, static_cast<std::uint32_t>(length));
    body += headers_;
    pad(body);
    block_.clear();
    put_block(block_, 6, body);
    file_.append(block_);
}

}  // namespace astrolabe::experiment
