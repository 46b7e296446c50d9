//! Power cuts: the data directory lies on an ext4 image that is mounted through a loop device. What the image
//! file holds at an instant is what a disk would hold; what only the page cache holds is lost.

use super::admin::run;
use anyhow::{Context as _, Result, bail};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

/// Size of the image; sparse, so only what is written takes space.
const IMAGE_BYTES: u64 = 512 * 1024 * 1024;

/// A mounted ext4 image, unmounted and deleted when dropped.
pub struct LoopDisk {
    image: PathBuf,
    mount_point: PathBuf,
    mounted: bool,
}

impl LoopDisk {
    /// A fresh file system.
    pub fn create(work_dir: &Path, name: &str) -> Result<Self> {
        let disk = Self::at(work_dir, name)?;
        File::create(&disk.image)?.set_len(IMAGE_BYTES)?;
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        run(
            Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0", "-J", "size=16", "-E", lazy]).arg(&disk.image),
            b"",
        )?;
        disk.mount()
    }

    /// What a power cut at this instant leaves: a copy of the image, mounted elsewhere. The journal is replayed,
    /// as after a real one. Nothing may be writing: the caller has stopped the server.
    pub fn copy(&self, work_dir: &Path, name: &str) -> Result<Self> {
        let copy = Self::at(work_dir, name)?;
        run(Command::new("cp").arg("--sparse=always").arg(&self.image).arg(&copy.image), b"")?;
        copy.mount()
    }

    /// Writes everything through; for the part of a test that the power cut is not about.
    pub fn sync(&self) -> Result<()> {
        run(Command::new("sync").arg("-f").arg(&self.mount_point), b"").map(drop)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    fn at(work_dir: &Path, name: &str) -> Result<Self> {
        let mount_point = work_dir.join(name);
        std::fs::create_dir_all(&mount_point)?;
        Ok(Self { image: work_dir.join(format!("{name}.img")), mount_point, mounted: false })
    }

    fn mount(mut self) -> Result<Self> {
        // A long commit interval: nothing reaches the image unless someone asked for it with fsync.
        run(Command::new("mount").args(["-o", "loop,commit=60"]).arg(&self.image).arg(&self.mount_point), b"")?;
        self.mounted = true;
        Ok(self)
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        if self.mounted {
            let plain = run(Command::new("umount").arg(&self.mount_point), b"");
            if let Err(error) = plain.or_else(|_| run(Command::new("umount").arg("-l").arg(&self.mount_point), b"")) {
                eprintln!("cannot unmount {}: {error:#}", self.mount_point.display());
            }
        }
        // Best effort: the work directory goes as a whole.
        let _ = std::fs::remove_file(&self.image);
        let _ = std::fs::remove_dir(&self.mount_point);
    }
}

/// Tries a mount; the error says why power cuts cannot be simulated here.
pub fn probe(work_dir: &Path) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        bail!("only root may mount");
    }
    if !Path::new("/dev/loop-control").exists() {
        bail!("this system has no loop devices");
    }
    let disk = LoopDisk::create(work_dir, "probe").context("a loop mount does not work here")?;
    std::fs::write(disk.path().join("probe"), b"x").context("a loop mount cannot be written")
}
