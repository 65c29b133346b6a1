//! Messages that are read and written in place, for methods that asked for that.

use std::collections::BTreeMap;

use prost_types::FileDescriptorSet;

use crate::Error;
use crate::choices::Choices;

mod message;
mod names;
mod schema;
mod view_code;
mod writer_code;

use message::BorrowedMessage;
use schema::ProtoSchema;

/// The messages of chosen methods, by the package of their service.
#[derive(Debug, Default)]
pub(crate) struct Borrowed {
    messages: BTreeMap<String, BTreeMap<String, BorrowedMessage>>,
}

impl Borrowed {
    /// Finds the messages of the methods that `choices` names, and those within them.
    ///
    /// # Errors
    /// If one of them cannot be read or written in place.
    pub fn new(descriptors: &FileDescriptorSet, choices: &Choices) -> Result<Self, Error> {
        let schema = ProtoSchema::new(descriptors);
        let mut borrowed = Borrowed::default();
        for method in &choices.borrowed {
            schema
                .of_method(method)
                .and_then(|method| {
                    let messages = borrowed.messages.entry(method.package).or_default();
                    schema.collect(&method.request, messages)?;
                    schema.collect(&method.reply, messages)?;
                    schema::check_names(messages)
                })
                .map_err(|why| Error::NotBorrowable { method: method.clone(), why })?;
        }
        Ok(borrowed)
    }

    /// The name of a message's view or writer without that word: `.shop.v1.Order.Item` is
    /// `OrderItem`.
    pub fn name(&self, package: &str, message: &str) -> &str {
        &self.messages[package][message].name
    }

    /// The module `borrowed` of a package; empty if nothing in it is borrowed.
    pub fn module_code(&self, package: &str) -> String {
        let Some(messages) = self.messages.get(package) else {
            return String::new();
        };
        let code: String = messages
            .values()
            .map(|message| view_code::of(message) + &writer_code::of(message))
            .collect();
        format!(
            "/// Messages that are read and written in place.\n\
             #[allow(clippy::all, dead_code, missing_docs)]\n\
             pub mod borrowed {{\n\
             \x20   use ::bookend_server::borrowed as support;\n\
             {code}}}\n"
        )
    }
}
