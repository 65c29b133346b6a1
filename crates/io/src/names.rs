//! Values that have a name on the command line and in reports.

/// A name that none of the values of a type has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is {}", .allowed.join(", "))]
pub struct UnknownName {
    /// The names that there are.
    pub allowed: Vec<&'static str>,
}

/// The value of that name.
pub(crate) fn find<T: Copy>(
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    let found = all.iter().find(|value| name_of(**value) == name);
    found
        .copied()
        .ok_or_else(|| UnknownName { allowed: all.iter().map(|value| name_of(*value)).collect() })
}

#[cfg(test)]
mod tests {
    use crate::{Io, Wait};

    #[test]
    fn every_name_is_read_back_as_its_value() {
        for io in Io::ALL {
            assert_eq!(io.to_string().parse(), Ok(io));
        }
        for wait in Wait::ALL {
            assert_eq!(wait.to_string().parse(), Ok(wait));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_there_are() {
        let refusal = "fast".parse::<Io>().unwrap_err();
        assert_eq!(refusal.to_string(), "there is auto, blocking, epoll, uring");
        let refusal = "Sleep".parse::<Wait>().unwrap_err();
        assert_eq!(refusal.to_string(), "there is sleep, spin");
    }
}
