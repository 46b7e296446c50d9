//! Cache of the rendered transcript pages of final sessions. Such a transcript changes only when its content is erased,
//! so each page is rendered and compressed once and then served as bytes with an ETag. Key and ETag of a page differ
//! before and after the erasure.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{
    chain::Digest,
    id::{SessionId, TenantId},
};
use flate2::{Compression, write::GzEncoder};
use quick_cache::{Weighter, sync::Cache};
use std::io::Write;

/// Bytes of rendered pages that are kept in memory.
const CACHE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Estimated number of pages, for the layout of the cache. The real number depends on their sizes.
const PAGES_ESTIMATED: usize = 1_024;
/// Smallest page that is compressed, in bytes.
const GZIP_BYTES_MIN: usize = 1_024;
/// zlib's default level, a compromise between time and size.
const GZIP_LEVEL: u32 = 6;

/// Identifies one page of one transcript at its final head.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The workspace.
    pub tenant_id: TenantId,
    /// The session whose log the page shows.
    pub session_id: SessionId,
    /// Its head when the page was rendered.
    pub head_sequence: u64,
    /// The query in canonical form, with whether the content is erased.
    pub query: String,
}

#[derive(Debug, Clone)]
struct Page {
    identity: Bytes,
    gzip: Option<Bytes>,
}

#[derive(Debug, Clone, Copy)]
struct ByBytes;

impl Weighter<Key, Page> for ByBytes {
    fn weight(&self, key: &Key, page: &Page) -> u64 {
        (size_of::<Key>() + key.query.len() + page.identity.len() + page.gzip.as_ref().map_or(0, Bytes::len)) as u64
    }
}

/// The cache of rendered pages.
#[derive(Debug)]
pub struct TranscriptCache(Cache<Key, Page, ByBytes>);

/// The ETag of a page: the last digest of the session's chain and a checksum of the canonical query.
#[derive(Debug, Clone)]
pub struct Tag(String);

impl Tag {
    /// Creates the tag of the page that `query` selects.
    pub fn new(head_digest: Digest, query: &str) -> Self {
        Self(format!("{head_digest}-{:08x}", crc32fast::hash(query.as_bytes())))
    }

    fn header(&self, gzip: bool) -> String {
        format!("\"{}{}\"", self.0, if gzip { "-gz" } else { "" })
    }

    /// Returns whether `If-None-Match` contains this page's tag, in either encoding.
    pub fn matches(&self, headers: &HeaderMap) -> bool {
        let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        known
            .flat_map(|value| value.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|tag| tag == "*" || tag == self.header(false) || tag == self.header(true))
    }
}

impl TranscriptCache {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self(Cache::with_weighter(PAGES_ESTIMATED, CACHE_BYTES_MAX, ByBytes))
    }

    /// Returns the page's bytes if they are cached.
    pub fn get(&self, key: &Key) -> Option<Bytes> {
        self.0.get(key).map(|page| page.identity)
    }

    /// Adds a rendered page to the cache.
    pub fn insert(&self, key: Key, identity: Bytes) {
        self.0.insert(key, Page { identity, gzip: None });
    }

    /// Returns the response for a client that sent these headers. A cached page is compressed at
    /// most once.
    pub async fn respond(&self, key: Key, identity: Bytes, tag: &Tag, headers: &HeaderMap) -> Response {
        let gzip = if identity.len() >= GZIP_BYTES_MIN && accepts(headers, "gzip") {
            self.gzip(key, identity.clone()).await
        } else {
            None
        };
        let mut response = match &gzip {
            Some(gzip) => Response::new(Body::from(gzip.clone())),
            None => Response::new(Body::from(identity)),
        };
        if gzip.is_some() {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        mark(response.headers_mut(), tag, gzip.is_some());
        response
    }

    async fn gzip(&self, key: Key, identity: Bytes) -> Option<Bytes> {
        if let Some(gzip) = self.0.get(&key).and_then(|page| page.gzip) {
            return Some(gzip);
        }
        let plain = identity.clone();
        let gzip = tokio::task::spawn_blocking(move || compress(&plain)).await.ok().flatten()?;
        self.0.insert(key, Page { identity, gzip: Some(gzip.clone()) });
        Some(gzip)
    }
}

/// The answer to a client whose copy is current.
pub fn not_modified(tag: &Tag) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    mark(response.headers_mut(), tag, false);
    response
}

/// Sets the headers for caching. Browsers may keep the page but must revalidate it for each use. A
/// caller whose access was revoked gets 401 or 404 before any tag is compared.
fn mark(headers: &mut HeaderMap, tag: &Tag, gzip: bool) {
    if let Ok(tag) = HeaderValue::from_str(&tag.header(gzip)) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding, authorization, cookie"));
}

fn compress(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::new(GZIP_LEVEL));
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Whether a client takes this content coding. A coding with `q=0` is refused by name.
pub fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let offered = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    offered.flat_map(|value| value.split(',')).any(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let refused = parts.filter_map(|part| part.strip_prefix("q=")).any(|q| q.trim().parse::<f32>() == Ok(0.0));
        named && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use uuid::Uuid;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        headers
    }

    #[test]
    fn content_codings_are_read_with_their_weights() {
        for (offer, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000, br", false),
            ("br", false),
            ("xgzip", false),
            ("", false),
        ] {
            assert_eq!(accepts(&headers(header::ACCEPT_ENCODING, offer), "gzip"), expected, "{offer}");
        }
    }

    #[test]
    fn a_tag_matches_its_own_page_only() {
        let tag = Tag::new(Digest([7; 32]), "limit=1");
        for good in [tag.header(false), tag.header(true), format!("\"x\", W/{}", tag.header(false)), "*".to_owned()] {
            assert!(tag.matches(&headers(header::IF_NONE_MATCH, &good)), "{good}");
        }
        for other in [Tag::new(Digest([7; 32]), "limit=2"), Tag::new(Digest([8; 32]), "limit=1")] {
            assert!(!tag.matches(&headers(header::IF_NONE_MATCH, &other.header(false))));
        }
        assert!(!tag.matches(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn a_sealed_page_is_compressed_once_and_kept_in_both_forms() {
        let key = Key {
            tenant_id: TenantId(Uuid::from_u128(1)),
            session_id: SessionId(Uuid::from_u128(2)),
            head_sequence: 3,
            query: "limit=4".into(),
        };
        let cache = TranscriptCache::new();
        let page = Bytes::from("transcript ".repeat(1_000));
        cache.insert(key.clone(), page.clone());
        let tag = Tag::new(Digest([7; 32]), &key.query);
        let response = cache.respond(key.clone(), page.clone(), &tag, &headers(header::ACCEPT_ENCODING, "gzip")).await;
        assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, page);
        assert_eq!(cache.0.get(&key).and_then(|page| page.gzip), Some(body));
        let response = cache.respond(key, page.clone(), &tag, &HeaderMap::new()).await;
        assert!(!response.headers().contains_key(header::CONTENT_ENCODING));
    }
}
