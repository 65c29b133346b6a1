//! Several targets, and which of their addresses are meant.

use super::name::{TargetError, TargetName};
use std::fmt;
use std::str::FromStr;

/// Which addresses of a name are connected to: gRPC's policies of these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadBalancingPolicy {
    /// The first that can be connected to.
    PickFirst,
    /// All of them, in turn.
    RoundRobin,
}

impl LoadBalancingPolicy {
    /// The name in gRPC's service configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::PickFirst => "pick_first",
            Self::RoundRobin => "round_robin",
        }
    }
}

impl FromStr for LoadBalancingPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::PickFirst, Self::RoundRobin]
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| "there is round_robin, pick_first".to_owned())
    }
}

/// One target, or several with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetNames(Vec<TargetName>);

impl TargetNames {
    /// The first one, which stands for all where only one is possible.
    pub fn first(&self) -> &TargetName {
        self.at(0)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &TargetName> {
        self.0.iter()
    }

    /// The one of that number, from 0, in the order of [`TargetNames::iter`].
    ///
    /// # Panics
    /// If `number` is out of range.
    pub(crate) fn at(&self, number: usize) -> &TargetName {
        &self.0[number]
    }
}

impl From<TargetName> for TargetNames {
    fn from(name: TargetName) -> Self {
        Self(vec![name])
    }
}

impl FromStr for TargetNames {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let names: Vec<_> = text
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        if names.is_empty() { Err(TargetError::Missing) } else { Ok(Self(names)) }
    }
}

impl fmt::Display for TargetNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(TargetName::to_string).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_separated_by_commas_and_printed_so() {
        let names: TargetNames = "a:1, unix:/run/echo,,[::1]:3".parse().unwrap();
        assert_eq!(names.to_string(), "a:1,unix:/run/echo,[::1]:3");
        assert_eq!((names.iter().count(), names.first()), (3, &"a:1".parse().unwrap()));
        // The list of gRPC's ipv4 scheme comes to the same.
        let list: TargetNames = "ipv4:1.2.3.4:5,1.2.3.5:6".parse().unwrap();
        assert_eq!(list.iter().count(), 2);
    }

    #[test]
    fn none_and_a_wrong_one_among_good_ones_are_refused() {
        assert_eq!("".parse::<TargetNames>(), Err(TargetError::Missing));
        assert_eq!(",".parse::<TargetNames>(), Err(TargetError::Missing));
        let wrong = "a:1,b".parse::<TargetNames>().unwrap_err();
        assert_eq!(wrong.to_string(), "target b has no port: write b:50051");
    }

    #[test]
    fn policies_have_the_names_of_grpc() {
        assert_eq!("round_robin".parse(), Ok(LoadBalancingPolicy::RoundRobin));
        assert_eq!("pick_first".parse(), Ok(LoadBalancingPolicy::PickFirst));
        let refused = "grpclb".parse::<LoadBalancingPolicy>().unwrap_err();
        assert_eq!(refused, "there is round_robin, pick_first");
    }
}
