//! Where the files of the site come from: the folder that `SHIFTBOOK_SITE_DIR` names, else the binary itself.

use sha2::{Digest as _, Sha256};
use std::{borrow::Cow, path::PathBuf, sync::LazyLock};

/// Names the folder that `cargo xtask` has written the site to. `cargo xtask run` sets it, because its build of the
/// server holds no site.
const FOLDER_VARIABLE: &str = "SHIFTBOOK_SITE_DIR";

static FOLDER: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from));

/// `cargo xtask build` puts the site there before the server is compiled.
#[cfg(feature = "embedded-site")]
#[derive(rust_embed::RustEmbed)]
#[folder = "../target/site"]
#[allow_missing = true]
struct Embedded;

/// A file of the site with what its response headers need.
pub(super) struct SiteFile {
    /// Its bytes.
    pub(super) data: Cow<'static, [u8]>,
    /// SHA-256 of its bytes.
    pub(super) sha256: [u8; 32],
}

/// The file at this path below the site's folder, if there is one. The caller has checked that the path stays below it.
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
