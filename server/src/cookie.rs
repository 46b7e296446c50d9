//! Cookies: the sign-in, an access link in use, the form of a link, a shared page, new secrets, the theme, whose work
//! `/today` shows, the columns of the list of sessions, and dismissed rating questions. Their values are written and
//! read in this module only.

use axum::http::{HeaderMap, HeaderValue, header::COOKIE};
use domain::{
    Timestamp,
    id::{RequestId, UserId},
    limit::CLEARANCE_DAYS,
    session_feedback::ASKED_DAYS,
};

/// Longest cookie value that is looked at, bytes.
const VALUE_BYTES_MAX: usize = 512;

const SESSION: &str = "sbk_session";
/// The prefix makes browsers refuse the cookie unless it is Secure, of this host alone and of path `/`.
const SESSION_SECURE: &str = "__Host-sbk_session";
/// The secret of a single-use link between its address and the page that uses it.
const LINK: &str = "sbk_link";
const LINK_SECURE: &str = "__Host-sbk_link";
/// How long the page of a link may be open, seconds.
const LINK_SECONDS_MAX: i64 = 3_600;
/// Tells browsers of people without an account apart.
const RESPONDENT: &str = "sbk_respondent";
const RESPONDENT_SECURE: &str = "__Host-sbk_respondent";
/// How long a browser is known by it, seconds.
const RESPONDENT_SECONDS: i64 = 180 * 24 * 3_600;
/// Permits the use of the form at its path: that of a view, or of a link to a tool. The prefix makes browsers refuse
/// the cookie unless it is Secure.
const FORM: &str = "sbk_form";
const FORM_SECURE: &str = "__Secure-sbk_form";
/// Permits the reading of the shared page at its path.
const SHARED: &str = "sbk_shared";
const SHARED_SECURE: &str = "__Secure-sbk_shared";
/// The name and e-mail address that the person gave for the form at its path: the id of an entity.
const LEAD: &str = "sbk_lead";
const LEAD_SECURE: &str = "__Secure-sbk_lead";
const THEME: &str = "theme";
/// Whose work /today shows: `me` or `all`. Browsers send it there alone.
const TODAY: &str = "today";
/// The columns of the list of sessions, and how dense its rows are.
const COLUMNS: &str = "columns";
/// The pages to which browsers send it.
const COLUMNS_PATH: &str = "/sessions";
/// How long a browser keeps it, seconds.
const COLUMNS_SECONDS: i64 = 365 * 24 * 3_600;
const TIMEZONE: &str = "timezone";
/// How long a [`NewSecret`] is carried, seconds. A browser follows a redirect at once.
const NEW_SECRET_SECONDS: i64 = 60;
/// Prefix of a cookie name; the id of a person follows. The cookie records that this person does
/// not want to be asked for a rating of the session at its path.
const UNASKED: &str = "unasked-";

/// A secret that a form has just made, on its way to the page that shows it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewSecret {
    /// An API token.
    Token,
    /// The secret that signs the messages of a webhook.
    Webhook,
    /// The id of an invitation, a dot, and the secret of its link.
    Invitation,
    /// The secret of a link for a new password.
    ResetLink,
    /// The secret of a link to a form.
    FormLink,
    /// The secret of a link to a session.
    ShareLink,
    /// The secret of a link to a tool.
    ToolLink,
}

impl NewSecret {
    /// Name of the cookie. It has the id of the request that made the secret, so that secrets which are made at the
    /// same time do not replace each other.
    fn cookie(self, made: RequestId) -> String {
        let kind = match self {
            Self::Token => "new-token",
            Self::Webhook => "new-webhook",
            Self::Invitation => "new-invitation",
            Self::ResetLink => "new-reset-link",
            Self::FormLink => "new-form-link",
            Self::ShareLink => "new-share-link",
            Self::ToolLink => "new-tool-link",
        };
        format!("{kind}-{made}")
    }

    /// The secret of this kind that the request `made` has made for this person, where the headers carry it.
    pub fn of(self, headers: &HeaderMap, made: RequestId, user: UserId) -> Option<&str> {
        find(headers, &self.cookie(made))?.strip_prefix(&user.to_string())?.strip_prefix('.')
    }
}

/// How the session cookie is named and marked.
#[derive(Debug, Clone, Copy)]
pub struct CookiePolicy {
    secure: bool,
}

impl CookiePolicy {
    /// `secure` where browsers reach the server over https.
    pub const fn new(secure: bool) -> Self {
        Self { secure }
    }

    /// Whether browsers reach the server over https.
    pub const fn is_secure(self) -> bool {
        self.secure
    }

    const fn session_name(self) -> &'static str {
        if self.secure { SESSION_SECURE } else { SESSION }
    }

    /// The sign-in's secret, where the request carries one.
    pub fn session(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, self.session_name())
    }

    /// `Set-Cookie` for a new sign-in.
    pub fn set_session(self, secret: &str, expires_at: Timestamp, now: Timestamp) -> Option<HeaderValue> {
        let seconds = (expires_at - now).num_seconds().max(0);
        self.session_header(secret, seconds)
    }

    /// `Set-Cookie` that removes the sign-in.
    pub fn clear_session(self) -> Option<HeaderValue> {
        self.session_header("", 0)
    }

    const fn link_name(self) -> &'static str {
        if self.secure { LINK_SECURE } else { LINK }
    }

    /// The secret of a link, where the request carries one.
    pub fn link(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, self.link_name())
    }

    /// `Set-Cookie` for the secret of a link; nothing for text that is none.
    pub fn set_link(self, secret: &str) -> Option<HeaderValue> {
        let plain = secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_text = plain && !secret.is_empty() && secret.len() <= VALUE_BYTES_MAX;
        is_text.then(|| self.header(self.link_name(), secret, LINK_SECONDS_MAX)).flatten()
    }

    /// `Set-Cookie` that removes the secret of a link.
    pub fn clear_link(self) -> Option<HeaderValue> {
        self.header(self.link_name(), "", 0)
    }

    /// The cookie that tells browsers of people without an account apart.
    pub fn respondent(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, if self.secure { RESPONDENT_SECURE } else { RESPONDENT })
    }

    /// `Set-Cookie` for it. `value` is one that the ledger signed.
    pub fn set_respondent(self, value: &str) -> Option<HeaderValue> {
        self.header(if self.secure { RESPONDENT_SECURE } else { RESPONDENT }, value, RESPONDENT_SECONDS)
    }

    /// The cookie that permits the use of the form at the path of the request.
    pub fn form(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, if self.secure { FORM_SECURE } else { FORM })
    }

    /// `Set-Cookie` for it.
    pub fn set_form(self, value: &str, path: &str, expires_at: Timestamp, now: Timestamp) -> Option<HeaderValue> {
        let seconds = (expires_at - now).num_seconds().max(0);
        self.header_at(if self.secure { FORM_SECURE } else { FORM }, value, path, seconds)
    }

    /// The cookie that permits the reading of the shared page at the path of the request.
    pub fn shared(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, if self.secure { SHARED_SECURE } else { SHARED })
    }

    /// `Set-Cookie` for it.
    pub fn set_shared(self, value: &str, path: &str, expires_at: Timestamp, now: Timestamp) -> Option<HeaderValue> {
        let seconds = (expires_at - now).num_seconds().max(0);
        self.header_at(if self.secure { SHARED_SECURE } else { SHARED }, value, path, seconds)
    }

    /// The cookie with the name and address that the person gave for the form at the path of the request.
    pub fn lead(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, if self.secure { LEAD_SECURE } else { LEAD })
    }

    /// `Set-Cookie` for it.
    pub fn set_lead(self, value: &str, path: &str) -> Option<HeaderValue> {
        self.header_at(if self.secure { LEAD_SECURE } else { LEAD }, value, path, CLEARANCE_DAYS * 24 * 3_600)
    }

    /// `Set-Cookie` for a person who dismissed the rating question of the session at `path`. Browsers send the cookie
    /// to that path only. `None` if the path cannot be a header value.
    pub fn dismiss_rating(self, user: UserId, path: &str) -> Option<HeaderValue> {
        let secure = if self.secure { "; Secure" } else { "" };
        let seconds = ASKED_DAYS * 24 * 60 * 60;
        let text = format!("{UNASKED}{user}=1; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&text).ok()
    }

    /// `Set-Cookie` that carries a new secret to the page at `path`, for the person who made it with the request
    /// `made`. Scripts cannot read it, and it expires after a minute. `None` if the path or the value cannot be part
    /// of a header.
    pub fn carry(
        self,
        secret: NewSecret,
        made: RequestId,
        path: &str,
        user: UserId,
        value: &str,
    ) -> Option<HeaderValue> {
        self.new_secret_header(&secret.cookie(made), path, &format!("{user}.{value}"), NEW_SECRET_SECONDS)
    }

    /// `Set-Cookie` that forgets it.
    pub fn forget(self, secret: NewSecret, made: RequestId, path: &str) -> Option<HeaderValue> {
        self.new_secret_header(&secret.cookie(made), path, "", 0)
    }

    /// `Set-Cookie` for the columns of the list of sessions. `None` if the text cannot be part of a header.
    pub fn set_columns(self, text: &str) -> Option<HeaderValue> {
        self.header_at(COLUMNS, text, COLUMNS_PATH, COLUMNS_SECONDS)
    }

    fn new_secret_header(self, name: &str, path: &str, value: &str, seconds: i64) -> Option<HeaderValue> {
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&text).ok()
    }

    fn session_header(self, value: &str, max_age_seconds: i64) -> Option<HeaderValue> {
        self.header(self.session_name(), value, max_age_seconds)
    }

    fn header(self, name: &str, value: &str, max_age_seconds: i64) -> Option<HeaderValue> {
        self.header_at(name, value, "/", max_age_seconds)
    }

    fn header_at(self, name: &str, value: &str, path: &str, max_age_seconds: i64) -> Option<HeaderValue> {
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path={path}; Max-Age={max_age_seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&text).ok()
    }
}

/// Whether this person does not want to be asked about the session at this address.
pub fn is_rating_dismissed(headers: &HeaderMap, user: UserId) -> bool {
    find(headers, &format!("{UNASKED}{user}")).is_some()
}

/// The theme the browser asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Light, whatever the system says.
    Light,
    /// Dark, whatever the system says.
    Dark,
}

/// The chosen theme; none where the system decides.
pub fn theme(headers: &HeaderMap) -> Option<Theme> {
    match find(headers, THEME)? {
        "light" => Some(Theme::Light),
        "dark" => Some(Theme::Dark),
        _ => None,
    }
}

/// The time zone that the browser is in, as its scripts wrote it. A cookie may contain anything.
pub fn timezone(headers: &HeaderMap) -> Option<&str> {
    find(headers, TIMEZONE)
}

/// `Set-Cookie` for a chosen theme. Scripts read it too, so that the switch and the page agree.
pub fn set_theme(theme: &str) -> String {
    format!("{THEME}={theme}; Path=/; Max-Age=31536000; SameSite=Lax")
}

/// The columns of the list of sessions that were chosen in this browser. A cookie may contain anything.
pub fn columns(headers: &HeaderMap) -> Option<&str> {
    find(headers, COLUMNS)
}

/// Whose work this browser looked at last on /today, as in its address.
pub fn today(headers: &HeaderMap) -> Option<&str> {
    find(headers, TODAY)
}

/// `Set-Cookie` for whose work /today shows from now on.
pub fn set_today(everybody: bool) -> HeaderValue {
    HeaderValue::from_static(if everybody {
        "today=all; Path=/today; Max-Age=31536000; HttpOnly; SameSite=Lax"
    } else {
        "today=me; Path=/today; Max-Age=31536000; HttpOnly; SameSite=Lax"
    })
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty() && value.len() <= VALUE_BYTES_MAX)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_is_for_the_person_and_the_request_that_made_it_and_of_its_kind() {
        let [ada, mia] = [1, 2].map(|n| UserId(uuid::Uuid::from_u128(n)));
        let [made, other] = [3, 4].map(|n| RequestId(uuid::Uuid::from_u128(n)));
        let set = CookiePolicy::new(true).carry(NewSecret::Token, made, "/settings", ada, "sbk_x").unwrap();
        let set = set.to_str().unwrap();
        assert!(set.contains("Path=/settings; Max-Age=60; HttpOnly; SameSite=Strict; Secure"), "{set}");
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(set.split(';').next().unwrap()).unwrap());
        let found =
            [(made, ada), (made, mia), (other, ada)].map(|(made, user)| NewSecret::Token.of(&headers, made, user));
        assert_eq!((found, NewSecret::Webhook.of(&headers, made, ada)), ([Some("sbk_x"), None, None], None));
    }

    fn headers(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(cookie).unwrap());
        headers
    }

    #[test]
    fn the_session_cookie_is_found_among_others() {
        let headers = headers("a=1; sbk_session=secret; theme=dark");
        assert_eq!(CookiePolicy::new(false).session(&headers), Some("secret"));
        assert_eq!(CookiePolicy::new(true).session(&headers), None, "behind https only the __Host- cookie counts");
        assert_eq!(theme(&headers), Some(Theme::Dark));
    }

    #[test]
    fn behind_https_the_cookie_is_secure_and_bound_to_the_host() {
        let set = CookiePolicy::new(true)
            .set_session("s", Timestamp::from_timestamp_nanos(60_000_000_000), Timestamp::from_timestamp_nanos(0))
            .unwrap();
        assert_eq!(set, "__Host-sbk_session=s; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
    }

    #[test]
    fn a_cleared_cookie_expires_at_once() {
        let set = CookiePolicy::new(false).clear_session().unwrap();
        assert_eq!(set, "sbk_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
        assert_eq!(CookiePolicy::new(false).session(&headers("sbk_session=")), None);
    }

    #[test]
    fn the_cookie_of_a_link_holds_its_secret_and_no_other_text() {
        let policy = CookiePolicy::new(true);
        let set = policy.set_link("sbl_abc_1").unwrap();
        assert_eq!(set, "__Host-sbk_link=sbl_abc_1; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure");
        for bad in ["", "a;b", "a=b", "a b", "ä", &"x".repeat(VALUE_BYTES_MAX + 1)] {
            assert!(policy.set_link(bad).is_none(), "{bad}");
        }
    }
}
