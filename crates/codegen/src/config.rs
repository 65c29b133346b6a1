//! The options of a build script.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::borrowed::Borrowed;
use crate::choices::Choices;
use crate::ends::Ends;
use crate::service::Generator;

/// What to generate, and where to write it.
pub struct Config {
    prost: prost_build::Config,
    choices: Choices,
    ends: Ends,
    out_dir: Option<PathBuf>,
}

impl Config {
    /// Servers, with all methods inline, written to cargo's `OUT_DIR`.
    pub fn new() -> Self {
        Self::of(Ends::Server)
    }

    /// Clients and no servers, for a crate that uses `bookend-client` alone. Written to cargo's
    /// `OUT_DIR`.
    pub fn client() -> Self {
        Self::of(Ends::Client)
    }

    fn of(ends: Ends) -> Self {
        let mut prost = prost_build::Config::new();
        let runtime = ends.runtime();
        prost.prost_path(format!("{runtime}::prost"));
        prost.prost_types_path(format!("{runtime}::prost_types"));
        Config { prost, choices: Choices::default(), ends, out_dir: None }
    }

    /// Clients in addition to the servers, for a crate that uses both libraries.
    pub fn with_client(mut self) -> Self {
        if self.ends == Ends::Server {
            self.ends = Ends::Both;
        }
        self
    }

    /// Gives the unary method `package.Service/Method` a responder, so that another thread may
    /// answer it later.
    pub fn deferred(mut self, method: impl Into<String>) -> Self {
        self.choices.deferred.insert(method.into());
        self
    }

    /// Handles the method `package.Service/Method`, unary or streaming, on the server's pool, where
    /// it may block.
    pub fn pool(mut self, method: impl Into<String>) -> Self {
        self.choices.on_pool.insert(method.into());
        self
    }

    /// Gives the unary method `package.Service/Method` views of its requests and writers of its
    /// replies, which allocate nothing: see the module `borrowed` of the generated code.
    pub fn borrowed(mut self, method: impl Into<String>) -> Self {
        self.choices.borrowed.insert(method.into());
        self
    }

    /// Writes to this folder instead of `OUT_DIR`.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Also writes a file with this name that contains all packages as nested modules, for use with
    /// `bookend_server::include_protos!`. Needed where packages use each other's messages.
    pub fn include_file(mut self, name: impl AsRef<Path>) -> Self {
        self.prost.include_file(name.as_ref());
        self
    }

    /// Sets options of the message generator: attributes, `bytes`, boxed fields, extern paths.
    pub fn messages(mut self, set: impl FnOnce(&mut prost_build::Config)) -> Self {
        set(&mut self.prost);
        self
    }

    /// Compiles `protos`, which are found below one of the folders `includes`. Writes one file
    /// `PACKAGE.rs` for each package, and the descriptors that server reflection needs.
    ///
    /// # Errors
    /// When a file is missing or wrong; when a named method does not exist, is named twice, cannot
    /// be deferred because it streams, or has messages that cannot be borrowed; or when the output
    /// cannot be written.
    pub fn compile(
        mut self,
        protos: &[impl AsRef<Path>],
        includes: &[impl AsRef<Path>],
    ) -> Result<(), Error> {
        let mut compiler = protox::Compiler::new(includes)?;
        compiler.include_source_info(true).include_imports(true).open_files(protos)?;
        let descriptors = compiler.file_descriptor_set();
        self.choices.check(&descriptors)?;
        let borrowed = Borrowed::new(&descriptors, &self.choices)?;
        if self.out_dir.is_none() {
            announce_inputs(compiler.files().filter_map(|file| file.path()));
        }
        let out_dir = self.output_folder()?;
        let mut embedded = String::new();
        if self.ends.has_server() {
            // Without comments, since reflection's clients do not show them. Encoded by the
            // compiler, which keeps custom options.
            let bare = compiler.include_source_info(false).encode_file_descriptor_set();
            embedded = write_descriptors(&out_dir, &bare)?;
        }
        let generator = Generator::new(self.choices, borrowed, self.ends, embedded);
        self.prost.service_generator(Box::new(generator));
        self.prost.out_dir(&out_dir).compile_fds(descriptors)?;
        Ok(())
    }

    fn output_folder(&self) -> io::Result<PathBuf> {
        let from_cargo = || env::var_os("OUT_DIR").map(PathBuf::from);
        self.out_dir.clone().or_else(from_cargo).ok_or_else(|| {
            let message = "OUT_DIR is not set: call this from a build script, or give a folder";
            io::Error::new(io::ErrorKind::NotFound, message)
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

fn announce_inputs<'a>(paths: impl Iterator<Item = &'a Path>) {
    for path in paths {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// Writes the encoded set and returns the file's name. The name depends on the content, so that two
/// calls with one `OUT_DIR` do not overwrite each other's file.
fn write_descriptors(out_dir: &Path, encoded: &[u8]) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    encoded.hash(&mut hasher);
    let name = format!("descriptors-{:016x}.bin", hasher.finish());
    fs::write(out_dir.join(&name), encoded)?;
    Ok(name)
}
