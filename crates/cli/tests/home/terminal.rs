//! The program with a pseudo-terminal for its input and its messages.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::home::{Home, code};

/// Runs the program to its end and types one line at each question; returns exit code, standard output and the terminal's text.
pub(crate) fn at_a_terminal(home: &Home, args: &[&str], typed: &str) -> (i32, String, String) {
    let lines: Vec<&str> = typed.split_inclusive('\n').collect();
    on_a_terminal(home, args, &lines, |_, _| {})
}

/// As [`at_a_terminal`]; calls `act` with the child and the terminal's text after each piece of it.
pub(crate) fn on_a_terminal(
    home: &Home,
    args: &[&str],
    typed: &[&str],
    act: impl FnMut(&Child, &str) + Send,
) -> (i32, String, String) {
    run_on_a_terminal(home.command(args), typed, act)
}

/// As [`on_a_terminal`], for a command with its own environment.
pub(crate) fn run_on_a_terminal(
    mut command: Command,
    typed: &[&str],
    mut act: impl FnMut(&Child, &str) + Send,
) -> (i32, String, String) {
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let master = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let slave = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut master = std::fs::File::from(master);
    command.stdin(slave.try_clone().unwrap()).stderr(slave).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    let mut reader = master.try_clone().unwrap();
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    let mut answers = typed.iter().enumerate().peekable();
    // The end of a terminal is an error.
    while let Ok(got) = reader.read(&mut chunk) {
        if got == 0 {
            break;
        }
        text.extend_from_slice(chunk.get(..got).unwrap());
        let shown = String::from_utf8_lossy(&text).into_owned();
        // What is typed before a question is discarded, so each answer waits for its whole question, which ends with a blank.
        let marks = [
            "[y]es, [N]o",
            "[a]ccept, [S]kip",
            "[K]eep, suppress",
            "(10 characters or more)",
            "[Enter] more",
        ];
        let questions: usize = marks.iter().map(|mark| shown.matches(mark).count()).sum();
        let is_asked = shown.ends_with(' ');
        act(&child, &shown);
        while let Some((_, answer)) = answers.next_if(|(index, _)| is_asked && *index < questions) {
            master.write_all(answer.as_bytes()).unwrap();
        }
    }
    let output = child.wait_with_output().unwrap();
    drop(master);
    (code(&output), String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&text).into_owned())
}
