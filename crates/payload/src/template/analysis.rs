//! What can be said of a template before it is rendered: whether it depends on the call, and
//! whether it does no more than put variables into a text.

use super::functions;
use super::pieces::Piece;
use super::text::TEXT_MAX_BYTES;
use super::variables::{MethodFacts, Variable};
use gotmpl::parse::{BranchNode, Expr, ListNode, Node, Number, PipeNode, SmolStr};

/// The pieces of a template that does no more than put variables into a text; `None` for any other.
/// `calls_functions`: whether functions may be called.
pub(crate) fn pieces(
    tree: &ListNode,
    method: &MethodFacts,
    calls_functions: bool,
) -> Option<Vec<Piece>> {
    let of_node = |node: &Node| match node {
        Node::Text(text) => Some(Piece::Text(text.text.to_string())),
        Node::Action(action) => of_action(&action.pipe, method, calls_functions),
        _ => None,
    };
    let pieces: Vec<Piece> = tree.nodes.iter().map(of_node).collect::<Option<_>>()?;
    // What is too long is for the engine to refuse.
    let random_bytes = pieces.iter().fold(0, |sum: i64, piece| match piece {
        Piece::Variable(Variable::RandomString(length)) => sum.saturating_add((*length).max(0)),
        _ => sum,
    });
    (random_bytes <= TEXT_MAX_BYTES as i64).then_some(pieces)
}

fn of_action(pipe: &PipeNode, method: &MethodFacts, calls_functions: bool) -> Option<Piece> {
    let [command] = pipe.commands.as_slice() else {
        return None;
    };
    if !pipe.decl.is_empty() {
        return None;
    }
    match command.args.as_slice() {
        [Expr::Field(_, path)] => {
            let [name] = path.as_slice() else {
                return None;
            };
            Variable::of_field(name)
                .map(Piece::Variable)
                .or_else(|| method.text(name).map(Piece::Text))
        }
        [Expr::Identifier(_, name), arguments @ ..] if calls_functions => {
            function(name, arguments).map(Piece::Variable)
        }
        _ => None,
    }
}

/// A call of one of ghz's own functions.
fn function(name: &str, arguments: &[Expr]) -> Option<Variable> {
    let integer = |argument: &Expr| match argument {
        Expr::Number(_, Number::Int(number)) => Some(*number),
        _ => None,
    };
    match (name, arguments) {
        ("newUUID", []) => Some(Variable::Uuid),
        ("randomString", [length]) => Some(Variable::RandomString(integer(length)?)),
        ("randomInt", [from, before]) => {
            let (from, before) = (integer(from)?, integer(before)?);
            (from < before).then_some(Variable::RandomInt(from, before))
        }
        _ => None,
    }
}

/// Whether a template may give another text in each call.
pub(crate) fn depends_on_call(tree: &ListNode) -> bool {
    tree.nodes.iter().any(|node| match node {
        Node::List(list) => depends_on_call(list),
        Node::Action(action) => pipe_depends(&action.pipe),
        Node::If(branch) | Node::Range(branch) | Node::With(branch) => branch_depends(branch),
        // What it renders is not looked at.
        Node::Template(_) => true,
        Node::Define(define) => depends_on_call(&define.body),
        Node::Text(_) | Node::Break(_) | Node::Continue(_) => false,
    })
}

fn branch_depends(branch: &BranchNode) -> bool {
    let other = branch.else_body.as_ref();
    pipe_depends(&branch.pipe)
        || depends_on_call(&branch.body)
        || other.is_some_and(depends_on_call)
}

fn pipe_depends(pipe: &PipeNode) -> bool {
    pipe.commands.iter().flat_map(|command| &command.args).any(expression_depends)
}

fn expression_depends(expression: &Expr) -> bool {
    let begins_so = |path: &[SmolStr]| path.first().is_none_or(|name| is_of_the_call(name));
    match expression {
        // All variables at once.
        Expr::Dot(_) => true,
        Expr::Field(_, path) => begins_so(path),
        // `$` is all variables at once too; other variables depend on what they are set to.
        Expr::Variable(_, name, path) => name == "$" && begins_so(path),
        Expr::Identifier(_, name) => functions::depends_on_call(name),
        Expr::Pipe(_, pipe) => pipe_depends(pipe),
        Expr::Chain(_, inner, _) => expression_depends(inner),
        Expr::String(..) | Expr::Number(..) | Expr::Bool(..) | Expr::Nil(_) => false,
    }
}

fn is_of_the_call(name: &str) -> bool {
    Variable::of_field(name).is_some()
}
