//! The time of calls of modules: `cargo bench -p plugward-host-modules --features fetch`. Peers run by turns in the same run.
//! `PLUGWARD_TEST_NODE` names node 22.18 or later, and `PLUGWARD_TEST_HYPERAGENT` the directory of HyperAgent's plugins.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark starts peers, reads the clock, prints, and panics if it fails"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use plugward_host_modules::sandbox_path::{Jail, Policy};
use plugward_host_modules::{
    CallResult, FetchConfig, FsReadConfig, FunctionName, HostModule, HttpNet, Net, NetFault, NetRequest,
    NetResponse, PLUGIN_SHIM, fetch, fs_read,
};
use serde_json::{Value, json};

const CALLS: usize = 2_000;
const STARTS: usize = 40;
const SIZE: usize = 4_096;
/// A plugin, and a program that calls the same function once.
const PLUGIN: &str = "export const createHostFunctions = () => ({ m: { f: (text) => text.length } });\n";
const SCRIPT: &str = "import { createHostFunctions } from './index.mjs';
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(createHostFunctions({}).m.f(...JSON.parse(line))));
  break;
}\n";

/// A program that answers lines.
struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(node: &str, directory: &Path, file: &str) -> Self {
        let mut command = Command::new(node);
        command.arg("--no-warnings").arg(file).current_dir(directory);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Starts a plugin in a directory.
    fn plugin(node: &str, directory: &Path, entry: &str, config: &Value) -> Self {
        std::fs::write(directory.join("shim.mjs"), PLUGIN_SHIM).unwrap();
        let mut program = Self::start(node, directory, "shim.mjs");
        let answer = program.ask(&json!({ "type": "init", "version": 1, "entry": entry, "config": config }));
        assert!(answer.contains("\"ready\""), "{answer}");
        program
    }

    fn ask(&mut self, line: &Value) -> String {
        writeln!(self.child.stdin.as_ref().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    fn call(&mut self, module: &str, function: &str, args: &Value) -> String {
        self.ask(&json!({ "type": "call", "id": 1, "module": module, "function": function, "args": args }))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It can have ended by itself.
        drop(self.child.kill());
        self.child.wait().unwrap();
    }
}

/// A name with a public address, and a server without encryption.
struct Loopback(HttpNet, SocketAddr);

impl Net for Loopback {
    fn resolve(&mut self, _: &str) -> Result<Vec<IpAddr>, NetFault> {
        Ok(vec![Ipv4Addr::new(93, 184, 215, 14).into()])
    }

    fn send(&mut self, request: &NetRequest, _: &[SocketAddr]) -> Result<NetResponse, NetFault> {
        let url = format!("http://{}/", self.1);
        self.0.send(&NetRequest { url, ..request.clone() }, &[self.1])
    }
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn compare(name: &str, bar: f64, rounds: usize, mut run: impl FnMut(), mut peer: impl FnMut()) {
    let (mut runs, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        runs.push(timed(&mut run));
        peers.push(timed(&mut peer));
    }
    runs.sort();
    peers.sort();
    // The fastest round is the one that other programs of the machine delayed the least.
    for (label, at) in [("median", rounds / 2), ("fastest", 0)] {
        let (run, peer) = (runs[at], peers[at]);
        let ratio = run.as_secs_f64() / peer.as_secs_f64();
        println!("{name:<32} {label:<8} {run:>10.2?}   peer {peer:>10.2?}   {ratio:.2} (bar {bar})");
    }
}

fn called(module: &mut impl HostModule, function: &str, args: &[Value]) -> usize {
    match module.call(&FunctionName::new(function).unwrap(), args) {
        CallResult::Returned(value) => value.to_string().len(),
        CallResult::Thrown(_) => 0,
    }
}

/// Compares a native read with that of HyperAgent's plugin.
fn reads(node: &str, hyperagent: &Path, directory: &Path) {
    std::fs::write(directory.join("a.txt"), "x".repeat(SIZE)).unwrap();
    let config = json!({ "baseDir": directory, "maxFileSizeKb": 10_240 });
    let mut plugin = Program::plugin(node, &hyperagent.join("fs-read"), "./index.ts", &config);
    let setting = format!("baseDir={}", directory.display());
    let config = FsReadConfig::from_args(&[&setting]).unwrap();
    let mut native = fs_read(Jail::open(directory, Policy::agent()).unwrap(), config);
    let run = || assert!(called(&mut native, "readFile", &[json!("a.txt")]) > SIZE);
    let peer = || assert!(plugin.call("fs-read", "readFile", &json!(["a.txt"])).len() > SIZE);
    compare("readFile of 4 KiB, HyperAgent", 0.35, CALLS, run, peer);
}

/// Compares a plugin that starts and answers one call with a script that does the same.
fn starts(node: &str, directory: &Path) {
    for (name, text) in [("index.mjs", PLUGIN), ("script.mjs", SCRIPT)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let run = || {
        let mut plugin = Program::plugin(node, directory, "./index.mjs", &json!({}));
        assert!(plugin.call("m", "f", &json!(["abc"])).contains(":3"));
    };
    let peer = || assert_eq!(Program::start(node, directory, "script.mjs").ask(&json!(["abc"])), "3\n");
    compare("plugin with a call, script", 1.4, STARTS, run, peer);
}

/// Compares a request on loopback with that of ureq.
fn requests() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut String::new()).unwrap() > 2 {}
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length:";
            stream.write_all(format!("{head} {SIZE}\r\n\r\n{}", "x".repeat(SIZE)).as_bytes()).unwrap();
        }
    });
    let often = ["maxRequestsPerMinute=100000", "maxRequestsPerHour=100000", "maxDataReceivedKb=100000"];
    let config = FetchConfig::from_args(&[&["allowedDomains=a.example"], &often[..]].concat()).unwrap();
    let net = Loopback(HttpNet::new(&config), server);
    let mut module = fetch(config, Box::new(net), Box::new(Instant::now));
    let run = || assert!(called(&mut module, "fetchText", &[json!("https://a.example/")]) > SIZE);
    let agent = ureq::Agent::new_with_defaults();
    let peer = || {
        let mut response = agent.get(format!("http://{server}/")).call().unwrap();
        assert_eq!(response.body_mut().read_to_string().unwrap().len(), SIZE);
    };
    compare("fetch on loopback, ureq", 1.3, CALLS, run, peer);
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let node = std::env::var("PLUGWARD_TEST_NODE").unwrap_or_else(|_| "node".to_owned());
    match std::env::var_os("PLUGWARD_TEST_HYPERAGENT") {
        Some(plugins) => reads(&node, Path::new(&plugins), directory.path()),
        None => println!("readFile: skipped, because PLUGWARD_TEST_HYPERAGENT is not set"),
    }
    starts(&node, directory.path());
    requests();
}
