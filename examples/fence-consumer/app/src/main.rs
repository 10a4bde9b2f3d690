//! Takes a capability from the mint and hands it to the code that needs it.
#![forbid(unsafe_code)]

use caps::WriteCapability;
use caps::mint::Mint;

fn main() {
    let mint = Mint::at_start();
    save(&mint.mint("/tmp/app"));
}

fn save(may: &WriteCapability) {
    println!("writes below {}", may.folder());
}
