use std::collections::BTreeSet;
use std::fmt::{self, Write};

use prost_build::{Method, Service, ServiceGenerator};

use crate::config::qualified;

/// Writes a trait and a server type for each service.
pub(crate) struct Generator {
    deferred: BTreeSet<String>,
    descriptors: String,
}

impl Generator {
    /// `descriptors` is the name of the file, beside the generated ones, with the encoded set.
    pub(crate) fn new(deferred: BTreeSet<String>, descriptors: String) -> Self {
        Generator {
            deferred,
            descriptors,
        }
    }

    fn shape(&self, service: &Service, method: &Method) -> Shape {
        let service = qualified(&service.package, &service.proto_name);
        if method.client_streaming || method.server_streaming {
            Shape::Stream
        } else if self
            .deferred
            .contains(&format!("{service}/{}", method.proto_name))
        {
            Shape::Deferred
        } else {
            Shape::Inline
        }
    }

    fn write_service(&self, service: &Service, out: &mut String) -> fmt::Result {
        let methods: Vec<_> = service
            .methods
            .iter()
            .map(|method| (method, self.shape(service, method)))
            .collect();
        write_trait(service, &methods, out)?;
        write_server_type(service, out)?;
        write_implementation(service, &methods, out)
    }
}

impl ServiceGenerator for Generator {
    fn generate(&mut self, service: Service, out: &mut String) {
        self.write_service(&service, out)
            .expect("writing to a String does not fail");
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Inline,
    Deferred,
    Stream,
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
    writeln!(out, "    fn {name}(\n        &self,")?;
    if shape != Shape::Stream {
        writeln!(out, "        request: {request},")?;
    }
    writeln!(out, "        context: &::bookend_server::Context<'_>,")?;
    match shape {
        Shape::Inline => writeln!(
            out,
            "    ) -> ::core::result::Result<{reply}, ::bookend_server::Status>;"
        ),
        Shape::Deferred => writeln!(
            out,
            "        responder: ::bookend_server::Responder<{reply}>,\n    );"
        ),
        Shape::Stream => writeln!(
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
         \x20   fn methods(&self) -> &'static [::bookend_server::Method] {{\n\
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
    writeln!(out, "}}")
}

fn write_method_entry(method: &Method, shape: Shape, out: &mut String) -> fmt::Result {
    let kind = match shape {
        Shape::Inline => "Inline",
        Shape::Deferred => "Deferred",
        Shape::Stream => "Stream",
    };
    writeln!(
        out,
        "            ::bookend_server::Method {{ name: {:?}, kind: ::bookend_server::Kind::{kind} }},",
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
    if methods.iter().all(|(_, shape)| *shape == Shape::Stream) {
        writeln!(out, "        let _ = (method, request, context);")?;
        return writeln!(out, "        reply.no_such_method()\n    }}");
    }
    writeln!(out, "        match method {{")?;
    for (index, (method, shape)) in methods.iter().enumerate() {
        write_arm(index, method, *shape, out)?;
    }
    writeln!(
        out,
        "            _ => reply.no_such_method(),\n        }}\n    }}"
    )
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
        Shape::Stream => Ok(()),
    }
}

fn write_stream_dispatch(methods: &Methods, out: &mut String) -> fmt::Result {
    let streams = || {
        methods
            .iter()
            .enumerate()
            .filter(|(_, (_, shape))| *shape == Shape::Stream)
    };
    if streams().next().is_none() {
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
    for (index, (method, _)) in streams() {
        let (name, join) = (&method.name, joining_function(method));
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

/// What joins the handler of a streaming method to a connection: it knows which side is unary.
fn joining_function(method: &Method) -> &'static str {
    match (method.client_streaming, method.server_streaming) {
        (false, _) => "server_stream",
        (true, false) => "client_stream",
        (true, true) => "stream",
    }
}
