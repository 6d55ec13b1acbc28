//! Bytes of bodies that may be in memory at the same time, over all connections.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{ROOM_WAIT, SMALL_BODY_BYTES};

/// One permit is so many bytes.
const UNIT: usize = 4 * 1024;

/// The bytes that are left. A share is kept for small bodies: a few large ones, that may come slowly, hold nobody else up.
#[derive(Debug)]
pub struct Budget {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    large_units: u32,
}

/// Room that is given back when it is dropped.
#[derive(Debug)]
pub struct Room {
    _permit: OwnedSemaphorePermit,
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
        let units = bytes.div_ceil(UNIT).max(1) as u32;
        let (semaphore, units) =
            if bytes <= SMALL_BODY_BYTES { (&self.small, units) } else { (&self.large, units.min(self.large_units)) };
        let room = Arc::clone(semaphore).acquire_many_owned(units);
        match tokio::time::timeout(ROOM_WAIT, room).await {
            Ok(Ok(permit)) => Ok(Room { _permit: permit }),
            _ => Err(NoRoom),
        }
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
}
