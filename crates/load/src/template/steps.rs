//! Has a template count what it does: the engine's own limits are those of a loop and of the depth,
//! and thirty templates that call the next one twice are a billion.

use super::budget;
use gotmpl::parse::{
    ActionNode, BranchNode, CommandNode, Expr, ListNode, Node, PipeNode, Pos, SmolStr,
};
use gotmpl::{Template, Value};
use std::sync::{Arc, LazyLock};

/// The function that counts a step. It prints nothing.
const STEP: &str = "bookendStep";

/// The template, which counts the passes of its loops and the templates that it calls.
pub(super) fn counted(template: Template) -> Template {
    static NOTHING: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));
    let step = |_: &[Value]| budget::step().map(|()| Value::String(Arc::clone(&NOTHING)));
    let names: Vec<String> = template.templates().into_iter().map(str::to_owned).collect();
    // The engine's own limit of loops is left to the one that counts everything.
    let template = template.max_range_iters(0).func(STEP, step);
    names.iter().fold(template, |template, name| match template.lookup(name).map(counted_list) {
        Some(tree) => template.add_parse_tree(name, tree),
        None => template,
    })
}

fn counted_list(list: &ListNode) -> ListNode {
    let nodes = list.nodes.iter().flat_map(|node| match node {
        Node::Template(called) => vec![step_at(called.pos), node.clone()],
        Node::Range(branch) => {
            let mut counted = counted_branch(branch);
            counted.body.nodes.insert(0, step_at(branch.pos));
            vec![Node::Range(counted)]
        }
        Node::If(branch) => vec![Node::If(counted_branch(branch))],
        Node::With(branch) => vec![Node::With(counted_branch(branch))],
        Node::List(list) => vec![Node::List(counted_list(list))],
        Node::Text(_) | Node::Action(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {
            vec![node.clone()]
        }
    });
    ListNode { pos: list.pos, nodes: nodes.collect() }
}

fn counted_branch(branch: &BranchNode) -> BranchNode {
    BranchNode {
        body: counted_list(&branch.body),
        else_body: branch.else_body.as_ref().map(counted_list),
        ..branch.clone()
    }
}

fn step_at(pos: Pos) -> Node {
    let args = vec![Expr::Identifier(pos, SmolStr::new(STEP))];
    let commands = vec![CommandNode { pos, args }];
    let pipe = PipeNode { pos, decl: Vec::new(), commands, is_assign: false };
    Node::Action(ActionNode { pos, pipe })
}
