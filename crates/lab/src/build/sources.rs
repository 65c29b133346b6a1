//! Whether a subject must be built again: its sources are compared with those of the last build.

use crate::subject::{Subject, Variant};
use std::io;
use std::path::{Path, PathBuf};

/// Folders that hold what builds make. Hidden folders are left out as well.
const BUILT_FOLDERS: [&str; 4] = ["target", "node_modules", "__pycache__", "build"];

/// The service definitions that all subjects share, from a subject's folder.
const SHARED_DEFINITIONS: &str = "../../proto";

/// Deeper nesting than any source tree has; a guard against links that lead in a circle.
const DEPTH_MAX: usize = 32;

/// What is known about the last build of a variant, or of another with the same build commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildState {
    /// It was built from these very sources.
    Fresh,
    /// It must be built, and why.
    Stale(&'static str),
}

impl Subject {
    /// The files that its build reads, in order: its folder without what builds make, the service
    /// definitions that all subjects share, and its declared `inputs`.
    ///
    /// # Errors
    /// When a folder cannot be listed or a declared input does not exist.
    pub fn source_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        collect(&self.folder, DEPTH_MAX, &mut files)?;
        let shared = self.folder.join(SHARED_DEFINITIONS);
        if shared.is_dir() {
            collect(&shared, DEPTH_MAX, &mut files)?;
        }
        for input in &self.inputs {
            collect(input, DEPTH_MAX, &mut files)?;
        }
        files.sort();
        Ok(files)
    }

    /// A hash over the names and bytes of all source files as they are now, as text.
    fn fingerprint(&self) -> io::Result<String> {
        let mut hash = FNV_OFFSET;
        for file in self.source_files()? {
            hash = fnv1a(hash, file.as_os_str().as_encoded_bytes());
            hash = fnv1a(hash, &[0]);
            hash = fnv1a(hash, &std::fs::read(&file)?);
        }
        Ok(format!("{hash:016x}"))
    }

    /// Whether `variant` must be built before it can run.
    ///
    /// # Errors
    /// When a source file cannot be read.
    pub fn build_state(&self, variant: &Variant) -> io::Result<BuildState> {
        if variant.build.is_empty() {
            return Ok(BuildState::Fresh);
        }
        let Ok(built) = std::fs::read_to_string(self.marker(variant)) else {
            return Ok(BuildState::Stale("no finished build is recorded"));
        };
        if variant.run[0].contains('/') && !self.program(&variant.run).exists() {
            return Ok(BuildState::Stale("the program is gone"));
        }
        if built.trim() != self.fingerprint()? {
            return Ok(BuildState::Stale("sources changed"));
        }
        Ok(BuildState::Fresh)
    }

    /// Notes that `variant` has just been built. Call it after the build: what a build writes
    /// next to the sources then counts as part of them.
    ///
    /// # Errors
    /// When a source file cannot be read or the marker cannot be written.
    pub fn note_built(&self, variant: &Variant) -> io::Result<()> {
        let marker = self.marker(variant);
        if let Some(folder) = marker.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(marker, format!("{}\n", self.fingerprint()?))
    }

    /// Variants with the same build commands share one marker: building one builds them all.
    fn marker(&self, variant: &Variant) -> PathBuf {
        let mut hash = FNV_OFFSET;
        for command in &variant.build {
            for word in command {
                hash = fnv1a(hash, word.as_bytes());
                hash = fnv1a(hash, &[0]);
            }
            hash = fnv1a(hash, b"\n");
        }
        let name = format!("built-{hash:016x}");
        self.folder.join("target").join("bookend").join(name)
    }
}

fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        path.metadata()?;
        files.push(path.to_owned());
        return Ok(());
    }
    if depth == 0 {
        let message = format!("{} is nested too deep", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if !is_built(&entry.file_name().to_string_lossy()) {
            collect(&entry.path(), depth - 1, files)?;
        }
    }
    Ok(())
}

fn is_built(name: &str) -> bool {
    name.starts_with('.') || BUILT_FOLDERS.contains(&name)
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Fowler-Noll-Vo 1a: stable between versions and machines, which the standard library's hasher
/// does not promise. It guards against mistakes, not against malice.
fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "name = \"rust-tonic\"\nlanguage = \"Rust\"\ndescription = \"a server\"\n\
                        roles = [\"server\"]\nversion = [\"x\"]\nbuild = [[\"cargo\", \"build\"]]\n\
                        run = [\"./target/release/rust-tonic\"]\n";

    #[test]
    fn the_hash_gives_the_published_test_values() {
        assert_eq!(fnv1a(FNV_OFFSET, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(FNV_OFFSET, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(FNV_OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_build_is_stale_when_a_source_changes_and_fresh_when_a_product_does() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("subjects/rust-tonic");
        std::fs::create_dir_all(folder.join("src")).expect("created");
        std::fs::write(folder.join("src/main.rs"), "fn main() {}").expect("written");
        let subject = Subject::parse(&folder, RUST).expect("well-formed");
        let variant = subject.default_variant();
        let state = || subject.build_state(variant).expect("readable");
        assert_eq!(state(), BuildState::Stale("no finished build is recorded"));

        subject.note_built(variant).expect("written");
        assert_eq!(state(), BuildState::Stale("the program is gone"));

        std::fs::create_dir_all(folder.join("target/release")).expect("created");
        std::fs::write(folder.join("target/release/rust-tonic"), "1").expect("written");
        assert_eq!(state(), BuildState::Fresh);

        std::fs::write(folder.join("src/main.rs"), "fn main() { }").expect("written");
        assert_eq!(state(), BuildState::Stale("sources changed"));

        subject.note_built(variant).expect("written");
        assert_eq!(state(), BuildState::Fresh);
        std::fs::create_dir_all(home.path().join("proto")).expect("created");
        std::fs::write(home.path().join("proto/a.proto"), "message A {}").expect("written");
        assert_eq!(state(), BuildState::Stale("sources changed"));
    }

    #[test]
    fn variants_that_are_built_alike_are_built_once() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("twins");
        std::fs::create_dir_all(&folder).expect("created");
        let declared = "name = \"twins\"\nlanguage = \"sh\"\ndescription = \"fakes\"\nroles = [\"server\"]\n\
                        version = [\"echo\", \"1\"]\n\
                        build = [[\"make\"]]\nrun = [\"sh\", \"serve\"]\n\
                        [[variants]]\nname = \"a\"\n[[variants]]\nname = \"b\"\n\
                        [[variants]]\nname = \"c\"\nbuild = [[\"make\", \"c\"]]\n";
        std::fs::write(folder.join("subject.toml"), declared).expect("written");
        let subject = Subject::read(&folder).expect("well-formed");
        let state = |name| {
            let variant = subject.variant(Some(name)).expect("declared");
            subject.build_state(variant).expect("readable")
        };
        let first = subject.variant(Some("a")).expect("declared");
        subject.note_built(first).expect("written");
        assert_eq!(state("a"), BuildState::Fresh);
        assert_eq!(state("b"), BuildState::Fresh);
        assert_eq!(state("c"), BuildState::Stale("no finished build is recorded"));
    }
}
