//! What the operating system says, in words for people.

use std::io;

/// The reason of an error without its number: `permission denied`, `no such file or folder`.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        // The standard library's word for it is "entity not found".
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        kind => kind.to_string(),
    }
}
