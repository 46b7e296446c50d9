//! The signed values that a browser holds after it opened a link. Each is `v1.<fields>.<HMAC-SHA256>`, with a key that
//! is derived from the instance key for this one purpose.

use crate::{InstanceKey, instance_key::hmac_sha256};
use domain::{
    Entropy, Timestamp,
    chain::Digest,
    id::{EntityId, RespondentId, TenantId, ViewId, ViewLinkId},
};
use uuid::Uuid;

/// What signed values begin with.
pub(crate) const VERSION: &str = "v1";
/// Random bytes that tell browsers apart.
const NONCE_BYTES: usize = 16;
/// Longest time between making a page and posting its form, for which repeats are recognised, milliseconds.
const PAGE_MILLIS_MAX: u64 = 24 * 60 * 60 * 1000;

/// The random number of one browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Browser([u8; NONCE_BYTES]);

impl Browser {
    /// Creates a random number.
    pub(crate) fn new(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; NONCE_BYTES];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// The value of the browser's cookie.
    pub(crate) fn to_cookie(self, key: &InstanceKey) -> String {
        let mac = sign(key, "form browser", &[&self.0]);
        format!("{VERSION}.{}.{mac}", Uuid::from_bytes(self.0).simple())
    }

    /// Reads the browser's cookie. Returns `None` unless this installation signed it.
    pub(crate) fn of_cookie(key: &InstanceKey, cookie: &str) -> Option<Self> {
        let [version, nonce, mac] = parts(cookie)?;
        let nonce = Uuid::try_parse(nonce).ok().filter(|_| nonce.len() == 32)?;
        let browser = Self(nonce.into_bytes());
        (version == VERSION && same(&sign(key, "form browser", &[&browser.0]), mac)).then_some(browser)
    }

    /// The respondent that one view knows this browser as. Ids of different views cannot be connected.
    pub(super) fn respondent(self, key: &InstanceKey, tenant_id: TenantId, view_id: ViewId) -> RespondentId {
        let mac = key.derive("form respondent", &[tenant_id.0.as_bytes(), view_id.0.as_bytes(), &self.0]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&mac[..16]);
        RespondentId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// These values after those of this browser.
    fn with<'a>(&'a self, of: &[&'a [u8]]) -> Vec<&'a [u8]> {
        let mut all = vec![self.0.as_slice()];
        all.extend(of);
        all
    }

    /// Signs values for this browser, with a key for one purpose.
    pub(crate) fn sign(self, key: &InstanceKey, purpose: &str, of: &[&[u8]]) -> String {
        sign(key, purpose, &self.with(of))
    }

    /// An id of this browser that is derived for one purpose and these values.
    pub(crate) fn derived_id(self, key: &InstanceKey, purpose: &str, of: &[&[u8]]) -> Uuid {
        let mac = key.derive(purpose, &self.with(of));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&mac[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// The value that forms of this browser and link carry, so that no other site can post them.
    pub(super) fn form_key(self, key: &InstanceKey, link_id: ViewLinkId) -> String {
        sign(key, "form key", &[link_id.0.as_bytes(), &self.0])
    }

    /// The id of the entity of a name and an address that this browser posts from a page. The same page with the same
    /// texts gives the same id, so that a repeat finds the entity again. No other browser can reach the id. Like other
    /// ids it begins with a time, that of `page`. Returns `None` unless the page was made about `now`.
    pub(super) fn lead(
        self,
        key: &InstanceKey,
        (link_id, page): (ViewLinkId, Uuid),
        (name, email): (&str, &str),
        now: Timestamp,
    ) -> Option<EntityId> {
        let millis = u64::try_from(page.as_u128() >> 80).ok()?;
        let distance = u64::try_from(now.timestamp_millis()).ok()?.abs_diff(millis);
        if distance > PAGE_MILLIS_MAX {
            return None;
        }
        // Neither text contains NUL.
        let texts = [name.as_bytes(), &[0], email.as_bytes()].concat();
        let mac = key.derive("form lead id", &[link_id.0.as_bytes(), &self.0, page.as_bytes(), &texts]);
        let mut random = [0; 10];
        random.copy_from_slice(&mac[..10]);
        Some(EntityId(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()))
    }
}

/// Permits one browser to use the form of one link until a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clearance {
    pub(super) link_id: ViewLinkId,
    pub(super) browser: Browser,
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
        sign(key, "form clearance", &[self.link_id.0.as_bytes(), &self.browser.0, &seconds.to_be_bytes()])
    }

    /// Whether `cookie` permits this browser to use this link's form at `now`.
    pub(super) fn is_valid(
        key: &InstanceKey,
        cookie: &str,
        (link_id, browser): (ViewLinkId, Browser),
        now: Timestamp,
    ) -> bool {
        let Some([VERSION, seconds, mac]) = parts(cookie) else { return false };
        let Some(expires_at) = seconds.parse().ok().and_then(|seconds| Timestamp::from_timestamp(seconds, 0)) else {
            return false;
        };
        let claimed = Self { link_id, browser, expires_at };
        same(&claimed.mac(key, expires_at.timestamp()), mac) && now < expires_at
    }
}

/// The value of the cookie of a browser whose person gave a name and an e-mail address: the entity with them, bound to
/// the link and the browser.
pub(super) fn lead_cookie(key: &InstanceKey, link_id: ViewLinkId, browser: Browser, lead: EntityId) -> String {
    let mac = sign(key, "form lead", &[link_id.0.as_bytes(), &browser.0, lead.0.as_bytes()]);
    format!("{VERSION}.{}.{mac}", lead.0.simple())
}

/// Reads the cookie of [`lead_cookie`].
pub(super) fn lead_of_cookie(
    key: &InstanceKey,
    link_id: ViewLinkId,
    browser: Browser,
    cookie: &str,
) -> Option<EntityId> {
    let [version, id, _] = parts(cookie)?;
    let lead = EntityId(Uuid::try_parse(id).ok().filter(|_| version == VERSION)?);
    same(&lead_cookie(key, link_id, browser, lead), cookie).then_some(lead)
}

/// The parts of a signed value.
pub(crate) fn parts(cookie: &str) -> Option<[&str; 3]> {
    let mut parts = cookie.split('.');
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

fn sign(key: &InstanceKey, purpose: &str, of: &[&[u8]]) -> String {
    let key = key.derive(purpose, &[]);
    Digest(hmac_sha256(&key, of)).to_string()
}

/// Compares in a time that does not depend on where the texts differ.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

/// Whether a form carries the key of this browser and link.
pub(super) fn is_form_key(key: &InstanceKey, link_id: ViewLinkId, browser: Browser, given: &str) -> bool {
    same(&browser.form_key(key, link_id), given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(hex: char) -> InstanceKey {
        InstanceKey::parse(&hex.to_string().repeat(64)).unwrap()
    }

    fn link(n: u128) -> ViewLinkId {
        ViewLinkId(Uuid::from_u128(n))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn a_browser_cookie_is_read_back_and_no_changed_one_is() {
        let (ours, browser) = (key('a'), Browser([7; 16]));
        let cookie = browser.to_cookie(&ours);
        assert_eq!(Browser::of_cookie(&ours, &cookie), Some(browser));
        assert_eq!(Browser::of_cookie(&key('b'), &cookie), None, "another installation");
        for at in 0..cookie.len() {
            let mut changed = cookie.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(Browser::of_cookie(&ours, &String::from_utf8(changed).unwrap()), None, "{at}");
        }
        for bad in ["", "v1", "v1..", "v1.0.0.0", &format!("{cookie}.x"), &cookie[1..]] {
            assert_eq!(Browser::of_cookie(&ours, bad), None, "{bad}");
        }
    }

    #[test]
    fn a_clearance_is_for_one_link_one_browser_and_a_time() {
        let (ours, browser) = (key('a'), Browser([7; 16]));
        let cookie = Clearance { link_id: link(1), browser, expires_at: at(10) }.to_cookie(&ours);
        let valid = |key: &InstanceKey, link, browser, now| Clearance::is_valid(key, &cookie, (link, browser), now);
        assert!(valid(&ours, link(1), browser, at(9)));
        assert!(!valid(&ours, link(1), browser, at(10)), "expired");
        assert!(!valid(&ours, link(2), browser, at(9)), "another link");
        assert!(!valid(&ours, link(1), Browser([8; 16]), at(9)), "another browser");
        assert!(!valid(&key('b'), link(1), browser, at(9)), "another installation");
        let later = cookie.replace(&at(10).timestamp().to_string(), &at(99).timestamp().to_string());
        assert!(!Clearance::is_valid(&ours, &later, (link(1), browser), at(9)), "a later time");
    }

    #[test]
    fn a_lead_and_a_form_key_are_bound_to_link_and_browser() {
        let (ours, browser, lead) = (key('a'), Browser([7; 16]), EntityId(Uuid::from_u128(9)));
        let cookie = lead_cookie(&ours, link(1), browser, lead);
        assert_eq!(lead_of_cookie(&ours, link(1), browser, &cookie), Some(lead));
        assert_eq!(lead_of_cookie(&ours, link(2), browser, &cookie), None);
        assert_eq!(lead_of_cookie(&ours, link(1), Browser([8; 16]), &cookie), None);
        let form_key = browser.form_key(&ours, link(1));
        assert!(is_form_key(&ours, link(1), browser, &form_key) && !is_form_key(&ours, link(2), browser, &form_key));
    }

    #[test]
    fn the_id_of_a_lead_is_that_of_one_browser_one_page_and_its_texts() {
        let (ours, browser, now) = (key('a'), Browser([7; 16]), at(60));
        let page = domain::id::least_v7(at(0));
        let id = |browser: Browser, on, texts| browser.lead(&ours, on, texts, now);
        let known = id(browser, (link(1), page), ("Zoe", "z@x.test")).unwrap();
        assert_eq!(id(browser, (link(1), page), ("Zoe", "z@x.test")), Some(known), "a repeat");
        assert!(known.0 > page && known.0 < domain::id::least_v7(at(1)), "it sorts by time");
        for other in [
            id(Browser([8; 16]), (link(1), page), ("Zoe", "z@x.test")),
            id(browser, (link(2), page), ("Zoe", "z@x.test")),
            id(browser, (link(1), Uuid::from_u128(page.as_u128() + 1)), ("Zoe", "z@x.test")),
            id(browser, (link(1), page), ("Zo", "ez@x.test")),
        ] {
            assert!(other.is_some() && other != Some(known), "{other:?}");
        }
        for old in [Uuid::nil(), Uuid::max(), domain::id::least_v7(at(-2 * 24 * 60 * 60))] {
            assert_eq!(id(browser, (link(1), old), ("Zoe", "z@x.test")), None, "{old}");
        }
    }

    #[test]
    fn one_browser_is_another_respondent_for_each_view_and_workspace() {
        let (ours, browser) = (key('a'), Browser([7; 16]));
        let [one, two] = [1, 2].map(Uuid::from_u128);
        let of = |tenant, view| browser.respondent(&ours, TenantId(tenant), ViewId(view));
        assert_eq!(of(one, one), of(one, one));
        assert!(of(one, one) != of(one, two) && of(one, one) != of(two, one));
    }
}
