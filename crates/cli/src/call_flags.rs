//! The flags that `bookend load` and `bookend probe` have in common, as they are spelled: which
//! method is called, over which transport, with which message. ghz's, all of them.

use bookend_load::options::Flags;
use clap::Args;
use std::path::PathBuf;

/// Which method is called, and who knows the shape of its messages.
#[derive(Debug, Args)]
pub struct MethodFlags {
    /// The .proto file; without it and --protoset the server is asked by reflection
    #[arg(long, value_name = "FILE")]
    proto: Option<PathBuf>,
    /// The compiled descriptor set
    #[arg(long, value_name = "FILE")]
    protoset: Option<PathBuf>,
    /// Folders for imports, separated by commas
    #[arg(short, long, value_name = "LIST")]
    import_paths: Vec<String>,
    /// The method, as pkg.Service/Method or pkg.Service.Method
    #[arg(long, value_name = "METHOD")]
    call: Option<String>,
}

/// What connections are made of, and what the server is called.
#[derive(Debug, Args)]
pub struct TransportFlags {
    /// Plain text instead of TLS
    #[arg(long)]
    insecure: bool,
    /// TLS: the authorities that may sign the server's certificate [default: this machine's]
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// TLS: the client's own certificate, with --key
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// TLS: the key of --cert
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// TLS: the name that the server's certificate is for, and the :authority
    #[arg(long, value_name = "NAME")]
    cname: Option<String>,
    /// TLS: take any certificate, so that anybody may be in between
    #[arg(long = "skipTLS")]
    skip_tls: bool,
    /// The :authority of every request [default: the target]
    #[arg(long, value_name = "NAME")]
    authority: Option<String>,
}

/// What is sent.
#[derive(Debug, Args)]
pub struct MessageFlags {
    /// The request as JSON; an array is several, sent in turn; @ is standard input
    #[arg(short, long, value_name = "JSON")]
    data: Option<String>,
    /// The request as JSON in a file
    #[arg(short = 'D', long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// The request, serialized, on standard input
    #[arg(short, long)]
    binary: bool,
    /// The request, serialized, in a file
    #[arg(short = 'B', long, value_name = "FILE")]
    binary_file: Option<PathBuf>,
    /// Metadata of every call, a JSON object of strings
    #[arg(short, long, value_name = "JSON")]
    metadata: Option<String>,
    /// Metadata of every call in a file
    #[arg(short = 'M', long, value_name = "FILE")]
    metadata_file: Option<PathBuf>,
    /// Send {{ in data and metadata as it stands
    #[arg(long)]
    disable_template_data: bool,
}

impl MethodFlags {
    /// Adds them to those that a command has of its own.
    pub fn add_to(self, flags: &mut Flags) {
        let Self {
            proto,
            protoset,
            import_paths,
            call,
        } = self;
        flags.proto = proto;
        flags.protoset = protoset;
        flags.import_paths = import_paths;
        flags.call = call;
    }
}

impl TransportFlags {
    /// Adds them to those that a command has of its own.
    pub fn add_to(self, flags: &mut Flags) {
        let Self {
            insecure,
            cacert,
            cert,
            key,
            cname,
            skip_tls,
            authority,
        } = self;
        flags.insecure = insecure;
        flags.cacert = cacert;
        flags.cert = cert;
        flags.key = key;
        flags.cname = cname;
        flags.skip_tls = skip_tls;
        flags.authority = authority;
    }
}

impl MessageFlags {
    /// Adds them to those that a command has of its own.
    pub fn add_to(self, flags: &mut Flags) {
        let Self {
            data,
            data_file,
            binary,
            binary_file,
            metadata,
            metadata_file,
            disable_template_data,
        } = self;
        flags.data = data;
        flags.data_file = data_file;
        flags.binary = binary;
        flags.binary_file = binary_file;
        flags.metadata = metadata;
        flags.metadata_file = metadata_file;
        flags.disable_template_data = disable_template_data;
    }
}
