//! Which network interface carries traffic to an address. The kernel itself is asked (rtnetlink,
//! `RTM_GETROUTE`): the tables of `/proc/net` show neither the rules of policy routing nor which
//! interface has an IPv4 address.

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, send,
    socket_with,
};
use std::net::IpAddr;

/// The interface of traffic that stays on the node; every network namespace has it.
const LOOPBACK: &str = "lo";

/// Headers of a message and of a route in it, bytes: `struct nlmsghdr` and `struct rtmsg`.
const MESSAGE_HEADER_BYTES: usize = 16;
const ROUTE_HEADER_BYTES: usize = 12;

/// Where in the header of a route its kind is.
const ROUTE_KIND_AT: usize = 7;

/// The header of an attribute, bytes: its length with the header, and its kind.
const ATTRIBUTE_HEADER_BYTES: usize = 4;

/// A route has about ten attributes of a few bytes.
const REPLY_BYTES_MAX: usize = 4096;

// Numbers of linux/netlink.h and linux/rtnetlink.h.
const NLM_F_REQUEST: u16 = 1;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTN_UNICAST: u8 = 1;
const RTN_LOCAL: u8 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;

/// Where packets to an address go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// To the node itself.
    Local,
    /// Out of the interface of this index.
    Interface(u32),
}

/// The name of the interface that carries packets to `address`; `lo` where that is an address of
/// the node itself. `None` where the node has no route, and for an address that is not that of one
/// host. Where several routes are equally good, other connections may take another.
pub fn interface_of(address: IpAddr) -> Option<String> {
    let address = address.to_canonical();
    if is_ambiguous(address) {
        return None;
    }
    let socket = netlink_socket()?;
    match ask(&socket, address)? {
        Route::Local => Some(LOOPBACK.to_owned()),
        Route::Interface(index) => netdevice::index_to_name(&socket, index).ok(),
    }
}

/// Every link has the link-local addresses of IPv6, and a server that listens on the unspecified
/// address is called at others.
fn is_ambiguous(address: IpAddr) -> bool {
    let is_link_local = matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
    is_link_local || address.is_unspecified()
}

fn netlink_socket() -> Option<OwnedFd> {
    // `None` is protocol 0, which for netlink is that of routes (`NETLINK_ROUTE`).
    socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None).ok()
}

fn ask(socket: &OwnedFd, address: IpAddr) -> Option<Route> {
    send(socket, &request(address), SendFlags::empty()).ok()?;
    let mut reply = [0; REPLY_BYTES_MAX];
    // The kernel replies before `send` returns, so that nothing has to be waited for.
    let (received, _) = recv(socket, &mut reply, RecvFlags::DONTWAIT).ok()?;
    parse_reply(&reply[..received])
}

/// The message that asks for the route to `address`.
fn request(address: IpAddr) -> Vec<u8> {
    let (family, octets) = match address {
        IpAddr::V4(address) => (AddressFamily::INET, address.octets().to_vec()),
        IpAddr::V6(address) => (AddressFamily::INET6, address.octets().to_vec()),
    };
    let attribute_bytes = ATTRIBUTE_HEADER_BYTES + octets.len();
    let message_bytes = MESSAGE_HEADER_BYTES + ROUTE_HEADER_BYTES + attribute_bytes;
    let mut message = Vec::with_capacity(message_bytes);
    message.extend((message_bytes as u32).to_ne_bytes());
    message.extend(RTM_GETROUTE.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence and port: one question is asked on a socket of its own.
    message.extend([0; 8]);
    let address_bits = octets.len() as u8 * 8;
    message.extend([family.as_raw() as u8, address_bits]);
    message.extend([0; ROUTE_HEADER_BYTES - 2]);
    message.extend((attribute_bytes as u16).to_ne_bytes());
    message.extend(RTA_DST.to_ne_bytes());
    message.extend(octets);
    message
}

/// Reads the reply. `None` where it is an error, a route that leads nowhere, or cut short.
fn parse_reply(reply: &[u8]) -> Option<Route> {
    let message_bytes = u32_at(reply, 0)? as usize;
    let message = reply.get(..message_bytes)?;
    if u16_at(message, 4)? != RTM_NEWROUTE {
        return None;
    }
    let route = message.get(MESSAGE_HEADER_BYTES..)?;
    let attributes = route.get(ROUTE_HEADER_BYTES..)?;
    match *route.get(ROUTE_KIND_AT)? {
        RTN_LOCAL => Some(Route::Local),
        RTN_UNICAST => interface_index(attributes).map(Route::Interface),
        _ => None,
    }
}

fn interface_index(attributes: &[u8]) -> Option<u32> {
    let mut rest = attributes;
    loop {
        let attribute_bytes = usize::from(u16_at(rest, 0)?);
        let value = rest.get(ATTRIBUTE_HEADER_BYTES..attribute_bytes)?;
        if u16_at(rest, 2)? == RTA_OIF {
            return u32_at(value, 0);
        }
        // Attributes begin at multiples of four.
        rest = rest.get(attribute_bytes.next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const RTA_TABLE: u16 = 15;

    /// A message with a route of a kind, and attributes of which each is a kind and a value.
    fn reply(message_kind: u16, route_kind: u8, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut message = vec![0; MESSAGE_HEADER_BYTES + ROUTE_HEADER_BYTES];
        message[4..6].copy_from_slice(&message_kind.to_ne_bytes());
        message[MESSAGE_HEADER_BYTES + ROUTE_KIND_AT] = route_kind;
        for (kind, value) in attributes {
            let bytes = (ATTRIBUTE_HEADER_BYTES + value.len()) as u16;
            message.extend(bytes.to_ne_bytes());
            message.extend(kind.to_ne_bytes());
            message.extend(*value);
            message.resize(message.len().next_multiple_of(4), 0);
        }
        let message_bytes = message.len() as u32;
        message[..4].copy_from_slice(&message_bytes.to_ne_bytes());
        message
    }

    fn to_interface(index: u32) -> Vec<u8> {
        // The first is of an odd length, so that the second begins behind a gap.
        let attributes: [(u16, &[u8]); 2] =
            [(RTA_TABLE, b"12345"), (RTA_OIF, &index.to_ne_bytes())];
        reply(RTM_NEWROUTE, RTN_UNICAST, &attributes)
    }

    #[test]
    fn a_reply_names_an_interface() {
        assert_eq!(parse_reply(&to_interface(7)), Some(Route::Interface(7)));
        let local = reply(RTM_NEWROUTE, RTN_LOCAL, &[(RTA_OIF, &4_u32.to_ne_bytes())]);
        assert_eq!(parse_reply(&local), Some(Route::Local));
        let mut with_bytes_to_spare = to_interface(7);
        with_bytes_to_spare.extend(to_interface(8));
        assert_eq!(parse_reply(&with_bytes_to_spare), Some(Route::Interface(7)));
    }

    #[test]
    fn a_reply_that_is_cut_short_names_no_interface() {
        let whole = to_interface(7);
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            assert_eq!(parse_reply(&cut), None, "{length} bytes, and the length of all");
            if length >= 4 {
                cut[..4].copy_from_slice(&(length as u32).to_ne_bytes());
                assert_eq!(parse_reply(&cut), None, "{length} bytes");
            }
        }
    }

    #[test]
    fn a_reply_that_makes_no_sense_names_no_interface() {
        const NLMSG_ERROR: u16 = 2;
        const RTN_UNREACHABLE: u8 = 7;
        let interface: (u16, &[u8]) = (RTA_OIF, &[7, 0, 0, 0]);
        assert_eq!(parse_reply(&reply(NLMSG_ERROR, RTN_UNICAST, &[interface])), None);
        assert_eq!(parse_reply(&reply(RTM_NEWROUTE, RTN_UNREACHABLE, &[interface])), None);
        assert_eq!(parse_reply(&reply(RTM_NEWROUTE, RTN_UNICAST, &[])), None);
        assert_eq!(parse_reply(&reply(RTM_NEWROUTE, RTN_UNICAST, &[(RTA_OIF, &[7])])), None);
        let first_attribute = MESSAGE_HEADER_BYTES + ROUTE_HEADER_BYTES;
        for length in [0_u16, 3, u16::MAX] {
            let mut odd = to_interface(7);
            odd[first_attribute..first_attribute + 2].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(parse_reply(&odd), None, "an attribute of {length} bytes");
        }
    }

    #[test]
    fn a_question_has_the_whole_address_in_it() {
        for (address, bytes) in [("10.1.2.3", 36), ("2001:db8::1", 48)] {
            let message = request(address.parse().expect("an address"));
            assert_eq!(message.len(), bytes, "{address}");
            assert_eq!(u32_at(&message, 0), Some(bytes as u32), "{address}");
        }
        assert!(request(Ipv4Addr::new(10, 1, 2, 3).into()).ends_with(&[8, 0, 1, 0, 10, 1, 2, 3]));
    }

    #[test]
    fn loopback_is_lo_however_it_is_written() {
        for address in ["127.0.0.1", "127.3.2.1", "::ffff:127.0.0.1"] {
            let address = address.parse().expect("an address");
            assert_eq!(interface_of(address).as_deref(), Some(LOOPBACK), "{address}");
        }
    }

    #[test]
    fn an_address_of_no_single_host_has_no_interface() {
        for address in ["fe80::1", "::", "0.0.0.0", "::ffff:0.0.0.0", "255.255.255.255"] {
            let address = address.parse().expect("an address");
            assert_eq!(interface_of(address), None, "{address}");
        }
    }
}
