//! Any template, rendered as Go renders it.

use super::error::CallTemplateError;
use super::pieces::Piece;
use super::text::CallText;
use super::variables::{CallFacts, MethodFacts, Variable};
use super::{analysis, blocks, budget, functions, steps};
use gotmpl::{MissingKey, Template, Value};
use prost_reflect::MethodDescriptor;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

const NAME: &str = "data";

/// Which templates there may be, and what they know of their method.
#[derive(Clone, Debug)]
pub(crate) struct Language {
    pub method: Arc<MethodFacts>,
    /// Whether templates may call functions other than Go's own.
    pub calls_functions: bool,
}

impl Language {
    /// The language of templates for calls of that method.
    pub fn new(method: &MethodDescriptor, calls_functions: bool) -> Self {
        Self { method: Arc::new(MethodFacts::new(method)), calls_functions }
    }
}

/// A compiled template.
#[derive(Clone)]
pub(crate) struct Engine {
    text: Arc<str>,
    template: Arc<Template>,
    method: Arc<MethodFacts>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Engine").field(&self.text).finish()
    }
}

/// What a text is, as a template.
pub(crate) enum Compiled {
    /// Pieces in a row.
    Pieces(Vec<Piece>),
    /// Something that has to be rendered.
    Engine(Engine),
}

impl Engine {
    /// The template of a text.
    pub fn new(text: &str, language: &Language) -> Result<Self, CallTemplateError> {
        Ok(Self::counted(text, parsed(text, language)?, language))
    }

    fn counted(text: &str, template: Template, language: &Language) -> Self {
        Self {
            text: Arc::from(text),
            template: Arc::new(steps::counted(template)),
            method: Arc::clone(&language.method),
        }
    }

    /// Compiles a text, to no more than it needs.
    pub fn compile(text: &str, language: &Language) -> Result<Compiled, CallTemplateError> {
        let template = parsed(text, language)?;
        let Some(tree) = template.lookup(NAME) else {
            return Ok(Compiled::Pieces(Vec::new()));
        };
        if let Some(pieces) = analysis::pieces(tree, &language.method, language.calls_functions) {
            return Ok(Compiled::Pieces(pieces));
        }
        let depends_on_call = analysis::depends_on_call(tree);
        let engine = Self::counted(text, template, language);
        if depends_on_call {
            return Ok(Compiled::Engine(engine));
        }
        let text = engine.render(&CallFacts::default())?;
        Ok(Compiled::Pieces(vec![Piece::Text(text)]))
    }

    /// The text of one call.
    pub fn render(&self, facts: &CallFacts<'_>) -> Result<String, CallTemplateError> {
        let variables = self.variables(facts);
        budget::begin();
        let mut text = CallText::default();
        let rendered = self.template.execute_template_fmt(&mut text, NAME, &variables);
        text.after(rendered).map_err(|error| CallTemplateError::new(&self.text, &error))
    }

    fn variables(&self, facts: &CallFacts<'_>) -> Value {
        let texts = self
            .method
            .texts
            .iter()
            .map(|(name, text)| (*name, Value::String(Arc::from(text.as_str()))));
        let flags = self.method.flags.iter().map(|(name, flag)| (*name, Value::Bool(*flag)));
        let of_call = Variable::FIELDS.into_iter().map(|(name, variable)| {
            let mut text = Vec::new();
            let value = match variable.number(facts) {
                Some(number) => Value::Int(number),
                None => {
                    variable.write(facts, &mut text);
                    Value::String(Arc::from(String::from_utf8_lossy(&text)))
                }
            };
            (name, value)
        });
        let all: BTreeMap<Arc<str>, Value> = texts
            .chain(flags)
            .chain(of_call)
            .map(|(name, value)| (Arc::from(name), value))
            .collect();
        Value::Map(Arc::new(all))
    }
}

fn parsed(text: &str, language: &Language) -> Result<Template, CallTemplateError> {
    blocks::check(text)?;
    let template = Template::new(NAME).missing_key(MissingKey::Error);
    functions::added_to(template, language.calls_functions)
        .parse(text)
        .map_err(|error| CallTemplateError::new(text, &error))
}
