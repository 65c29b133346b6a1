//! Flags of ghz that are recognised and refused, because ignoring them would measure something else
//! than what was asked for. A flag with ghz's own default as its value changes nothing and is
//! accepted.

use crate::terminal::Failure;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

const UNARY: &str = "calls are unary so far";

/// A flag of ghz that is not built.
#[derive(Debug)]
struct Unsupported {
    long: &'static str,
    short: Option<char>,
    /// Values that change nothing; a switch has none.
    unset: Option<&'static [&'static str]>,
    reason: &'static str,
}

const fn value(
    long: &'static str,
    unset: &'static [&'static str],
    reason: &'static str,
) -> Unsupported {
    Unsupported { long, short: None, unset: Some(unset), reason }
}

const fn switch(long: &'static str, reason: &'static str) -> Unsupported {
    Unsupported { long, short: None, unset: None, reason }
}

impl Unsupported {
    const fn short(self, letter: char) -> Unsupported {
        Unsupported { short: Some(letter), ..self }
    }

    fn to_arg(&self) -> Arg {
        let arg = Arg::new(self.long).long(self.long).short(self.short).hide(true);
        match self.unset {
            Some(_) => arg.action(ArgAction::Set),
            None => arg.action(ArgAction::SetTrue),
        }
    }

    fn is_asked_for(&self, matches: &ArgMatches) -> bool {
        match self.unset {
            Some(unset) => matches
                .get_one::<String>(self.long)
                .is_some_and(|value| !unset.contains(&value.as_str())),
            None => matches.get_flag(self.long),
        }
    }
}

const ZERO: &[&str] = &["0", "0s"];
const NEVER: &[&str] = &[];

static UNSUPPORTED: [Unsupported; 10] = [
    value("stream-interval", ZERO, UNARY),
    value("stream-call-duration", ZERO, UNARY),
    value("stream-call-count", ZERO, UNARY),
    switch("stream-dynamic-messages", UNARY),
    value("reflect-metadata", NEVER, "reflection is asked without metadata so far"),
    value("skipFirst", ZERO, "--warmup TIME leaves out what comes first"),
    value("debug", NEVER, "there is no log of single calls so far"),
    switch("enable-compression", "messages are sent as they are so far").short('e'),
    value("max-recv-message-size", NEVER, "messages of any size are taken so far"),
    value("max-send-message-size", NEVER, "messages of any size are sent so far"),
];

/// These flags on one command line.
#[derive(Clone, Debug, Default)]
pub struct UnsupportedFlags {
    /// The first that asks for something.
    refused: Option<&'static Unsupported>,
}

impl UnsupportedFlags {
    /// # Errors
    /// [`Failure`] naming the flag and what there is instead.
    pub fn refuse(&self) -> Result<(), Failure> {
        match self.refused {
            Some(Unsupported { long, reason, .. }) => {
                Err(Failure::usage(format!("--{long} is not built yet: {reason}")))
            }
            None => Ok(()),
        }
    }
}

impl Args for UnsupportedFlags {
    fn augment_args(command: Command) -> Command {
        command.args(UNSUPPORTED.iter().map(Unsupported::to_arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for UnsupportedFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<UnsupportedFlags, Error> {
        let refused = UNSUPPORTED.iter().find(|flag| flag.is_asked_for(matches));
        Ok(UnsupportedFlags { refused })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::LoadArguments;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        arguments: LoadArguments,
    }

    #[test]
    fn flags_that_change_nothing_are_accepted() {
        let nothing = ["--disable-template-functions", "--keepalive=0", "--skipFirst=0"];
        let unwritten = Alone::parse_from(["load"]).arguments.flags;
        for word in nothing {
            let read =
                Alone::try_parse_from(["load", word]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.arguments.unsupported.refuse(), Ok(()), "{word}");
            assert_eq!(read.arguments.flags, unwritten, "{word}");
        }
    }
}
