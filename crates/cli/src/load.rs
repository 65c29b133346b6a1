//! `bookend load`: from flags to a result on standard output.

mod arguments;
mod not_built;

pub use arguments::Arguments;

use crate::failure::Failure;
use crate::plan::Plan;
use bookend_load::contract::exit;
use bookend_load::contract::report::LoadReport;
use bookend_load::options::Options;
use bookend_load::output;

/// Measures, then prints or writes the result.
///
/// # Errors
/// [`Failure`] when the flags make no sense or nothing could be measured.
pub fn start(arguments: Arguments) -> Result<u8, Failure> {
    let flags = arguments.into_flags()?;
    let options = Options::from_flags(flags).map_err(Failure::usage)?;
    if let Some(file) = &options.output {
        output::check(file).map_err(Failure::usage)?;
    }
    let plan = Plan::new(options)?;
    let report = measure(&plan)?;
    let text = output::render(&report, plan.options.format);
    output::write(&text, plan.options.output.as_deref()).map_err(Failure::nothing_measured)?;
    Ok(exit::MEASURED)
}

/// The run itself.
fn measure(plan: &Plan) -> Result<LoadReport, Failure> {
    let messages = plan.payload.messages().len();
    Err(Failure::nothing_measured(format!(
        "{} ({messages} messages) is ready to be called at {}, and no worker is built yet",
        plan.method.path, plan.options.target
    )))
}
