//! Of what there may be many, the first few in words.

/// How many are named.
const NAMED_MAX: usize = 3;

/// The first few, and how many more there are: `a, b, c and 2 more`.
pub(crate) fn first_few(texts: &[String]) -> String {
    let named = texts.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_places_some_are_named() {
        let places: Vec<String> = (1..=5).map(|place| place.to_string()).collect();
        assert_eq!(first_few(&places), "1, 2, 3 and 2 more");
        assert_eq!(first_few(&places[..2]), "1, 2");
    }
}
