//! The files of the project: what git tracks, and what it would track if it were added now.

use ruzstd::decoding::StreamingDecoder;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{fs, str};

/// One file of the project.
pub struct File {
    /// Relative to the root, with `/` between its parts.
    pub path: String,
    /// As on disk.
    pub bytes: Vec<u8>,
}

impl File {
    /// `None` for what is not text.
    pub fn text(&self) -> Option<&str> {
        str::from_utf8(&self.bytes).ok()
    }

    /// What is compressed here, as text; `None` for what is not compressed.
    ///
    /// # Panics
    /// When it is no zstd, or none of a text.
    pub fn unpacked(&self) -> Option<String> {
        self.path.ends_with(".zst").then(|| {
            let mut text = String::new();
            let unpacked = StreamingDecoder::new(&self.bytes[..]);
            unpacked
                .unwrap_or_else(|error| panic!("{}: {error}", self.path))
                .read_to_string(&mut text)
                .unwrap_or_else(|error| panic!("{}: {error}", self.path));
            text
        })
    }

    /// Written by a package tool, so that no rule of style can apply.
    pub fn is_lockfile(&self) -> bool {
        const LOCKFILES: [&str; 10] = [
            "Cargo.lock",
            "go.sum",
            "gradle.lockfile",
            "package-lock.json",
            "pnpm-lock.yaml",
            "poetry.lock",
            "requirements.lock",
            "requirements.txt",
            "uv.lock",
            "yarn.lock",
        ];
        LOCKFILES.contains(&self.path.rsplit('/').next().unwrap_or_default())
    }
}

/// Every file, read once.
pub fn tree() -> &'static [File] {
    static TREE: LazyLock<Vec<File>> = LazyLock::new(read);
    &TREE
}

/// The text of a file that has to be there.
pub fn text(path: &str) -> &'static str {
    let file = tree().iter().find(|file| file.path == path);
    file.and_then(File::text).unwrap_or_else(|| panic!("{path} is not a text of this tree"))
}

/// The paths of all files and of the folders that they are in.
pub fn paths_and_folders() -> BTreeSet<String> {
    let paths = tree().iter().map(|file| Path::new(&file.path));
    let folders = paths.flat_map(Path::ancestors);
    folders.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("this crate is in a folder of the root").to_owned()
}

fn read() -> Vec<File> {
    let root = root();
    let mut paths = listed_by_git(&root).unwrap_or_else(|| found_by_walking(&root));
    paths.sort();
    paths.dedup();
    let read = |path: String| Some(File { bytes: fs::read(root.join(&path)).ok()?, path });
    paths.into_iter().filter_map(read).collect()
}

/// `None` where there is no git, or no repository: in an archive.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let text = String::from_utf8(listing.stdout).ok()?;
    let paths: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
    paths.iter().any(|path| path == "Cargo.toml").then_some(paths)
}

fn found_by_walking(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !path.is_dir() {
                let inside = path.strip_prefix(root).expect("the walk began at the root");
                paths.push(inside.to_string_lossy().into_owned());
            } else if !is_made_by_building(&path) {
                folders.push(path);
            }
        }
    }
    paths
}

fn is_made_by_building(folder: &Path) -> bool {
    let made = [".git", "target", "node_modules", "__pycache__", ".venv"];
    folder.file_name().is_some_and(|name| made.iter().any(|each| name == *each))
}

#[test]
fn an_archive_without_git_is_walked_and_misses_nothing_that_git_lists() {
    let Some(listed) = listed_by_git(&root()) else {
        return;
    };
    let walked = found_by_walking(&root());
    for path in listed.iter().filter(|path| root().join(path).is_file()) {
        assert!(walked.contains(path), "the walk missed {path}");
    }
}
