//! Names in Rust, as prost has them.

use heck::{ToSnakeCase, ToUpperCamelCase};

/// The name of a type or of a variant, as prost has it.
pub fn type_name(name: &str) -> String {
    match name.to_upper_camel_case() {
        name if name == "Self" => name + "_",
        name => name,
    }
}

/// The name of a field, as prost has it.
pub fn field_name(name: &str) -> String {
    /// Those that the compiler takes for nothing else; some may not even be raw identifiers.
    const KEYWORDS: &str = " abstract as async await become box break const continue do dyn else \
        enum false final fn for gen if impl in let loop macro match mod move mut override priv pub \
        ref return static struct trait true try type typeof unsafe unsized use virtual where while \
        yield ";
    let name = name.to_snake_case();
    match name.as_str() {
        "super" | "self" | "extern" | "crate" => name + "_",
        _ if KEYWORDS.contains(&format!(" {name} ")) => format!("r#{name}"),
        _ if name.starts_with(|first: char| first.is_numeric()) => format!("_{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_rust() {
        assert_eq!(field_name("userName"), "user_name");
        assert_eq!(field_name("type"), "r#type");
        assert_eq!(field_name("self"), "self_");
        assert_eq!(field_name("as"), "r#as");
        assert_eq!(field_name("a"), "a");
        assert_eq!(type_name("order_item"), "OrderItem");
        assert_eq!(type_name("self"), "Self_");
    }
}
