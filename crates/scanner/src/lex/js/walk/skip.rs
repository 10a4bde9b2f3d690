//! Statements in which nothing counts: the walk goes past them, as it goes past brackets that hold no event.

use super::super::token::{Brace, DULL, EVENT, EXPRESSION, K, Kw, LIVE, Tok};
use super::{Frame, In, Prefix, Walk};

/// What is between the walk and the next token that counts.
#[expect(clippy::struct_excessive_bools, reason = "facts of a statement that go on and off on their own")]
struct Scan {
    /// Where the last statement begins, and whether it goes on with a declaration.
    from: usize,
    kept: bool,
    /// Open templates and tags, and conditions.
    depth: u32,
    ternaries: u32,
    declares: bool,
    /// Commas part expressions, here and wherever a statement begins.
    commas: bool,
    lists: bool,
    /// A word in front of an operand waits for it.
    prefix: bool,
    last: K,
}

impl Walk<'_, '_, '_, '_> {
    /// Goes on from where a statement or an expression of a list begins: at the next one in which something counts.
    pub(super) fn past_statements(&mut self, start: usize) -> usize {
        let Some(frame) = self.frames.last().filter(|frame| self.is_between(frame)) else { return start };
        let open = frame.open as usize;
        let mut scan = Scan {
            from: start,
            kept: frame.declares,
            depth: 0,
            ternaries: 0,
            declares: frame.declares,
            commas: !self.typed,
            lists: !self.typed,
            prefix: false,
            last: K::Semi,
        };
        let mut at = start;
        while let Some(&tok) = self.toks.get(at) {
            if tok.flags & (EVENT | LIVE) != 0 {
                break;
            }
            match tok.kind {
                K::LParen | K::LBracket | K::LBrace if tok.flags & DULL == 0 => break,
                K::JsxEnd | K::TplMid | K::TplTail if scan.depth == 0 => break,
                K::RParen | K::RBracket | K::RBrace => {
                    let own = self.toks.get(open).is_some_and(|opening| opening.mate() as usize == at);
                    if own && scan.depth == 0 {
                        // It clears what waits.
                        (scan.from, scan.kept) = (at, scan.declares);
                    }
                    break;
                }
                K::Word if tok.word() != 0 && scan.depth == 0 && !matches!(scan.last, K::Dot | K::QDot) => {
                    let kw = self.kw(at);
                    let binds = matches!(kw, Kw::Const | Kw::Let | Kw::Var)
                        && self.starts_binding(at.wrapping_add(1));
                    if binds || starts_statement(kw) {
                        scan.begin(at);
                        scan.declares = binds;
                        at = at.wrapping_add(1);
                        continue;
                    }
                }
                _ => {}
            }
            scan.look(tok, at);
            if matches!(tok.kind, K::LParen | K::LBracket | K::LBrace) {
                let closing = tok.mate() as usize;
                scan.close(tok, self.tok(closing), closing);
                at = closing;
            }
            at = at.wrapping_add(1);
        }
        if at >= self.toks.len() && scan.depth == 0 && self.frames.len() == 1 {
            (scan.from, scan.kept) = (at, scan.declares);
        }
        self.seen = at;
        if let Some(frame) = self.frames.last_mut().filter(|_| scan.from > start) {
            frame.declares = scan.kept;
        }
        scan.from
    }

    /// Says whether nothing of what was read so far waits for what follows.
    fn is_between(&self, frame: &Frame) -> bool {
        matches!(frame.kind, In::Block | In::Body)
            && self.cur.is_none()
            && self.prefix == Prefix::None
            && self.targets.len() == frame.targets as usize
            && !frame.value.is_known()
            && frame.value.text == 0
            && frame.operators == 0
            && frame.ternaries == 0
            && !frame.joined
            && !frame.function
    }
}

/// Says whether a statement begins with a keyword, whatever stands in front of it.
const fn starts_statement(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::If | Kw::While | Kw::For | Kw::Switch | Kw::Return | Kw::Throw | Kw::Try | Kw::Do | Kw::Break
    )
}

impl Scan {
    /// A part of the list or the next statement begins.
    const fn part(&mut self, at: usize) {
        if self.ternaries == 0 && !self.prefix {
            (self.from, self.kept) = (at, self.declares);
        }
    }

    /// A keyword ends what was before it.
    const fn begin(&mut self, at: usize) {
        (self.declares, self.commas, self.last) = (false, self.lists, K::Semi);
        self.part(at);
    }

    fn look(&mut self, tok: Tok, at: usize) {
        let next = at.wrapping_add(1);
        match tok.kind {
            K::TplHead | K::JsxStart => self.depth = self.depth.wrapping_add(1),
            K::TplTail | K::JsxEnd => (self.depth, self.prefix) = (self.depth.saturating_sub(1), false),
            _ if self.depth > 0 => {}
            K::Semi => {
                self.ternaries = 0;
                self.begin(next);
            }
            K::Comma if self.commas => self.part(next),
            K::Question => self.ternaries = self.ternaries.wrapping_add(1),
            K::Colon => self.ternaries = self.ternaries.saturating_sub(1),
            // A declaration may end where no mark says so; its list is then none.
            _ if self.declares && self.ends_list(tok) => self.commas = false,
            _ => {}
        }
        if self.depth == 0 {
            self.wait(tok);
        }
        self.last = tok.kind;
    }

    /// A bracket that was stepped over.
    fn close(&mut self, open: Tok, closing: Tok, at: usize) {
        let statement = open.kind == K::LBrace
            && open.brace() != Brace::Object
            && closing.flags & EXPRESSION == 0
            && self.depth == 0;
        if self.depth == 0 {
            self.prefix = false;
        }
        if statement && !self.declares {
            self.part(at.wrapping_add(1));
        }
        self.last = closing.kind;
    }

    /// Follows whether a word in front of an operand waits for it.
    fn wait(&mut self, tok: Tok) {
        match tok.kind {
            K::At => self.prefix = true,
            K::Word => match Kw::of(tok.word()) {
                Kw::New | Kw::Typeof | Kw::Delete => self.prefix = true,
                Kw::None | Kw::This | Kw::Null | Kw::True | Kw::False | Kw::Super => self.prefix = false,
                _ => {}
            },
            K::Private | K::Num | K::Str | K::Tpl | K::Regex => self.prefix = false,
            _ => {}
        }
    }

    fn ends_list(&self, tok: Tok) -> bool {
        if tok.newline() {
            return true;
        }
        match tok.kind {
            K::Word => {
                let inside = matches!(
                    Kw::of(tok.word()),
                    Kw::None
                        | Kw::Function
                        | Kw::New
                        | Kw::Typeof
                        | Kw::Void
                        | Kw::This
                        | Kw::Null
                        | Kw::True
                        | Kw::False
                        | Kw::Await
                        | Kw::Delete
                );
                !inside || self.ends_operand()
            }
            K::LBrace => match tok.brace() {
                Brace::Object => self.ends_operand(),
                Brace::Block => true,
                Brace::Body | Brace::Class => false,
            },
            K::Private | K::Num | K::Str | K::Tpl | K::Regex => self.ends_operand(),
            _ => false,
        }
    }

    const fn ends_operand(&self) -> bool {
        matches!(
            self.last,
            K::Private
                | K::Num
                | K::Str
                | K::Tpl
                | K::TplTail
                | K::Regex
                | K::Word
                | K::RParen
                | K::RBracket
                | K::RBrace
                | K::JsxEnd
        )
    }
}
