//! The source of the site's files: the folder in `SHIFTBOOK_SITE_DIR`, otherwise the binary itself, which has their
//! compressed forms only. A binary without a site, which `cargo xtask run` builds, finds the one built with it.

use bytes::Bytes;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
};

/// Variable with the folder of a site that `cargo xtask` has built. `cargo xtask run` sets it, because its build of
/// the server contains no site.
const FOLDER_VARIABLE: &str = "SHIFTBOOK_SITE_DIR";
/// Name of that folder below `target/`.
const FOLDER_NAME: &str = "first-site";
/// The file of a site that names the others.
pub(super) const MANIFEST: &str = "manifest.json";

static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let named = std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| if cfg!(feature = "embedded-site") { None } else { built_with(&std::env::current_exe().ok()?) })
});

/// The site that `cargo xtask run` built with this program: beside the program's folder, or, if the program is a copy
/// elsewhere, in the checkout that it was compiled in.
fn built_with(program: &Path) -> Option<PathBuf> {
    let beside = program.parent().and_then(Path::parent).map(|target| target.join(FOLDER_NAME));
    let compiled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(FOLDER_NAME);
    beside.into_iter().chain([compiled]).find(|folder| folder.join(MANIFEST).is_file())
}

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

/// A file of the site with what its response headers need. A copy shares the content.
#[derive(Clone)]
pub(super) struct SiteFile {
    /// Content of the file.
    pub(super) data: Bytes,
    /// SHA-256 of the content.
    pub(super) sha256: [u8; 32],
}

impl SiteFile {
    fn of(data: Vec<u8>) -> Self {
        let sha256 = Sha256::digest(&data).into();
        Self { data: data.into(), sha256 }
    }
}

/// The files that were unpacked, by path. They are kept, so that a request costs no unpacking and no hashing. Their
/// names change with their content, so cached files stay valid. The whole site takes some 1.2 MiB; from a folder, each
/// build of it that is served takes as much.
static UNPACKED: Mutex<BTreeMap<String, SiteFile>> = Mutex::new(BTreeMap::new());

/// The plain form of the file at this path, from its gzip form. `None` if there is none.
pub(super) fn unpacked(path: &str) -> Option<SiteFile> {
    unpack_once(&UNPACKED, path, || get(&format!("{path}.gz")))
}

/// Returns the kept file, or else unpacks what `packed` reads and keeps it. Only files that exist are kept. The lock is
/// held meanwhile, so that requests for the same file at the same time unpack it once.
fn unpack_once(
    kept: &Mutex<BTreeMap<String, SiteFile>>,
    path: &str,
    packed: impl FnOnce() -> Option<SiteFile>,
) -> Option<SiteFile> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = kept.get(path) {
        return Some(file.clone());
    }
    let packed = packed()?;
    let mut data = Vec::new();
    GzDecoder::new(&*packed.data).read_to_end(&mut data).ok()?;
    let file = SiteFile::of(data);
    kept.insert(path.to_owned(), file.clone());
    Some(file)
}

/// Reads the file at this path below the site's folder. `None` if there is none. The caller has checked that the path
/// is below the folder.
pub(super) fn get(path: &str) -> Option<SiteFile> {
    match &*FOLDER {
        Some(folder) => Some(SiteFile::of(std::fs::read(folder.join(path)).ok()?)),
        None => embedded(path),
    }
}

#[cfg(feature = "embedded-site")]
fn embedded(path: &str) -> Option<SiteFile> {
    use std::borrow::Cow;
    let file = <Embedded as rust_embed::RustEmbed>::get(path)?;
    let sha256 = file.metadata.sha256_hash();
    let data = match file.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    Some(SiteFile { data, sha256 })
}

#[cfg(not(feature = "embedded-site"))]
fn embedded(_path: &str) -> Option<SiteFile> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;

    fn packed(text: &str) -> SiteFile {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        SiteFile::of(encoder.finish().unwrap())
    }

    #[test]
    fn a_program_without_a_site_finds_the_one_that_was_built_beside_it() {
        let target = tempfile::tempdir().unwrap();
        let (site, program) = (target.path().join(FOLDER_NAME), target.path().join("first/shiftbook"));
        std::fs::create_dir(&site).unwrap();
        assert_ne!(built_with(&program).as_ref(), Some(&site), "it has no manifest");
        std::fs::write(site.join(MANIFEST), "{}").unwrap();
        assert_eq!(built_with(&program), Some(site));
    }

    #[test]
    fn a_file_is_unpacked_once_and_what_is_missing_is_not_kept() {
        let kept = Mutex::new(BTreeMap::new());
        assert!(unpack_once(&kept, "pkg/x.js", || None).is_none());
        assert!(kept.lock().unwrap().is_empty());
        let first = unpack_once(&kept, "pkg/x.js", || Some(packed("let a"))).unwrap();
        assert_eq!((&*first.data, first.sha256), (&b"let a"[..], <[u8; 32]>::from(Sha256::digest("let a"))));
        let second = unpack_once(&kept, "pkg/x.js", || panic!("it is read again")).unwrap();
        assert_eq!((second.data.as_ptr(), second.sha256), (first.data.as_ptr(), first.sha256));
        let other = unpack_once(&kept, "pkg/y.js", || Some(packed("let b"))).unwrap();
        assert_eq!(&*other.data, b"let b");
    }
}
