//! Of which type the message in a `google.protobuf.Any` is.

use super::cursor::{Cursor, Found, shown};
use super::failure::Failure;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use std::borrow::Cow;

/// The name of the member that says it.
pub(super) const TYPE: &str = "@type";

/// The type of a message that is in an `Any`.
pub(super) struct AnyType<'t> {
    pub url: Cow<'t, str>,
    pub message: MessageDescriptor,
}

/// Looks for the type among the members of the object that comes next; it need not be the first.
/// `None` where that has no members: an `Any` without a message.
pub(super) fn find_type<'t>(
    mut cursor: Cursor<'t>,
    pool: &DescriptorPool,
) -> Result<Option<AnyType<'t>>, Failure> {
    let mut is_empty = true;
    let mut found = None;
    cursor.object(|cursor, key| {
        is_empty = false;
        if key.name != TYPE {
            return cursor.skip().map(drop);
        }
        if found.is_some() {
            return Err(Failure::new(key.end, format!("{TYPE} is given twice")));
        }
        let value = cursor.value()?;
        let Found::Text(url) = value else {
            return Err(cursor.unexpected(&value, "the URL of a type"));
        };
        let message = resolve(&url, pool).ok_or_else(|| {
            let reason = format!("{TYPE} {} is no message of this schema", shown(&url));
            Failure::new(cursor.at(), reason)
        })?;
        found = Some(AnyType { url, message });
        Ok(())
    })?;
    match found {
        None if !is_empty => Err(Failure::new(cursor.at(), format!("there is no {TYPE}"))),
        found => Ok(found),
    }
}

/// The message whose name stands behind the last slash. Google's are known everywhere.
fn resolve(url: &str, pool: &DescriptorPool) -> Option<MessageDescriptor> {
    let name = url.rsplit('/').next().filter(|name| !name.starts_with('.'))?;
    pool.get_message_by_name(name).or_else(|| {
        let is_googles = name.starts_with("google.protobuf.");
        is_googles.then(|| DescriptorPool::global().get_message_by_name(name))?
    })
}
