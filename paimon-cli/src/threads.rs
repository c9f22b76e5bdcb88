//! Threads for work that a plan hands out: manifests are decoded beside each other.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use paimon_io::Spawn;
use paimon_read::block_on;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A fixed number of threads that take work in order. They end with the process, or when nothing can come any more.
#[derive(Debug)]
pub(crate) struct Threads(Mutex<Sender<Work>>);

impl Threads {
    /// So many threads; fewer if the system gives no more, and none at all runs nothing, so that is `None`.
    pub(crate) fn start(number: NonZeroUsize) -> Option<Self> {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let started = (0..number.get()).filter(|_| {
            let receiver = Arc::clone(&receiver);
            std::thread::Builder::new()
                .spawn(move || work(&receiver))
                .is_ok()
        });
        (started.count() > 0).then(|| Self(Mutex::new(sender)))
    }
}

impl Spawn for Threads {
    fn spawn(&self, work: Work) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a thread left the work is dropped, and whoever waits for it is told.
        let _dropped = sender.send(work);
    }
}

fn work(receiver: &Mutex<Receiver<Work>>) {
    loop {
        let next = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        match next {
            Ok(work) => block_on(work),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_work_is_done() {
        let threads = Threads::start(NonZeroUsize::new(3).unwrap()).unwrap();
        let (done, finished) = (Arc::new(AtomicUsize::new(0)), channel());
        for _ in 0..100 {
            let (done, sender) = (Arc::clone(&done), finished.0.clone());
            threads.spawn(Box::pin(async move {
                done.fetch_add(1, Ordering::SeqCst);
                sender.send(()).unwrap();
            }));
        }
        for _ in 0..100 {
            finished.1.recv().unwrap();
        }
        assert_eq!(done.load(Ordering::SeqCst), 100);
    }
}
