//! Which methods are handled otherwise than where their request arrives, with messages of prost.

use std::collections::BTreeSet;

use prost_types::FileDescriptorSet;

use crate::Error;

/// The methods, as `package.Service/Method`, that are not handled where their request arrives, or
/// whose messages are borrowed.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    pub deferred: BTreeSet<String>,
    pub on_pool: BTreeSet<String>,
    pub borrowed: BTreeSet<String>,
}

impl Choices {
    /// Checks that every chosen method exists, can be handled that way, and is chosen once.
    pub fn check(&self, descriptors: &FileDescriptorSet) -> Result<(), Error> {
        let methods = unary_by_method(descriptors);
        for wanted in self.deferred.iter().chain(&self.on_pool).chain(&self.borrowed) {
            match methods.iter().find(|(name, _)| name == wanted) {
                None => return Err(Error::UnknownMethod(wanted.clone())),
                Some((_, false)) if self.deferred.contains(wanted) => {
                    return Err(Error::StreamingMethod(wanted.clone()));
                }
                Some(_) => {}
            }
        }
        let [deferred, on_pool, borrowed] = [&self.deferred, &self.on_pool, &self.borrowed];
        let pairs = [(deferred, on_pool), (deferred, borrowed), (on_pool, borrowed)];
        match pairs.iter().find_map(|(one, other)| one.intersection(other).next()) {
            Some(both) => Err(Error::ChosenTwice(both.clone())),
            None => Ok(()),
        }
    }
}

fn unary_by_method(descriptors: &FileDescriptorSet) -> Vec<(String, bool)> {
    let mut methods = Vec::new();
    for file in &descriptors.file {
        for service in &file.service {
            for method in &service.method {
                let service = qualified(file.package(), service.name());
                let unary = !method.client_streaming() && !method.server_streaming();
                methods.push((format!("{service}/{}", method.name()), unary));
            }
        }
    }
    methods
}

pub(crate) fn qualified(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}
