//! Pinned offers of MCP servers.

use std::collections::BTreeSet;

use plugward_pinstore::{Change, ChangeOutcome, McpOwner, McpPin, Pins, Timestamp};
use plugward_types::Digest;

use crate::support::{Home, commit, digest, enroll, facts, key, now};

const PLUGIN: &str = "claude:db@team";

fn pin(client: u64, set: u64) -> McpPin {
    McpPin {
        set: digest(set),
        key: digest(client),
        capabilities: ["roots".to_owned()].into(),
        items: [("tool a".to_owned(), digest(set))].into(),
        used: None,
    }
}

fn change(owner: &McpOwner, pin: McpPin, expected: &[u64]) -> Change {
    let expected = expected.iter().map(|set| digest(*set)).collect();
    Change::McpPin { owner: owner.clone(), server: "fs".to_owned(), pin, expected }
}

fn later(days: u64) -> Timestamp {
    Timestamp::from_unix_seconds(now().unix_seconds() + days * 86_400).unwrap()
}

fn sets(pins: &Pins, owner: &McpOwner) -> BTreeSet<Digest> {
    pins.mcp(owner, "fs").iter().map(|pin| pin.set).collect()
}

#[test]
fn both_owners_pin_offers() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let plugin = McpOwner::Plugin(key(PLUGIN));
    assert_eq!(commit(&mut pins, change(&plugin, pin(1, 7), &[])).outcomes, [ChangeOutcome::Absent]);
    let _enrolled = commit(&mut pins, enroll(PLUGIN, &facts(1)));
    for owner in [&plugin, &McpOwner::User] {
        assert_eq!(commit(&mut pins, change(owner, pin(1, 7), &[])).outcomes, [ChangeOutcome::Done]);
        assert_eq!(commit(&mut pins, change(owner, pin(1, 7), &[])).outcomes, [ChangeOutcome::Already]);
        let raced = ChangeOutcome::McpRaced { current: [digest(7)].into() };
        assert_eq!(commit(&mut pins, change(owner, pin(1, 8), &[])).outcomes, [raced]);
        assert_eq!(commit(&mut pins, change(owner, pin(2, 8), &[7])).outcomes, [ChangeOutcome::Done]);
        let (read, _) = home.open();
        assert_eq!(sets(&read, owner), [digest(7), digest(8)].into());
    }
    let forget = |owner: &McpOwner| Change::McpForget { owner: owner.clone(), server: "fs".to_owned() };
    assert_eq!(commit(&mut pins, forget(&McpOwner::User)).outcomes, [ChangeOutcome::Done]);
    assert_eq!(commit(&mut pins, forget(&McpOwner::User)).outcomes, [ChangeOutcome::Absent]);
    assert_eq!(sets(&pins, &plugin).len(), 2, "the other owner keeps its pins");
    let _done = commit(&mut pins, change(&McpOwner::User, pin(1, 7), &[]));
    assert_eq!(commit(&mut pins, Change::ForgetAll).outcomes, [ChangeOutcome::Done]);
    assert!(sets(&pins, &McpOwner::User).is_empty());
}

#[test]
fn the_least_recently_used_of_16_pins_is_replaced() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let owner = McpOwner::User;
    let mut expected = Vec::new();
    for client in 0..16 {
        let done = pins.commit(vec![change(&owner, pin(client, client), &expected)], later(client)).unwrap();
        assert_eq!(done.outcomes, [ChangeOutcome::Done]);
        expected.push(client);
    }
    // The first one is used again, so the second one is the oldest.
    let used = pins.commit(vec![change(&owner, pin(0, 0), &[])], later(20)).unwrap();
    assert_eq!(used.outcomes, [ChangeOutcome::Done]);
    let done = pins.commit(vec![change(&owner, pin(99, 99), &expected)], later(21)).unwrap();
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    let found = sets(&pins, &owner);
    assert_eq!((found.len(), found.contains(&digest(0)), found.contains(&digest(1))), (16, true, false));
}

#[test]
fn a_changed_offer_is_damage() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, change(&McpOwner::User, pin(1, 7), &[]));
    let text = home.read(crate::support::PINS);
    assert!(plugward_pinstore::parse_pins(text.as_bytes()).is_ok());
    for (from, to) in [("tool a", "tool b"), ("[mcp.\"fs#", "[mcp.\"gs#"), ("mcp = 1", "mcp = 0")] {
        assert!(text.contains(from), "{text}");
        assert!(plugward_pinstore::parse_pins(text.replace(from, to).as_bytes()).is_err(), "{from}");
    }
}
