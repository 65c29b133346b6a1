//! Server reflection: clients ask which services there are and how they are declared.

mod descriptors;

use std::sync::Arc;

use crate::{
    Code, Context, InlineStream, MethodDescriptor, Replies, Reply, Service, Status, StreamHandler,
};
use descriptors::Descriptors;
use v1::server_reflection_request::MessageRequest;
use v1::server_reflection_response::MessageResponse;
use v1::{ServerReflectionRequest, ServerReflectionResponse, ServerReflectionServer};

#[allow(clippy::enum_variant_names, reason = "the names are the protocol's")]
mod v1 {
    crate::include_proto!("grpc.reflection.v1");
}

/// Both versions of the reflection service, which describe `services` and themselves.
///
/// [`crate::ServerBuilder::reflection`] adds them; this is for programs that do so by hand.
pub fn services(services: &[Arc<dyn Service>]) -> [Arc<dyn Service>; 2] {
    let mut names: Vec<String> = services.iter().map(|service| service.name().into()).collect();
    names.extend([ServerReflectionServer::<Reflection>::NAME.into(), ALPHA.into()]);
    names.sort();
    let sets = services.iter().map(|service| service.descriptors());
    let descriptors = Descriptors::new(sets.chain([v1::FILE_DESCRIPTOR_SET]));
    let reflection = Reflection(Arc::new(Known { names, descriptors }));
    let alpha = Alpha(ServerReflectionServer::new(reflection.clone()));
    [Arc::new(ServerReflectionServer::new(reflection)), Arc::new(alpha)]
}

const ALPHA: &str = "grpc.reflection.v1alpha.ServerReflection";

struct Known {
    names: Vec<String>,
    descriptors: Descriptors,
}

#[derive(Clone)]
struct Reflection(Arc<Known>);

impl v1::ServerReflection for Reflection {
    fn server_reflection_info(
        &self,
        _context: &Context<'_>,
    ) -> Box<dyn StreamHandler<ServerReflectionRequest, ServerReflectionResponse>> {
        Box::new(self.clone())
    }
}

impl StreamHandler<ServerReflectionRequest, ServerReflectionResponse> for Reflection {
    fn on_message(
        &mut self,
        request: ServerReflectionRequest,
        replies: &mut Replies<'_, '_, ServerReflectionResponse>,
    ) -> Result<(), Status> {
        let answer = request.message_request.as_ref().map_or_else(
            || Err(Status::new(Code::InvalidArgument, "the request asks for nothing")),
            |question| self.0.answer(question),
        );
        replies.send(&ServerReflectionResponse {
            valid_host: request.host.clone(),
            original_request: Some(request),
            message_response: Some(answer.unwrap_or_else(error_response)),
        });
        Ok(())
    }
}

impl Known {
    fn answer(&self, question: &MessageRequest) -> Result<MessageResponse, Status> {
        let descriptors = &self.descriptors;
        let found = match question {
            MessageRequest::ListServices(_) => return Ok(self.list()),
            MessageRequest::AllExtensionNumbersOfType(name) => return self.extensions(name),
            MessageRequest::FileByFilename(name) => descriptors.file_named(name),
            MessageRequest::FileContainingSymbol(name) => descriptors.file_of_symbol(name),
            MessageRequest::FileContainingExtension(extension) => descriptors
                .file_of_extension(&extension.containing_type, extension.extension_number),
        };
        let file = found.ok_or_else(|| Status::new(Code::NotFound, not_found(question)))?;
        let file_descriptor_proto = descriptors.with_imports(file);
        Ok(MessageResponse::FileDescriptorResponse(v1::FileDescriptorResponse {
            file_descriptor_proto,
        }))
    }

    fn list(&self) -> MessageResponse {
        let named = |name: &String| v1::ServiceResponse { name: name.clone() };
        let service = self.names.iter().map(named).collect();
        MessageResponse::ListServicesResponse(v1::ListServiceResponse { service })
    }

    fn extensions(&self, message: &str) -> Result<MessageResponse, Status> {
        if self.descriptors.file_of_symbol(message).is_none() {
            return Err(Status::new(Code::NotFound, format!("no message type {message:?}")));
        }
        let response = v1::ExtensionNumberResponse {
            base_type_name: message.into(),
            extension_number: self.descriptors.extensions_of(message),
        };
        Ok(MessageResponse::AllExtensionNumbersResponse(response))
    }
}

fn not_found(question: &MessageRequest) -> String {
    match question {
        MessageRequest::FileByFilename(name) => format!("no file {name:?}"),
        MessageRequest::FileContainingExtension(extension) => {
            let (message, number) = (&extension.containing_type, extension.extension_number);
            format!("no extension {number} of {message:?}")
        }
        MessageRequest::FileContainingSymbol(name)
        | MessageRequest::AllExtensionNumbersOfType(name)
        | MessageRequest::ListServices(name) => format!("no symbol {name:?}"),
    }
}

fn error_response(status: Status) -> MessageResponse {
    MessageResponse::ErrorResponse(v1::ErrorResponse {
        error_code: status.code as i32,
        error_message: status.message,
    })
}

/// The older version of the service: the same messages under another name.
struct Alpha(ServerReflectionServer<Reflection>);

impl Service for Alpha {
    fn name(&self) -> &'static str {
        ALPHA
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        self.0.methods()
    }

    fn descriptors(&self) -> &'static [u8] {
        self.0.descriptors()
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        self.0.call(method, request, context, reply);
    }

    fn open(&self, method: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        self.0.open(method, context)
    }
}
