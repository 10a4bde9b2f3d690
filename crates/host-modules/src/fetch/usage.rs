//! The limits of a session.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use super::config::FetchConfig;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// What a session has used.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The times of the requests in the last hour.
    times: VecDeque<Instant>,
    hosts: BTreeSet<String>,
    received: u64,
}

impl Usage {
    /// Checks whether another request is possible.
    pub(super) fn check(&mut self, host: &str, config: &FetchConfig, now: Instant) -> Result<(), String> {
        let age = |time: &Instant| now.saturating_duration_since(*time);
        while self.times.front().is_some_and(|time| age(time) >= HOUR) {
            self.times.pop_front();
        }
        let in_minute = self.times.iter().rev().take_while(|time| age(time) < MINUTE).count();
        let limit = |fault: &str, setting: &str| {
            Err(format!("fetch blocked: {fault}. To increase, reconfigure fetch with a larger {setting}."))
        };
        if in_minute >= config.per_minute {
            return limit("rate limit exceeded (per-minute)", "maxRequestsPerMinute");
        }
        if self.times.len() >= config.per_hour {
            return limit("rate limit exceeded (per-hour)", "maxRequestsPerHour");
        }
        if self.hosts.len() >= config.max_hosts && !self.hosts.contains(host) {
            return limit("too many unique domains", "maxDomainsPerSession");
        }
        if self.received >= config.max_data {
            return limit("data budget exhausted", "maxDataReceivedKb");
        }
        Ok(())
    }

    pub(super) fn add_request(&mut self, host: &str, now: Instant) {
        self.times.push_back(now);
        self.hosts.insert(host.to_owned());
    }

    pub(super) fn add_received(&mut self, bytes: usize) {
        self.received = self.received.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}
