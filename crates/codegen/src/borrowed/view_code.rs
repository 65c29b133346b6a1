//! The code of a view.

use super::message::{BorrowedMessage, FieldPlace, FieldValue, MessageField};

/// The view of a message, and the types of its choices.
pub fn of(message: &BorrowedMessage) -> String {
    let choices: String =
        (0..message.choices.len()).map(|choice| choice_code(message, choice)).collect();
    struct_code(message) + &choices + &reading_code(message) + &copying_code(message)
}

fn struct_code(message: &BorrowedMessage) -> String {
    let BorrowedMessage { name, proto_name, .. } = message;
    let mut members = String::new();
    for field in &message.fields {
        let Some(member_type) = member_type(field) else { continue };
        let name = &field.name;
        members += &format!("        /// `{name}`.\n        pub {name}: {member_type},\n");
    }
    for choice in 0..message.choices.len() {
        let name = &message.choices[choice].name;
        let member_type = choice_type(message, choice);
        members += &format!(
            "        /// `{name}`.\n        pub {name}: ::core::option::Option<{member_type}>,\n"
        );
    }
    let borrows =
        |field: &MessageField| field.value.borrows() || field.place == FieldPlace::Repeated;
    if !message.fields.iter().any(borrows) {
        // No field has a name that begins so.
        members += "        _lifetime: ::core::marker::PhantomData<&'a ()>,\n";
    }
    format!(
        "    /// `{proto_name}`, read in place.\n\
         \x20   #[derive(Clone, Copy, Debug, Default)]\n\
         \x20   pub struct {name}View<'a> {{\n\
         {members}\
         \x20   }}\n"
    )
}

/// `None` for a field of a choice.
fn member_type(field: &MessageField) -> Option<String> {
    let value = field.value.view_type();
    match field.place {
        FieldPlace::Implicit => Some(value),
        FieldPlace::Optional => Some(format!("::core::option::Option<{value}>")),
        FieldPlace::Repeated => Some(format!("support::Repeated<'a, {}>", field.value.kind())),
        FieldPlace::OneOf(_) => None,
    }
}

/// Only those that borrow have a lifetime.
fn choice_type(message: &BorrowedMessage, choice: usize) -> String {
    let borrows = message.variants(choice).any(|(field, _)| field.value.borrows());
    let lifetime = if borrows { "<'a>" } else { "" };
    format!("{}View{lifetime}", message.choices[choice].type_name)
}

fn choice_code(message: &BorrowedMessage, choice: usize) -> String {
    let variants: String = message
        .variants(choice)
        .map(|(field, variant)| {
            let (name, value) = (&field.name, field.value.view_type());
            format!("        /// `{name}`.\n        {variant}({value}),\n")
        })
        .collect();
    format!(
        "    /// `{}` of `{}`.\n\
         \x20   #[derive(Clone, Copy, Debug)]\n\
         \x20   pub enum {} {{\n\
         {variants}\
         \x20   }}\n",
        message.choices[choice].name,
        message.proto_name,
        choice_type(message, choice),
    )
}

fn reading_code(message: &BorrowedMessage) -> String {
    let arms: String = message.fields.iter().map(|field| arm(message, field)).collect();
    let numbers: Vec<_> = message.fields.iter().map(|field| field.number.to_string()).collect();
    let (name, numbers) = (&message.name, numbers.join(", "));
    format!(
        "    impl<'a> support::MessageView<'a> for {name}View<'a> {{\n\
         \x20       #[inline]\n\
         \x20       fn field(\n\
         \x20           &mut self,\n\
         \x20           key: u32,\n\
         \x20           fields: &mut support::FieldReader<'a>,\n\
         \x20       ) -> ::core::result::Result<(), support::NotInPlace> {{\n\
         \x20           match key {{\n\
         {arms}\
         \x20               _ => fields.skip(key, &[{numbers}])?,\n\
         \x20           }}\n\
         \x20           ::core::result::Result::Ok(())\n\
         \x20       }}\n\
         \x20   }}\n"
    )
}

/// Reads one field.
fn arm(message: &BorrowedMessage, field: &MessageField) -> String {
    let keys: Vec<_> = field.keys().iter().map(u32::to_string).collect();
    let (keys, name) = (keys.join(" | "), &field.name);
    let read = format!("fields.read::<{}>()?", field.value.kind());
    let is_message = matches!(field.value, FieldValue::Message(_));
    let some = "::core::option::Option::Some";
    let body = match field.place {
        FieldPlace::Implicit => format!("self.{name} = {read}"),
        FieldPlace::Optional if is_message => {
            format!("fields.once::<{}>(&mut self.{name})?", field.value.kind())
        }
        FieldPlace::Optional => format!("self.{name} = {some}({read})"),
        FieldPlace::Repeated => format!("self.{name}.note(key, fields)?"),
        FieldPlace::OneOf(choice) => {
            let choice = &message.choices[choice];
            let variant = format!("{}View::{}", choice.type_name, field.variant());
            let (member, set) = (&choice.name, format!("{some}({variant}({read}))"));
            match is_message {
                false => format!("self.{member} = {set}"),
                // It would have to be joined with the one that came before.
                true => format!(
                    "match self.{member} {{\n\
                     \x20                   {some}({variant}(_)) => {{\n\
                     \x20                       return ::core::result::Result::Err(support::NotInPlace);\n\
                     \x20                   }}\n\
                     \x20                   _ => self.{member} = {set},\n\
                     \x20               }}"
                ),
            }
        }
    };
    format!("                {keys} => {body},\n")
}

fn copying_code(message: &BorrowedMessage) -> String {
    let name = &message.name;
    let fields = message.fields.iter().filter_map(copy_of_field);
    let choices = (0..message.choices.len()).map(|choice| copy_of_choice(message, choice));
    let statements: String = fields.chain(choices).collect();
    let statements =
        if statements.is_empty() { "            let _ = writer;\n".to_owned() } else { statements };
    format!(
        "    impl {name}View<'_> {{\n\
         \x20       /// Writes all fields.\n\
         \x20       pub fn copy_to(&self, writer: &mut {name}Writer<'_>) {{\n\
         {statements}\
         \x20       }}\n\
         \x20   }}\n"
    )
}

/// `None` for a field of a choice.
fn copy_of_field(field: &MessageField) -> Option<String> {
    let name = &field.name;
    let set = set(field);
    let statement = match (field.place, &field.value) {
        (FieldPlace::OneOf(_), _) => return None,
        (FieldPlace::Repeated, FieldValue::Number(_)) | (FieldPlace::Implicit, _) => {
            format!("writer.{name}(self.{name});")
        }
        (FieldPlace::Repeated, _) => {
            format!("for value in self.{name} {{\n                {set}\n            }}")
        }
        (FieldPlace::Optional, _) => format!(
            "if let ::core::option::Option::Some(value) = self.{name} {{\n\
             \x20               {set}\n\
             \x20           }}"
        ),
    };
    Some(format!("            {statement}\n"))
}

fn copy_of_choice(message: &BorrowedMessage, choice: usize) -> String {
    let (name, type_name) = (&message.choices[choice].name, &message.choices[choice].type_name);
    let arm = |(field, variant): (&MessageField, String)| {
        let set = set(field);
        format!(
            "                ::core::option::Option::Some({type_name}View::{variant}(value)) => {{\n\
             \x20                   {set}\n\
             \x20               }}\n"
        )
    };
    let arms: String = message.variants(choice).map(arm).collect();
    format!(
        "            match self.{name} {{\n\
         {arms}\
         \x20               ::core::option::Option::None => {{}}\n\
         \x20           }}\n"
    )
}

/// Writes `value`.
fn set(field: &MessageField) -> String {
    let name = &field.name;
    match field.value {
        FieldValue::Message(_) => format!("writer.{name}(|writer| value.copy_to(writer));"),
        _ => format!("writer.{name}(value);"),
    }
}
