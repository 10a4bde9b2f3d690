//! Lines, blocks and the ends of statements.

use super::read::{Block, Body, Caught, NO, Of, Reader, Soft, Statement, Sure};
use crate::lex::py::token::{K, Kw};

impl Reader<'_, '_> {
    /// Gives how far the line of a token is indented, with tabs of eight and with tabs of one.
    fn columns(&self, at: u32) -> Option<(u32, u32)> {
        let mut end = self.tok(at)?.start as usize;
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | 0x0C);
        loop {
            let before = self.src.get(..end)?;
            let blanks = before.iter().rev().take_while(|byte| blank(byte)).count();
            let start = end.saturating_sub(blanks);
            let before = before.get(..start)?;
            let line = match before {
                [] | [0xEF, 0xBB, 0xBF] => return Some(width(self.src.get(start..end)?)),
                [line @ .., b'\r', b'\n'] | [line @ .., b'\n' | b'\r'] => line,
                _ => return None,
            };
            match line {
                // The line before goes on; where it begins, this one does.
                [.., b'\\'] => end = line.len().saturating_sub(1),
                _ => return Some(width(self.src.get(start..end)?)),
            }
        }
    }

    pub(super) fn begin_line(&mut self, at: u32) {
        self.statement = Statement::new(at);
        let Some(columns) = self.columns(at) else {
            self.found.loose = true;
            return;
        };
        if let Some(block) = self.pending.take() {
            let around = self.blocks.last().map_or((0, 0), |block| block.columns);
            self.found.loose |= columns.0 <= around.0 || columns.1 <= around.1;
            self.blocks.push(Block { columns, ..block });
            return;
        }
        while let Some(block) = self.blocks.last().copied().filter(|block| block.columns.0 > columns.0) {
            if self.blocks.len() == 1 {
                break;
            }
            self.blocks.pop();
            self.close(block, at);
        }
        // Code in a text may be indented as a whole.
        match self.blocks.as_mut_slice() {
            [only] if at == 0 => only.columns = columns,
            blocks => self.found.loose |= blocks.last().is_none_or(|block| block.columns != columns),
        }
    }

    /// Ends the blocks that stand in the line of their heads.
    pub(super) fn end_line(&mut self, at: u32) {
        while let Some(block) = self.blocks.pop_if(|block| block.body == Body::Line) {
            self.close(block, at);
        }
    }

    pub(super) fn end_file(&mut self, at: u32) {
        self.end_lambdas(at);
        self.found.loose |= !self.levels.is_empty();
        self.end_statement(at);
        if let Some(block) = self.pending.take() {
            self.blocks.push(block);
        }
        while let Some(block) = self.blocks.pop() {
            self.close(block, at);
        }
    }

    fn close(&mut self, block: Block, at: u32) {
        if let Some(end) = self.found.ends.get_mut(block.id as usize) {
            *end = at;
        }
        self.set_range(block.owns, None, Some(at));
        self.set_range(block.types, None, Some(at));
        if let Some((scope, name, around)) = block.class {
            let caught = Caught::No;
            self.found.sure.push(Sure { scope, name, from: at, block: around, caught });
        }
    }

    /// Ends a statement: what it bound is bound.
    pub(super) fn end_statement(&mut self, at: u32) {
        let (block, scope) = self.block();
        let caught = Caught::No;
        for name in self.bound.drain(..) {
            self.found.sure.push(Sure { scope, name, from: at, block, caught });
        }
        self.body.clear();
        self.head.clear();
        self.params = NO;
        self.statement = Statement::new(at.saturating_add(1));
    }

    /// A colon outside of brackets: the body of a compound statement, or an annotation.
    pub(super) fn colon(&mut self, at: u32) {
        let statement = self.statement;
        let ends_line = self.tok(at.saturating_add(1)).is_none_or(|tok| tok.kind == K::Line);
        let soft = match statement.soft {
            Soft::None => false,
            Soft::Match => ends_line,
            Soft::Case => true,
        };
        if !statement.kw.is_compound() && !soft {
            if statement.part.saturating_add(1) == at {
                self.bind(statement.part, self.scope(), Of::Own);
            }
            self.statement.annotated = Some((statement.part, at));
            return;
        }
        let id = u32::try_from(self.found.ends.len()).unwrap_or(NO);
        self.found.ends.push(NO);
        let (around, scope) = self.block();
        let caught = if statement.kw == Kw::Except { Caught::Yes } else { Caught::No };
        // The guard of a case sees what its pattern captures.
        let from = if statement.soft == Soft::Case { statement.start } else { at };
        for name in self.body.drain(..) {
            self.found.sure.push(Sure { scope, name, from, block: id, caught });
        }
        for name in self.head.drain(..) {
            self.found.sure.push(Sure { scope, name, from: at, block: around, caught: Caught::No });
        }
        let start = Some(at.saturating_add(1));
        self.set_range(statement.owns, start, None);
        self.set_range(statement.types, start, None);
        let mut subject = NO;
        if statement.soft == Soft::Match {
            subject = self.found.matches;
            self.found.matches = subject.saturating_add(1);
            self.found.subjects.push((statement.start, subject));
        }
        let block = Block {
            subject,
            id,
            scope: if statement.owns == NO { scope } else { statement.owns },
            columns: self.blocks.last().map_or((0, 0), |block| block.columns),
            owns: statement.owns,
            types: statement.types,
            class: statement.class.map(|name| (scope, name, around)),
            body: match (ends_line, statement.soft) {
                (false, _) => Body::Line,
                (true, Soft::Match) => Body::Match,
                (true, _) => Body::Plain,
            },
        };
        if ends_line {
            self.pending = Some(block);
        } else {
            self.blocks.push(block);
        }
        self.statement = Statement::new(at.saturating_add(1));
    }
}

fn width(blanks: &[u8]) -> (u32, u32) {
    blanks.iter().fold((0, 0), |(eight, one), byte| match byte {
        b'\t' => ((eight / 8).saturating_add(1).saturating_mul(8), one.saturating_add(1)),
        0x0C => (0, 0),
        _ => (eight.saturating_add(1), one.saturating_add(1)),
    })
}
