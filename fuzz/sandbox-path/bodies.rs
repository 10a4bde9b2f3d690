//! What the fuzz targets check; `cargo test` replays the corpora through the same functions.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use plugward_sandbox_path::{
    FileKind, HardLinks, Jail, MissingFile, Mounts, Names, OpenError, PathEscape, Perm, Policy, RelPath,
    RenameMode, SandboxedPath, WalkLimits,
};

const OUTSIDE: &[u8] = b"outside";
const LIMITS: WalkLimits = WalkLimits { entries: 10_000, depth: 200 };

fn policies() -> [Policy; 4] {
    let standard = Policy::standard();
    [
        standard,
        Policy::agent(),
        standard.with_names(Names::Portable),
        standard.with_mounts(Mounts::Refuse).with_hard_links_read(HardLinks::Refuse),
    ]
}

/// The two ways through the gate.
#[derive(Clone, Copy)]
enum Form {
    Name,
    Folder,
}

impl Form {
    fn parse(self, bytes: &[u8], policy: Policy) -> Result<RelPath<'_>, PathEscape> {
        match self {
            Self::Name => RelPath::parse(bytes, &policy),
            Self::Folder => RelPath::parse_directory(bytes, &policy),
        }
    }
}

/// The gate gives a code or plain parts, and says the same of its own answer.
pub(crate) fn gate(bytes: &[u8]) {
    for policy in policies() {
        for form in [Form::Name, Form::Folder] {
            match form.parse(bytes, policy) {
                Ok(rel) => {
                    assert!(rel.as_bytes().len() <= bytes.len());
                    for part in rel.components() {
                        assert!(!part.is_empty() && part != b"." && part.len() <= 255);
                        assert!(part != b"..");
                        assert!(!part.iter().any(|byte| matches!(byte, 0 | b'/')));
                    }
                    assert!(!rel.to_string().chars().any(char::is_control));
                    if !rel.is_jail() {
                        assert_eq!(form.parse(rel.as_bytes(), policy).unwrap(), rel);
                    }
                }
                Err(error) => {
                    assert!(error.code().starts_with("path/") && !error.help().is_empty());
                    assert!(!error.to_string().chars().any(char::is_control));
                }
            }
        }
    }
}

/// One jail with what was made in it, by name.
struct World {
    home: tempfile::TempDir,
    jail: Jail,
    model: BTreeMap<Vec<u8>, FileKind>,
}

impl World {
    fn new(policy: Policy) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("jail")).unwrap();
        fs::create_dir(home.path().join("outside")).unwrap();
        fs::write(home.path().join("outside/f"), OUTSIDE).unwrap();
        let jail = Jail::open(home.path().join("jail"), policy).unwrap();
        Self { home, jail, model: BTreeMap::new() }
    }

    /// Removes a name and everything below it from the model.
    fn forget(&mut self, name: &[u8]) -> Vec<(Vec<u8>, FileKind)> {
        let below = |known: &[u8]| {
            known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"/"))
        };
        let gone: Vec<_> =
            self.model.iter().filter(|(known, _)| below(known)).map(|(k, v)| (k.clone(), *v)).collect();
        self.model.retain(|known, _| !below(known));
        gone
    }

    /// Does what one line says, and gives the code.
    fn line(&mut self, line: &[u8]) -> &'static str {
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let (Some(verb), Some(path)) = (words.next(), words.next()) else { return "no words" };
        let second = words.next().unwrap_or_default();
        let policy = *self.jail.policy();
        let rel = RelPath::parse_directory(path, &policy).ok().map(|rel| rel.as_bytes().to_vec());
        let file = Perm::PRIVATE_FILE;
        let made = |done: Result<(), OpenError>, kind: FileKind, world: &mut Self| match done {
            Ok(()) => {
                world.model.insert(rel.clone().unwrap(), kind);
                "ok"
            }
            Err(error) => error.code(),
        };
        match verb {
            b"l" => {
                let Some(rel) = rel.filter(|rel| !rel.is_empty()) else { return "no name" };
                let (parent, name) =
                    rel.iter().rposition(|byte| *byte == b'/').map_or((&[][..], 0), |at| (&rel[..at], at));
                let free = !self.model.contains_key(&rel);
                if !free
                    || !(parent.is_empty() || self.model.get(parent) == Some(&FileKind::Directory))
                    || name > 1000
                {
                    return "no place";
                }
                let at = self.home.path().join("jail").join(OsStr::from_bytes(&rel));
                if second.is_empty() || std::os::unix::fs::symlink(OsStr::from_bytes(second), at).is_err() {
                    return "no link";
                }
                self.model.insert(rel, FileKind::Symlink);
                "ok"
            }
            b"c" => made(self.jail.create_new(path, file).map(drop), FileKind::File, self),
            b"w" => made(self.jail.replace(path, second, file).map(|_| ()), FileKind::File, self),
            b"a" => made(self.jail.append(path, MissingFile::Create(file)).map(drop), FileKind::File, self),
            b"d" => made(self.jail.create_dir(path, Perm::PRIVATE_DIRECTORY), FileKind::Directory, self),
            b"x" | b"y" | b"t" => {
                let done = match verb {
                    b"x" => self.jail.remove_file(path),
                    b"y" => self.jail.remove_dir(path),
                    _ => self.jail.remove_tree(path, LIMITS).map(|_| ()),
                };
                match done {
                    Ok(()) => {
                        self.forget(&rel.unwrap());
                        "ok"
                    }
                    Err(error) => error.code(),
                }
            }
            b"n" | b"o" => {
                let over = if verb == b"n" { RenameMode::Refuse } else { RenameMode::Replace };
                match self.jail.rename(path, second, over) {
                    Ok(()) => {
                        let to = RelPath::parse(second, &policy).unwrap().as_bytes().to_vec();
                        let from = rel.unwrap();
                        // A name onto itself, or onto another name of the same file, stays.
                        if from != to {
                            self.forget(&to);
                            for (name, kind) in self.forget(&from) {
                                self.model.insert([&to, &name[from.len()..]].concat(), kind);
                            }
                        }
                        "ok"
                    }
                    Err(error) => error.code(),
                }
            }
            _ => match self.jail.read(path, 1000) {
                Ok(text) => {
                    assert_ne!(text, OUTSIDE);
                    let path = SandboxedPath::create(&self.jail, path).unwrap();
                    match path.open() {
                        Ok(file) => drop(file),
                        // Nobody else touches this tree: a race would be a finding of its own.
                        Err(error) => panic!("{}: {error}", error.code()),
                    }
                    "ok"
                }
                Err(error) => error.code(),
            },
        }
    }

    /// Compares what is there with what was made, and looks that nothing outside was touched.
    fn check(&self) {
        let outside: Vec<_> = fs::read_dir(self.home.path().join("outside")).unwrap().flatten().collect();
        assert!(outside.len() == 1 && fs::read(outside[0].path()).unwrap() == OUTSIDE);
        assert_eq!(fs::read_dir(self.home.path()).unwrap().count(), 2);
        let found: BTreeMap<_, _> = self
            .jail
            .walk(".", LIMITS)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.path().as_bytes().to_vec(), entry.kind()))
            .collect();
        assert_eq!(found, self.model);
    }
}

/// A tree is made, changed and read by lines of `verb path [second]`, on both tiers with the same answers.
pub(crate) fn tree(bytes: &[u8]) {
    // The first byte chose a policy once; the corpus keeps it.
    let Some((_, lines)) = bytes.split_first() else { return };
    let mut kernel = World::new(Policy::standard());
    let mut walk = World::new(Policy::standard());
    walk.jail = walk.jail.with_walk_tier().unwrap();
    for line in lines.split(|byte| *byte == b'\n').take(64) {
        assert_eq!(kernel.line(line), walk.line(line), "{}", line.escape_ascii());
    }
    kernel.check();
    walk.check();
}
