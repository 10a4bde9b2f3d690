//! Programs as text, for comparison.

use plugward_readers::{CallKind, List, Node, NodeFlags, NodeId, Program};

/// Returns the expressions that are not operands, in the order of evaluation, without lone constants and names.
///
/// `!` follows an expression with an unused value, `'` one that is written with escapes.
pub(crate) fn dump(program: &Program) -> Vec<String> {
    let mut used = vec![false; program.len()];
    for id in program.ids() {
        for operand in operands(program, program.node(id)) {
            used[operand.index()] = true;
        }
    }
    program.ids().filter(|id| !used[id.index()]).map(|id| expression(program, id, 0)).collect()
}

/// Returns the operands of an expression, or the parameters of a function.
pub(crate) fn operands(program: &Program, node: Node) -> Vec<NodeId> {
    let items = |list: List| program.items(list).to_vec();
    match node {
        Node::Member { object, .. } => vec![object],
        Node::Index { object, key } => vec![object, key],
        Node::Slice { object, parts } => [vec![object], items(parts)].concat(),
        Node::Call { callee, arguments, .. } => [vec![callee], items(arguments)].concat(),
        Node::Format { template, value } => vec![template, value],
        Node::Join(list)
        | Node::Either(list)
        | Node::Last(list)
        | Node::Mix(list)
        | Node::List(list)
        | Node::Record(list) => items(list),
        Node::Field { key, value } => vec![key, value],
        Node::Spread(inner) | Node::Element(inner) | Node::Delete(inner) | Node::Import(inner) => vec![inner],
        Node::Bind { target, value } => vec![target, value],
        Node::Return { value, .. } => vec![value],
        Node::Function(function) => {
            program.function(function).map_or(Vec::new(), |known| items(known.parameters))
        }
        _ => Vec::new(),
    }
}

fn expression(program: &Program, id: NodeId, depth: usize) -> String {
    if depth > 60 {
        return "…".to_owned();
    }
    let text = |text| String::from_utf8_lossy(program.bytes(text)).into_owned();
    let list = |head: &str, list| {
        let items: Vec<String> =
            program.items(list).iter().map(|id| expression(program, *id, depth + 1)).collect();
        format!("({head}{}{})", if items.is_empty() || head.is_empty() { "" } else { " " }, items.join(" "))
    };
    let one = |id| expression(program, id, depth + 1);
    let mut line = match program.node(id) {
        Node::Unknown => "?".to_owned(),
        Node::Text(name) => format!("{:?}", text(name)),
        Node::Number(number) => number.to_string(),
        Node::Name(name) => format!("name:{}", text(name)),
        Node::Variable(variable) => format!("v{}", variable.index()),
        Node::Global(name) | Node::Module(name) => text(name),
        Node::Member { object, name } => format!("{}.{}", one(object), text(name)),
        Node::Index { object, key } => format!("{}[{}]", one(object), one(key)),
        Node::Slice { object, parts } => format!("{}[:{}]", one(object), list("", parts)),
        Node::Call { callee, arguments, kind } => {
            let head = match kind {
                CallKind::Plain => "call",
                CallKind::New => "new",
                CallKind::Decorator => "decorate",
            };
            list(&format!("{head} {}", one(callee)), arguments)
        }
        Node::Join(items) => list("join", items),
        Node::Format { template, value } => format!("(format {} {})", one(template), one(value)),
        Node::Either(items) => list("either", items),
        Node::Last(items) => list("last", items),
        Node::Mix(items) => list("mix", items),
        Node::List(items) => list("list", items),
        Node::Record(items) => list("record", items),
        Node::Field { key, value } => format!("{}: {}", one(key), one(value)),
        Node::Spread(inner) => format!("...{}", one(inner)),
        Node::Element(inner) => format!("(element {})", one(inner)),
        Node::Function(function) => {
            let known = program.function(function).expect("a function of the program");
            list(&format!("function{}", function.index()), known.parameters)
        }
        Node::Bind { target, value } => format!("({} = {})", one(target), one(value)),
        Node::Delete(inner) => format!("(delete {})", one(inner)),
        Node::Return { function, value } => format!("(return{} {})", function.index(), one(value)),
        Node::Import(inner) => format!("(import {})", one(inner)),
    };
    if program.flags(id).has(NodeFlags::ESCAPED) {
        line.push('\'');
    }
    if program.flags(id).has(NodeFlags::STATEMENT) {
        line.push('!');
    }
    line
}
