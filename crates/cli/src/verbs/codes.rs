//! `plugward codes`: every reason code and rule with its help.

use plugward_loader::codes::{Code, all};
use serde::Serialize;

use crate::args::{CodesArgs, ListFormat};
use crate::failure::Failure;
use crate::json;
use crate::out::{Out, STRONG, paint};
use crate::table::wrapped;

#[derive(Serialize)]
struct Listing {
    version: u32,
    codes: Vec<Code>,
}

pub(crate) fn run(args: &CodesArgs, out: &mut Out) -> Result<u8, Failure> {
    let codes = all();
    match args.format {
        ListFormat::Json => out.result(&json::render(&Listing { version: 1, codes })?)?,
        ListFormat::Table => {
            for code in codes {
                out.result(&format!("{} {}\n", paint(STRONG, &code.code), code.kind))?;
                out.result(&wrapped("    ", "    ", &code.help, out.width))?;
            }
        }
    }
    Ok(0)
}
