//! The signed values of a browser that opened a link to a tool. Each is `v1.<seconds>.<HMAC-SHA256>` or the HMAC alone,
//! with keys that are derived from the instance key for one purpose. The cookie that tells browsers apart is that of
//! forms.

use crate::{
    InstanceKey,
    view_link::{Browser, VERSION, parts, same},
};
use domain::{
    Timestamp,
    id::{RespondentId, TenantId, ToolLinkId},
};

/// The value of the cookie that permits this browser to use the link until a time. It does not name the link: it is
/// bound to it.
pub(super) fn clearance(key: &InstanceKey, link_id: ToolLinkId, browser: Browser, expires_at: Timestamp) -> String {
    let seconds = expires_at.timestamp();
    format!("{VERSION}.{seconds}.{}", mac(key, link_id, browser, seconds))
}

fn mac(key: &InstanceKey, link_id: ToolLinkId, browser: Browser, seconds: i64) -> String {
    browser.sign(key, "tool link clearance", &[link_id.0.as_bytes(), &seconds.to_be_bytes()])
}

/// Whether `cookie` permits this browser to use this link at `now`.
pub(super) fn is_valid(
    key: &InstanceKey,
    cookie: &str,
    (link_id, browser): (ToolLinkId, Browser),
    now: Timestamp,
) -> bool {
    let Some([VERSION, seconds, given]) = parts(cookie) else { return false };
    let Some(expires_at) = seconds.parse().ok().and_then(|seconds| Timestamp::from_timestamp(seconds, 0)) else {
        return false;
    };
    same(&mac(key, link_id, browser, expires_at.timestamp()), given) && now < expires_at
}

/// The value that forms of this browser and link carry, so that no other site can post them.
pub(super) fn form_key(key: &InstanceKey, link_id: ToolLinkId, browser: Browser) -> String {
    browser.sign(key, "tool link form", &[link_id.0.as_bytes()])
}

/// Whether a form carries the key of this browser and link.
pub(super) fn is_form_key(key: &InstanceKey, link_id: ToolLinkId, browser: Browser, given: &str) -> bool {
    same(&form_key(key, link_id, browser), given)
}

/// The caller as which this browser runs the tool of a link. Ids of different links cannot be connected.
pub(super) fn runner(key: &InstanceKey, tenant_id: TenantId, link_id: ToolLinkId, browser: Browser) -> RespondentId {
    RespondentId(browser.derived_id(key, "tool link runner", &[tenant_id.0.as_bytes(), link_id.0.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Entropy;
    use uuid::Uuid;

    #[derive(Debug)]
    struct Constant(u8);

    impl Entropy for Constant {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn key(hex: char) -> InstanceKey {
        InstanceKey::parse(&hex.to_string().repeat(64)).unwrap()
    }

    #[test]
    fn a_clearance_is_for_one_link_one_browser_and_a_time() {
        let [one, two] = [1, 2].map(|n| ToolLinkId(Uuid::from_u128(n)));
        let [ours, theirs] = [7, 8].map(|n| Browser::new(&Constant(n)));
        let at = |seconds: i64| Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap();
        let cookie = clearance(&key('a'), one, ours, at(10));
        let valid = |key: &InstanceKey, link, browser, now| is_valid(key, &cookie, (link, browser), now);
        assert!(valid(&key('a'), one, ours, at(9)));
        assert!(!valid(&key('a'), one, ours, at(10)), "expired");
        assert!(!valid(&key('a'), two, ours, at(9)), "another link");
        assert!(!valid(&key('a'), one, theirs, at(9)), "another browser");
        assert!(!valid(&key('b'), one, ours, at(9)), "another installation");
        for bad in ["", "v1", "v1..", "v1.0.0.0", &format!("{cookie}.x"), &cookie[1..]] {
            assert!(!is_valid(&key('a'), bad, (one, ours), at(9)), "{bad}");
        }
    }

    #[test]
    fn a_form_key_and_a_runner_are_those_of_one_link_and_browser() {
        let [one, two] = [1, 2].map(|n| ToolLinkId(Uuid::from_u128(n)));
        let [ours, theirs] = [7, 8].map(|n| Browser::new(&Constant(n)));
        let known = form_key(&key('a'), one, ours);
        assert!(is_form_key(&key('a'), one, ours, &known));
        assert!(!is_form_key(&key('a'), two, ours, &known) && !is_form_key(&key('a'), one, theirs, &known));
        let tenant = TenantId(Uuid::from_u128(3));
        let of = |link, browser| runner(&key('a'), tenant, link, browser);
        assert_eq!(of(one, ours), of(one, ours));
        assert!(of(one, ours) != of(two, ours) && of(one, ours) != of(one, theirs));
    }
}
