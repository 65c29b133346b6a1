//! The code of one service: its trait, its server type, and how calls reach the trait.

use std::fmt::{self, Write};

use prost_build::{Method, Service, ServiceGenerator};

use crate::choices::{Choices, qualified};

/// Writes a trait and a server type for each service.
pub(crate) struct Generator {
    choices: Choices,
    descriptors: String,
}

impl Generator {
    /// `descriptors` is the name of the file with the encoded set, in the folder of the generated
    /// ones.
    pub(crate) fn new(choices: Choices, descriptors: String) -> Self {
        Generator { choices, descriptors }
    }

    fn shape(&self, service: &Service, method: &Method) -> Shape {
        let service = qualified(&service.package, &service.proto_name);
        let name = format!("{service}/{}", method.proto_name);
        let unary = !method.client_streaming && !method.server_streaming;
        match unary {
            _ if self.choices.on_pool.contains(&name) => Shape::Pool(Sides::of(method)),
            true if self.choices.deferred.contains(&name) => Shape::Deferred,
            true => Shape::Inline,
            false => Shape::Stream(Sides::of(method)),
        }
    }

    fn write_service(&self, service: &Service, out: &mut String) -> fmt::Result {
        let methods: Vec<_> =
            service.methods.iter().map(|method| (method, self.shape(service, method))).collect();
        write_trait(service, &methods, out)?;
        write_server_type(service, out)?;
        write_implementation(service, &methods, out)
    }
}

impl ServiceGenerator for Generator {
    fn generate(&mut self, service: Service, out: &mut String) {
        self.write_service(&service, out).expect("writing to a String does not fail");
    }

    fn finalize_package(&mut self, _package: &str, out: &mut String) {
        let descriptors = &self.descriptors;
        write!(
            out,
            "/// The encoded `FileDescriptorSet` of the files that were compiled together.\n\
             pub const FILE_DESCRIPTOR_SET: &[u8] = ::core::include_bytes!({descriptors:?});\n"
        )
        .expect("writing to a String does not fail");
    }
}

/// How the calls of a method are handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Inline,
    Deferred,
    Stream(Sides),
    Pool(Sides),
}

/// Which sides of a method have more than one message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Neither,
    Server,
    Client,
    Both,
}

impl Sides {
    fn of(method: &Method) -> Self {
        match (method.client_streaming, method.server_streaming) {
            (false, false) => Sides::Neither,
            (false, true) => Sides::Server,
            (true, false) => Sides::Client,
            (true, true) => Sides::Both,
        }
    }
}

type Methods<'a> = [(&'a Method, Shape)];

fn write_trait(service: &Service, methods: &Methods, out: &mut String) -> fmt::Result {
    if service.comments.leading.is_empty() {
        let name = qualified(&service.package, &service.proto_name);
        writeln!(out, "/// The service `{name}`.")?;
    }
    service.comments.append_with_indent(0, out);
    writeln!(
        out,
        "pub trait {}: ::core::marker::Send + ::core::marker::Sync + 'static {{",
        service.name
    )?;
    for (method, shape) in methods {
        if method.comments.leading.is_empty() {
            writeln!(out, "    /// The method `{}`.", method.proto_name)?;
        }
        method.comments.append_with_indent(1, out);
        write_function(method, *shape, out)?;
    }
    writeln!(out, "}}")
}

fn write_function(method: &Method, shape: Shape, out: &mut String) -> fmt::Result {
    let (name, request, reply) = (&method.name, &method.input_type, &method.output_type);
    let context = match shape {
        Shape::Pool(_) => "&::bookend_server::PoolContext",
        _ => "&::bookend_server::Context<'_>",
    };
    writeln!(out, "    fn {name}(\n        &self,")?;
    match shape {
        Shape::Stream(_) => {}
        Shape::Inline | Shape::Deferred | Shape::Pool(Sides::Neither | Sides::Server) => {
            writeln!(out, "        request: {request},")?;
        }
        Shape::Pool(Sides::Client | Sides::Both) => {
            writeln!(out, "        requests: ::bookend_server::RequestReceiver<{request}>,")?;
        }
    }
    if let Shape::Pool(Sides::Server | Sides::Both) = shape {
        writeln!(out, "        replies: ::bookend_server::ReplySender<{reply}>,")?;
    }
    writeln!(out, "        context: {context},")?;
    match shape {
        Shape::Inline | Shape::Pool(Sides::Neither | Sides::Client) => {
            writeln!(out, "    ) -> ::core::result::Result<{reply}, ::bookend_server::Status>;")
        }
        Shape::Pool(Sides::Server | Sides::Both) => {
            writeln!(out, "    ) -> ::core::result::Result<(), ::bookend_server::Status>;")
        }
        Shape::Deferred => {
            writeln!(out, "        responder: ::bookend_server::Responder<{reply}>,\n    );")
        }
        Shape::Stream(_) => writeln!(
            out,
            "    ) -> ::std::boxed::Box<dyn ::bookend_server::StreamHandler<{request}, {reply}>>;"
        ),
    }
}

fn write_server_type(service: &Service, out: &mut String) -> fmt::Result {
    let name = &service.name;
    let wire_name = qualified(&service.package, &service.proto_name);
    write!(
        out,
        "/// Serves an implementation of [`{name}`].\n\
         #[derive(Debug, Clone)]\n\
         pub struct {name}Server<T>(T);\n\
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

fn write_implementation(service: &Service, methods: &Methods, out: &mut String) -> fmt::Result {
    let name = &service.name;
    write!(
        out,
        "impl<T: {name}> ::bookend_server::Service for {name}Server<T> {{\n\
         \x20   fn name(&self) -> &'static str {{\n\
         \x20       Self::NAME\n\
         \x20   }}\n\
         \x20   fn methods(&self) -> &'static [::bookend_server::MethodDescriptor] {{\n\
         \x20       &[\n"
    )?;
    for (method, shape) in methods {
        write_method_entry(method, *shape, out)?;
    }
    write!(
        out,
        "\x20       ]\n\
         \x20   }}\n\
         \x20   fn descriptors(&self) -> &'static [u8] {{\n\
         \x20       FILE_DESCRIPTOR_SET\n\
         \x20   }}\n"
    )?;
    write_dispatch(methods, out)?;
    write_stream_dispatch(methods, out)?;
    write_pool_dispatch(methods, out)?;
    writeln!(out, "}}")
}

fn write_method_entry(method: &Method, shape: Shape, out: &mut String) -> fmt::Result {
    let kind = match shape {
        Shape::Inline => "Inline",
        Shape::Deferred => "Deferred",
        Shape::Stream(_) => "Stream",
        Shape::Pool(Sides::Neither | Sides::Server) => "Pool",
        Shape::Pool(Sides::Client | Sides::Both) => "PoolStream",
    };
    writeln!(
        out,
        "            ::bookend_server::MethodDescriptor {{ name: {:?}, kind: ::bookend_server::HandlerKind::{kind} }},",
        method.proto_name
    )
}

fn write_dispatch(methods: &Methods, out: &mut String) -> fmt::Result {
    write!(
        out,
        "\x20   fn call(\n\
         \x20       &self,\n\
         \x20       method: usize,\n\
         \x20       request: &[u8],\n\
         \x20       context: &::bookend_server::Context<'_>,\n\
         \x20       reply: ::bookend_server::Reply<'_>,\n\
         \x20   ) {{\n"
    )?;
    let is_called = |shape| matches!(shape, Shape::Inline | Shape::Deferred);
    if !methods.iter().any(|(_, shape)| is_called(*shape)) {
        writeln!(out, "        let _ = (method, request, context);")?;
        return writeln!(out, "        reply.no_such_method()\n    }}");
    }
    writeln!(out, "        match method {{")?;
    for (index, (method, shape)) in methods.iter().enumerate() {
        write_arm(index, method, *shape, out)?;
    }
    writeln!(out, "            _ => reply.no_such_method(),\n        }}\n    }}")
}

fn write_arm(index: usize, method: &Method, shape: Shape, out: &mut String) -> fmt::Result {
    let name = &method.name;
    match shape {
        Shape::Inline => write!(
            out,
            "            {index} => ::bookend_server::codec::inline(request, reply, |request| {{\n\
             \x20               self.0.{name}(request, context)\n\
             \x20           }}),\n"
        ),
        Shape::Deferred => write!(
            out,
            "            {index} => ::bookend_server::codec::deferred(request, reply, \
             |request, responder| {{\n\
             \x20               self.0.{name}(request, context, responder)\n\
             \x20           }}),\n"
        ),
        Shape::Stream(_) | Shape::Pool(_) => Ok(()),
    }
}

fn write_stream_dispatch(methods: &Methods, out: &mut String) -> fmt::Result {
    let joined: Vec<_> = methods
        .iter()
        .enumerate()
        .filter_map(|(index, (method, shape))| match shape {
            // The adapter between handler and connection depends on which side has one message.
            Shape::Stream(Sides::Client) => Some((index, method, "client_stream")),
            Shape::Stream(Sides::Both) => Some((index, method, "stream")),
            Shape::Stream(_) => Some((index, method, "server_stream")),
            _ => None,
        })
        .collect();
    if joined.is_empty() {
        return Ok(());
    }
    write!(
        out,
        "\x20   fn open(\n\
         \x20       &self,\n\
         \x20       method: usize,\n\
         \x20       context: &::bookend_server::Context<'_>,\n\
         \x20   ) -> ::core::option::Option<::std::boxed::Box<dyn ::bookend_server::InlineStream>> {{\n\
         \x20       match method {{\n"
    )?;
    for (index, method, join) in joined {
        let name = &method.name;
        write!(
            out,
            "            {index} => ::core::option::Option::Some(\n\
             \x20               ::bookend_server::codec::{join}(self.0.{name}(context)),\n\
             \x20           ),\n"
        )?;
    }
    writeln!(out, "            _ => ::core::option::Option::None,")?;
    writeln!(out, "        }}\n    }}")
}

fn write_pool_dispatch(methods: &Methods, out: &mut String) -> fmt::Result {
    let pooled: Vec<_> = methods
        .iter()
        .enumerate()
        .filter_map(|(index, (method, shape))| match shape {
            Shape::Pool(sides) => Some((index, method, *sides)),
            _ => None,
        })
        .collect();
    if pooled.is_empty() {
        return Ok(());
    }
    write!(
        out,
        "\x20   fn work(&self, method: usize, call: ::bookend_server::PoolCall) {{\n\
         \x20       match method {{\n"
    )?;
    for (index, method, sides) in pooled {
        let (name, (function, arguments)) = (&method.name, pool_function(sides));
        write!(
            out,
            "            {index} => ::bookend_server::codec::{function}(call, |{arguments}| {{\n\
             \x20               self.0.{name}({arguments})\n\
             \x20           }}),\n"
        )?;
    }
    writeln!(out, "            _ => call.no_such_method(),")?;
    writeln!(out, "        }}\n    }}")
}

/// The adapter from a handler to a call on the pool, and the handler's arguments.
fn pool_function(sides: Sides) -> (&'static str, &'static str) {
    match sides {
        Sides::Neither => ("pool_unary", "request, context"),
        Sides::Server => ("pool_server_stream", "request, replies, context"),
        Sides::Client => ("pool_client_stream", "requests, context"),
        Sides::Both => ("pool_stream", "requests, replies, context"),
    }
}
