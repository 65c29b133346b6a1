use crate::context::Context;
use bookend_wire::grpc::Status;

/// Looks at every call before its handler begins: authentication, quotas, headers for all answers.
///
/// Interceptors run in the order in which [`crate::ServerBuilder::intercept`] added them, on the
/// thread that reads the connection, so they must not block. For a method with one request that is
/// when the request has come, for others when the call begins. A closure is one, too:
///
/// ```
/// use bookend_server::{Code, Context, Server, Status};
///
/// let server = Server::builder().intercept(|context: &Context<'_>| {
///     match context.metadata().text("authorization") {
///         Some("Bearer secret") => Ok(()),
///         _ if context.service() == "grpc.health.v1.Health" => Ok(()),
///         _ => Err(Status::new(Code::Unauthenticated, "who are you?")),
///     }
/// });
/// # drop(server);
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// Lets the call go on, or ends it with a status. What it adds to the response by `context`
    /// goes out either way.
    ///
    /// # Errors
    /// The status that ends the call.
    fn intercept(&self, context: &Context<'_>) -> Result<(), Status>;
}

impl<F> Interceptor for F
where
    F: Fn(&Context<'_>) -> Result<(), Status> + Send + Sync + 'static,
{
    fn intercept(&self, context: &Context<'_>) -> Result<(), Status> {
        self(context)
    }
}
