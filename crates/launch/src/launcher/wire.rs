//! Messages between the host and the launcher: a length, and texts that end with NUL. The first byte of a text says what
//! it is. Handles are attached to the length.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// The most handles of a message; the kernel accepts one more.
const HANDLES: usize = 252;
/// The longest message: more than the kernel accepts as arguments and environment.
const LONGEST: usize = 16 << 20;

/// A received message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) texts: Vec<(u8, String)>,
    pub(super) handles: Vec<OwnedFd>,
}

/// Sends texts, each with the byte that says what it is.
pub(super) fn send(
    mut socket: &UnixStream,
    texts: &[(u8, &str)],
    handles: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut payload = Vec::new();
    for (tag, text) in texts {
        payload.push(*tag);
        payload.extend_from_slice(text.as_bytes());
        payload.push(0);
    }
    let length = u32::try_from(payload.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(handles)) {
        return Err(io::Error::other("too many handles"));
    }
    if rustix::net::sendmsg(socket, &[IoSlice::new(&length)], &mut ancillary, SendFlags::NOSIGNAL)?
        < length.len()
    {
        return Err(io::ErrorKind::WriteZero.into());
    }
    socket.write_all(&payload)
}

/// Receives a message. Its handles are close-on-exec.
pub(super) fn receive(mut socket: &UnixStream) -> io::Result<Message> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let parts = &mut [IoSliceMut::new(&mut length)];
    if rustix::net::recvmsg(socket, parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes < 4 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut handles = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            handles.extend(received);
        }
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut payload = vec![0; length];
    socket.read_exact(&mut payload)?;
    let texts = payload.split_inclusive(|byte| *byte == 0).map(text).collect::<Option<_>>();
    Ok(Message { texts: texts.ok_or(io::ErrorKind::InvalidData)?, handles })
}

fn text(bytes: &[u8]) -> Option<(u8, String)> {
    let (tag, rest) = bytes.strip_suffix(&[0])?.split_first()?;
    Some((*tag, String::from_utf8(rest.to_vec()).ok()?))
}
