//! Flags that go to another machine, with the files that they name.

use super::{CallFlags, LoadFlags};
use crate::echo::echo_files;
use crate::options::{CallOptions, FlagsError, SchemaSource};
use crate::prepare::PrepareError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bookend_contract::secrets;
use bookend_payload::given_file::{self, DATA_MAX_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The words of a command line and what they refer to on the machine where they were typed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SentFlags {
    /// The words behind the name of the command.
    words: Vec<String>,
    /// By flag: the content of the file that it names, in base64.
    files: Vec<(String, String)>,
    /// What was on standard input, in base64.
    input: String,
    /// The names of the files as reports have them.
    names: Map<String, Value>,
}

impl SentFlags {
    /// These flags with their files. `words` is what they were read from, and `input` what was on
    /// standard input. A schema is compiled here, with all that it imports.
    ///
    /// # Errors
    /// A file cannot be read, or is no schema.
    pub fn read(flags: &LoadFlags, words: Vec<String>, input: &[u8]) -> Result<Self, PrepareError> {
        let call = CallOptions::from_flags(&flags.call)?;
        let mut files = Vec::new();
        for (flag, file) in flags.files_read() {
            if !matches!(flag, "--config" | "--proto" | "<") {
                let bytes = given_file::bytes(file, DATA_MAX_BYTES).map_err(FlagsError::from)?;
                files.push((flag.to_owned(), STANDARD.encode(bytes)));
            }
        }
        if let SchemaSource::Proto { file, import_paths } = &call.schema {
            let schema = crate::prepare::from_proto(file, import_paths)?;
            files.push(("--protoset".to_owned(), STANDARD.encode(schema.encode())));
        }
        let names = echo_files(flags, &call);
        let names = if flags.call.show_secrets { names } else { secrets::in_options(&names) };
        let names = names.as_object().cloned().unwrap_or_default();
        Ok(Self { words, files, input: STANDARD.encode(input), names })
    }

    /// The flags as they are read on this machine, with their files in `folder`, and what was on
    /// standard input.
    ///
    /// # Errors
    /// A file cannot be written, or the words are no flags.
    pub fn flags(&self, folder: &Path) -> io::Result<(LoadFlags, Vec<u8>)> {
        let other = |error: String| io::Error::other(error);
        let mut flags =
            LoadFlags::of_words(&self.words).map_err(|error| other(error.to_string()))?;
        flags.config = None;
        flags.call.proto = None;
        for (number, (flag, content)) in self.files.iter().enumerate() {
            let file = folder.join(number.to_string());
            let bytes = STANDARD.decode(content).map_err(|error| other(error.to_string()))?;
            // A private key may be among them.
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).open(&file)?.write_all(&bytes)?;
            *flags.file_of(flag).ok_or_else(|| other(format!("{flag} names no file")))? =
                Some(file);
        }
        let input = STANDARD.decode(&self.input).map_err(|error| other(error.to_string()))?;
        Ok((flags, input))
    }

    /// Gives the files in a report's options the names that they have where they were typed.
    pub fn rename_files(&self, options: &mut Value) {
        if let Value::Object(options) = options {
            for (flag, name) in &self.names {
                match name {
                    Value::Null => options.remove(flag),
                    name => options.insert(flag.clone(), name.clone()),
                };
            }
        }
    }

    /// Whether there is a private key among the files.
    pub fn has_private_key(&self) -> bool {
        self.files.iter().any(|(flag, _)| flag == "--key")
    }
}

impl CallFlags {
    /// Words that mean the same call, but for its files, which [`SentFlags`] has.
    pub fn words(&self) -> Vec<String> {
        let time = |time: Duration| format!("{}ns", time.as_nanos());
        let texts = [
            ("call", &self.method),
            ("cname", &self.cname),
            ("authority", &self.authority),
            ("data", &self.data),
            ("metadata", &self.metadata),
            ("reflect-metadata", &self.reflect_metadata),
        ];
        let switches = [
            ("insecure", self.insecure),
            ("skipTLS", self.skip_tls),
            ("binary", self.binary),
            ("disable-template-data", self.disable_template_data),
            ("disable-template-functions", self.disable_template_functions),
            ("show-secrets", self.show_secrets),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
        let switches = switches.into_iter().filter(|(_, is_on)| *is_on);
        texts
            .map(|(name, text)| format!("--{name}={text}"))
            .chain(switches.map(|(name, _)| format!("--{name}")))
            .chain([
                format!("--timeout={}", time(self.timeout)),
                format!("--connect-timeout={}", time(self.connect_timeout)),
            ])
            .chain(self.targets.iter().cloned())
            .collect()
    }
}

impl LoadFlags {
    /// The file that a flag names.
    fn file_of(&mut self, flag: &str) -> Option<&mut Option<PathBuf>> {
        let call = &mut self.call;
        Some(match flag {
            "--protoset" => &mut call.protoset,
            "--cacert" => &mut call.cacert,
            "--cert" => &mut call.cert,
            "--key" => &mut call.key,
            "--data-file" => &mut call.data_file,
            "--binary-file" => &mut call.binary_file,
            "--metadata-file" => &mut call.metadata_file,
            "--rate-file" => &mut self.pacing.rate_file,
            "--thrift" => &mut self.thrift.file,
            _ => return None,
        })
    }
}
