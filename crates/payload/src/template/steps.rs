//! Has a template count what it does: the engine's own limits are those of a loop and of the depth,
//! and thirty templates that call the next one twice are a billion. And has it print values as Go
//! prints them.

use super::budget;
use super::functions::fits_integer;
use super::text;
use gotmpl::parse::{
    ActionNode, BranchNode, CommandNode, Expr, ListNode, Node, Number, PipeNode, Pos, SmolStr,
};
use gotmpl::{Result, Template, Value};
use std::sync::{Arc, LazyLock};

/// The function that counts as many steps as it is given. It prints nothing.
const STEP: &str = "bookendStep";
/// The function that makes a text of the value of an action.
const PRINT: &str = "bookendPrint";

/// The template, which counts the passes of its loops, the templates that it calls, and what is
/// evaluated in them.
pub(super) fn counted(template: Template) -> Template {
    let names: Vec<String> = template.templates().into_iter().map(str::to_owned).collect();
    // The engine's own limit of loops is left to the one that counts everything.
    let template = template.max_range_iters(0).func(STEP, step).func(PRINT, print);
    names.iter().fold(template, |template, name| match template.lookup(name).map(counted_list) {
        Some(tree) => template.add_parse_tree(name, tree),
        None => template,
    })
}

fn step(arguments: &[Value]) -> Result<Value> {
    static NOTHING: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));
    let steps = arguments.first().and_then(Value::as_int).and_then(|it| u32::try_from(it).ok());
    budget::steps(steps.unwrap_or(u32::MAX)).map(|()| Value::String(Arc::clone(&NOTHING)))
}

fn print(arguments: &[Value]) -> Result<Value> {
    arguments.iter().try_for_each(fits_integer)?;
    match arguments {
        [Value::Nil] => Ok(Value::String(Arc::from("<no value>"))),
        [Value::String(text)] => Ok(Value::String(Arc::clone(text))),
        [value] => text::of(value, "it").map(|text| Value::String(Arc::from(text))),
        _ => Ok(Value::Nil),
    }
}

/// The nodes with a step in front of them for each expression that any pass evaluates.
fn counted_list(list: &ListNode) -> ListNode {
    let counted = list.nodes.iter().map(|node| match node {
        Node::Action(action) if action.pipe.decl.is_empty() => Node::Action(printed(action)),
        Node::Range(branch) => Node::Range(counted_branch(branch)),
        Node::If(branch) => Node::If(counted_branch(branch)),
        Node::With(branch) => Node::With(counted_branch(branch)),
        Node::List(list) => Node::List(counted_list(list)),
        Node::Text(_)
        | Node::Action(_)
        | Node::Template(_)
        | Node::Define(_)
        | Node::Break(_)
        | Node::Continue(_) => node.clone(),
    });
    let steps = list.nodes.iter().map(of_node).fold(1, i64::saturating_add);
    let nodes = std::iter::once(step_at(list.pos, steps)).chain(counted).collect();
    ListNode { pos: list.pos, nodes }
}

fn counted_branch(branch: &BranchNode) -> BranchNode {
    BranchNode {
        body: counted_list(&branch.body),
        else_body: branch.else_body.as_ref().map(counted_list),
        ..branch.clone()
    }
}

/// What prints its value prints it as Go does.
fn printed(action: &ActionNode) -> ActionNode {
    let mut action = action.clone();
    let args = vec![Expr::Identifier(action.pos, SmolStr::new(PRINT))];
    action.pipe.commands.push(CommandNode { pos: action.pos, args });
    action
}

/// The expressions of a node, without those of the lists in it. Texts that are written and
/// functions count for themselves, those of the engine do not.
fn of_node(node: &Node) -> i64 {
    match node {
        Node::Action(action) => of_pipe(&action.pipe) - 1,
        Node::If(branch) | Node::Range(branch) | Node::With(branch) => of_pipe(&branch.pipe),
        Node::Template(called) => called.pipe.as_ref().map_or(1, of_pipe),
        Node::Text(_) | Node::List(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => 0,
    }
}

fn of_pipe(pipe: &PipeNode) -> i64 {
    let expressions = pipe.commands.iter().flat_map(|command| &command.args);
    expressions.map(of_expression).fold(0, i64::saturating_add)
}

fn of_expression(expression: &Expr) -> i64 {
    match expression {
        Expr::Pipe(_, pipe) => of_pipe(pipe),
        Expr::Chain(_, inner, _) => of_expression(inner),
        _ => 1,
    }
}

fn step_at(pos: Pos, steps: i64) -> Node {
    let number = Expr::Number(pos, Number::Int(steps));
    let args = vec![Expr::Identifier(pos, SmolStr::new(STEP)), number];
    let commands = vec![CommandNode { pos, args }];
    let pipe = PipeNode { pos, decl: Vec::new(), commands, is_assign: false };
    Node::Action(ActionNode { pos, pipe })
}
