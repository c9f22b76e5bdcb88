//! Names of files and times of commits, the same for the same seed.

/// Milliseconds between two commits.
const TICK: i64 = 1000;

/// A seeded source of names, and a clock.
#[derive(Clone, Debug)]
pub(super) struct Names {
    state: u64,
    millis: i64,
}

impl Names {
    pub(super) fn new(seed: u64, start_millis: i64) -> Self {
        Self {
            state: seed,
            millis: start_millis,
        }
    }

    /// The time now.
    pub(super) fn now(&self) -> i64 {
        self.millis
    }

    /// Time goes on.
    pub(super) fn tick(&mut self) {
        self.millis = self.millis.saturating_add(TICK);
    }

    /// A random UUID of version 4.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }

    /// The bytes that separate the blocks of an Avro file.
    pub(super) fn marker(&mut self) -> [u8; 16] {
        let bits = u128::from(self.next()) << 64 | u128::from(self.next());
        bits.to_be_bytes()
    }

    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
