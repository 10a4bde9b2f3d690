//! The specification of a confined start, as the supervisor receives it.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::wire::{self, Message};
use crate::access::{Attributes, GrantedAccess, Rights};
use crate::spec::{LaunchSpec, Program};

/// The program of a start, its streams, and the access.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) path: String,
    /// The sealed program, which `path` leads to.
    pub(super) sealed: Option<OwnedFd>,
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) directory: String,
    /// Standard input, output and error.
    pub(super) streams: [OwnedFd; 3],
    pub(super) files: Vec<(OwnedFd, Rights)>,
    pub(super) ports: Ports,
    pub(super) attributes: Attributes,
}

/// The granted TCP ports.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) connect: BTreeSet<u16>,
    pub(super) listen: BTreeSet<u16>,
}

const PATH: u8 = b'p';
const SEALED: u8 = b's';
const ARGUMENT: u8 = b'a';
const VARIABLE: u8 = b'e';
const DIRECTORY: u8 = b'd';
const FILE: u8 = b'f';
const CONNECT: u8 = b'c';
const LISTEN: u8 = b'l';
const FIXED: u8 = b'm';

/// The rights as texts, in the order of [`Rights`].
const RIGHTS: [(&str, Rights); 4] =
    [("r", Rights::Read), ("w", Rights::Write), ("x", Rights::Execute), ("a", Rights::All)];

/// Sends a specification to the launcher.
pub(super) fn send(
    socket: &UnixStream,
    spec: &LaunchSpec<'_>,
    access: &GrantedAccess,
    streams: [BorrowedFd<'_>; 3],
    program: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut handles = streams.to_vec();
    let mut texts = vec![(DIRECTORY, spec.directory.clone())];
    match spec.program {
        Program::Sealed(sealed) => {
            texts.push((SEALED, String::new()));
            handles.push(sealed.memory());
        }
        Program::Copy { path, .. } | Program::System { path } => texts.push((PATH, path.to_owned())),
    }
    texts.extend(spec.argv.iter().map(|argument| (ARGUMENT, argument.clone())));
    let env = access.environment(&spec.env);
    texts.extend(env.iter().map(|(name, value)| (VARIABLE, format!("{name}={value}"))));
    texts.extend(access.connect.iter().map(|port| (CONNECT, port.to_string())));
    texts.extend(access.listen.iter().map(|port| (LISTEN, port.to_string())));
    if access.attributes == Attributes::Fixed {
        texts.push((FIXED, String::new()));
    }
    let files = access.files.iter().map(|(file, rights)| (file.as_fd(), *rights));
    for (file, rights) in files.chain(program.map(|file| (file, Rights::Execute))) {
        let name = RIGHTS.iter().find(|(_, known)| *known == rights).map_or("", |(name, _)| name);
        texts.push((FILE, name.to_owned()));
        handles.push(file);
    }
    let texts: Vec<(u8, &str)> = texts.iter().map(|(tag, text)| (*tag, text.as_str())).collect();
    wire::send(socket, &texts, &handles)
}

impl Ports {
    pub(super) fn is_empty(&self) -> bool {
        self.connect.is_empty() && self.listen.is_empty()
    }
}

impl Start {
    /// Receives a specification from the host.
    pub(super) fn receive(socket: &UnixStream) -> io::Result<Self> {
        let Message { texts, handles } = wire::receive(socket)?;
        let mut handles = VecDeque::from(handles);
        let mut next = || handles.pop_front().ok_or(io::ErrorKind::InvalidData);
        let mut start = Self {
            path: String::new(),
            sealed: None,
            argv: Vec::new(),
            env: Vec::new(),
            directory: String::new(),
            streams: [next()?, next()?, next()?],
            files: Vec::new(),
            ports: Ports::default(),
            attributes: Attributes::Changeable,
        };
        let port = |text: &str| text.parse::<u16>().map_err(io::Error::other);
        for (tag, text) in texts {
            match tag {
                DIRECTORY => start.directory = text,
                PATH => start.path = text,
                SEALED => {
                    let memory = next()?;
                    start.path = format!("/proc/self/fd/{}", memory.as_raw_fd());
                    start.sealed = Some(memory);
                }
                ARGUMENT => start.argv.push(text),
                VARIABLE => {
                    let (name, value) = text.split_once('=').ok_or(io::ErrorKind::InvalidData)?;
                    start.env.push((name.to_owned(), value.to_owned()));
                }
                CONNECT => drop(start.ports.connect.insert(port(&text)?)),
                FIXED => start.attributes = Attributes::Fixed,
                LISTEN => drop(start.ports.listen.insert(port(&text)?)),
                FILE => {
                    let rights = RIGHTS.iter().find(|(name, _)| *name == text);
                    let (_, rights) = rights.ok_or(io::ErrorKind::InvalidData)?;
                    start.files.push((next()?, *rights));
                }
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        Ok(start)
    }
}
