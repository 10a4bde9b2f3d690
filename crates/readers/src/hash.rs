//! A fast hash for tables whose keys come from the scanned file.
//!
//! It is keyed at random, so that a file cannot choose colliding keys and make lookups slow.

use core::hash::{BuildHasher, Hasher};
use std::collections::hash_map::RandomState;

/// A factory for hashers that share one random key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyedHash(u64);

impl Default for KeyedHash {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u8))
    }
}

impl BuildHasher for KeyedHash {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer { key: self.0, state: self.0.rotate_left(32) }
    }
}

/// A hasher that multiplies each part of a key into its state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mixer {
    key: u64,
    state: u64,
}

impl Mixer {
    fn mix(&mut self, part: u64) {
        let product = u128::from(self.state ^ part).wrapping_mul(u128::from(self.key | 1));
        let (high, low) = (product >> 64, product & u128::from(u64::MAX));
        self.state = u64::try_from(high ^ low).unwrap_or(0).wrapping_add(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.mix(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        for (slot, byte) in last.iter_mut().zip(rest) {
            *slot = *byte;
        }
        self.mix(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    fn write_u8(&mut self, part: u8) {
        self.mix(u64::from(part));
    }

    fn write_u16(&mut self, part: u16) {
        self.mix(u64::from(part));
    }

    fn write_u32(&mut self, part: u32) {
        self.mix(u64::from(part));
    }

    fn write_u64(&mut self, part: u64) {
        self.mix(part);
    }

    fn write_usize(&mut self, part: usize) {
        self.mix(part as u64);
    }

    fn write_isize(&mut self, part: isize) {
        self.mix(part.cast_unsigned() as u64);
    }

    fn finish(&self) -> u64 {
        let mut last = *self;
        last.mix(self.key);
        last.state
    }
}
