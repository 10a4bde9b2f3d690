//! Addresses that are not global, by the special-purpose registries of IANA.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `168.63.129.16` is a service of Azure for its machines, which no registry lists.
const NOT_GLOBAL: &str = "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 \
    192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 \
    2001::/23 2001:db8::/32 3fff::/20";
/// The only range of IPv6 from which global addresses are assigned.
const GLOBAL_V6: &str = "2000::/3";

/// Returns `true` if an address is one of the internet, and not of a network that only some hosts reach.
pub(super) fn is_global(address: IpAddr) -> bool {
    match (address, inner(address)) {
        (_, Some(inner)) => inner.into_iter().all(|inner| is_global(inner.into())),
        (IpAddr::V6(_), None) if !is_in(address, GLOBAL_V6) => false,
        (_, None) => !NOT_GLOBAL.split(' ').any(|network| is_in(address, network)),
    }
}

fn is_in(address: IpAddr, network: &str) -> bool {
    let Some((first, bits)) = network.split_once('/') else { return false };
    let bits: u32 = bits.parse().unwrap_or_default();
    match (address, first.parse()) {
        (IpAddr::V4(address), Ok(IpAddr::V4(first))) => {
            (address.to_bits() ^ first.to_bits()).leading_zeros() >= bits
        }
        (IpAddr::V6(address), Ok(IpAddr::V6(first))) => {
            (address.to_bits() ^ first.to_bits()).leading_zeros() >= bits
        }
        _ => false,
    }
}

/// Returns the addresses to which an address of IPv6 leads.
fn inner(address: IpAddr) -> Option<Vec<Ipv4Addr>> {
    let IpAddr::V6(address) = address else { return None };
    let of = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match Ipv6Addr::segments(&address) {
        // Mapped, NAT64, and 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(vec![of(high, low)]),
        // Teredo: its server, and the inverted address of the client.
        [0x2001, 0, first, second, .., high, low] => Some(vec![of(first, second), of(!high, !low)]),
        _ => None,
    }
}
