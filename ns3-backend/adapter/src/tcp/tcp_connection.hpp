// SPDX-License-Identifier: GPL-2.0-only
/// One TCP connection from a source to a destination host, and the messages, or pieces of such, in its byte
/// stream.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include <ns3/nstime.h>
#include <ns3/sequence-number.h>
#include <ns3/socket.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-base.h>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::ns3 {

/// What all connections count together, and the callback for deliveries.
struct TransportState {
    std::uint64_t retransmissions = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t packets = 0;
    /// Called when payload was read, before what it completes is delivered; may be empty.
    std::function<void(network::HostId destination, Bytes payload)> on_payload;
    /// Called when the last byte of a message was read; may send more messages, on this connection too.
    /// The message, or a piece of one, is as it was sent, and so is `order`.
    std::function<void(const network::Message&, std::uint64_t order)> on_delivered;
};

class TcpConnection {
public:
    /// `sender` is a fresh socket of the source host.
    TcpConnection(::ns3::Ptr<::ns3::Socket> sender, TransportState& state);
    TcpConnection(const TcpConnection&) = delete;
    TcpConnection& operator=(const TcpConnection&) = delete;

    /// Connects to `destination`, where `listener`, a fresh socket of that host, waits; messages wait
    /// meanwhile.
    void open(::ns3::Ptr<::ns3::Socket> listener, const ::ns3::Address& destination);

    /// Puts `header` bytes and the message behind the end of the byte stream. `order` grows with every
    /// message of the backend; pieces of one have the same.
    void send(const network::Message& message, Bytes header, std::uint64_t order);

    struct Pending {
        network::Message message;
        std::uint64_t end;  ///< its last byte is the one before this offset of the stream
        std::uint64_t order;
    };
    /// Sent and not yet delivered, in order.
    [[nodiscard]] const std::deque<Pending>& pending() const { return pending_; }
    /// Payload of `pending`, a message of this connection, that the receiving application has not read.
    [[nodiscard]] Bytes remaining(const Pending& pending) const;
    /// The socket had no answer to as many tries as it makes, and sends no more.
    [[nodiscard]] bool has_given_up() const { return has_given_up_; }

private:
    void on_accepted(::ns3::Ptr<::ns3::Socket> receiver, const ::ns3::Address& from);
    void on_connected(::ns3::Ptr<::ns3::Socket> socket);
    void on_given_up(::ns3::Ptr<::ns3::Socket> socket);
    void on_room(::ns3::Ptr<::ns3::Socket> socket, std::uint32_t room);
    void on_readable(::ns3::Ptr<::ns3::Socket> socket);
    void on_segment(::ns3::Ptr<const ::ns3::Packet> payload, const ::ns3::TcpHeader& header,
                    ::ns3::Ptr<const ::ns3::TcpSocketBase> socket);
    void on_timeout_value(::ns3::Time before, ::ns3::Time after);
    void write();
    /// Of what was read since `before`, payload of messages.
    [[nodiscard]] Bytes payload_since(std::uint64_t before) const;

    ::ns3::Ptr<::ns3::Socket> sender_;
    ::ns3::Ptr<::ns3::Socket> listener_;  // until it has accepted
    ::ns3::Ptr<::ns3::Socket> receiver_;
    TransportState& state_;
    std::uint64_t segment_size_ = 0;
    std::uint32_t buffer_size_ = 0;  // the send buffer when empty; known once connected
    bool connected_ = false;
    bool has_given_up_ = false;
    bool requested_ = false;      // a connection request has left
    bool timer_doubled_ = false;  // at timer_doubled_at_, and no segment has left since
    ::ns3::Time timer_doubled_at_;
    ::ns3::SequenceNumber32 next_new_{1};  // of the first byte never sent

    std::deque<Pending> pending_;
    std::uint64_t queued_ = 0;   // stream offset behind the last message
    std::uint64_t written_ = 0;  // … behind the last byte given to the socket
    std::uint64_t read_ = 0;     // … behind the last byte read from the socket
};

}  // namespace astrolabe::ns3
