//! The source of the site's files: the folder in `SHIFTBOOK_SITE_DIR`, otherwise the binary itself, which has their
//! compressed forms only.

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};
use std::{borrow::Cow, io::Read as _, path::PathBuf, sync::LazyLock};

/// Variable with the folder of a site that `cargo xtask` has built. `cargo xtask run` sets it, because its build of
/// the server contains no site.
const FOLDER_VARIABLE: &str = "SHIFTBOOK_SITE_DIR";

static FOLDER: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from));

/// `cargo xtask build` writes the site to this folder before it compiles the server. What a client gets that takes no
/// compressed form is unpacked for it: such clients are few, and the plain forms are as large as the others together.
#[cfg(feature = "embedded-site")]
#[derive(rust_embed::RustEmbed)]
#[folder = "../target/site"]
#[include = "manifest.json"]
#[include = "pkg/*.br"]
#[include = "pkg/*.gz"]
#[allow_missing = true]
struct Embedded;

/// A file of the site with what its response headers need.
pub(super) struct SiteFile {
    /// Content of the file.
    pub(super) data: Cow<'static, [u8]>,
    /// SHA-256 of the content.
    pub(super) sha256: [u8; 32],
}

/// Reads the gzip form of the file at this path and unpacks it. `None` if there is none.
pub(super) fn unpacked(path: &str) -> Option<SiteFile> {
    let packed = get(&format!("{path}.gz"))?;
    let mut data = Vec::new();
    GzDecoder::new(&*packed.data).read_to_end(&mut data).ok()?;
    let sha256 = Sha256::digest(&data).into();
    Some(SiteFile { data: data.into(), sha256 })
}

/// Reads the file at this path below the site's folder. `None` if there is none. The caller has checked that the path
/// is below the folder.
pub(super) fn get(path: &str) -> Option<SiteFile> {
    match &*FOLDER {
        Some(folder) => {
            let data = std::fs::read(folder.join(path)).ok()?;
            let sha256 = Sha256::digest(&data).into();
            Some(SiteFile { data: data.into(), sha256 })
        }
        None => embedded(path),
    }
}

#[cfg(feature = "embedded-site")]
fn embedded(path: &str) -> Option<SiteFile> {
    let file = <Embedded as rust_embed::RustEmbed>::get(path)?;
    let sha256 = file.metadata.sha256_hash();
    Some(SiteFile { data: file.data, sha256 })
}

#[cfg(not(feature = "embedded-site"))]
fn embedded(_path: &str) -> Option<SiteFile> {
    None
}
