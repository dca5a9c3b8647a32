// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_connection.hpp"

#include <algorithm>
#include <limits>

#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/uinteger.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

TcpConnection::TcpConnection(sim::Ptr<sim::Socket> sender, TransportState& state)
    : sender_(sender),
      state_(state) {
    sim::UintegerValue segment_size;
    sender_->GetAttribute("SegmentSize", segment_size);
    segment_size_ = segment_size.Get();
    sender_->SetConnectCallback(sim::MakeCallback(&TcpConnection::on_connected, this),
                                sim::MakeCallback(&TcpConnection::on_given_up, this));
    sender_->SetCloseCallbacks(sim::MakeNullCallback<void, sim::Ptr<sim::Socket>>(),
                               sim::MakeCallback(&TcpConnection::on_given_up, this));
    sender_->SetSendCallback(sim::MakeCallback(&TcpConnection::on_room, this));
    sender_->TraceConnectWithoutContext("Tx", sim::MakeCallback(&TcpConnection::on_segment, this));
    sender_->TraceConnectWithoutContext("RTO", sim::MakeCallback(&TcpConnection::on_timeout_value, this));
}

void TcpConnection::open(sim::Ptr<sim::Socket> listener, const sim::Address& destination) {
    listener_ = listener;
    const int bound = listener_->Bind(destination);
    ASTROLABE_ASSERT(bound == 0, "the port is free");
    listener_->Listen();
    listener_->SetAcceptCallback(sim::MakeNullCallback<bool, sim::Ptr<sim::Socket>, const sim::Address&>(),
                                 sim::MakeCallback(&TcpConnection::on_accepted, this));
    sender_->Bind();
    // A refused request leaves the messages pending: an unreachable destination shows as a stall.
    sender_->Connect(destination);
}

void TcpConnection::on_accepted(sim::Ptr<sim::Socket> receiver, const sim::Address&) {
    receiver_ = receiver;
    // No other host will connect, and every segment that arrives would be compared with it.
    listener_->Close();
    listener_ = nullptr;
    receiver_->SetRecvCallback(sim::MakeCallback(&TcpConnection::on_readable, this));
}

void TcpConnection::send(const network::Message& message, Bytes header, std::uint64_t order) {
    queued_ += static_cast<std::uint64_t>((header + message.size).count());
    pending_.push_back({message, queued_, order});
    if (connected_) {
        write();
    }
}

Bytes TcpConnection::remaining(const Pending& pending) const {
    const auto unread = static_cast<std::int64_t>(pending.end - read_);
    return std::min(Bytes(unread), pending.message.size);
}

void TcpConnection::on_connected(sim::Ptr<sim::Socket>) {
    connected_ = true;
    buffer_size_ = sender_->GetTxAvailable();
    write();
}

void TcpConnection::on_given_up(sim::Ptr<sim::Socket>) {
    has_given_up_ = true;
    connected_ = false;
}

void TcpConnection::on_room(sim::Ptr<sim::Socket>, std::uint32_t) {
    if (connected_) {
        write();
    }
}

void TcpConnection::write() {
    while (written_ < queued_) {
        const std::uint64_t room = sender_->GetTxAvailable();
        std::uint64_t piece = std::min(room, queued_ - written_);
        // Whole segments while there is more to come: a fraction at the end of the buffer would leave as a
        // short packet. Only a buffer smaller than a segment, once empty, is filled with less.
        if (piece < queued_ - written_) {
            if (piece >= segment_size_) {
                piece -= piece % segment_size_;
            } else if (room < buffer_size_) {
                return;
            }
        }
        const int accepted = sender_->Send(sim::Create<sim::Packet>(static_cast<std::uint32_t>(piece)));
        if (accepted < 0) {
            return;
        }
        ASTROLABE_ASSERT(static_cast<std::uint64_t>(accepted) == piece,
                         "a socket takes what it has room for");
        written_ += piece;
    }
}

void TcpConnection::on_readable(sim::Ptr<sim::Socket>) {
    const std::uint64_t before = read_;
    while (sim::Ptr<sim::Packet> data = receiver_->Recv(std::numeric_limits<std::uint32_t>::max(), 0)) {
        read_ += data->GetSize();
        ASTROLABE_ASSERT(read_ <= written_, "no byte is read that was not written");
    }
    if (state_.on_payload && !pending_.empty()) {
        state_.on_payload(pending_.front().message.destination, payload_since(before));
    }
    while (!pending_.empty() && pending_.front().end <= read_) {
        const Pending delivered = pending_.front();
        pending_.pop_front();
        state_.on_delivered(delivered.message, delivered.order);
    }
}

Bytes TcpConnection::payload_since(std::uint64_t before) const {
    std::uint64_t payload = 0;
    for (const Pending& pending : pending_) {
        const std::uint64_t begin = pending.end - static_cast<std::uint64_t>(pending.message.size.count());
        if (begin >= read_) {
            break;
        }
        const std::uint64_t from = std::max(before, begin);
        const std::uint64_t to = std::min(read_, pending.end);
        payload += to > from ? to - from : 0;
    }
    return Bytes(static_cast<std::int64_t>(payload));
}

void TcpConnection::on_segment(sim::Ptr<const sim::Packet> payload, const sim::TcpHeader& header,
                               sim::Ptr<const sim::TcpSocketBase>) {
    const bool timed_out = timer_doubled_ && timer_doubled_at_ == sim::Simulator::Now();
    timer_doubled_ = false;
    const std::uint32_t size = payload->GetSize();
    if (size == 0) {
        if ((header.GetFlags() & sim::TcpHeader::SYN) != 0) {
            state_.timeouts += requested_ ? 1 : 0;
            requested_ = true;
        }
        return;
    }
    ++state_.packets;
    if (header.GetSequenceNumber() < next_new_) {
        ++state_.retransmissions;
        state_.timeouts += timed_out ? 1 : 0;
    }
    next_new_ = std::max(next_new_, header.GetSequenceNumber() + sim::SequenceNumber32(size));
}

void TcpConnection::on_timeout_value(sim::Time before, sim::Time after) {
    // A retransmission timer that runs out doubles (RFC 6298, 5.5) and the first unacknowledged segment
    // leaves at once; an estimate that happens to double is followed by new data.
    if (after == before + before) {
        timer_doubled_ = true;
        timer_doubled_at_ = sim::Simulator::Now();
    }
}

}  // namespace astrolabe::ns3
