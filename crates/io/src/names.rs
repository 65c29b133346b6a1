//! Values that have a name on the command line and in reports.

/// A name that none of the values of a type has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is {}", .allowed.join(", "))]
pub struct UnknownName {
    /// The names that there are.
    pub allowed: Vec<&'static str>,
}

/// Gives the values of an enum names.
macro_rules! named {
    ($enum:ident { $($value:ident = $name:literal),* }) => {
        impl $enum {
            /// Every value.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// The name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                match name {
                    $($name => Ok(Self::$value),)*
                    _ => Err($crate::UnknownName { allowed: vec![$($name),*] }),
                }
            }
        }
    };
}

pub(crate) use named;

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
