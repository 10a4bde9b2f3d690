//! The program with granted access: it tries one thing, and prints `ok` or the error.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroU32;
use std::process::{Command, ExitCode};
use std::{env, fs};

use nix::sched::{CloneFlags, unshare};
use rustix::net::{AddressFamily, Protocol, SocketType, socket, socketpair};
use rustix::process::{Pid, Signal};

/// The first argument.
pub(crate) const MARK: &str = "try";

/// Returns the thing that is tried and its arguments.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let [what, rest @ ..] = arguments else { return ExitCode::FAILURE };
    let at = rest.first().map_or("", String::as_str);
    match attempt(what, at) {
        Ok(text) => println!("{text}"),
        Err(error) => println!("error: {error}"),
    }
    ExitCode::SUCCESS
}

fn attempt(what: &str, at: &str) -> io::Result<String> {
    let port = || at.parse::<u16>().unwrap();
    match what {
        "read" => return fs::read_to_string(at).map(|text| text.trim().to_owned()),
        "list" => drop(fs::read_dir(at)?),
        "write" => fs::write(at, "changed")?,
        "remove" => fs::remove_file(at)?,
        "execute" => {
            let status = Command::new(at).status()?;
            return Ok(format!("{status}"));
        }
        // A program that it wrote.
        "execute-copy" => {
            fs::copy("/bin/true", at)?;
            return Ok(format!("{}", Command::new(at).status()?));
        }
        "connect" => drop(TcpStream::connect(("127.0.0.1", port()))?),
        "listen" => drop(TcpListener::bind(("127.0.0.1", port()))?),
        "listen-unbound" => {
            let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
            rustix::net::listen(socket, 1)?;
        }
        "udp" => drop(UdpSocket::bind(("127.0.0.1", 0))?),
        "mptcp" => {
            let protocol = NonZeroU32::new(262).map(Protocol::from_raw);
            drop(socket(AddressFamily::INET, SocketType::STREAM, protocol)?);
        }
        "unix" => drop(std::os::unix::net::UnixStream::connect(at)?),
        "abstract" => drop(socket(AddressFamily::UNIX, SocketType::STREAM, None)?),
        "netlink" => drop(socket(AddressFamily::NETLINK, SocketType::RAW, None)?),
        "pair" => {
            let (mut one, mut two) = std::os::unix::net::UnixStream::pair()?;
            one.write_all(b"x")?;
            two.read_exact(&mut [0])?;
        }
        "pair-datagram" => {
            drop(socketpair(
                AddressFamily::UNIX,
                SocketType::DGRAM,
                rustix::net::SocketFlags::empty(),
                None,
            )?);
        }
        "signal" => rustix::process::kill_process(Pid::from_raw(at.parse().unwrap()).unwrap(), Signal::CONT)?,
        "signal-child" => {
            let mut child = Command::new("/bin/sleep").arg("60").spawn()?;
            rustix::process::kill_process(Pid::from_child(&child), Signal::KILL)?;
            child.wait()?;
        }
        "unshare" => unshare(CloneFlags::CLONE_NEWUSER)?,
        "thread" => std::thread::spawn(|| ()).join().unwrap(),
        "variable" => return env::var(at).map_err(io::Error::other),
        "variables" => return Ok(env::vars().map(|(name, _)| name).collect::<Vec<_>>().join(" ")),
        "descriptors" => {
            let all =
                fs::read_dir("/proc/self/fd")?.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut all: Vec<String> = all.collect();
            all.sort();
            return Ok(all.join(" "));
        }
        "capabilities" => {
            let status = fs::read_to_string("/proc/self/status")?;
            let lines =
                status.lines().filter(|line| line.starts_with("CapEff") || line.starts_with("CapPrm"));
            return Ok(lines.filter_map(|line| line.split_whitespace().nth(1)).collect::<Vec<_>>().join(" "));
        }
        "self" => {
            let exe = fs::read_link("/proc/self/exe")?;
            let name = env::args().next().unwrap();
            let directory = env::current_dir()?;
            return Ok(format!("{} {name} {}", exe.display(), directory.display()));
        }
        _ => return Err(io::ErrorKind::Unsupported.into()),
    }
    Ok("ok".to_owned())
}
