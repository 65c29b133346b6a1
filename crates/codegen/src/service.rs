//! The code of one service: its trait, its server type, and how calls reach the trait.

use prost_build::{Method, Service, ServiceGenerator};

use crate::borrowed::Borrowed;
use crate::choices::{Choices, qualified};
use crate::client::client_code;
use crate::ends::Ends;

/// Writes a trait and a server type for each service, or a client, or both.
pub(crate) struct Generator {
    choices: Choices,
    borrowed: Borrowed,
    ends: Ends,
    descriptors: String,
}

impl Generator {
    /// `descriptors` is the name of the file with the encoded set, in the folder of the generated
    /// ones.
    pub(crate) fn new(
        choices: Choices,
        borrowed: Borrowed,
        ends: Ends,
        descriptors: String,
    ) -> Self {
        Generator { choices, borrowed, ends, descriptors }
    }

    fn handler(&self, service: &Service, method: &Method) -> Handler {
        let name = format!("{}/{}", wire_name(service), method.proto_name);
        if self.choices.on_pool.contains(&name) {
            Handler::Pool
        } else if method.client_streaming || method.server_streaming {
            Handler::Stream
        } else if self.choices.deferred.contains(&name) {
            Handler::Deferred
        } else if self.choices.borrowed.contains(&name) {
            Handler::Borrowed
        } else {
            Handler::Inline
        }
    }
}

impl ServiceGenerator for Generator {
    fn generate(&mut self, service: Service, out: &mut String) {
        if self.ends.has_client() {
            out.push_str(&client_code(&service, &wire_name(&service)));
        }
        if !self.ends.has_server() {
            return;
        }
        let methods: Vec<_> =
            service.methods.iter().map(|method| (method, self.handler(&service, method))).collect();
        out.push_str(&trait_code(&service, &methods, &self.borrowed));
        out.push_str(&server_code(&service));
        out.push_str(&implementation_code(&service, &methods, &self.borrowed));
    }

    fn finalize_package(&mut self, package: &str, out: &mut String) {
        if !self.ends.has_server() {
            return;
        }
        out.push_str(&self.borrowed.module_code(package));
        let descriptors = &self.descriptors;
        out.push_str(&format!(
            "/// The encoded `FileDescriptorSet` of the files that were compiled together.\n\
             {MAY_BE_UNUSED}\
             pub const FILE_DESCRIPTOR_SET: &[u8] = ::core::include_bytes!({descriptors:?});\n"
        ));
    }
}

/// One program may only call what another one serves, from the same code.
const MAY_BE_UNUSED: &str = "#[allow(dead_code)]\n";

/// How the calls of a method are handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handler {
    Inline,
    Borrowed,
    Deferred,
    Stream,
    Pool,
}

type Methods<'a> = [(&'a Method, Handler)];

fn wire_name(service: &Service) -> String {
    qualified(&service.package, &service.proto_name)
}

fn trait_code(service: &Service, methods: &Methods, borrowed: &Borrowed) -> String {
    let mut code = String::new();
    if service.comments.leading.is_empty() {
        code += &format!("/// The service `{}`.\n", wire_name(service));
    }
    service.comments.append_with_indent(0, &mut code);
    let bounds = "::core::marker::Send + ::core::marker::Sync + 'static";
    code += &format!("{MAY_BE_UNUSED}pub trait {}: {bounds} {{\n", service.name);
    for (method, handler) in methods {
        if method.comments.leading.is_empty() {
            code += &format!("    /// The method `{}`.\n", method.proto_name);
        }
        method.comments.append_with_indent(1, &mut code);
        code += &match handler {
            Handler::Borrowed => borrowed_function_code(service, method, borrowed),
            _ => function_code(method, *handler),
        };
    }
    code + "}\n"
}

fn function_code(method: &Method, handler: Handler) -> String {
    let Method { name, input_type: request, output_type: reply, .. } = method;
    let on_pool = handler == Handler::Pool;
    let requests = match handler {
        Handler::Stream => None,
        Handler::Pool if method.client_streaming => {
            Some(format!("requests: ::bookend_server::RequestReceiver<{request}>"))
        }
        _ => Some(format!("request: {request}")),
    };
    let replies = (on_pool && method.server_streaming)
        .then(|| format!("replies: ::bookend_server::ReplySender<{reply}>"));
    let context = if on_pool { "PoolContext" } else { "Context<'_>" };
    let context = Some(format!("context: &::bookend_server::{context}"));
    let responder = (handler == Handler::Deferred)
        .then(|| format!("responder: ::bookend_server::Responder<{reply}>"));
    let arguments: String = [requests, replies, context, responder]
        .into_iter()
        .flatten()
        .map(|argument| format!("        {argument},\n"))
        .collect();
    let result = match handler {
        Handler::Deferred => String::new(),
        Handler::Stream => format!(
            " -> ::std::boxed::Box<dyn ::bookend_server::StreamHandler<{request}, {reply}>>"
        ),
        Handler::Inline | Handler::Borrowed | Handler::Pool => {
            let reply = if method.server_streaming { "()" } else { reply };
            format!(" -> ::core::result::Result<{reply}, ::bookend_server::Status>")
        }
    };
    format!("    fn {name}(\n        &self,\n{arguments}    ){result};\n")
}

fn borrowed_function_code(service: &Service, method: &Method, borrowed: &Borrowed) -> String {
    let name = &method.name;
    let request = borrowed.name(&service.package, &method.input_proto_type);
    let reply = borrowed.name(&service.package, &method.output_proto_type);
    format!(
        "    fn {name}(\n\
         \x20       &self,\n\
         \x20       request: borrowed::{request}View<'_>,\n\
         \x20       reply: &mut borrowed::{reply}Writer<'_>,\n\
         \x20       context: &::bookend_server::Context<'_>,\n\
         \x20   ) -> ::core::result::Result<(), ::bookend_server::Status>;\n"
    )
}

fn server_code(service: &Service) -> String {
    let name = &service.name;
    let wire_name = wire_name(service);
    format!(
        "/// Serves an implementation of [`{name}`].\n\
         {MAY_BE_UNUSED}\
         #[derive(Debug, Clone)]\n\
         pub struct {name}Server<T>(T);\n\
         {MAY_BE_UNUSED}\
         impl<T: {name}> {name}Server<T> {{\n\
         \x20   /// The service's name on the wire.\n\
         \x20   pub const NAME: &'static str = {wire_name:?};\n\
         \x20   /// Gives `service` the form that a server takes.\n\
         \x20   pub fn new(service: T) -> Self {{\n\
         \x20       Self(service)\n\
         \x20   }}\n\
         }}\n"
    )
}

fn implementation_code(service: &Service, methods: &Methods, borrowed: &Borrowed) -> String {
    let name = &service.name;
    let descriptors: String =
        methods.iter().map(|(method, handler)| descriptor(method, *handler)).collect();
    let call = call_code(methods);
    let decoder =
        decoder_code(methods, |method| borrowed.name(&service.package, &method.input_proto_type));
    let (open, work) = (open_code(methods), work_code(methods));
    format!(
        "impl<T: {name}> ::bookend_server::Service for {name}Server<T> {{\n\
         \x20   fn name(&self) -> &'static str {{\n\
         \x20       Self::NAME\n\
         \x20   }}\n\
         \x20   fn methods(&self) -> &'static [::bookend_server::MethodDescriptor] {{\n\
         \x20       &[\n\
         {descriptors}\
         \x20       ]\n\
         \x20   }}\n\
         \x20   fn descriptors(&self) -> &'static [u8] {{\n\
         \x20       FILE_DESCRIPTOR_SET\n\
         \x20   }}\n\
         {call}{decoder}{open}{work}}}\n"
    )
}

fn descriptor(method: &Method, handler: Handler) -> String {
    let kind = match handler {
        Handler::Inline | Handler::Borrowed => "Inline",
        Handler::Deferred => "Deferred",
        Handler::Stream => "Stream",
        Handler::Pool if method.client_streaming => "PoolStream",
        Handler::Pool => "Pool",
    };
    let kind = format!("::bookend_server::HandlerKind::{kind}");
    let name = &method.proto_name;
    format!("            ::bookend_server::MethodDescriptor {{ name: {name:?}, kind: {kind} }},\n")
}

/// The arms of a `match` over the numbers of the methods with one of these handlers.
fn arms(
    methods: &Methods,
    handlers: &[Handler],
    arm: impl Fn(&Method, Handler) -> String,
) -> String {
    methods
        .iter()
        .enumerate()
        .filter(|(_, (_, handler))| handlers.contains(handler))
        .map(|(number, (method, handler))| {
            format!("            {number} => {},\n", arm(method, *handler))
        })
        .collect()
}

/// Has one of the server's adapters turn `input` into `parameters`, and calls the handler.
fn adapted(
    method: &Method,
    adapter: &str,
    input: &str,
    parameters: &str,
    arguments: &str,
) -> String {
    let name = &method.name;
    format!(
        "::bookend_server::codec::{adapter}({input}, |{parameters}| {{\n\
         \x20               self.0.{name}({arguments})\n\
         \x20           }})"
    )
}

/// A function that has these arms; without any, the trait's own does.
fn dispatch(signature: &str, arms: &str, otherwise: &str) -> String {
    if arms.is_empty() {
        return String::new();
    }
    format!(
        "\x20   fn {signature} {{\n\
         \x20       match method {{\n\
         {arms}\
         \x20           _ => {otherwise},\n\
         \x20       }}\n\
         \x20   }}\n"
    )
}

fn call_code(methods: &Methods) -> String {
    let handlers = [Handler::Inline, Handler::Borrowed, Handler::Deferred];
    let arms = arms(methods, &handlers, |method, handler| {
        let (adapter, parameters, arguments) = match handler {
            Handler::Borrowed => return borrowed_call(method),
            Handler::Deferred => ("deferred", "request, responder", "request, context, responder"),
            _ => ("inline", "request", "request, context"),
        };
        let input = "request, reply";
        adapted(method, adapter, input, parameters, arguments)
    });
    let signature = "call(
        &self,
        method: usize,
        request: &[u8],
        context: &::bookend_server::Context<'_>,
        reply: ::bookend_server::Reply<'_>,
    )";
    if arms.is_empty() {
        return format!(
            "    fn {signature} {{\n        let _ = (method, request, context);\n        \
             reply.no_such_method()\n    }}\n"
        );
    }
    dispatch(signature, &arms, "reply.no_such_method()")
}

fn borrowed_call(method: &Method) -> String {
    let Method { name, input_type: request, .. } = method;
    format!(
        "::bookend_server::borrowed::unary::<{request}>(request, reply, |request, reply| {{\n\
         \x20               let request = ::bookend_server::borrowed::read(request)?;\n\
         \x20               let mut reply = ::bookend_server::borrowed::MessageWriter::over(reply);\n\
         \x20               ::core::result::Result::Ok(self.0.{name}(request, &mut reply, context))\n\
         \x20           }})"
    )
}

/// `view_name` is the name of a borrowed method's request.
fn decoder_code<'a>(methods: &Methods, view_name: impl Fn(&Method) -> &'a str) -> String {
    let handlers = [Handler::Inline, Handler::Borrowed, Handler::Deferred];
    let arms = arms(methods, &handlers, |method, handler| {
        let request = &method.input_type;
        if handler == Handler::Borrowed {
            let view = format!("borrowed::{}View<'_>", view_name(method));
            return format!(
                "::core::option::Option::Some(|request| {{\n\
                 \x20               let view = ::bookend_server::borrowed::read::<{view}>(request);\n\
                 \x20               ::bookend_server::borrowed::prepared::<{request}>(request, view.is_ok())\n\
                 \x20           }})"
            );
        }
        format!("::core::option::Option::Some(::bookend_server::codec::decode::<{request}>)")
    });
    let signature = "decoder(
        &self,
        method: usize,
    ) -> ::core::option::Option<::bookend_server::RequestDecoder>";
    dispatch(signature, &arms, "::core::option::Option::None")
}

fn open_code(methods: &Methods) -> String {
    let arms = arms(methods, &[Handler::Stream], |method, _| {
        // The adapter between handler and connection depends on which side has one message.
        let adapter = match (method.client_streaming, method.server_streaming) {
            (true, false) => "client_stream",
            (true, true) => "stream",
            (false, _) => "server_stream",
        };
        let name = &method.name;
        format!(
            "::core::option::Option::Some(\n\
             \x20               ::bookend_server::codec::{adapter}(self.0.{name}(context)),\n\
             \x20           )"
        )
    });
    let signature = "open(
        &self,
        method: usize,
        context: &::bookend_server::Context<'_>,
    ) -> ::core::option::Option<::std::boxed::Box<dyn ::bookend_server::InlineStream>>";
    dispatch(signature, &arms, "::core::option::Option::None")
}

fn work_code(methods: &Methods) -> String {
    let arms = arms(methods, &[Handler::Pool], |method, _| {
        let (adapter, arguments) = match (method.client_streaming, method.server_streaming) {
            (false, false) => ("pool_unary", "request, context"),
            (false, true) => ("pool_server_stream", "request, replies, context"),
            (true, false) => ("pool_client_stream", "requests, context"),
            (true, true) => ("pool_stream", "requests, replies, context"),
        };
        adapted(method, adapter, "call", arguments, arguments)
    });
    let signature = "work(&self, method: usize, call: ::bookend_server::PoolCall)";
    dispatch(signature, &arms, "call.no_such_method()")
}
