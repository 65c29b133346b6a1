//! Why a JSON text is no message, and where.

/// What is wrong with a JSON text, while the way to it is put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How many bytes of the text come before what is wrong and with it.
    pub(super) at: usize,
    /// `None` where the text is not JSON: serde_json knows what it would have to be.
    pub(super) reason: Option<String>,
    /// The way to the value, from the inside out.
    path: Vec<String>,
    /// Whether the reason names whose fault it is without the way to it.
    is_named: bool,
}

impl Failure {
    /// A value that is wrong.
    pub fn new(at: usize, reason: impl Into<String>) -> Self {
        Self { at, reason: Some(reason.into()), path: Vec::new(), is_named: false }
    }

    /// A name that is wrong. The reason says what has no such name.
    pub fn of_name(at: usize, reason: impl Into<String>) -> Self {
        Self { is_named: true, ..Self::new(at, reason) }
    }

    pub fn not_json(at: usize) -> Self {
        Self { at, reason: None, path: Vec::new(), is_named: false }
    }

    /// The same, in the field of that name or under that key.
    pub fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    /// The same, in an element of a list.
    pub fn within_element(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// `, field request.pets[1].color`; empty where no field is to blame.
    pub fn field(&self) -> String {
        let mut field = String::new();
        for step in self.path.iter().rev().filter(|_| !self.is_named) {
            let separator = match step.starts_with('[') {
                _ if field.is_empty() => ", field ",
                true => "",
                false => ".",
            };
            field.push_str(separator);
            field.push_str(step);
        }
        field
    }
}
