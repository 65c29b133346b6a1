//! What a name resolves to.

use bookend_io::Target;

/// One address of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The address.
    pub target: Target,
    /// Which of the names it belongs to, from 0; 0 without names.
    pub name: usize,
}
