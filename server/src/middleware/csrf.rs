//! Refuses cross-origin requests without tokens, by the algorithm of Go 1.25's `http.CrossOriginProtection`.
//!
//! One rule is added: a request with the server's cookie but neither header is refused. All current browsers
//! send `Origin` with an unsafe request, so such a request comes from a program, and programs can
//! use tokens.

use crate::{cookie::CookiePolicy, problem::Problem};
use axum::http::{HeaderMap, Method, header};
use wire::Code;

/// Refuses a request with an unsafe method that a page of another site made.
pub fn check(
    method: &Method,
    headers: &HeaderMap,
    public_origin: Option<&str>,
    cookies: CookiePolicy,
) -> Result<(), Problem> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let refused = |detail: &str| Err(Problem::detailed(Code::CrossOrigin, detail));
    if let Some(site) = headers.get("sec-fetch-site") {
        return match site.as_bytes() {
            b"same-origin" | b"none" => Ok(()),
            _ => refused("the browser reports that another site made this request (Sec-Fetch-Site)"),
        };
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        if cookies.session(headers).is_some() {
            return refused(
                "a request with a cookie needs an Origin or Sec-Fetch-Site header; programs use API tokens",
            );
        }
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or_default();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let same_host =
        origin.split_once("://").is_some_and(|(_, from)| !host.is_empty() && from.eq_ignore_ascii_case(host));
    if same_host || public_origin.is_some_and(|public| public.eq_ignore_ascii_case(origin)) {
        return Ok(());
    }
    refused("the Origin header does not name this server")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn allowed(method: Method, pairs: &[(&str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in [("host", "log.example.org:4210")].iter().chain(pairs) {
            headers.insert(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        check(&method, &headers, Some("https://public.example.org"), CookiePolicy::new(false)).is_ok()
    }

    #[test]
    fn safe_methods_pass_whatever_their_headers() {
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            assert!(allowed(method, &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")]));
        }
    }

    #[test]
    fn the_rules_for_unsafe_methods_are_as_reviewed() {
        let own = "http://log.example.org:4210";
        let table: &[(&[(&str, &str)], bool)] = &[
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "")], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", own)], false),
            (&[("sec-fetch-site", "cross-site"), ("authorization", "Bearer sbk_x")], false),
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], true),
            (&[("origin", own)], true),
            (&[("origin", "HTTP://LOG.EXAMPLE.ORG:4210")], true),
            (&[("origin", "https://public.example.org")], true),
            (&[("origin", "http://public.example.org")], false),
            (&[("origin", "https://public.example.org.evil.example")], false),
            (&[("origin", "http://log.example.org")], false),
            (&[("origin", "http://log.example.org:4210.evil.example")], false),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "https://evil.example"), ("authorization", "Bearer sbk_x")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[], true),
            (&[("authorization", "Bearer sbk_x")], true),
            (&[("cookie", "other=1")], true),
            (&[("cookie", "sbk_session=x")], false),
            (&[("cookie", "sbk_session=x"), ("content-type", "text/plain")], false),
            (&[("cookie", "sbk_session=x"), ("origin", own)], true),
        ];
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            for (headers, expected) in table {
                assert_eq!(allowed(method.clone(), headers), *expected, "{method} {headers:?}");
            }
        }
    }
}
