//! Decodes bodies of requests with a `Content-Encoding`. The limit of a body holds for what is decoded.

use crate::problem::Problem;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::io::Read;
use wire::Code;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
    /// The format of zlib, which HTTP calls `deflate`.
    Deflate,
}

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecodable {
    /// It is larger than its limit.
    TooLarge,
    /// It is not what the header says.
    Broken,
}

impl Coding {
    /// The encoding of a request's body.
    ///
    /// # Errors
    /// [`Code::UnsupportedMediaType`] if it is another one, or several.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut found = Self::Identity;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            for name in value.to_str().unwrap_or("?").split(',').map(|name| name.trim().to_ascii_lowercase()) {
                let coding = match name.as_str() {
                    "" | "identity" => continue,
                    "gzip" | "x-gzip" => Self::Gzip,
                    "deflate" => Self::Deflate,
                    _ => return Err(unsupported()),
                };
                if found != Self::Identity {
                    return Err(unsupported());
                }
                found = coding;
            }
        }
        Ok(found)
    }

    /// Decodes a body of at most `most` bytes.
    pub(super) fn decode(self, bytes: Bytes, most: usize) -> Result<Bytes, Undecodable> {
        match self {
            Self::Identity => Ok(bytes),
            Self::Gzip => read(MultiGzDecoder::new(&*bytes), most),
            Self::Deflate => read(ZlibDecoder::new(&*bytes), most),
        }
    }
}

fn read(decoder: impl Read, most: usize) -> Result<Bytes, Undecodable> {
    let mut decoded = Vec::new();
    decoder.take(most as u64 + 1).read_to_end(&mut decoded).map_err(|_| Undecodable::Broken)?;
    if decoded.len() > most { Err(Undecodable::TooLarge) } else { Ok(decoded.into()) }
}

fn unsupported() -> Problem {
    let detail = "send the body as it is, or with `content-encoding: gzip` or `deflate`";
    Problem::detailed(Code::UnsupportedMediaType, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_encoding_is_one_that_is_known_or_refused() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::CONTENT_ENCODING, value.parse().unwrap());
            }
            Coding::of(&headers).map_err(|problem| problem.code())
        };
        for (values, expected) in [
            (&[][..], Ok(Coding::Identity)),
            (&["identity"], Ok(Coding::Identity)),
            (&["GZIP"], Ok(Coding::Gzip)),
            (&["x-gzip"], Ok(Coding::Gzip)),
            (&["identity, deflate"], Ok(Coding::Deflate)),
            (&["br"], Err(Code::UnsupportedMediaType)),
            (&["zstd"], Err(Code::UnsupportedMediaType)),
            (&["gzip, gzip"], Err(Code::UnsupportedMediaType)),
            (&["gzip", "deflate"], Err(Code::UnsupportedMediaType)),
        ] {
            assert_eq!(of(values), expected, "{values:?}");
        }
    }

    #[test]
    fn a_body_is_decoded_up_to_its_limit_and_no_further() {
        let decode = |bytes: Vec<u8>, most| Coding::Gzip.decode(bytes.into(), most);
        assert_eq!(decode(gzip(b"{}"), 2).unwrap(), "{}");
        assert_eq!(decode([gzip(b"{"), gzip(b"}")].concat(), 2).unwrap(), "{}", "a stream can have several members");
        assert_eq!(decode(gzip(b"{} "), 2), Err(Undecodable::TooLarge));
        assert_eq!(decode(gzip(&vec![0; 50_000_000]), 1_000), Err(Undecodable::TooLarge));
        assert_eq!(decode(b"{}".to_vec(), 100), Err(Undecodable::Broken));
        let mut torn = gzip(b"{\"a\":1}");
        torn.truncate(torn.len() - 3);
        assert_eq!(decode(torn, 100), Err(Undecodable::Broken));
    }
}
