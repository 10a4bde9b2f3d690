//! The danger gate and the suppressions in a host's settings.

use plugward_scanner::{Date, Profile, ScanCheck, Suppression, gate};

use crate::common::{digest, report};

const BYTES: &[u8] = b"eval('x')";

fn entry() -> Suppression {
    Suppression {
        rule: "exec/eval".parse().unwrap(),
        path: "a.js".to_owned(),
        digest: digest(BYTES),
        reason: "looked at by two people".to_owned(),
        expires: None,
    }
}

#[test]
fn danger_closes_the_gate_and_an_entry_of_these_bytes_opens_it() {
    let report = report(Profile::StrictPlugin, &[("a.js", BYTES)]);
    assert!(matches!(gate(&report, &[], None).check, ScanCheck::Danger { count: 1, .. }));
    let decision = gate(&report, &[entry()], None);
    assert_eq!(decision.check, ScanCheck::Clean);
    assert_eq!(decision.suppressed.len(), 1);
    assert!(decision.notices.is_empty());
}

#[test]
fn an_entry_that_does_not_fit_is_void_and_said() {
    let report = report(Profile::StrictPlugin, &[("a.js", BYTES)]);
    let cases = [
        (Suppression { digest: digest(b"other"), ..entry() }, "scan/suppression-void"),
        (Suppression { reason: "short".to_owned(), ..entry() }, "scan/suppression-void"),
        (Suppression { expires: Date::new(2026, 1, 1), ..entry() }, "scan/suppression-expired"),
        (Suppression { path: "b.js".to_owned(), ..entry() }, "scan/suppression-unused"),
        (Suppression { rule: "exec/vm".parse().unwrap(), ..entry() }, "scan/suppression-unused"),
    ];
    for (case, code) in cases {
        let decision = gate(&report, std::slice::from_ref(&case), Date::new(2026, 1, 2));
        assert!(matches!(decision.check, ScanCheck::Danger { .. }), "{case:?}");
        assert_eq!(decision.notices[0].code, code, "{case:?}");
        assert!(!decision.notices[0].help().is_empty());
    }
    let dated = Suppression { expires: Date::new(2026, 1, 2), ..entry() };
    assert_eq!(gate(&report, std::slice::from_ref(&dated), Date::new(2026, 1, 2)).check, ScanCheck::Clean);
    assert_eq!(gate(&report, &[dated], None).notices[0].code, "scan/suppression-void");
}

#[test]
fn a_date_is_a_day_of_the_calendar() {
    for good in ["2026-12-31", "2024-02-29", "2000-02-29"] {
        assert_eq!(good.parse::<Date>().unwrap().to_string(), good);
    }
    for bad in [
        "2026-02-29",
        "1900-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-1-1",
        "0000-01-01",
        "2026-01-32",
        "+026-01-01",
        "",
    ] {
        assert!(bad.parse::<Date>().is_err(), "{bad}");
    }
}
