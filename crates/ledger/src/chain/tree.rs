//! The RFC 6962 tree over all lines, stored as its left subtrees.

use crate::format::digest::LedgerDigest;

/// The hashes of the complete subtrees from the left: one for each bit that is set in `size`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frontier {
    size: u64,
    subtrees: Vec<LedgerDigest>,
}

impl Frontier {
    /// Creates a frontier from the subtrees of a checkpoint. Returns `None` if their number does not match
    /// the size.
    pub(crate) fn from_parts(size: u64, subtrees: &[LedgerDigest]) -> Option<Self> {
        let count = usize::try_from(size.count_ones()).ok()?;
        (subtrees.len() == count).then(|| Self { size, subtrees: subtrees.to_vec() })
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn subtrees(&self) -> &[LedgerDigest] {
        &self.subtrees
    }

    pub(crate) fn push(&mut self, line: &[u8]) {
        let mut node = LedgerDigest::of_parts(&[&[0], line]);
        // Each trailing one bit of the old size is a subtree that the new leaf completes.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.subtrees.pop() {
                node = inner(left, node);
            }
        }
        self.subtrees.push(node);
        self.size = self.size.saturating_add(1);
    }

    /// Returns the tree hash. That of no lines is the digest of no bytes.
    pub(crate) fn root(&self) -> LedgerDigest {
        let mut subtrees = self.subtrees.iter().rev();
        let Some(last) = subtrees.next() else { return LedgerDigest::of(&[]) };
        subtrees.fold(*last, |right, left| inner(*left, right))
    }
}

fn inner(left: LedgerDigest, right: LedgerDigest) -> LedgerDigest {
    LedgerDigest::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of RFC 6962, section 2.1: split at the largest power of two below n.
    fn by_definition(lines: &[Vec<u8>]) -> LedgerDigest {
        match lines {
            [] => LedgerDigest::of(&[]),
            [one] => LedgerDigest::of_parts(&[&[0], one]),
            many => {
                let half = many.len().next_power_of_two() / 2;
                inner(by_definition(&many[..half]), by_definition(&many[half..]))
            }
        }
    }

    #[test]
    fn roots_are_those_of_the_definition() {
        let lines: Vec<Vec<u8>> = (0..200_u32).map(|n| vec![7; n as usize % 9]).collect();
        let mut frontier = Frontier::default();
        for n in 0..=lines.len() {
            assert_eq!(frontier.root(), by_definition(&lines[..n]), "{n} lines");
            let again = Frontier::from_parts(n as u64, frontier.subtrees()).unwrap();
            assert_eq!(again, frontier);
            assert_eq!(
                Frontier::from_parts(n as u64 + 1, frontier.subtrees()).is_some(),
                (n as u64 + 1).count_ones() == (n as u64).count_ones()
            );
            if let Some(line) = lines.get(n) {
                frontier.push(line);
            }
        }
    }

    #[test]
    fn roots_are_those_of_the_published_vectors() {
        // The eight leaves that implementations of RFC 6962 share as test data.
        let leaves = [
            "",
            "00",
            "10",
            "2021",
            "3031",
            "40414243",
            "5051525354555657",
            "606162636465666768696a6b6c6d6e6f",
        ];
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut frontier = Frontier::default();
        for (leaf, root) in leaves.iter().zip(roots) {
            let bytes: Vec<u8> = (0..leaf.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&leaf[at..at + 2], 16).unwrap())
                .collect();
            frontier.push(&bytes);
            assert_eq!(frontier.root().to_string(), root);
        }
    }
}
