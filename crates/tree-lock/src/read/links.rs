//! Resolution of symlinks over the listed entries, without access to the file system.
//!
//! Normalizing the text of a target is not enough: next to `sub/up -> ..`, the link `sub/l -> up/../x` looks like a
//! path inside the tree and leads out of it. Every component is therefore looked up.

use std::collections::BTreeMap;

use crate::problem::TreeProblemKind;
use crate::tree::exclude::Excludes;

/// The most symlinks in one chain, as on Linux.
const MAX_HOPS: u32 = 40;

/// A node of the tree; the root is 0.
pub(crate) type NodeId = usize;
const ROOT: NodeId = 0;

/// The kind of a listed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind<'a> {
    Directory,
    /// A file, or an entry that is refused anyway. It has no children.
    File,
    /// A symlink with its target, or `None` if the target is not valid text.
    Link(Option<&'a str>),
}

/// The reason why a symlink is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkFault {
    Name,
    Absolute,
    Escapes,
    Broken(&'static str),
    IntoExcluded,
}

impl LinkFault {
    pub(crate) fn problem(self) -> TreeProblemKind {
        match self {
            Self::Name => TreeProblemKind::Name,
            Self::Absolute => TreeProblemKind::LinkAbsolute,
            Self::Escapes => TreeProblemKind::LinkEscapes,
            Self::Broken(why) => TreeProblemKind::LinkBroken { why },
            Self::IntoExcluded => TreeProblemKind::LinkIntoExcluded,
        }
    }

    /// Returns the fault of a symlink that leads through a symlink with this fault.
    const fn passed_on(self) -> Self {
        match self {
            Self::Absolute | Self::Escapes => Self::Escapes,
            Self::IntoExcluded => Self::IntoExcluded,
            Self::Name => Self::Broken("a symlink in the chain has an invalid target"),
            Self::Broken(why) => Self::Broken(why),
        }
    }
}

#[derive(Debug)]
struct Node<'a> {
    parent: NodeId,
    path: &'a str,
    what: NodeKind<'a>,
}

/// All listed paths as a tree of nodes.
#[derive(Debug)]
pub(crate) struct Nodes<'a> {
    all: Vec<Node<'a>>,
    children: BTreeMap<(NodeId, &'a str), NodeId>,
    exclude: &'a Excludes,
}

/// The result of resolving a symlink.
pub(crate) type LinkResult = Result<NodeId, LinkFault>;

/// A symlink that is being resolved, with the rest of its target.
struct Frame<'a> {
    link: NodeId,
    at: NodeId,
    rest: core::str::Split<'a, char>,
    hops: u32,
}

#[derive(Debug, Clone, Copy)]
enum Memo {
    Open,
    Walking,
    Done(LinkResult, u32),
}

impl<'a> Nodes<'a> {
    /// Creates the tree from every path with its kind.
    ///
    /// A directory must come before its entries, which sorting by path ensures. A path whose directory is not listed is
    /// left out.
    pub(crate) fn new(
        listed: impl IntoIterator<Item = (&'a str, NodeKind<'a>)>,
        exclude: &'a Excludes,
    ) -> Self {
        let root = Node { parent: ROOT, path: "", what: NodeKind::Directory };
        let mut this = Self { all: vec![root], children: BTreeMap::new(), exclude };
        let mut directories = BTreeMap::from([("", ROOT)]);
        for (path, what) in listed {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            if let Some(parent) = directories.get(directory) {
                let id = this.all.len();
                this.children.insert((*parent, name), id);
                this.all.push(Node { parent: *parent, path, what });
                if what == NodeKind::Directory {
                    directories.insert(path, id);
                }
            }
        }
        this
    }

    /// Returns the path of a node; empty for the root.
    pub(crate) fn path(&self, id: NodeId) -> &'a str {
        self.all.get(id).map_or("", |node| node.path)
    }

    /// Returns `true` if a node is a directory.
    pub(crate) fn is_directory(&self, id: NodeId) -> bool {
        self.what(id) == NodeKind::Directory
    }

    fn what(&self, id: NodeId) -> NodeKind<'a> {
        self.all.get(id).map_or(NodeKind::File, |node| node.what)
    }

    fn parent(&self, id: NodeId) -> NodeId {
        self.all.get(id).map_or(ROOT, |node| node.parent)
    }

    /// Resolves every symlink, and returns the paths with the results.
    // Each symlink is resolved once and its result is reused, so the work is linear in the length of all targets,
    // however they are chained. The stack is on the heap, so that a long chain cannot overflow the thread's stack.
    pub(crate) fn landings(&self) -> Vec<(&'a str, LinkResult)> {
        let mut memo = vec![Memo::Open; self.all.len()];
        let mut out = Vec::new();
        for (id, node) in self.all.iter().enumerate() {
            if matches!(node.what, NodeKind::Link(_)) {
                out.push((node.path, self.land(id, &mut memo)));
            }
        }
        out
    }

    fn land(&self, link: NodeId, memo: &mut [Memo]) -> LinkResult {
        let mut stack: Vec<Frame<'a>> = Vec::new();
        let mut next = Some(link);
        loop {
            if let Some(link) = next.take() {
                match self.start(link) {
                    Ok(frame) => {
                        set(memo, link, Memo::Walking);
                        stack.push(frame);
                    }
                    Err(fault) => set(memo, link, Memo::Done(Err(fault), 1)),
                }
            }
            let Some(frame) = stack.last_mut() else {
                break;
            };
            if let Some((link, landing, hops)) = self.walk(frame, memo, &mut next) {
                set(memo, link, Memo::Done(landing, hops));
                stack.pop();
            }
        }
        match memo.get(link) {
            Some(Memo::Done(landing, _)) => *landing,
            _ => Err(LinkFault::Broken("it could not be resolved")),
        }
    }

    fn start(&self, link: NodeId) -> Result<Frame<'a>, LinkFault> {
        let NodeKind::Link(Some(target)) = self.what(link) else {
            return Err(LinkFault::Name);
        };
        if target.starts_with('/') {
            return Err(LinkFault::Absolute);
        }
        Ok(Frame { link, at: self.parent(link), rest: target.split('/'), hops: 1 })
    }

    /// Resolves components until the end of the target, a fault, or a symlink that is not resolved yet.
    ///
    /// Such a symlink is stored in `next`, and its component stays in the frame to be resolved again afterwards.
    fn walk(
        &self,
        frame: &mut Frame<'a>,
        memo: &[Memo],
        next: &mut Option<NodeId>,
    ) -> Option<(NodeId, LinkResult, u32)> {
        loop {
            // If this component turns out to be an unresolved symlink, it is read again after that one is
            // resolved.
            let before = frame.rest.clone();
            let Some(part) = frame.rest.next() else {
                return Some((frame.link, Ok(frame.at), frame.hops));
            };
            let stepped = match self.step(frame.at, part) {
                Ok(Lookup::At(id)) => Ok(id),
                Ok(Lookup::Link(id)) => match memo.get(id) {
                    Some(Memo::Done(Ok(landed), hops)) => {
                        frame.hops = frame.hops.saturating_add(*hops);
                        // The limit of Linux. A chain that only another system resolves would give the tree two
                        // meanings.
                        if frame.hops > MAX_HOPS {
                            Err(LinkFault::Broken("more than 40 symlinks"))
                        } else {
                            Ok(*landed)
                        }
                    }
                    Some(Memo::Done(Err(fault), _)) => Err(fault.passed_on()),
                    // It is on the stack, so its target leads back to itself.
                    Some(Memo::Walking) => Err(LinkFault::Broken("symlinks in a loop")),
                    Some(Memo::Open) | None => {
                        frame.rest = before;
                        *next = Some(id);
                        return None;
                    }
                },
                Err(fault) => Err(fault),
            };
            match stepped {
                Ok(id) => frame.at = id,
                Err(fault) => return Some((frame.link, Err(fault), frame.hops)),
            }
        }
    }

    fn step(&self, at: NodeId, part: &str) -> Result<Lookup, LinkFault> {
        if matches!(part, "" | ".") {
            return Ok(Lookup::At(at));
        }
        if !self.is_directory(at) {
            return Err(LinkFault::Broken("a component of the target is a file"));
        }
        if part == ".." {
            // An escape is one even if the target leads back in: the name of the root is not part of the tree.
            return if at == ROOT { Err(LinkFault::Escapes) } else { Ok(Lookup::At(self.parent(at))) };
        }
        // This applies even if no such entry exists: the result must not depend on excluded files.
        if at == ROOT && self.exclude.has(part.as_bytes()) {
            return Err(LinkFault::IntoExcluded);
        }
        let Some(id) = self.children.get(&(at, part)).copied() else {
            return Err(LinkFault::Broken("no such file or directory"));
        };
        Ok(if matches!(self.what(id), NodeKind::Link(_)) { Lookup::Link(id) } else { Lookup::At(id) })
    }
}

enum Lookup {
    At(NodeId),
    Link(NodeId),
}

fn set(memo: &mut [Memo], id: NodeId, value: Memo) {
    if let Some(slot) = memo.get_mut(id) {
        *slot = value;
    }
}
