//! Brackets that open and close.

use super::Walk;
use super::frame::{Cur, Frame, In};
use crate::view::How;

impl Walk<'_, '_, '_> {
    pub(super) fn open(&mut self, kind: In) {
        let at = self.at;
        if matches!(kind, In::Group | In::List | In::Dict) {
            self.finish_operand();
            if let Some(frame) = self.top()
                && frame.elem.is_fresh()
                && frame.elem.spread == 0
            {
                frame.elem.first = at;
            }
        }
        let base = self.frames.last().map_or(Cur::default(), |frame| frame.cur);
        self.frames.push(Frame::new(kind, base, self.items.len(), at));
    }

    /// Ends what stands in a bracket.
    pub(super) fn close(&mut self) {
        self.finish_element();
        let Some(frame) = self.frames.pop() else { return };
        let last = self.at;
        let from = frame.items.min(self.items.len());
        let mut cur = Cur { first: frame.open, last, active: true, ..Cur::default() };
        match frame.kind {
            In::Call => {
                let items = self.items.split_off(from);
                cur = Cur { first: frame.base.first, how: frame.base.how, called: true, ..cur };
                self.undone = How::NONE;
                cur.val = self.call(&frame.base, &items, last);
                cur.how = cur.how.and(self.undone);
            }
            In::Index => {
                let item = self.items.get(from).copied().unwrap_or_default();
                self.items.truncate(from);
                self.index(frame.base, item, last);
                return;
            }
            In::Group | In::List | In::Dict => {
                let items = self.items.split_off(from);
                match items.as_slice() {
                    [only] if frame.kind == In::Group && !frame.comma && only.spread == 0 => {
                        cur.val = only.val;
                        cur.how = only.target.how;
                        cur.first = frame.open;
                    }
                    _ => {
                        cur.val = self.keep_literal(&items);
                    }
                }
            }
            In::Params => {
                self.items.truncate(from);
                cur.active = false;
            }
            In::Hole | In::Statement => {
                self.items.truncate(from);
                return;
            }
        }
        if let Some(top) = self.top() {
            top.cur = cur;
        }
    }
}
