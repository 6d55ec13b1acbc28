//! `id`: a new event id for a sender that has none.

use cola_ia_core::clock::{Clock, Entropy};

/// Adds `count` new ids to `out`, one a line: UUIDs of version 7 (RFC 9562, section 5.7), which sort by their millisecond.
pub fn push_ids(out: &mut String, count: u32, clock: &dyn Clock, entropy: &dyn Entropy) {
    for _ in 0..count {
        let mut random = [0; 10];
        entropy.fill(&mut random);
        let millis = u64::try_from(clock.now().as_micros().div_euclid(1_000)).unwrap_or_default();
        let id = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
        out.push_str(id.hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()));
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::Timestamp;
    use cola_ia_core::event::EventId;

    use super::*;

    struct Fixed;
    impl Clock for Fixed {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(0x0102_0304_0506 * 1_000 + 999)
        }
    }
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0xff);
        }
    }

    #[test]
    fn an_id_is_a_uuid_of_version_7() {
        let mut out = String::new();
        push_ids(&mut out, 1, &Fixed, &Fixed);
        assert_eq!(out, "01020304-0506-7fff-bfff-ffffffffffff\n");
    }

    #[test]
    fn ids_are_good_event_ids_and_differ() {
        let mut out = String::new();
        push_ids(&mut out, 100, &cola_ia_core::clock::SystemClock, &cola_ia_core::clock::SystemEntropy);
        let mut ids: Vec<&str> = out.lines().collect();
        assert!(ids.iter().all(|id| EventId::new(*id).is_ok()));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 100);
    }
}
