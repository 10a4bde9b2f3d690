//! Tables of dotted names: the names of `call`, `member`, `assign` and `module` rules in one language.
//!
//! A name has the form `root.member.member`. `*.x` is member `x` of any receiver, `@m` the namespace of module `m`, `x.*`
//! any member of `x`, `x.[]` a member of `x` with a computed name. Words are interned. A word that no name contains has no
//! id, so that a lexer rejects it with one probe.

use std::collections::BTreeMap;

/// An interned word; 0 is not a word of the table.
pub(crate) type Word = u16;
/// A node of the tree of names; 0 is not a node.
pub(crate) type Node = u32;

/// The global object itself, such as `globalThis`.
pub(crate) const ROOT: Node = 1;

const BUCKETS: usize = 1 << 13;
/// The exclusive upper bound of word ids.
pub(crate) const WORDS: usize = BUCKETS / 4;
/// The exclusive upper bound of the length of a word.
pub(crate) const LONGEST: usize = 1 << 12;

/// Interned words. Looking up an unknown word costs one load.
#[derive(Debug)]
pub(crate) struct Words {
    buckets: Vec<Word>,
    /// The first 8 bytes and the length of each word.
    heads: Vec<(u64, u32)>,
    texts: Vec<Box<[u8]>>,
}

/// Returns the first 8 bytes of a word as a number, padded with zeros.
#[inline]
pub(crate) fn prefix(word: &[u8]) -> u64 {
    if let Some(head) = word.first_chunk::<8>() {
        return u64::from_le_bytes(*head);
    }
    word.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

#[inline]
const fn mixed(prefix: u64, len: usize) -> u64 {
    (prefix ^ ((len as u64) << 56)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn bucket(prefix: u64, len: usize) -> usize {
    usize::try_from(mixed(prefix, len) >> 51).unwrap_or(0)
}

impl Words {
    pub(crate) fn new() -> Self {
        Self { buckets: vec![0; BUCKETS], heads: vec![(0, 0)], texts: vec![Box::default()] }
    }

    /// Returns the id of a word, or 0 if it is unknown.
    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Word {
        self.find(prefix(word), word)
    }

    /// Does the same as `get`, for a known prefix.
    #[inline]
    pub(crate) fn find(&self, head: u64, word: &[u8]) -> Word {
        let slot = bucket(head, word.len());
        match self.buckets.get(slot) {
            None | Some(0) => 0,
            Some(_) => self.probe(slot, head, word),
        }
    }

    fn probe(&self, start: usize, head: u64, word: &[u8]) -> Word {
        let mut slot = start;
        while let Some(&id) = self.buckets.get(slot) {
            if id == 0 {
                return 0;
            }
            if let Some(&(known, len)) = self.heads.get(usize::from(id))
                && known == head
                && len as usize == word.len()
                && (len <= 8 || self.text(id) == word)
            {
                return id;
            }
            slot = slot.wrapping_add(1) % BUCKETS;
        }
        0
    }

    /// Returns the id of a word and adds the word if needed. If the table is full or the word is too long, it returns 0,
    /// which the rule loader turns into an error.
    pub(crate) fn intern(&mut self, word: &[u8]) -> Word {
        let found = self.get(word);
        if found != 0 || self.heads.len() >= WORDS || word.len() >= LONGEST {
            return found;
        }
        let (Ok(id), Ok(len)) = (Word::try_from(self.heads.len()), u32::try_from(word.len())) else {
            return 0;
        };
        let head = prefix(word);
        let mut slot = bucket(head, word.len());
        while self.buckets.get(slot).is_some_and(|taken| *taken != 0) {
            slot = slot.wrapping_add(1) % BUCKETS;
        }
        if let Some(free) = self.buckets.get_mut(slot) {
            *free = id;
        }
        self.heads.push((head, len));
        self.texts.push(Box::from(word));
        id
    }

    /// Returns the text of a word.
    pub(crate) fn text(&self, word: Word) -> &[u8] {
        self.texts.get(usize::from(word)).map_or(&[], |text| text)
    }
}

/// The matchers that a name fires.
#[derive(Debug, Default)]
pub(crate) struct NodeData {
    children: Vec<(Word, Node)>,
    any: Node,
    pub(crate) call: Vec<u16>,
    pub(crate) member: Vec<u16>,
    pub(crate) assign: Vec<u16>,
    /// Set for the namespace of a module.
    pub(crate) module: bool,
}

/// All names of one language.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) words: Words,
    nodes: Vec<NodeData>,
    stars: BTreeMap<Word, Node>,
    modules: BTreeMap<Box<[u8]>, Node>,
    /// The word for a computed member.
    pub(crate) computed: Word,
    any: Word,
}

/// Modules that are the same object as the global of that name.
const GLOBAL_MODULES: &[&str] = &["process"];

/// Words for the global object.
const GLOBAL_OBJECTS: &[&str] = &["globalThis", "global", "window"];

impl Names {
    pub(crate) fn new() -> Self {
        let mut words = Words::new();
        let (computed, any) = (words.intern(b"[]"), words.intern(b"*"));
        Self {
            words,
            nodes: vec![NodeData::default(), NodeData::default()],
            stars: BTreeMap::new(),
            modules: BTreeMap::new(),
            computed,
            any,
        }
    }

    /// Returns the node of a name and adds it if needed.
    pub(crate) fn intern(&mut self, name: &str) -> Node {
        let (start, rest) = if let Some(module) = name.strip_prefix('@') {
            let (module, rest) = module.split_once('.').unwrap_or((module, ""));
            (self.intern_module(module), rest)
        } else if let Some(rest) = name.strip_prefix("*.") {
            let (first, rest) = rest.split_once('.').unwrap_or((rest, ""));
            (self.intern_star(first), rest)
        } else {
            let (first, rest) = name.split_once('.').unwrap_or((name, ""));
            if GLOBAL_OBJECTS.contains(&first) { (ROOT, rest) } else { (ROOT, name) }
        };
        rest.split('.').filter(|part| !part.is_empty()).fold(start, |node, part| self.child(node, part))
    }

    fn intern_module(&mut self, name: &str) -> Node {
        let name = name.strip_prefix("node:").unwrap_or(name);
        if let Some(&node) = self.modules.get(name.as_bytes()) {
            return node;
        }
        if GLOBAL_MODULES.contains(&name) {
            let node = self.child(ROOT, name);
            if let Some(data) = self.node_mut(node) {
                data.module = true;
            }
            self.modules.insert(Box::from(name.as_bytes()), node);
            return node;
        }
        let node = self.push();
        if let Some(data) = self.nodes.last_mut() {
            data.module = true;
        }
        self.modules.insert(Box::from(name.as_bytes()), node);
        node
    }

    fn intern_star(&mut self, word: &str) -> Node {
        let word = self.words.intern(word.as_bytes());
        if let Some(&node) = self.stars.get(&word) {
            return node;
        }
        let node = self.push();
        self.stars.insert(word, node);
        node
    }

    fn push(&mut self) -> Node {
        let node = Node::try_from(self.nodes.len()).unwrap_or(0);
        self.nodes.push(NodeData::default());
        node
    }

    fn child(&mut self, parent: Node, part: &str) -> Node {
        let word = self.words.intern(part.as_bytes());
        if word == self.any {
            return self.any_child(parent);
        }
        if let Some(node) = self.exact(parent, word) {
            return node;
        }
        let node = self.push();
        if let Some(data) = self.nodes.get_mut(parent as usize) {
            let at = data.children.partition_point(|(known, _)| *known < word);
            data.children.insert(at, (word, node));
        }
        node
    }

    fn any_child(&mut self, parent: Node) -> Node {
        let known = self.node(parent).map_or(0, |data| data.any);
        if known != 0 {
            return known;
        }
        let node = self.push();
        if let Some(data) = self.nodes.get_mut(parent as usize) {
            data.any = node;
        }
        node
    }

    /// Copies the matchers for any member of a module to its named members: a call of one is also a call of any.
    pub(crate) fn spread(&mut self) {
        let modules: Vec<Node> = self.modules.values().copied().collect();
        for module in modules {
            let Some((any, children)) = self.node(module).map(|data| (data.any, data.children.clone()))
            else {
                continue;
            };
            let calls = self.node(any).filter(|_| any != 0).map(|data| data.call.clone()).unwrap_or_default();
            for (_, child) in children {
                let Some(data) = self.node_mut(child) else { continue };
                let more: Vec<u16> =
                    calls.iter().filter(|matcher| !data.call.contains(matcher)).copied().collect();
                data.call.extend(more);
            }
        }
    }

    fn exact(&self, parent: Node, word: Word) -> Option<Node> {
        let children = &self.node(parent)?.children;
        let at = children.binary_search_by_key(&word, |(known, _)| *known).ok()?;
        children.get(at).map(|(_, node)| *node)
    }

    pub(crate) fn node(&self, node: Node) -> Option<&NodeData> {
        self.nodes.get(node as usize)
    }

    /// Returns all nodes in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Node, &NodeData)> {
        (0..).zip(&self.nodes)
    }

    pub(crate) fn node_mut(&mut self, node: Node) -> Option<&mut NodeData> {
        self.nodes.get_mut(node as usize)
    }

    /// Returns the node of a name in the syntax of rule files.
    pub(crate) fn find(&self, name: &str) -> Node {
        let word = |text: &str| self.words.get(text.as_bytes());
        let (start, rest) = if let Some(module) = name.strip_prefix('@') {
            let (module, rest) = module.split_once('.').unwrap_or((module, ""));
            (self.module(module.as_bytes()), rest)
        } else if let Some(rest) = name.strip_prefix("*.") {
            let (first, rest) = rest.split_once('.').unwrap_or((rest, ""));
            (self.star(word(first)), rest)
        } else {
            (ROOT, name)
        };
        let exact = |node: Node, part: &str| self.exact(node, word(part)).unwrap_or(0);
        rest.split('.')
            .filter(|part| !part.is_empty())
            .fold(start, |node, part| if node == 0 { 0 } else { exact(node, part) })
    }

    /// Returns the node of a global name.
    pub(crate) fn global(&self, word: Word) -> Node {
        if word == 0 { 0 } else { self.exact(ROOT, word).unwrap_or(0) }
    }

    /// Returns the node of a member: the named one, or else the one for any member.
    pub(crate) fn step(&self, parent: Node, word: Word) -> Node {
        if parent == 0 {
            return 0;
        }
        let exact = if word == 0 { None } else { self.exact(parent, word) };
        exact.unwrap_or_else(|| {
            let computed = word == self.computed;
            if computed && parent == ROOT { 0 } else { self.node(parent).map_or(0, |data| data.any) }
        })
    }

    /// Returns the node of a member of any receiver.
    pub(crate) fn star(&self, word: Word) -> Node {
        if word == 0 { 0 } else { self.stars.get(&word).copied().unwrap_or(0) }
    }

    /// Returns the namespace of a module without `node:`. A subpath that rules do not name falls back to its module.
    pub(crate) fn module(&self, specifier: &[u8]) -> Node {
        let name = specifier.strip_prefix(b"node:").unwrap_or(specifier);
        self.modules.get(name).copied().unwrap_or(0)
    }
}
