//! Limits on what people without an account send: for each link, network address and browser.
//!
//! The counts are in this process. Several servers each allow as much.

use crate::host::Peer;
use axum::http::HeaderMap;
use domain::limit::TOOL_LINK_RUNS_OF_NETWORK_MAX;
use governor::{DefaultKeyedRateLimiter, Quota};
use std::{
    net::{IpAddr, Ipv4Addr},
    num::NonZeroU32,
};

/// Number of counted keys at which old ones are removed.
const KEYS_MAX: usize = 20_000;
/// How many times more a link may be used than one address: many people have the same link.
const LINK_FACTOR: u32 = 20;
/// Seconds after which an address over its limit of runs may begin one more.
pub const RUN_WAIT_SECONDS: u64 = 3_600 / TOOL_LINK_RUNS_OF_NETWORK_MAX as u64;

/// Counts requests. Each key may send its quota at once, and then one more each time a part of the minute, or of the
/// hour for runs of tools, is over.
pub struct FormLimits {
    by_address: DefaultKeyedRateLimiter<IpAddr>,
    by_browser: DefaultKeyedRateLimiter<String>,
    by_link: DefaultKeyedRateLimiter<String>,
    runs_by_address: DefaultKeyedRateLimiter<IpAddr>,
}

impl FormLimits {
    /// Allows `per_minute` requests of each address and each browser, and [`LINK_FACTOR`] times as many of each link.
    /// The limit of runs is [`TOOL_LINK_RUNS_OF_NETWORK_MAX`], whatever `per_minute` is.
    pub fn new(per_minute: NonZeroU32) -> Self {
        let of_link = per_minute.saturating_mul(NonZeroU32::MIN.saturating_add(LINK_FACTOR - 1));
        let runs = NonZeroU32::MIN.saturating_add(TOOL_LINK_RUNS_OF_NETWORK_MAX - 1);
        Self {
            by_address: DefaultKeyedRateLimiter::keyed(Quota::per_minute(per_minute)),
            by_browser: DefaultKeyedRateLimiter::keyed(Quota::per_minute(per_minute)),
            by_link: DefaultKeyedRateLimiter::keyed(Quota::per_minute(of_link)),
            runs_by_address: DefaultKeyedRateLimiter::keyed(Quota::per_hour(runs)),
        }
    }

    /// Counts one request of an address, and of a browser and a link if they are known. Returns whether it is allowed.
    /// What an address sends over its limit does not count for the browser and the link: or else one address could use
    /// up the quota of a link that many people have.
    pub fn allows(&self, address: IpAddr, browser: Option<&str>, link: Option<&str>) -> bool {
        self.forget();
        self.by_address.check_key(&network(address)).is_ok()
            && browser.is_none_or(|key| self.by_browser.check_key(&key.to_owned()).is_ok())
            && link.is_none_or(|key| self.by_link.check_key(&key.to_owned()).is_ok())
    }

    /// Counts one run of a tool that an address sends by a link. Returns whether it is allowed. A link begins few runs
    /// in an hour, so one address must not use them all up.
    pub fn allows_run(&self, address: IpAddr) -> bool {
        self.forget();
        self.runs_by_address.check_key(&network(address)).is_ok()
    }

    /// Removes keys that have their whole quota again. Memory stays bounded whatever is sent.
    fn forget(&self) {
        if self.by_address.len() > KEYS_MAX {
            self.by_address.retain_recent();
        }
        if self.by_browser.len() > KEYS_MAX {
            self.by_browser.retain_recent();
        }
        if self.by_link.len() > KEYS_MAX {
            self.by_link.retain_recent();
        }
        if self.runs_by_address.len() > KEYS_MAX {
            self.runs_by_address.retain_recent();
        }
    }
}

/// The part of an address that one network has: a whole IPv4 address, the first 64 bits of an IPv6 address.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
    }
}

/// Returns the address that a request comes from. Behind a proxy on this machine or in a private network, it is the
/// last address that the proxy added to `X-Forwarded-For`. The header of any other peer is not believed.
pub fn address(peer: Option<Peer>, headers: &HeaderMap) -> IpAddr {
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Peer(peer)| peer.ip().to_canonical());
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| value.to_str().ok());
    let last = forwarded.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
    last.filter(|_| is_near(peer)).map_or(peer, |last: IpAddr| last.to_canonical())
}

/// Whether the address is of this machine or of a private network: the ranges that docs/operations.md lists.
pub fn is_near(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::limit::TOOL_LINK_RUNS_PER_HOUR_MAX;

    fn limits(per_minute: u32) -> FormLimits {
        FormLimits::new(NonZeroU32::new(per_minute).unwrap())
    }

    #[test]
    fn each_address_browser_and_link_has_its_own_quota() {
        let limits = limits(2);
        let [one, two, three] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|text| text.parse().unwrap());
        assert!(limits.allows(one, Some("a"), None) && limits.allows(one, Some("b"), None));
        assert!(!limits.allows(one, Some("c"), None), "the address");
        assert!(limits.allows(two, Some("a"), None) && !limits.allows(two, Some("a"), None), "the browser");
        for _ in 0..40 {
            limits.by_link.check_key(&"l".to_owned()).unwrap();
        }
        assert!(!limits.allows(three, None, Some("l")), "the link");
    }

    #[test]
    fn one_address_cannot_use_up_the_quota_of_a_link() {
        let limits = limits(2);
        let [one, two] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        assert_eq!((0..100).filter(|_| limits.allows(one, None, Some("l"))).count(), 2);
        assert!(limits.allows(two, None, Some("l")));
    }

    #[test]
    fn one_address_begins_so_many_runs_and_not_all_of_a_link() {
        let limits = limits(1);
        let [one, two] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let begun = (0..100).filter(|_| limits.allows_run(one)).count();
        assert_eq!(begun, TOOL_LINK_RUNS_OF_NETWORK_MAX as usize);
        assert!(begun < TOOL_LINK_RUNS_PER_HOUR_MAX as usize);
        assert!(limits.allows_run(two), "another address has its own");
    }

    #[test]
    fn a_network_is_an_ipv4_address_or_half_an_ipv6_address() {
        let same = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:2") && !same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1") && !same("192.0.2.1", "192.0.2.2"));
    }

    #[test]
    fn near_are_the_ranges_that_the_manual_lists() {
        for near in ["127.0.0.9", "10.1.2.3", "172.31.0.1", "192.168.0.1", "::1", "fd00::1", "::ffff:10.0.0.1"] {
            assert!(is_near(near.parse().unwrap()), "{near}");
        }
        for far in ["172.32.0.1", "100.64.0.1", "169.254.0.1", "fe80::1", "2001:db8::1", "0.0.0.0"] {
            assert!(!is_near(far.parse().unwrap()), "{far}");
        }
    }

    #[test]
    fn only_a_near_proxy_is_believed() {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "198.51.100.9, 203.0.113.7".parse().unwrap());
        let of = |peer: &str| address(Some(Peer(peer.parse().unwrap())), &headers).to_string();
        assert_eq!(of("127.0.0.1:1"), "203.0.113.7");
        assert_eq!(of("10.0.0.2:1"), "203.0.113.7");
        assert_eq!(of("192.0.2.1:1"), "192.0.2.1");
        headers.insert("x-forwarded-for", "::ffff:9.9.9.9".parse().unwrap());
        assert_eq!(address(Some(Peer("127.0.0.1:1".parse().unwrap())), &headers).to_string(), "9.9.9.9");
    }
}
