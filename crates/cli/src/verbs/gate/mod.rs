//! `plugward gate`: answers a host that asks before it installs something.

mod answer;
mod judge;
mod request;
mod setup;
mod single_file;
mod verdict;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::args::{GateArgs, GateVerb};
use crate::failure::Failure;
use crate::host::Host;
use crate::out::Out;

use answer::GateAnswer;
use request::GateRequest;

/// Whether an answer is written. Only the first one is, the verdict or the one of the timeout.
static ANSWERED: AtomicBool = AtomicBool::new(false);

pub(crate) fn run(verb: &GateVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let GateVerb::Openclaw(args) = verb;
    if args.setup {
        return setup::run(args, host, out);
    }
    block_after(args.timeout);
    let request = GateRequest::read()?;
    let answer = judge::answer(&request, host, out)?;
    print(&answer, out)
}

/// Prints the answer about a request that could not be judged. The host understands no other failure.
pub(crate) fn block(failure: &Failure, out: &mut Out) -> Result<u8, Failure> {
    let text = anstream::adapter::strip_str(&failure.render(usize::from(u16::MAX))).to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    print(&GateAnswer::block(&format!("could not be judged: {}", words.join(" "))), out)
}

/// Returns `true` if a failure of the verb must be an answer.
pub(crate) const fn answers(verb: &GateVerb) -> bool {
    let GateVerb::Openclaw(GateArgs { setup, .. }) = verb;
    !*setup
}

fn print(answer: &GateAnswer, out: &mut Out) -> Result<u8, Failure> {
    let text = answer.render()?;
    while ANSWERED.swap(true, Ordering::SeqCst) {
        // The other thread is writing its answer, and then ends the program.
        std::thread::park();
    }
    out.result(&text)?;
    Ok(0)
}

/// Blocks if there is no answer in time. Nothing of this thread has to be kept: the gate pins nothing.
fn block_after(seconds: u64) {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        let message =
            format!("the check took more than {seconds} s (gate/timeout); check the directory by hand");
        let Ok(text) = GateAnswer::block(&message).render() else { return };
        if !ANSWERED.swap(true, Ordering::SeqCst) {
            let mut stdout = std::io::stdout();
            let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
            std::process::exit(i32::from(written.is_err()));
        }
    });
}
