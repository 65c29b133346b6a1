//! Which services the shared definitions have, and the message that is sent to each.

use bookend_contract::input;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A service definition with a message for its first method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name of the `.proto` file.
    pub proto: String,
    /// Name of the file with the message.
    pub json: String,
    /// `pkg.Service` of every service in it.
    services: Vec<String>,
}

/// A definition cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct DefinitionError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

impl Definition {
    /// Whether `pkg.Service/Method` is a call of one of its services.
    pub fn serves(&self, method: &str) -> bool {
        let service = method.split('/').next().unwrap_or(method);
        self.services.iter().any(|known| known == service)
    }
}

/// Every `NAME.proto` in `folder` that has a message `NAME.json` next to it, by name.
///
/// # Errors
/// When the folder or a file in it cannot be read.
pub fn definitions(folder: &Path) -> Result<Vec<Definition>, DefinitionError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| DefinitionError { path, error }
    };
    let mut definitions = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        let json = path.with_extension("json");
        if path.extension().is_none_or(|extension| extension != "proto") || !json.exists() {
            continue;
        }
        let text = File::open(&path)
            .and_then(|opened| input::text(opened, input::MAX_BYTES))
            .map_err(failed(&path))?;
        definitions.push(Definition {
            proto: file_name(&path),
            json: file_name(&json),
            services: services(&text),
        });
    }
    definitions.sort_by(|a, b| a.proto.cmp(&b.proto));
    Ok(definitions)
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The names alone are wanted, and these definitions are ours: no parser is needed for them.
fn services(text: &str) -> Vec<String> {
    let named = |line: &str, keyword: &str| {
        let rest = line.trim().strip_prefix(keyword)?.strip_prefix(' ')?;
        let name = rest.split([' ', ';', '{']).next()?;
        Some(name.to_owned())
    };
    let package = text.lines().find_map(|line| named(line, "package"));
    text.lines()
        .filter_map(|line| named(line, "service"))
        .map(|service| match &package {
            Some(package) => format!("{package}.{service}"),
            None => service,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_by_its_package() {
        let text = "syntax = \"proto3\";\npackage a.b;\nservice C {\n  rpc D (E) returns (F);\n}\n";
        assert_eq!(services(text), ["a.b.C"]);
        assert_eq!(services("service Echo{}"), ["Echo"]);
    }

    #[test]
    fn every_definition_of_this_project_that_has_a_message_is_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
        let found = definitions(&folder).expect("the folder is in the tree");
        let serving = |method: &str| found.iter().filter(|each| each.serves(method)).count();
        assert_eq!(serving("helloworld.Greeter/SayHello"), 1);
        assert_eq!(serving("complex_proto.Greeter/SayHello"), 1);
        assert_eq!(serving("nobody.Nothing/Here"), 0);
    }
}
