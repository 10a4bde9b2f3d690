//! Bzip2 data. Decodes to a buffer that is wiped.
#![expect(clippy::arithmetic_side_effects, reason = "sizes and codes are bounded by the format")]

use zeroize::Zeroizing;

use crate::bytes::wiped::Wiped;
use crate::bytes::{at, part};

/// The beginning of a block, of the trailer, and of a stream, without its level.
const BLOCK: [u32; 2] = [0x0031_4159, 0x0026_5359];
const TRAILER: [u32; 2] = [0x0017_7245, 0x0038_5090];
const STREAM: &[u8] = b"BZh";
/// The maximum length of a code.
const LONGEST: usize = 20;
/// The number of symbols for which one code is used.
const GROUP: usize = 50;
/// A larger block exceeds the limit: five bytes of memory are needed for each of its bytes.
const BLOCK_SIZE: usize = 256 * 1024;

/// Why decoding stopped.
enum Stop {
    /// The stream is damaged or cut.
    Damage,
    Limit,
}

/// Returns `true` if bytes begin like bzip2.
pub(crate) fn is_bzip2(bytes: &[u8]) -> bool {
    bytes.starts_with(STREAM) && matches!(at(bytes, 3), b'1'..=b'9') && part(bytes, 4..10) == b"1AY&SY"
}

/// Decodes consecutive streams, up to damage. Returns `None` if the output is longer than `most`.
pub(crate) fn decode(data: &[u8], most: usize) -> Option<Wiped> {
    let mut out = Wiped::new();
    let mut rest = data;
    while rest.starts_with(STREAM) {
        let mut bits = Bits { data: rest, place: 32 };
        match stream(&mut bits, &mut out, most) {
            Ok(()) => rest = part(rest, bits.place.div_ceil(8)..rest.len()),
            Err(Stop::Damage) => break,
            Err(Stop::Limit) => return None,
        }
    }
    Some(out)
}

fn stream(bits: &mut Bits<'_>, out: &mut Wiped, most: usize) -> Result<(), Stop> {
    loop {
        let magic = [bits.take(24)?, bits.take(24)?];
        // The checksum is not verified, because text with an error in it can contain a secret too.
        bits.take(32)?;
        match magic {
            BLOCK => block(bits, out, most)?,
            TRAILER => return Ok(()),
            _ => return Err(Stop::Damage),
        }
    }
}

struct Bits<'t> {
    data: &'t [u8],
    place: usize,
}

impl Bits<'_> {
    /// Reads at most 32 bits, the highest first.
    fn take(&mut self, count: usize) -> Result<u32, Stop> {
        if self.place + count > self.data.len() * 8 {
            return Err(Stop::Damage);
        }
        let bit = |place: usize| u32::from(at(self.data, place / 8) >> (7 - place % 8) & 1);
        let number = (self.place..self.place + count).fold(0, |number, place| number << 1 | bit(place));
        self.place += count;
        Ok(number)
    }

    fn size(&mut self, count: usize) -> Result<usize, Stop> {
        self.take(count).map(wide)
    }

    fn is_set(&mut self) -> Result<bool, Stop> {
        self.take(1).map(|bit| bit == 1)
    }
}

/// A canonical code: the number of symbols of each length, and the symbols by length.
struct Code {
    counts: [usize; LONGEST + 1],
    symbols: Vec<usize>,
}

impl Code {
    fn read(bits: &mut Bits<'_>, alphabet: usize) -> Result<Self, Stop> {
        let mut lengths = Vec::with_capacity(alphabet);
        let mut length = bits.size(5)?;
        for symbol in 0..alphabet {
            while bits.is_set()? {
                length = if bits.is_set()? { length.saturating_sub(1) } else { length + 1 };
            }
            lengths.push((length, symbol));
        }
        if lengths.iter().any(|(length, _)| !(1..=LONGEST).contains(length)) {
            return Err(Stop::Damage);
        }
        let counts = core::array::from_fn(|own| lengths.iter().filter(|(length, _)| *length == own).count());
        lengths.sort_unstable();
        Ok(Self { counts, symbols: lengths.into_iter().map(|(_, symbol)| symbol).collect() })
    }

    fn symbol(&self, bits: &mut Bits<'_>) -> Result<usize, Stop> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for count in self.counts.iter().skip(1) {
            code = code << 1 | bits.size(1)?;
            first <<= 1;
            if code < first + count {
                let symbol = code.checked_sub(first).and_then(|ahead| self.symbols.get(index + ahead));
                return symbol.copied().ok_or(Stop::Damage);
            }
            first += count;
            index += count;
        }
        Err(Stop::Damage)
    }
}

fn block(bits: &mut Bits<'_>, out: &mut Wiped, most: usize) -> Result<(), Stop> {
    // Blocks of before 1999 can be randomized. No tool writes them today.
    if bits.is_set()? {
        return Err(Stop::Damage);
    }
    let origin = bits.size(24)?;
    let mut moved = used_bytes(bits)?;
    let alphabet = moved.len() + 2;
    let (tables, selectors) = (bits.size(3)?, bits.size(15)?);
    let mut order: Vec<usize> = (0..tables).collect();
    let mut groups = Vec::with_capacity(selectors);
    for _ in 0..selectors {
        let mut index = 0;
        while bits.is_set()? {
            index += 1;
        }
        groups.push(to_front(&mut order, index)?);
    }
    let codes = (0..tables).map(|_| Code::read(bits, alphabet)).collect::<Result<Vec<Code>, Stop>>()?;
    let mut bytes = Wiped::new();
    let (mut run, mut weight) = (0, 1);
    for group in groups.into_iter().flat_map(|group| [group; GROUP]) {
        let symbol = codes.get(group).ok_or(Stop::Damage)?.symbol(bits)?;
        // Two symbols are the digits of a run of the front byte.
        if symbol < 2 {
            run += weight << symbol;
            weight <<= 1;
        }
        if bytes.len() + run >= BLOCK_SIZE {
            return Err(Stop::Limit);
        }
        if symbol < 2 {
            continue;
        }
        let front = moved.first().copied().ok_or(Stop::Damage)?;
        (0..run).for_each(|_| bytes.push(front));
        (run, weight) = (0, 1);
        if symbol == alphabet - 1 {
            break;
        }
        bytes.push(to_front(&mut moved, symbol - 1)?);
    }
    write(&bytes, origin, out, most)
}

/// Reads the set of bytes that a block contains.
fn used_bytes(bits: &mut Bits<'_>) -> Result<Vec<u8>, Stop> {
    let rows = bits.take(16)?;
    let mut used = Vec::with_capacity(256);
    for row in (0..16_u8).filter(|row| rows >> (15 - row) & 1 == 1) {
        let columns = bits.take(16)?;
        used.extend((0..16_u8).filter(|column| columns >> (15 - column) & 1 == 1).map(|low| row << 4 | low));
    }
    Ok(used)
}

/// Moves an element to the front, and returns it.
fn to_front<T: Copy>(list: &mut [T], index: usize) -> Result<T, Stop> {
    list.get_mut(..=index).ok_or(Stop::Damage)?.rotate_right(1);
    list.first().copied().ok_or(Stop::Damage)
}

/// Inverts the Burrows-Wheeler transform, and expands runs: a count of further bytes follows four equal ones.
fn write(bytes: &[u8], origin: usize, out: &mut Wiped, most: usize) -> Result<(), Stop> {
    // Sorted by byte, the places of the bytes say where the byte after each is.
    let mut places: Zeroizing<Vec<u32>> = Zeroizing::new((0..).take(bytes.len()).collect());
    places.sort_by_key(|place| at(bytes, wide(*place)));
    let mut next = origin;
    let (mut last, mut equal) = (None, 0);
    for _ in 0..bytes.len() {
        next = places.get(next).copied().map(wide).ok_or(Stop::Damage)?;
        let byte = at(bytes, next);
        let count = if equal == 4 { usize::from(byte) } else { 1 };
        if out.len() + count > most {
            return Err(Stop::Limit);
        }
        if equal == 4 {
            (0..count).for_each(|_| out.push(last.unwrap_or(0)));
            (last, equal) = (None, 0);
        } else {
            out.push(byte);
            equal = if last == Some(byte) { equal + 1 } else { 1 };
            last = Some(byte);
        }
    }
    Ok(())
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
