//! Lists in the order in which their elements first appear.

/// Each element once.
pub fn each_once<T: PartialEq>(elements: impl IntoIterator<Item = T>) -> Vec<T> {
    grouped(elements.into_iter().map(|element| (element, ())))
        .into_iter()
        .map(|(element, _)| element)
        .collect()
}

/// Each key once, with all of its values.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
