//! Text cut to a number of characters.

/// The text up to the last word that fits, with an ellipsis if something is left out.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split(' ') {
        let wide = short.chars().count() + word.chars().count() + " …".chars().count();
        if wide > width {
            break;
        }
        short.push_str(word);
        short.push(' ');
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_seen_to_be() {
        assert_eq!(shortened("nine and a half", 15), "nine and a half");
        assert_eq!(shortened("nine and a half", 12), "nine and a …");
        assert_eq!(shortened("nine", 3), "…");
    }
}
