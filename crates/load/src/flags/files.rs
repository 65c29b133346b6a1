//! Which files a command line names, to be read and to be written: no file is both, or is written
//! twice.

use super::{CallFlags, LoadFlags, is_standard_input};
use crate::output::is_standard_output;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A flag with the file that it names.
pub type NamedFile<'a> = (&'static str, &'a Path);

/// Two flags name one file. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{written} would overwrite what {other}: give it another file")]
pub struct SameFile {
    /// The flag whose file is written, with that.
    written: String,
    /// What the other flag does with the file.
    other: String,
}

impl CallFlags {
    /// The files that are read.
    pub fn files_read(&self) -> Vec<NamedFile<'_>> {
        let flags = [
            ("--proto", &self.proto),
            ("--protoset", &self.protoset),
            ("--cacert", &self.cacert),
            ("--cert", &self.cert),
            ("--key", &self.key),
            ("--data-file", &self.data_file),
            ("--binary-file", &self.binary_file),
            ("--metadata-file", &self.metadata_file),
        ];
        let given = flags.into_iter().filter_map(|(flag, file)| Some((flag, file.as_deref()?)));
        let input = self.reads_standard_input().then_some(("<", Path::new("/dev/stdin")));
        given.filter(|(_, file)| !is_standard_input(file)).chain(input).collect()
    }
}

impl LoadFlags {
    /// The files that are read.
    pub fn files_read(&self) -> Vec<NamedFile<'_>> {
        let flags = [
            ("--config", &self.config),
            ("--rate-file", &self.pacing.rate_file),
            ("--thrift", &self.thrift.file),
        ];
        let given = flags.into_iter().filter_map(|(flag, file)| Some((flag, file.as_deref()?)));
        self.call.files_read().into_iter().chain(given).collect()
    }

    /// The files that are written.
    pub fn files_written(&self) -> Vec<NamedFile<'_>> {
        let flags = [("--output", &self.output), ("--debug", &self.debug), ("--hdr", &self.hdr)];
        flags.into_iter().filter_map(|(flag, file)| Some((flag, file.as_deref()?))).collect()
    }
}

/// Checks before anything is written that no file is written that is read, or written twice. Pipes,
/// devices and standard output may be.
///
/// # Errors
/// [`SameFile`] naming the two flags.
pub fn check_apart(written: &[NamedFile<'_>], read: &[NamedFile<'_>]) -> Result<(), SameFile> {
    for (place, (flag, file)) in written.iter().enumerate() {
        let Some(identity) = FileIdentity::of(file) else {
            continue;
        };
        let same =
            |(_, other): &&NamedFile<'_>| FileIdentity::of(other).as_ref() == Some(&identity);
        let with = |(flag, file): &NamedFile<'_>| format!("{flag} {}", file.display());
        let read = read.iter().find(same).map(|named| with(named) + " reads");
        let earlier = || written[..place].iter().find(same).map(|named| with(named) + " writes");
        if let Some(other) = read.or_else(earlier) {
            return Err(SameFile { written: with(&(*flag, *file)), other });
        }
    }
    Ok(())
}

/// What a file is, by whatever name.
#[derive(PartialEq, Eq)]
enum FileIdentity {
    /// It is there: its device and its number on it.
    Inode(u64, u64),
    /// It is not there yet: its folder, and its name in it.
    New(PathBuf, OsString),
}

impl FileIdentity {
    /// `None`: it keeps nothing that could be overwritten.
    fn of(file: &Path) -> Option<FileIdentity> {
        if is_standard_output(file) {
            return None;
        }
        if let Ok(facts) = fs::metadata(file) {
            return facts.is_file().then(|| FileIdentity::Inode(facts.dev(), facts.ino()));
        }
        // A link to a file that is not there yet.
        let linked = fs::read_link(file).ok().map(|to| file.with_file_name(to));
        let file = linked.as_deref().unwrap_or(file);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(FileIdentity::New(folder, file.file_name()?.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_by_two_names_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| folder.path().join(name);
        fs::write(named("a"), "").unwrap();
        fs::hard_link(named("a"), named("hard")).unwrap();
        std::os::unix::fs::symlink(named("a"), named("soft")).unwrap();
        std::os::unix::fs::symlink("new", named("dangling")).unwrap();
        for (one, other) in [
            ("a", "a"),
            ("a", "./a"),
            ("hard", "a"),
            ("soft", "a"),
            ("new", "new"),
            ("dangling", "new"),
        ] {
            let (one, other) = (named(one), named(other));
            let written = [("--output", one.as_path())];
            let error = check_apart(&written, &[("--config", &other)]).unwrap_err().to_string();
            assert!(error.contains("--config") && error.contains("--output"), "{error}");
            let twice = [written[0], ("--debug", other.as_path())];
            assert!(check_apart(&twice, &[]).is_err(), "{twice:?}");
        }
        let (one, other) = (named("a"), named("b"));
        let null = Path::new("/dev/null");
        let written = [
            ("--output", one.as_path()),
            ("--debug", null),
            ("--hdr", null),
            ("--x", Path::new("-")),
        ];
        assert_eq!(check_apart(&written, &[("--config", &other), ("--proto", null)]), Ok(()));
    }
}
