//! Where links lead, walked over the listed entries, never on the disk.
//!
//! By text alone `sub/l -> up/../x` beside `sub/up -> ..` looks inside and is outside, so every part is looked up.

use std::collections::BTreeMap;

use crate::exclude::Excludes;
use crate::problem::TreeProblemKind;

/// The most links on the way from a link to where it leads, itself counted: what Linux allows too.
const HOPS: u32 = 40;

/// A node of the tree; the root is 0.
pub(crate) type NodeId = usize;
const ROOT: NodeId = 0;

/// What a listed path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed<'a> {
    Folder,
    /// A file, or something that is refused anyway; nothing lies below it.
    File,
    /// A link with its target, or `None` where that is no text.
    Link(Option<&'a str>),
}

/// Why a link is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Name,
    Absolute,
    Escapes,
    Broken(&'static str),
    IntoExcluded,
}

impl Fault {
    pub(crate) fn problem(self) -> TreeProblemKind {
        match self {
            Self::Name => TreeProblemKind::Name,
            Self::Absolute => TreeProblemKind::LinkAbsolute,
            Self::Escapes => TreeProblemKind::LinkEscapes,
            Self::Broken(why) => TreeProblemKind::LinkBroken { why },
            Self::IntoExcluded => TreeProblemKind::LinkIntoExcluded,
        }
    }

    /// What a link has that leads through a link with this fault.
    const fn passed_on(self) -> Self {
        match self {
            Self::Absolute | Self::Escapes => Self::Escapes,
            Self::IntoExcluded => Self::IntoExcluded,
            Self::Name => Self::Broken("the link on the way has a target that is no text"),
            Self::Broken(why) => Self::Broken(why),
        }
    }
}

#[derive(Debug)]
struct Node<'a> {
    parent: NodeId,
    path: &'a str,
    what: Listed<'a>,
}

/// All listed paths as nodes below their folders.
#[derive(Debug)]
pub(crate) struct Nodes<'a> {
    all: Vec<Node<'a>>,
    children: BTreeMap<(NodeId, &'a str), NodeId>,
    exclude: &'a Excludes,
}

/// Where a link leads.
pub(crate) type Landing = Result<NodeId, Fault>;

/// A link on the way, with the part of its target at which the walk stands.
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
    Done(Landing, u32),
}

impl<'a> Nodes<'a> {
    /// Takes every path with its kind; a folder must come before what lies in it (bytewise order by path does).
    /// A path whose folder is not listed is left out.
    pub(crate) fn new(
        listed: impl IntoIterator<Item = (&'a str, Listed<'a>)>,
        exclude: &'a Excludes,
    ) -> Self {
        let root = Node { parent: ROOT, path: "", what: Listed::Folder };
        let mut this = Self { all: vec![root], children: BTreeMap::new(), exclude };
        let mut folders = BTreeMap::from([("", ROOT)]);
        for (path, what) in listed {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if let Some(parent) = folders.get(folder) {
                let id = this.all.len();
                this.children.insert((*parent, name), id);
                this.all.push(Node { parent: *parent, path, what });
                if what == Listed::Folder {
                    folders.insert(path, id);
                }
            }
        }
        this
    }

    /// Returns the path of a node; empty for the root.
    pub(crate) fn path(&self, id: NodeId) -> &'a str {
        self.all.get(id).map_or("", |node| node.path)
    }

    /// Returns whether a node is a folder.
    pub(crate) fn is_folder(&self, id: NodeId) -> bool {
        self.what(id) == Listed::Folder
    }

    fn what(&self, id: NodeId) -> Listed<'a> {
        self.all.get(id).map_or(Listed::File, |node| node.what)
    }

    fn parent(&self, id: NodeId) -> NodeId {
        self.all.get(id).map_or(ROOT, |node| node.parent)
    }

    /// Walks every link, each once: a link that leads through another takes over where that one landed. So the
    /// work is linear in the text of all targets, however they are chained; the stack is ours, not the thread's.
    pub(crate) fn landings(&self) -> Vec<(&'a str, Landing)> {
        let mut memo = vec![Memo::Open; self.all.len()];
        let mut out = Vec::new();
        for (id, node) in self.all.iter().enumerate() {
            if matches!(node.what, Listed::Link(_)) {
                out.push((node.path, self.land(id, &mut memo)));
            }
        }
        out
    }

    fn land(&self, link: NodeId, memo: &mut [Memo]) -> Landing {
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
            _ => Err(Fault::Broken("it could not be walked")),
        }
    }

    fn start(&self, link: NodeId) -> Result<Frame<'a>, Fault> {
        let Listed::Link(Some(target)) = self.what(link) else {
            return Err(Fault::Name);
        };
        if target.starts_with('/') {
            return Err(Fault::Absolute);
        }
        Ok(Frame { link, at: self.parent(link), rest: target.split('/'), hops: 1 })
    }

    /// Walks until the target's end, a fault, or a link that is not walked yet; that one is put into `next`, and
    /// the part that named it stays to be walked again.
    fn walk(
        &self,
        frame: &mut Frame<'a>,
        memo: &[Memo],
        next: &mut Option<NodeId>,
    ) -> Option<(NodeId, Landing, u32)> {
        loop {
            let before = frame.rest.clone();
            let Some(part) = frame.rest.next() else {
                return Some((frame.link, Ok(frame.at), frame.hops));
            };
            let stepped = match self.step(frame.at, part) {
                Ok(Step::At(id)) => Ok(id),
                Ok(Step::Link(id)) => match memo.get(id) {
                    Some(Memo::Done(Ok(landed), hops)) => {
                        frame.hops = frame.hops.saturating_add(*hops);
                        if frame.hops > HOPS { Err(Fault::Broken("more than 40 links")) } else { Ok(*landed) }
                    }
                    Some(Memo::Done(Err(fault), _)) => Err(fault.passed_on()),
                    Some(Memo::Walking) => Err(Fault::Broken("links in a circle")),
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

    fn step(&self, at: NodeId, part: &str) -> Result<Step, Fault> {
        if matches!(part, "" | ".") {
            return Ok(Step::At(at));
        }
        if !self.is_folder(at) {
            return Err(Fault::Broken("a part on the way is a file"));
        }
        if part == ".." {
            return if at == ROOT { Err(Fault::Escapes) } else { Ok(Step::At(self.parent(at))) };
        }
        // Also where nothing of that name is there: the answer must not hang on what is left out.
        if at == ROOT && self.exclude.contains(part) {
            return Err(Fault::IntoExcluded);
        }
        let Some(id) = self.children.get(&(at, part)).copied() else {
            return Err(Fault::Broken("nothing has that name"));
        };
        Ok(if matches!(self.what(id), Listed::Link(_)) { Step::Link(id) } else { Step::At(id) })
    }
}

enum Step {
    At(NodeId),
    Link(NodeId),
}

fn set(memo: &mut [Memo], id: NodeId, value: Memo) {
    if let Some(slot) = memo.get_mut(id) {
        *slot = value;
    }
}
