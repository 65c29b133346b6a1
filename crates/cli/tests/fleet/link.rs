//! How a relay carries bytes: what a test sets, and its form on the way to the relay.

use std::time::Duration;

/// How a relay carries bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// From those who connect to the server.
    pub forward: Direction,
    /// From the server to those who connect.
    pub back: Direction,
    /// What happens to connections.
    pub connections: Connections,
}

/// How one direction carries bytes. They keep their order whatever it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// How long bytes that arrive from now on take at least.
    pub delay: Duration,
    /// How much longer they take at most. Seeded random numbers choose.
    pub jitter: Duration,
    /// All bytes wait, also those on the way.
    pub stalled: bool,
}

/// What happens to connections, those that there are and those that come. A connection that is cut
/// stays so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// They carry bytes.
    #[default]
    Carried,
    /// Both ends get a reset.
    Reset,
    /// They stay open, and all bytes vanish.
    Silenced,
}

impl Link {
    /// The same delay in both directions.
    pub fn delayed(delay: Duration) -> Self {
        let direction = Direction { delay, ..Direction::default() };
        Self { forward: direction, back: direction, ..Self::default() }
    }

    /// As a line, for [`Self::of_line`].
    pub fn to_line(self) -> String {
        let direction = |of: Direction| {
            format!("{} {} {}", of.delay.as_nanos(), of.jitter.as_nanos(), of.stalled)
        };
        format!("{} {} {:?}", direction(self.forward), direction(self.back), self.connections)
    }

    /// What [`Self::to_line`] has made. `None` if it has not.
    pub fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let link = Self {
            forward: Direction::of_words(&mut words)?,
            back: Direction::of_words(&mut words)?,
            connections: Connections::of_word(words.next()?)?,
        };
        words.next().is_none().then_some(link)
    }
}

impl Direction {
    fn of_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let delay = Duration::from_nanos(words.next()?.parse().ok()?);
        let jitter = Duration::from_nanos(words.next()?.parse().ok()?);
        Some(Self { delay, jitter, stalled: words.next()?.parse().ok()? })
    }
}

impl Connections {
    fn of_word(word: &str) -> Option<Self> {
        let all = [Self::Carried, Self::Reset, Self::Silenced];
        all.into_iter().find(|each| format!("{each:?}") == word)
    }
}

#[test]
fn a_link_comes_back_from_its_line() {
    let delay = Duration::from_millis(7);
    let forward = Direction { delay, jitter: Duration::from_nanos(1), stalled: true };
    let link = Link { forward, connections: Connections::Silenced, ..Link::default() };
    assert_eq!(Link::of_line(&link.to_line()), Some(link));
    assert_eq!(Link::of_line(&format!("{} more", link.to_line())), None);
    assert_eq!(Link::of_line("1 2 true"), None);
}
