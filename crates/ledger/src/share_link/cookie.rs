//! The signed value that a browser holds after it opened a link: `v1.<seconds>.<HMAC-SHA256>`, with a key that is
//! derived from the instance key for this one purpose.

use crate::{InstanceKey, instance_key::hmac_sha256};
use domain::{Timestamp, chain::Digest, id::ShareLinkId};

const VERSION: &str = "v1";

/// Permits a browser to read the page of one link until a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clearance {
    pub(super) link_id: ShareLinkId,
    /// Time from which it is invalid (UTC), seconds.
    pub(super) expires_at: Timestamp,
}

impl Clearance {
    /// The value of the cookie, which does not name the link: it is bound to it.
    pub(super) fn to_cookie(self, key: &InstanceKey) -> String {
        let seconds = self.expires_at.timestamp();
        format!("{VERSION}.{seconds}.{}", self.mac(key, seconds))
    }

    fn mac(self, key: &InstanceKey, seconds: i64) -> String {
        let key = key.derive("share clearance", &[]);
        Digest(hmac_sha256(&key, &[self.link_id.0.as_bytes(), &seconds.to_be_bytes()])).to_string()
    }

    /// Whether `cookie` permits the reading of this link's page at `now`.
    pub(super) fn is_valid(key: &InstanceKey, cookie: &str, link_id: ShareLinkId, now: Timestamp) -> bool {
        let mut parts = cookie.split('.');
        let (Some(VERSION), Some(seconds), Some(mac), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let Some(expires_at) = seconds.parse().ok().and_then(|seconds| Timestamp::from_timestamp(seconds, 0)) else {
            return false;
        };
        let claimed = Self { link_id, expires_at };
        same(&claimed.mac(key, expires_at.timestamp()), mac) && now < expires_at
    }
}

/// Compares in a time that does not depend on where the texts differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_clearance_is_for_one_link_and_a_time_and_no_changed_one_is() {
        let key = |hex: char| InstanceKey::parse(&hex.to_string().repeat(64)).unwrap();
        let at = |seconds: i64| Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap();
        let [one, two] = [1, 2].map(|n| ShareLinkId(Uuid::from_u128(n)));
        let ours = key('a');
        let cookie = Clearance { link_id: one, expires_at: at(10) }.to_cookie(&ours);
        assert!(Clearance::is_valid(&ours, &cookie, one, at(9)));
        assert!(!Clearance::is_valid(&ours, &cookie, one, at(10)), "expired");
        assert!(!Clearance::is_valid(&ours, &cookie, two, at(9)), "another link");
        assert!(!Clearance::is_valid(&key('b'), &cookie, one, at(9)), "another installation");
        for place in 0..cookie.len() {
            let mut changed = cookie.clone().into_bytes();
            changed[place] = if changed[place] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(!Clearance::is_valid(&ours, &changed, one, at(9)), "{place}");
        }
        for bad in ["", "v1", "v1..", "v1.0.0.0", &format!("{cookie}.x"), &cookie[1..]] {
            assert!(!Clearance::is_valid(&ours, bad, one, at(9)), "{bad}");
        }
    }
}
