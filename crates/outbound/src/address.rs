//! Decides which IP addresses are private. No I/O.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(head: [u16; 4], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(head[0], head[1], head[2], head[3], 0, 0, 0, 0), length)
}

const METADATA: &str = "the metadata service of a cloud";
const LOOPBACK: &str = "this machine itself";
const PRIVATE: &str = "a private network";
const SHARED: &str = "a provider's inner network";
const LINK_LOCAL: &str = "the local link";
const DOCUMENTATION: &str = "a range for documentation";
const RESERVED: &str = "a reserved range";
const MULTICAST: &str = "many machines at once";
const UNSPECIFIED: &str = "no machine in particular";
const EMBEDDED: &str = "an IPv4 address in the clothes of IPv6";

/// Special-purpose IPv4 networks (IANA) and addresses that clouds use. The first match gives the reason.
const INSIDE_V4: [(Ipv4Net, &str); 18] = [
    (v4(169, 254, 169, 254, 32), METADATA),
    (v4(100, 100, 100, 200, 32), METADATA),
    (v4(168, 63, 129, 16, 32), METADATA),
    (v4(0, 0, 0, 0, 8), UNSPECIFIED),
    (v4(10, 0, 0, 0, 8), PRIVATE),
    (v4(100, 64, 0, 0, 10), SHARED),
    (v4(127, 0, 0, 0, 8), LOOPBACK),
    (v4(169, 254, 0, 0, 16), LINK_LOCAL),
    (v4(172, 16, 0, 0, 12), PRIVATE),
    (v4(192, 0, 0, 0, 24), RESERVED),
    (v4(192, 0, 2, 0, 24), DOCUMENTATION),
    (v4(192, 88, 99, 0, 24), RESERVED),
    (v4(192, 168, 0, 0, 16), PRIVATE),
    (v4(198, 18, 0, 0, 15), RESERVED),
    (v4(198, 51, 100, 0, 24), DOCUMENTATION),
    (v4(203, 0, 113, 0, 24), DOCUMENTATION),
    (v4(224, 0, 0, 0, 4), MULTICAST),
    (v4(240, 0, 0, 0, 4), RESERVED),
];

/// The only part of IPv6 that is assigned to public networks; everything else counts as private.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0, 0], 3);
/// NAT64, through which IPv6 networks reach public IPv4 addresses. The embedded IPv4 address is checked.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0], 96);

/// Exceptions in the public part, and more precise reasons outside of it.
const INSIDE_V6: [(Ipv6Net, &str); 13] = [
    (v6([0x2001, 0, 0, 0], 32), EMBEDDED),
    (v6([0x2001, 0, 0, 0], 23), RESERVED),
    (v6([0x2001, 0xdb8, 0, 0], 32), DOCUMENTATION),
    (v6([0x2002, 0, 0, 0], 16), EMBEDDED),
    (v6([0x3fff, 0, 0, 0], 20), DOCUMENTATION),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), LOOPBACK),
    (Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 128), UNSPECIFIED),
    (Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96), EMBEDDED),
    (Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 96), EMBEDDED),
    (v6([0xfe80, 0, 0, 0], 10), LINK_LOCAL),
    (v6([0xfec0, 0, 0, 0], 10), PRIVATE),
    (v6([0xfc00, 0, 0, 0], 7), PRIVATE),
    (v6([0xff00, 0, 0, 0], 8), MULTICAST),
];

/// Networks that an operator may open. Link-local networks are never opened: clouds return credentials there.
const MAY_BE_OPENED: [IpNet; 7] = [
    IpNet::V4(v4(10, 0, 0, 0, 8)),
    IpNet::V4(v4(100, 64, 0, 0, 10)),
    IpNet::V4(v4(127, 0, 0, 0, 8)),
    IpNet::V4(v4(172, 16, 0, 0, 12)),
    IpNet::V4(v4(192, 168, 0, 0, 16)),
    IpNet::V6(v6([0xfc00, 0, 0, 0], 7)),
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128)),
];

fn is_metadata(address: IpAddr) -> bool {
    const AMAZON_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    const GOOGLE_V6: Ipv6Addr = Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254);
    match address {
        IpAddr::V4(address) => INSIDE_V4.iter().any(|(net, reason)| *reason == METADATA && net.contains(&address)),
        IpAddr::V6(address) => address == AMAZON_V6 || address == GOOGLE_V6,
    }
}

/// The private networks that may be called. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    opened: Vec<IpNet>,
}

/// Why a network cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNetwork {
    /// The text is not a network.
    #[error("`{0}` is not a network such as 10.1.2.0/24")]
    Form(String),
    /// The network is not private, or not completely.
    #[error("`{0}` is not within a private network, so there is nothing to open")]
    NotPrivate(String),
}

impl Policy {
    /// A policy that opens these networks, each written as `10.1.2.0/24` or as one address.
    ///
    /// # Errors
    /// The first network that cannot be opened.
    pub fn opening(networks: &[impl AsRef<str>]) -> Result<Self, InvalidNetwork> {
        let opened = networks.iter().map(|text| opened(text.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { opened })
    }

    /// Checks that an address may be called.
    ///
    /// # Errors
    /// Why the address counts as private.
    pub fn check(&self, address: IpAddr) -> Result<(), &'static str> {
        if is_metadata(address) {
            return Err(METADATA);
        }
        if self.opened.iter().any(|net| net.contains(&address)) {
            return Ok(());
        }
        match address {
            IpAddr::V4(address) => check_v4(address),
            IpAddr::V6(address) => check_v6(address),
        }
    }
}

fn opened(text: &str) -> Result<IpNet, InvalidNetwork> {
    let text = text.trim();
    let one = text.parse::<IpAddr>().map(IpNet::from);
    let net = text.parse::<IpNet>().or(one).map_err(|_| InvalidNetwork::Form(text.to_owned()))?.trunc();
    if MAY_BE_OPENED.iter().any(|private| private.contains(&net)) {
        Ok(net)
    } else {
        Err(InvalidNetwork::NotPrivate(text.to_owned()))
    }
}

fn check_v4(address: Ipv4Addr) -> Result<(), &'static str> {
    match INSIDE_V4.iter().find(|(net, _)| net.contains(&address)) {
        Some((_, reason)) => Err(reason),
        None => Ok(()),
    }
}

fn check_v6(address: Ipv6Addr) -> Result<(), &'static str> {
    if NAT64.contains(&address) {
        let [.., a, b, c, d] = address.octets();
        return check_v4(Ipv4Addr::new(a, b, c, d));
    }
    match INSIDE_V6.iter().find(|(net, _)| net.contains(&address)) {
        Some((_, reason)) => Err(reason),
        None if GLOBAL_V6.contains(&address) => Ok(()),
        None => Err(RESERVED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), &'static str> {
        Policy::default().check(text.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_outside() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:800::200e",
            "64:ff9b::808:808",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn each_kind_of_inside_has_its_reason() {
        for (text, reason) in [
            ("169.254.169.254", METADATA),
            ("fd00:ec2::254", METADATA),
            ("168.63.129.16", METADATA),
            ("0.0.0.0", UNSPECIFIED),
            ("::", UNSPECIFIED),
            ("127.0.0.1", LOOPBACK),
            ("::1", LOOPBACK),
            ("10.0.0.1", PRIVATE),
            ("fd12::1", PRIVATE),
            ("fec0::1", PRIVATE),
            ("100.64.0.1", SHARED),
            ("fe80::1", LINK_LOCAL),
            ("255.255.255.255", RESERVED),
            ("224.0.0.1", MULTICAST),
            ("ff02::1", MULTICAST),
            ("::ffff:8.8.8.8", EMBEDDED),
            ("::8.8.8.8", EMBEDDED),
            ("2002:808:808::1", EMBEDDED),
            ("2001:0:4136:e378::1", EMBEDDED),
            ("64:ff9b::a00:1", PRIVATE),
            ("64:ff9b::a9fe:a9fe", LINK_LOCAL),
            ("64:ff9b:1::1", RESERVED),
            ("2001:db8::1", DOCUMENTATION),
            ("3fff::1", DOCUMENTATION),
            ("5f00::1", RESERVED),
            ("100::1", RESERVED),
        ] {
            let found = check(text);
            // The address inside a NAT64 address may carry the better of two reasons.
            let fits = found == Err(reason) || (found == Err(METADATA) && reason == LINK_LOCAL);
            assert!(fits, "{text}: {found:?}, expected {reason}");
        }
    }

    #[test]
    fn an_operator_opens_private_networks_and_nothing_else() {
        let policy = Policy::opening(&["10.1.2.0/24", "::1", " 127.0.0.2 "]).unwrap();
        let check = |text: &str| policy.check(text.parse().unwrap());
        assert_eq!(check("10.1.2.200"), Ok(()));
        assert_eq!(check("10.1.3.1"), Err(PRIVATE));
        assert_eq!(check("::1"), Ok(()));
        assert_eq!(check("127.0.0.2"), Ok(()));
        assert_eq!(check("127.0.0.1"), Err(LOOPBACK));
        assert_eq!(check("::ffff:10.1.2.1"), Err(EMBEDDED));
        for (text, form) in [("10.0.0.0/7", false), ("169.254.0.0/16", false), ("8.8.8.8", false), ("0.0.0.0/0", false)]
        {
            assert_eq!(matches!(Policy::opening(&[text]), Err(InvalidNetwork::Form(_))), form, "{text}");
            assert!(Policy::opening(&[text]).is_err(), "{text}");
        }
        assert_eq!(Policy::opening(&["ten"]), Err(InvalidNetwork::Form("ten".into())));
        let shared = Policy::opening(&["100.64.0.0/10", "fc00::/7"]).unwrap();
        assert_eq!(shared.check("100.100.100.200".parse().unwrap()), Err(METADATA));
        assert_eq!(shared.check("fd00:ec2::254".parse().unwrap()), Err(METADATA));
    }
}
