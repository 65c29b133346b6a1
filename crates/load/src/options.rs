//! What the flags of a call mean: which method is called with which message, and how its server is
//! reached.

mod error;

pub use error::FlagsError;

use crate::flags::{CallFlags, is_standard_input};
use bookend_client::targets::{LoadBalancingPolicy, TargetNames, Targets};
use bookend_contract::duration::{nanoseconds, unless_zero};
use bookend_contract::input::MAX_BYTES;
use bookend_io::tls::{Authorities, ClientConfig, Connectors, Identity, TlsAdvice, Trust};
use bookend_payload::data::{DataSource, Templates};
use bookend_payload::given_file;
use bookend_payload::metadata::CallMetadata;
use serde::de::IgnoredAny;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The meaning of [`CallFlags`], which cannot be built from flags that contradict each other.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Where the servers listen.
    pub targets: TargetNames,
    /// The `:authority` of every request, where it is not that of the request's target. With TLS
    /// the server's certificate has to be for its host.
    pub authority: Option<String>,
    /// TLS; `None` is plain text.
    pub tls: Option<ClientConfig>,
    /// What the command calls its flags for TLS.
    pub tls_advice: &'static TlsAdvice,
    /// Where the shape of messages comes from.
    pub schema: SchemaSource,
    /// The method, as `pkg.Service/Method` or `pkg.Service.Method`.
    pub method: String,
    /// Where the request messages come from.
    pub data: DataSource,
    /// What `{{` in data and metadata means.
    pub templates: Templates,
    /// The metadata of every call.
    pub metadata: CallMetadata,
    /// The metadata of calls that ask for the schema, where it is not that of every call.
    pub reflection_metadata: Option<CallMetadata>,
    /// The deadline of each call; `None` is no deadline.
    pub timeout: Option<Duration>,
    /// How long a connection may take to be made; `None` is as long as the system allows.
    pub connect_timeout: Option<Duration>,
}

/// Where the shape of messages comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaSource {
    /// A `.proto` file.
    Proto {
        /// The file.
        file: PathBuf,
        /// Folders in which imports are looked for, besides the file's own and the working one.
        import_paths: Vec<PathBuf>,
    },
    /// A compiled descriptor set.
    Protoset(PathBuf),
    /// The server's reflection service.
    Reflection,
}

/// How long to try an address where connections may take for ever.
const ADDRESS_CHECK_TIMEOUT: Duration = Duration::from_secs(10);

impl CallOptions {
    /// The meaning of the flags. Reads the file of `--metadata-file`, and the certificates that TLS
    /// needs.
    ///
    /// # Errors
    /// [`FlagsError`] naming the flag to change.
    pub fn from_flags(flags: &CallFlags) -> Result<Self, FlagsError> {
        let targets = flags.targets.join(",").parse()?;
        let templates = match (flags.disable_template_data, flags.disable_template_functions) {
            (true, _) => Templates::Literal,
            (false, true) => Templates::Variables,
            (false, false) => Templates::Functions,
        };
        Ok(Self {
            targets,
            authority: authority(flags)?,
            tls_advice: flags.tls_advice,
            schema: schema(flags),
            data: data(flags)?,
            templates,
            metadata: metadata(flags, templates)?,
            reflection_metadata: reflection_metadata(flags)?,
            timeout: unless_zero(flags.timeout),
            connect_timeout: unless_zero(flags.connect_timeout),
            method: method(flags).ok_or(FlagsError::CallMissing)?,
            // Last, because it may read a hundred certificates.
            tls: tls(flags)?,
        })
    }

    /// The `:authority` of calls to the first target.
    pub fn authority(&self) -> String {
        let own = || self.targets.first().authority();
        self.authority.clone().unwrap_or_else(own)
    }

    /// Finds the addresses of the targets. `strategy` says which addresses of a name are meant;
    /// `None` leaves it to the name.
    ///
    /// # Errors
    /// [`FlagsError::Target`] when a name has no address.
    pub fn find_targets(
        &self,
        strategy: Option<LoadBalancingPolicy>,
    ) -> Result<Targets, FlagsError> {
        let timeout = self.connect_timeout.unwrap_or(ADDRESS_CHECK_TIMEOUT);
        let found = Targets::resolve(&self.targets, strategy, timeout)?;
        Ok(match &self.authority {
            Some(_) => found.without_authorities(),
            None => found,
        })
    }

    /// TLS for the connections of a run; `None` is plain text. The certificate of each target has
    /// to be for the target's name, or for the authority if the flags give one.
    ///
    /// # Errors
    /// [`FlagsError::Tls`] where no certificate can be for such a name.
    pub fn connectors(&self) -> Result<Option<Connectors>, FlagsError> {
        let Some(config) = &self.tls else {
            return Ok(None);
        };
        let first = config.connector(&self.authority())?;
        if self.authority.is_some() {
            return Ok(Some(Connectors::for_all(first)));
        }
        let others: Vec<_> = self
            .targets
            .iter()
            .skip(1)
            .map(|name| config.connector(&name.authority()))
            .collect::<Result<_, _>>()?;
        Ok(Some(Connectors::for_each(first, others)))
    }
}

/// As in ghz, blanks around it are removed: they come along from where it was copied.
fn method(flags: &CallFlags) -> Option<String> {
    let method = flags.method.as_deref().map(str::trim).filter(|method| !method.is_empty());
    method.map(str::to_owned)
}

/// The `:authority` of every request, where the flags give one. The server's certificate has to be
/// for its host, so `--cname` sets it as well: as in grpc-go, and so in ghz.
fn authority(flags: &CallFlags) -> Result<Option<String>, FlagsError> {
    let cname = flags.cname.as_ref().filter(|_| !flags.insecure);
    match (&flags.authority, cname) {
        (Some(authority), Some(cname)) if authority != cname => {
            Err(FlagsError::TwoNames { authority: authority.clone(), cname: cname.clone() })
        }
        (authority, cname) => Ok(authority.as_ref().or(cname).cloned()),
    }
}

/// ghz's order: `--proto` before `--protoset`, and reflection when there is neither.
fn schema(flags: &CallFlags) -> SchemaSource {
    match (&flags.proto, &flags.protoset) {
        (Some(file), _) => {
            SchemaSource::Proto { file: file.clone(), import_paths: flags.import_folders() }
        }
        (None, Some(file)) => SchemaSource::Protoset(file.clone()),
        (None, None) => SchemaSource::Reflection,
    }
}

fn data(flags: &CallFlags) -> Result<DataSource, FlagsError> {
    let sources = [
        ("--data", flags.data.is_some()),
        ("--data-file", flags.data_file.is_some()),
        ("--binary", flags.binary),
        ("--binary-file", flags.binary_file.is_some()),
    ];
    let mut given = sources.into_iter().filter(|(_, is_given)| *is_given);
    if let (Some((one, _)), Some((other, _))) = (given.next(), given.next()) {
        return Err(FlagsError::Conflict(one, other));
    }
    Ok(match (&flags.data, &flags.data_file, &flags.binary_file) {
        (Some(text), _, _) if text == "@" => DataSource::JsonInput,
        (Some(text), _, _) => match typed(text, ("-d", "-D"))? {
            Some(json) => DataSource::Json(json.to_owned()),
            None => DataSource::Nothing,
        },
        (None, Some(file), _) if is_standard_input(file) => DataSource::JsonInput,
        (None, Some(file), _) => DataSource::JsonFile(file.clone()),
        (None, None, Some(file)) if is_standard_input(file) => DataSource::BinaryInput,
        (None, None, Some(file)) => DataSource::BinaryFile(file.clone()),
        (None, None, None) if flags.binary => DataSource::BinaryInput,
        (None, None, None) => DataSource::Nothing,
    })
}

/// JSON that was typed after the first flag; `None`: nothing but the flag was.
///
/// # Errors
/// It is the name of a file, which the second flag takes. `@` before it is curl's way to say so.
fn typed<'a>(
    text: &'a str,
    (flag, file_flag): (&'static str, &'static str),
) -> Result<Option<&'a str>, FlagsError> {
    // Of a file that a shell has put here.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let file = text.strip_prefix('@').unwrap_or(text);
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !is_json && Path::new(file).metadata().is_ok_and(|facts| !facts.is_dir()) {
        return Err(FlagsError::FileAsText { flag, file_flag, file: file.to_owned() });
    }
    Ok(Some(text))
}

fn metadata(flags: &CallFlags, templates: Templates) -> Result<CallMetadata, FlagsError> {
    match (&flags.metadata, &flags.metadata_file) {
        (Some(_), Some(_)) => Err(FlagsError::Conflict("--metadata", "--metadata-file")),
        (Some(text), None) => match typed(text, ("-m", "-M"))? {
            Some(json) => Ok(CallMetadata::from_json(json, "--metadata", templates)?),
            None => Ok(CallMetadata::default()),
        },
        (None, Some(file)) => {
            let place = file.display().to_string();
            Ok(CallMetadata::from_json(&given_file::text(file, MAX_BYTES)?, &place, templates)?)
        }
        (None, None) => Ok(CallMetadata::default()),
    }
}

fn reflection_metadata(flags: &CallFlags) -> Result<Option<CallMetadata>, FlagsError> {
    let read = |text: &String| match text.trim() {
        "" => Ok(CallMetadata::default()),
        json => CallMetadata::from_json(json, "--reflect-metadata", Templates::Literal),
    };
    Ok(flags.reflect_metadata.as_ref().map(read).transpose()?)
}

/// Reads the files that the flags name, or this machine's own store of authorities.
fn tls(flags: &CallFlags) -> Result<Option<ClientConfig>, FlagsError> {
    if flags.insecure {
        return Ok(None);
    }
    let files = match (&flags.cert, &flags.key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (Some(_), None) => return Err(FlagsError::HalfIdentity("--cert", "--key")),
        (None, Some(_)) => return Err(FlagsError::HalfIdentity("--key", "--cert")),
    };
    let trust = match &flags.cacert {
        _ if flags.skip_tls => Trust::Anyone,
        Some(file) => Trust::Signed(Authorities::read(file)?),
        None => Trust::Signed(Authorities::of_this_machine()?),
    };
    let identity = files.map(|(certificate, key)| Identity::read(certificate, key)).transpose()?;
    let config = ClientConfig::new(trust, identity)?.advice(flags.tls_advice).log_keys()?;
    let handshake_timeout_ns = unless_zero(flags.connect_timeout).map_or(u64::MAX, nanoseconds);
    Ok(Some(config.handshake_timeout_ns(handshake_timeout_ns)))
}
