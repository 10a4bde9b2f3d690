//! Parses the grammar of commands.

use plugward_types::Part;
use std::cell::OnceCell;
use std::rc::Rc;

use super::{
    AssignedValue, Assignment, Command, CommandKind, Item, Link, Piece, Redirection, Script, TextForm, Word,
};
use crate::CommandError;
use crate::error::Budget;

/// Words that end a list of commands.
const ENDS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];
/// Builtins whose arguments are assignments.
const DECLARES: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// A here-document whose text follows the current line.
struct PendingDocument {
    end: String,
    quoted: bool,
    strips_tabs: bool,
    target: Rc<OnceCell<Word>>,
}

/// A parser for one text. Nested substitutions are parsed in place, so the time is linear.
pub(super) struct Parser<'t, 'b> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) budget: &'b mut Budget,
    problem: Option<usize>,
    documents: Vec<PendingDocument>,
    /// Substitutions around the current place.
    pub(super) inside: usize,
    pub(super) form: TextForm,
}

type Parse<T> = Result<T, CommandError>;

impl<'t, 'b> Parser<'t, 'b> {
    pub(super) fn new(text: &'t str, budget: &'b mut Budget) -> Parse<Self> {
        budget.text(text.len())?;
        Ok(Self {
            text,
            at: 0,
            budget,
            problem: None,
            documents: Vec::new(),
            inside: 0,
            form: TextForm::default(),
        })
    }

    /// Parses the whole text, also after a syntax error.
    pub(super) fn all(&mut self) -> Parse<Script> {
        let mut script = self.script()?;
        while !self.rest().is_empty() {
            self.fail();
            // A stray keyword or parenthesis ends nothing.
            if !self.eat(")") && !self.eat(";;") {
                let length = self.keyword().map_or(1, str::len);
                self.skip(length.max(1));
            }
            script.items.append(&mut self.script()?.items);
        }
        Ok(script)
    }

    pub(super) fn problem(&self) -> Option<String> {
        let rest = self.text.get(self.problem?..)?;
        Some(rest.chars().take(80).collect())
    }

    /// Notes an operator, keyword or substitution of the text itself.
    pub(super) fn compound(&mut self) {
        self.form.is_compound |= self.inside == 0;
    }

    fn operator(&mut self) {
        self.compound();
        self.form.has_operators |= self.inside == 0;
    }

    /// Marks the text as not readable from here.
    pub(super) fn fail(&mut self) {
        self.problem = self.problem.or(Some(self.at));
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.rest(self.at)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips bytes up to a boundary of characters, at most to the end of the text.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at = self.at.saturating_add(1);
        }
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.skip(text.len());
        }
        found
    }

    /// Skips blanks, joined lines and comments.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.skip(1),
                Some('\\') if self.rest().starts_with("\\\n") => self.skip(2),
                Some('#') => {
                    let rest = self.rest();
                    self.skip(rest.find('\n').unwrap_or(rest.len()));
                }
                _ => return,
            }
        }
    }

    /// Ends a line, and reads the here-documents after it.
    fn line_end(&mut self) -> Parse<()> {
        self.skip(1);
        self.form.has_operators |= self.inside == 0;
        for document in core::mem::take(&mut self.documents) {
            let mut body = String::new();
            let mut ended = false;
            while !self.rest().is_empty() && !ended {
                let rest = self.rest();
                let line = rest.split_inclusive('\n').next().unwrap_or_default();
                self.skip(line.len());
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
                ended = line.strip_suffix('\n').unwrap_or(line) == document.end;
                if !ended {
                    body.push_str(line);
                }
            }
            let word = if document.quoted {
                Word { pieces: vec![Piece::Text { text: body, quoted: true }] }
            } else {
                Parser::new(&body, self.budget)?.document()?
            };
            // A second body for the same document cannot exist.
            drop(document.target.set(word));
        }
        Ok(())
    }

    /// Skips blanks and line ends.
    fn lines(&mut self) -> Parse<()> {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    /// Parses commands up to a closing keyword, parenthesis or the end of the text.
    pub(super) fn script(&mut self) -> Parse<Script> {
        self.budget.enter()?;
        let mut script = Script::default();
        let mut link = Link::Then;
        loop {
            self.lines()?;
            if self.rest().is_empty()
                || self.rest().starts_with(')')
                || self.rest().starts_with(";;")
                || self.rest().starts_with(";&")
            {
                break;
            }
            if self.keyword().is_some_and(|word| ENDS.contains(&word)) {
                break;
            }
            if self.eat(";")
                || self.rest().starts_with('&') && !self.rest().starts_with("&>") && self.eat("&")
            {
                self.fail();
                continue;
            }
            let pipeline = self.pipeline()?;
            script.items.push(Item { link, pipeline });
            self.blanks();
            if self.rest().starts_with(['\n', ';', '&', '|', '(', ')'])
                && (self.inside == 0 || !self.rest().starts_with(')'))
            {
                self.operator();
            }
            link = if self.eat("&&") {
                Link::And
            } else if self.eat("||") {
                Link::Or
            } else {
                if !self.rest().starts_with(";;") && !self.rest().starts_with(";&") && !self.eat(";") {
                    self.eat("&");
                }
                Link::Then
            };
        }
        self.budget.leave();
        Ok(script)
    }

    fn pipeline(&mut self) -> Parse<Vec<Command>> {
        let mut commands = Vec::new();
        loop {
            self.lines()?;
            let start = self.at;
            while self.keyword().is_some_and(|word| {
                matches!(word, "!" | "coproc") || word == "time" && self.is_timed_compound()
            }) {
                let word = self.keyword().map_or(0, str::len);
                self.compound();
                self.skip(word);
                self.blanks();
                if self.rest().starts_with("-p ") {
                    self.skip(3);
                    self.blanks();
                }
            }
            let before = self.at;
            commands.push(self.command()?);
            if self.at == before && start == before {
                // Nothing was read: an operator without a command before it.
                self.fail();
                if self.rest().starts_with('|') || self.rest().starts_with('(') {
                    self.skip(1);
                    continue;
                }
                return Ok(commands);
            }
            self.blanks();
            if self.rest().starts_with("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(commands);
            }
            self.operator();
        }
    }

    /// Returns `true` if `time` stands before a compound command. Elsewhere it is a program.
    fn is_timed_compound(&self) -> bool {
        let after = self.rest().trim_start_matches("time").trim_start_matches([' ', '\t']);
        let after = after.strip_prefix("-p ").unwrap_or(after).trim_start_matches([' ', '\t']);
        ["(", "{ ", "{\n", "[[ ", "! ", "if ", "for ", "while ", "until ", "case "]
            .iter()
            .any(|start| after.starts_with(start))
    }

    /// Returns the unquoted word here if nothing else belongs to it.
    fn keyword(&self) -> Option<&'t str> {
        let rest = self.rest();
        let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')');
        let end = rest.bytes().take(9).position(|byte| is_end(char::from(byte)));
        let word = rest.get(..end.unwrap_or(rest.len().min(9)))?;
        (!word.is_empty() && (end.is_some() || rest.len() < 9)).then_some(word)
    }

    fn eat_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.skip(word.len());
        }
        found
    }

    /// Requires a keyword. Without it, the text is in another syntax.
    fn expect(&mut self, word: &str) -> Parse<()> {
        self.lines()?;
        if !self.eat_keyword(word) {
            self.fail();
        }
        Ok(())
    }

    fn command(&mut self) -> Parse<Command> {
        let start = self.at;
        let kind = match self.keyword() {
            Some("if") => self.branches()?,
            Some("while" | "until") => {
                self.skip(5);
                let mut body = self.script()?;
                body.items.append(&mut self.block()?.items);
                CommandKind::Loop { variable: None, body }
            }
            Some("for" | "select") => self.for_loop()?,
            Some("case") => self.case()?,
            Some("function") => {
                self.skip(8);
                self.blanks();
                let name = self.word()?.plain().unwrap_or_default().to_owned();
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    self.eat(")");
                }
                return self.function(name);
            }
            Some("{") => {
                self.skip(1);
                let body = self.script()?;
                self.expect("}")?;
                CommandKind::Group(body)
            }
            Some("[[") => {
                self.skip(2);
                CommandKind::Data(self.test_words()?)
            }
            _ if self.rest().starts_with("((") && self.arithmetic_end().is_some() => {
                self.skip(2);
                CommandKind::Data(vec![self.arithmetic()?])
            }
            _ if self.eat("(") => {
                let body = self.script()?;
                self.lines()?;
                if !self.eat(")") {
                    self.fail();
                }
                CommandKind::Subshell(body)
            }
            _ => return self.simple(),
        };
        if self.text.get(start..).is_some_and(|text| text.starts_with('(')) {
            self.operator();
        }
        self.compound();
        let mut redirections = Vec::new();
        loop {
            self.blanks();
            match self.redirection()? {
                Some(one) => redirections.push(one),
                None => return Ok(Command { kind, redirections }),
            }
        }
    }

    fn function(&mut self, name: String) -> Parse<Command> {
        self.operator();
        self.lines()?;
        self.budget.enter()?;
        let body = Rc::new(self.command()?);
        self.budget.leave();
        Ok(Command { kind: CommandKind::Function { name, body }, redirections: Vec::new() })
    }

    fn branches(&mut self) -> Parse<CommandKind> {
        let mut branches = Vec::new();
        self.skip(2);
        loop {
            let condition = self.script()?;
            self.expect("then")?;
            branches.push((condition, self.script()?));
            self.lines()?;
            if self.eat_keyword("elif") {
                continue;
            }
            if self.eat_keyword("else") {
                branches.push((Script::default(), self.script()?));
            } else {
                branches.push((Script::default(), Script::default()));
            }
            self.expect("fi")?;
            return Ok(CommandKind::Branches(branches));
        }
    }

    /// Parses `do … done`, or `{ … }`, which bash and zsh accept too.
    fn block(&mut self) -> Parse<Script> {
        self.lines()?;
        self.eat(";");
        self.lines()?;
        let end = if self.eat_keyword("{") { "}" } else { "done" };
        if end == "done" && !self.eat_keyword("do") {
            self.fail();
            return Ok(Script::default());
        }
        let body = self.script()?;
        self.expect(end)?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Parse<CommandKind> {
        let keyword = self.keyword().map_or(0, str::len);
        self.skip(keyword);
        self.blanks();
        if self.rest().starts_with("((") {
            self.skip(2);
            let condition =
                Command { kind: CommandKind::Data(vec![self.arithmetic()?]), redirections: Vec::new() };
            let mut body = self.block()?;
            body.items.insert(0, Item { link: Link::Then, pipeline: vec![condition] });
            return Ok(CommandKind::Loop { variable: None, body });
        }
        let name = self.word()?.plain().unwrap_or_default().to_owned();
        self.lines()?;
        let mut words = None;
        if self.eat_keyword("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                let before = self.at;
                list.extend(self.words()?);
                if self.at == before {
                    break;
                }
            }
            words = Some(list);
        }
        let body = self.block()?;
        Ok(CommandKind::Loop { variable: Some((name, words)), body })
    }

    fn case(&mut self) -> Parse<CommandKind> {
        self.skip(4);
        self.blanks();
        let mut data = vec![self.word()?];
        self.expect("in")?;
        let mut branches = Vec::new();
        loop {
            self.lines()?;
            if self.rest().is_empty() || self.eat_keyword("esac") {
                break;
            }
            self.eat("(");
            loop {
                self.blanks();
                let before = self.at;
                data.push(self.word()?);
                self.blanks();
                if self.at == before || !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                self.fail();
                break;
            }
            branches.push((Script::default(), self.script()?));
            self.lines()?;
            let ended = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if !ended && self.keyword() != Some("esac") {
                self.fail();
                break;
            }
        }
        let words = Command { kind: CommandKind::Data(data), redirections: Vec::new() };
        let first = Script { items: vec![Item { link: Link::Then, pipeline: vec![words] }] };
        branches.insert(0, (first, Script::default()));
        Ok(CommandKind::Branches(branches))
    }

    /// Parses the words of `[[ … ]]`.
    fn test_words(&mut self) -> Parse<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.rest().is_empty() {
                self.fail();
                return Ok(words);
            }
            if self.eat_keyword("]]") {
                return Ok(words);
            }
            let before = self.at;
            words.push(self.word()?);
            if self.at == before {
                // Operators and the parentheses of regular expressions.
                self.skip(1);
            }
        }
    }

    fn simple(&mut self) -> Parse<Command> {
        let (mut assignments, mut words, mut redirections) = (Vec::new(), Vec::<Word>::new(), Vec::new());
        loop {
            self.blanks();
            if let Some(one) = self.redirection()? {
                redirections.push(one);
                continue;
            }
            let declares = words.first().and_then(Word::plain).is_some_and(|name| DECLARES.contains(&name));
            if (words.is_empty() || declares)
                && let Some(one) = self.assignment()?
            {
                assignments.push(one);
                continue;
            }
            let before = self.at;
            let read = self.words()?;
            if self.at == before {
                break;
            }
            words.extend(read);
            if words.len() == 1 && assignments.is_empty() && self.is_function() {
                let name = words.first().and_then(Word::plain).unwrap_or_default().to_owned();
                self.eat("(");
                self.blanks();
                self.eat(")");
                return self.function(name);
            }
        }
        if self.rest().starts_with('(') {
            self.fail();
        }
        Ok(Command { kind: CommandKind::Simple { assignments, words }, redirections })
    }

    /// Returns `true` before `()`.
    fn is_function(&self) -> bool {
        let inside = self.rest().trim_start_matches([' ', '\t']).strip_prefix('(');
        inside.is_some_and(|inside| inside.trim_start_matches([' ', '\t']).starts_with(')'))
    }

    /// Parses `NAME=VALUE`, `NAME+=VALUE`, `NAME[…]=VALUE` and `NAME=(…)`.
    fn assignment(&mut self) -> Parse<Option<Assignment>> {
        let rest = self.rest();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = rest.part(..length);
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok(None);
        }
        let mut after = rest.rest(length);
        let mut appends = false;
        if let Some(index) = after.strip_prefix('[') {
            let Some((index, more)) = index.split_once(']') else { return Ok(None) };
            if index.len() > 64 {
                return Ok(None);
            }
            (after, appends) = (more, true);
        }
        if let Some(more) = after.strip_prefix("+=") {
            (after, appends) = (more, true);
        } else if let Some(more) = after.strip_prefix('=') {
            after = more;
        } else {
            return Ok(None);
        }
        self.skip(rest.len().saturating_sub(after.len()));
        let value = if self.eat("(") {
            let mut words = Vec::new();
            loop {
                self.lines()?;
                let before = self.at;
                words.extend(self.words()?);
                if self.at == before {
                    break;
                }
            }
            if !self.eat(")") {
                self.fail();
            }
            AssignedValue::Array(words)
        } else {
            AssignedValue::Scalar(self.word()?)
        };
        Ok(Some(Assignment { name: name.to_owned(), appends, value }))
    }

    fn redirection(&mut self) -> Parse<Option<Redirection>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut after = rest.rest(digits);
        if let Some(inner) = after.strip_prefix('{').filter(|_| digits == 0) {
            // `{name}<file` stores the descriptor in a variable.
            let length =
                inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            after = inner.get(length..).and_then(|end| end.strip_prefix('}')).unwrap_or_default();
        }
        let operators = ["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">"];
        let Some(operator) = operators.into_iter().find(|operator| after.starts_with(operator)) else {
            return Ok(None);
        };
        let process = after.starts_with("<(") || after.starts_with(">(");
        if process || (operator.starts_with('&') && after.len() != rest.len()) {
            return Ok(None);
        }
        self.form.has_operators |= self.inside == 0;
        self.skip(rest.len().saturating_sub(after.len()).saturating_add(operator.len()));
        self.blanks();
        if let "<<" | "<<-" = operator {
            let start = self.at;
            let word = self.word()?;
            let quoted = self.text.part(start..self.at).contains(['\'', '"', '\\']);
            let target = Rc::new(OnceCell::new());
            let end = word.pieces.iter().map(|piece| match piece {
                Piece::Text { text, .. } => text.as_str(),
                _ => "",
            });
            let end = end.collect();
            let strips_tabs = operator == "<<-";
            self.documents.push(PendingDocument { end, quoted, strips_tabs, target: Rc::clone(&target) });
            return Ok(Some(Redirection::Document(target)));
        }
        let word = self.word()?;
        Ok(Some(match operator {
            "<" | "<>" => Redirection::Input(word),
            "<<<" => Redirection::Text(word),
            _ => Redirection::Other(word),
        }))
    }
}
