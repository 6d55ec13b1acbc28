//! Bytes of bodies that may be in memory at the same time, over all connections.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{ROOM_WAIT, SMALL_BODY_BYTES};

/// One permit is so many bytes.
const UNIT: usize = 4 * 1024;

/// The bytes that are left. A share is kept for small bodies: a few large ones, that may come slowly, hold nobody else up.
#[derive(Debug, Clone)]
pub struct Budget {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    large_units: u32,
}

/// Room that is given back when it is dropped.
#[derive(Debug)]
pub struct Room {
    budget: Budget,
    permit: OwnedSemaphorePermit,
}

/// There is no room now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

impl Budget {
    /// So many bytes, of which an eighth is for small bodies.
    pub fn new(bytes: usize) -> Self {
        let small = (bytes / 8).max(SMALL_BODY_BYTES) / UNIT;
        let large = (bytes.saturating_sub(small * UNIT) / UNIT).clamp(1, u32::MAX as usize / 2);
        Self {
            large: Arc::new(Semaphore::new(large)),
            small: Arc::new(Semaphore::new(small)),
            large_units: large as u32,
        }
    }

    /// Room for a body of at most so many bytes, for which a while is waited. A body that is larger than all there is takes all.
    ///
    /// # Errors
    /// Others hold it.
    pub async fn room(&self, bytes: usize) -> Result<Room, NoRoom> {
        let (semaphore, units) = self.share(bytes);
        let room = Arc::clone(semaphore).acquire_many_owned(units);
        match tokio::time::timeout(ROOM_WAIT, room).await {
            Ok(Ok(permit)) => Ok(Room { budget: self.clone(), permit }),
            _ => Err(NoRoom),
        }
    }

    /// Which of the two a body of so many bytes takes from, and how much.
    fn share(&self, bytes: usize) -> (&Arc<Semaphore>, u32) {
        let units = bytes.div_ceil(UNIT).max(1).min(u32::MAX as usize) as u32;
        if bytes <= SMALL_BODY_BYTES { (&self.small, units) } else { (&self.large, units.min(self.large_units)) }
    }
}

impl Room {
    /// Makes it large enough for so many bytes, at once or not at all: who waits for more and holds some could wait for somebody
    /// who does the same. Room is never made smaller.
    ///
    /// # Errors
    /// Others hold it. What this holds, it keeps.
    pub fn grow(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let (semaphore, units) = self.budget.share(bytes);
        let is_same = Arc::ptr_eq(semaphore, self.permit.semaphore());
        let held = if is_same { self.permit.num_permits() } else { 0 };
        let missing = (units as usize).saturating_sub(held) as u32;
        // What was large stays it, however little is asked for.
        if missing == 0 || (!is_same && Arc::ptr_eq(semaphore, &self.budget.small)) {
            return Ok(());
        }
        let more = Arc::clone(semaphore).try_acquire_many_owned(missing).map_err(|_| NoRoom)?;
        if is_same {
            self.permit.merge(more);
        } else {
            self.permit = more;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_and_small_ones_do_not() {
        let budget = Budget::new(8 << 20);
        let first = budget.room(100 << 20).await.unwrap();
        assert_eq!(budget.room(1 << 20).await.unwrap_err(), NoRoom);
        let small = budget.room(10).await.unwrap();
        drop((first, small));
        assert!(budget.room(1 << 20).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn room_grows_with_what_comes_until_there_is_none() {
        let budget = Budget::new(8 << 20);
        let free = || (budget.small.available_permits(), budget.large.available_permits());
        let all = free();
        let mut room = budget.room(1).await.unwrap();
        assert_eq!(free(), (all.0 - 1, all.1));
        room.grow(3 * UNIT).unwrap();
        room.grow(UNIT).unwrap();
        assert_eq!(free(), (all.0 - 3, all.1), "it is never made smaller");
        // What is no longer small takes nothing from the small ones.
        room.grow(SMALL_BODY_BYTES + 1).unwrap();
        assert_eq!(free(), (all.0, all.1 - SMALL_BODY_BYTES / UNIT - 1));
        room.grow(10).unwrap();
        assert_eq!(free(), (all.0, all.1 - SMALL_BODY_BYTES / UNIT - 1));
        let other = budget.room(6 << 20).await.unwrap();
        let left = free();
        assert_eq!(room.grow(2 << 20).unwrap_err(), NoRoom);
        assert_eq!(free(), left, "who is refused holds what it held");
        drop(other);
        room.grow(100 << 20).unwrap();
        assert_eq!(free().1, 0, "one that is larger than all there is takes all");
        drop(room);
        assert_eq!(free(), all);
    }
}
