/// What taps on the links of a fabric would have captured, as Wireshark reads it.
///
/// The file is pcapng (draft-ietf-opsawg-pcapng): one interface for every link that carried something, with
/// its name; one packet for every start of a transmission, at the time of its first bit in nanoseconds.
/// Packets have no content, so headers are made up, as RoCEv2 has them (InfiniBand Architecture
/// Specification 1.4, volume 1, chapter 9 and annex 17), and nothing but headers is captured; the original
/// length is what was on the wire.
///
///     Ethernet   from and to 02:00:00:hh:hh:hh, the numbers of the hosts
///     IPv4       from and to 10.h.h.h; DSCP is 8 × traffic class; ECN is ECT(0), or CE where marked
///     UDP        to port 4791, from 49152 + queue pair modulo 16384
///     BTH        the queue pair (24 bits) and the packet's number in it (24 bits); the opcode:
///                  SEND middle           data
///                  acknowledge, AETH     an acknowledgement of all packets below; a negative one asks for
///                  the
///                                        packet of its number again
///                  CNP                   congestion notification
///                  0xc0, vendor's own    the receiver asks for more
///
/// Left out: what was dropped before it left, which links.csv counts. Sizes below those of the headers are
/// given as those of the headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/experiment/records/packet_sequencer.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {

class PacketCapture final : public PacketSink {
public:
    /// `links[i]`: whether link i has a tap.
    PacketCapture(const network::Fabric& fabric, std::vector<bool> links, OutputFile file);

    [[nodiscard]] bool wants(const network::PacketEvent& event) const override;
    void take(const network::PacketEvent& event) override;

    /// Gives the file its name; nothing, or why it could not be written.
    [[nodiscard]] std::optional<Diagnostic> finish() { return file_.finish(); }

private:
    [[nodiscard]] std::uint32_t interface_of(network::LinkId link);

    const network::Fabric& fabric_;
    std::vector<bool> links_;
    OutputFile file_;
    std::vector<std::uint32_t> interfaces_;  ///< by link; kNoInterface before its first packet
    std::uint32_t interface_count_ = 0;
    std::string headers_;
    std::string block_;
};

}  // namespace astrolabe::experiment
