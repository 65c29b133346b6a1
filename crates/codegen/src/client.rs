//! The client of one service: a function for each method, which prepares a call.

use prost_build::{Method, Service};

const TYPED: &str = "::bookend_client::typed";

/// `wire_name` is the service's `package.Service`.
pub(crate) fn client_code(service: &Service, wire_name: &str) -> String {
    let name = &service.name;
    let functions: String =
        service.methods.iter().map(|method| function_code(method, wire_name)).collect();
    format!(
        "/// Calls the service `{wire_name}`.\n\
         #[allow(dead_code)]\n\
         #[derive(Debug, Clone)]\n\
         pub struct {name}Client(::bookend_client::Channel);\n\
         // A program need not call every method.\n\
         #[allow(dead_code)]\n\
         impl {name}Client {{\n\
         \x20   /// The service's name on the wire.\n\
         \x20   pub const NAME: &'static str = {wire_name:?};\n\
         \x20   /// Makes its calls over `channel`, which other clients may share.\n\
         \x20   pub fn new(channel: ::bookend_client::Channel) -> Self {{\n\
         \x20       Self(channel)\n\
         \x20   }}\n\
         {functions}}}\n"
    )
}

fn function_code(method: &Method, wire_name: &str) -> String {
    let Method { name, proto_name, input_type: request, output_type: reply, .. } = method;
    let mut code = String::new();
    if method.comments.leading.is_empty() {
        code += &format!("    /// The method `{proto_name}`.\n");
    }
    method.comments.append_with_indent(1, &mut code);
    let (kind, prepare) = match (method.client_streaming, method.server_streaming) {
        (false, false) => (format!("Unary<{reply}>"), "unary"),
        (false, true) => (format!("ServerStreaming<{reply}>"), "server_streaming"),
        (true, false) => (format!("ClientStreaming<{request}, {reply}>"), "client_streaming"),
        (true, true) => (format!("BidirectionalStreaming<{request}, {reply}>"), "bidirectional"),
    };
    let (parameter, argument) = match method.client_streaming {
        true => (String::new(), ""),
        false => (format!("        request: &{request},\n"), ", request"),
    };
    let path = format!("/{wire_name}/{proto_name}");
    code + &format!(
        "\x20   pub fn {name}(\n\
         \x20       &self,\n\
         {parameter}\
         \x20   ) -> {TYPED}::TypedCall<{TYPED}::{kind}> {{\n\
         \x20       {TYPED}::TypedCall::{prepare}(&self.0, {path:?}{argument})\n\
         \x20   }}\n"
    )
}
