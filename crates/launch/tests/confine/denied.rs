//! Each thing that is denied, with a near miss that works.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use plugward_capability::Access as Level;

use crate::Case;
use crate::world::{World, connect, grant, listen, open, output, program, shell, start, variables};

pub(crate) const CASES: &[Case] = &[
    ("denied::files", files),
    ("denied::attributes", attributes),
    ("denied::execution", execution),
    ("denied::network_without_grants", network_without_grants),
    ("denied::network_with_grants", network_with_grants),
    ("denied::processes", processes),
    ("denied::variables", environment),
    ("denied::grants_that_are_too_wide", too_wide),
];

fn denied(text: &str) -> bool {
    text.contains("ermission denied") || text.contains("not permitted")
}

fn files() {
    let world = World::new();
    let access = world.access();
    let attempt = |what: &str, at: &str| world.attempt(&access, &[what, &world.at(at)]);
    assert!(denied(&attempt("read", "outside/file")));
    assert!(denied(&attempt("list", "outside")));
    assert!(denied(&attempt("write", "outside/file")));
    assert_eq!(attempt("read", "read/file"), "read");
    assert_eq!(attempt("list", "read"), "ok");
    for at in ["read/file", "read/new", "tree/file"] {
        assert!(denied(&attempt("write", at)), "{at}");
    }
    assert!(denied(&attempt("remove", "read/file")));
    for at in ["write/file", "write/new", "home/new"] {
        assert_eq!(attempt("write", at), "ok", "{at}");
    }
    assert_eq!(attempt("read", "write/file"), "changed");
    assert_eq!(attempt("remove", "write/file"), "ok");
    assert_eq!(attempt("read", "tree/file"), "tree");
    assert_eq!(fs::read_to_string(world.at("outside/file")).unwrap(), "outside");
    // A link that leaves a granted directory.
    std::os::unix::fs::symlink(world.at("outside/file"), world.at("write/link")).unwrap();
    assert!(denied(&attempt("read", "write/link")));
    // The base list does not include the passwords of the system.
    for at in ["/etc/shadow", "/etc/passwd", "/root", "/"] {
        assert!(
            denied(&world.attempt(&access, &["list", at])) || denied(&world.attempt(&access, &["read", at])),
            "{at}"
        );
    }
    assert_eq!(world.attempt(&access, &["write", "/dev/null"]), "ok");
    assert!(!denied(&world.attempt(&access, &["read", "/etc/hosts"])));
}

/// Attributes of files, which Landlock does not limit.
fn attributes() {
    let world = World::new();
    let access = world.access();
    let (inside, outside) = (world.at("write/file"), world.at("outside/file"));
    let run = |script: &str| output(&shell(script), &access);
    for at in [&inside, &outside] {
        for command in ["chmod u+s", "chmod g+s", "chown $(id -u)", "chgrp -h $(id -g)"] {
            let (text, code) = run(&format!("{command} {at}"));
            assert!(denied(&text) && code == Some(1), "{command}: {text}");
        }
        assert!(denied(&world.attempt(&access, &["attribute", at])));
    }
    assert!(denied(&world.attempt(&access, &["create-setuid", &world.at("write/new")])));
    assert!(world.attempt(&access, &["openat2", &inside]).contains("not implemented"));
    assert_eq!(
        run(&format!("chmod 700 {inside}; touch {inside}; umask 77; mkdir {inside}s")),
        (String::new(), Some(0))
    );
    assert!(access.not_enforced_of(&world).contains("mode and the times of other files"));
}

fn execution() {
    let world = World::new();
    let mut access = world.access();
    let copy = |access: &_, name: &str| world.attempt(access, &["execute-copy", &world.at(name)]);
    for at in ["home/true", "write/true"] {
        assert!(denied(&copy(&access, at)), "{at}");
    }
    // A program of the system, of the tree, and one that is granted.
    fs::copy("/bin/true", world.at("tree/true")).unwrap();
    fs::copy("/bin/true", world.at("outside/true")).unwrap();
    assert_eq!(world.attempt(&access, &["execute", "/bin/true"]), "exit status: 0");
    assert_eq!(world.attempt(&access, &["execute", &world.at("tree/true")]), "exit status: 0");
    assert!(denied(&world.attempt(&access, &["execute", &world.at("outside/true")])));
    program(&mut access, &world.at("outside/true"));
    assert_eq!(world.attempt(&access, &["execute", &world.at("outside/true")]), "exit status: 0");
    assert!(access.not_enforced_of(&world).contains("`tool` can have any arguments"));
    // The private directory of a package runner.
    access.executable_home();
    assert_eq!(copy(&access, "home/runner"), "exit status: 0");
    assert!(denied(&copy(&access, "write/runner")));
}

trait Sentences {
    fn not_enforced_of(&self, world: &World) -> String;
}

fn sentences(spec: &plugward_launch::LaunchSpec<'_>, access: &plugward_launch::GrantedAccess) -> String {
    start(spec, access).report().not_enforced.join("\n")
}

impl Sentences for plugward_launch::GrantedAccess {
    fn not_enforced_of(&self, world: &World) -> String {
        sentences(&world.spec(&["thread"]), self)
    }
}

fn network_without_grants() {
    let world = World::new();
    let access = world.access();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let _socket = UnixListener::bind(world.at("write/socket")).unwrap();
    for what in ["connect", "listen"] {
        assert!(denied(&world.attempt(&access, &[what, &port])), "{what}");
    }
    for what in ["udp", "mptcp", "abstract", "netlink", "pair-datagram", "pair-internet"] {
        assert!(denied(&world.attempt(&access, &[what])), "{what}");
    }
    assert!(denied(&world.attempt(&access, &["unix", &world.at("write/socket")])));
    assert_eq!(world.attempt(&access, &["pair"]), "ok");
}

fn network_with_grants() {
    let world = World::new();
    let (one, two) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let (granted, other) = (port(&one), port(&two));
    let mut access = world.access();
    connect(&mut access, granted);
    assert_eq!(world.attempt(&access, &["connect", &granted.to_string()]), "ok");
    assert!(denied(&world.attempt(&access, &["connect", &other.to_string()])));
    for what in ["udp", "mptcp", "abstract", "netlink", "listen-unbound"] {
        assert!(denied(&world.attempt(&access, &[what])), "{what}");
    }
    let sentences = access.not_enforced_of(&world);
    assert!(sentences.contains("reach every host, not only `localhost`"));
    assert!(sentences.contains("port 53") && !sentences.contains("listen"));
    assert_eq!(world.attempt(&access, &["variable", "RES_OPTIONS"]), "use-vc");
    // Connecting does not include listening, and the other way round.
    drop((one, two));
    assert!(denied(&world.attempt(&access, &["listen", &granted.to_string()])));
    let mut access = world.access();
    listen(&mut access, granted);
    let sentences = access.not_enforced_of(&world);
    assert!(sentences.contains("listen on ports that the system selects") && !sentences.contains("port 53"));
    assert_eq!(world.attempt(&access, &["listen", &granted.to_string()]), "ok");
    assert!(denied(&world.attempt(&access, &["listen", &other.to_string()])));
    assert!(denied(&world.attempt(&access, &["connect", &granted.to_string()])));
}

fn processes() {
    let world = World::new();
    let access = world.access();
    let own = std::process::id().to_string();
    let text = world.attempt(&access, &["signal", &own]);
    assert!(text.starts_with("error: No such process") || denied(&text), "{text}");
    let text = world.attempt(&access, &["read", &format!("/proc/{own}/environ")]);
    assert!(text.starts_with("error"), "{text}");
    assert_eq!(world.attempt(&access, &["signal-child"]), "ok");
    assert!(world.attempt(&access, &["read", "/proc/self/environ"]).contains("PATH="));
    assert!(denied(&world.attempt(&access, &["unshare"])));
    assert_eq!(world.attempt(&access, &["thread"]), "ok");
    // The limits of the supervisor, and those of the program.
    assert!(denied(&world.attempt(&access, &["limit", "1"])));
    assert_eq!(world.attempt(&access, &["limit", "0"]), "ok");
    assert_eq!(world.attempt(&access, &["capabilities"]), "0000000000000000 0000000000000000");
    // Only the processes of the program are visible: the supervisor, the shell and `ls`.
    let (text, _) = output(&shell("ls /proc | grep -c '^[0-9]*$'"), &access);
    assert!(text.parse::<u32>().unwrap() <= 4, "{text}");
}

fn environment() {
    let world = World::new();
    let mut access = world.access();
    assert!(world.attempt(&access, &["variable", "TOKEN"]).starts_with("error"));
    assert_eq!(world.attempt(&access, &["variable", "LC_ALL"]), "C");
    assert_eq!(world.attempt(&access, &["variable", "HOME"]), world.at("home"));
    variables(&mut access, &["TOKEN", "ABSENT", "HOME"]).unwrap();
    access.set_variable("ROOT", "/r").unwrap();
    for (name, value) in
        [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0"), ("LD_PRELOAD", "x"), ("LUA_INIT", "x")]
    {
        assert_eq!(access.set_variable(name, value).unwrap_err().code(), "launch/spec", "{name:?}");
    }
    assert_eq!(world.attempt(&access, &["variable", "TOKEN"]), "t");
    assert_eq!(world.attempt(&access, &["variable", "ROOT"]), "/r");
    assert_eq!(world.attempt(&access, &["variable", "HOME"]), world.at("home"));
    assert!(world.attempt(&access, &["variable", "OTHER"]).starts_with("error"));
    let running = start(&world.spec(&["variables"]), &access);
    let mut names = running.report().env.clone();
    let (text, _) = crate::world::finish(running);
    let mut printed: Vec<&str> = text.split(' ').collect();
    names.sort();
    printed.sort_unstable();
    assert_eq!(names, printed);
    for name in ["LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "BASH_ENV", "GIT_SSH_COMMAND", "OPENSSL_CONF"] {
        assert_eq!(variables(&mut access, &[name]).unwrap_err().code(), "launch/spec", "{name}");
    }
    variables(&mut access, &["LDAP_URL", "GITHUB_TOKEN"]).unwrap();
    // A checked file of a plugin can name places in its private copy.
    for (name, value) in
        [("PYTHONPATH", "/copy/lib:/copy/vendor"), ("LD_PRELOAD", "/copy/a.so"), ("PORT", "80")]
    {
        access.set_variable_of_plugin(name, value, "/copy").unwrap();
    }
    for value in ["/copy/lib:/tmp", "/copy/../tmp", "/copyist", "", "lib", "/copy/lib:"] {
        let refused = access.set_variable_of_plugin("PYTHONPATH", value, "/copy").unwrap_err();
        assert_eq!(refused.code(), "launch/spec", "{value:?}");
    }
}

fn too_wide() {
    let world = World::new();
    let mut access = world.access();
    let error = grant(&mut access, "/", Level::Read).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("launch/spec", "the root of the file system cannot be granted")
    );
    // The jail of another directory.
    let jail =
        plugward_sandbox_path::Jail::open(world.at("outside"), plugward_sandbox_path::Policy::standard())
            .unwrap();
    let place = plugward_capability::ScopeDirectory::new("x", "1:2").unwrap();
    let capability = plugward_capability::for_tests(plugward_capability::FsScope::new(place, Level::Read));
    assert_eq!(access.directory(&capability, &jail).unwrap_err().code(), "launch/spec");
    // What runs later outside, also if it does not exist.
    grant(&mut access, &world.at("outside"), Level::ReadWrite).unwrap();
    assert!(access.not_enforced_of(&world).contains("`.git`, "));
    let home = open(world.at("home"));
    let mut near = plugward_launch::GrantedAccess::new(None, home).unwrap();
    grant(&mut near, &world.at("outside"), Level::Read).unwrap();
    assert!(!sentences(&shell("exit 0"), &near).contains("`.git`"));
    // More files than a message has handles.
    let file = open(world.at("read/file"));
    let refused = (0..300).find_map(|_| access.installation(std::os::fd::AsFd::as_fd(&file)).err());
    assert_eq!(refused.unwrap().code(), "launch/spec");
    assert_eq!(world.attempt(&access, &["thread"]), "ok");
}
