//! The flags of `bookend doctor`, as typed.

use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = r"Examples:
  bookend doctor
  bookend doctor --call rust-tonic go-grpc";

/// Arguments of `bookend doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// Check only these subjects [default: all]
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    /// Build every variant, and make one verified call through it
    #[arg(long)]
    pub call: bool,
    /// Also check what every server skips, and write it to this file, as lines of JSON
    #[arg(long, value_name = "FILE", requires = "call")]
    pub findings: Option<PathBuf>,
    /// Wait while another lab measures on this machine, instead of exiting
    #[arg(long, requires = "call")]
    pub wait_for_lock: bool,
    /// Count what is missing as failed, as suits CI
    #[arg(long)]
    pub strict: bool,
    /// Folder of subjects
    #[arg(long, value_name = "DIR", default_value = "subjects")]
    pub subjects_dir: PathBuf,
    /// Folder of service definitions
    #[arg(long, value_name = "DIR", default_value = "proto")]
    pub proto_dir: PathBuf,
}
