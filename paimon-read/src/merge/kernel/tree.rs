//! The order of many runs: a loser tree over their heads.

use paimon_meta::Result;

use super::{Head, Keys, Sink, step};

/// A loser tree over head numbers: `nodes[0]` is the smallest head, each inner node the loser of its match.
struct LoserTree {
    nodes: Vec<usize>,
}

const VACANT: usize = usize::MAX;

impl LoserTree {
    fn new<K: Keys>(heads: &[Head<K>]) -> Self {
        let mut tree = Self {
            nodes: vec![VACANT; heads.len()],
        };
        for leaf in 0..heads.len() {
            tree.enter(heads, leaf);
        }
        tree
    }

    fn enter<K: Keys>(&mut self, heads: &[Head<K>], leaf: usize) {
        let mut winner = leaf;
        let mut node = usize::midpoint(leaf, heads.len());
        while node > 0 {
            if self.nodes[node] == VACANT {
                self.nodes[node] = winner;
                return;
            }
            if is_less(heads, self.nodes[node], winner) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }

    /// Plays the matches of a leaf whose head moved on.
    fn replay<K: Keys>(&mut self, heads: &[Head<K>], leaf: usize) {
        let mut winner = leaf;
        let mut node = usize::midpoint(leaf, heads.len());
        while node > 0 {
            if is_less(heads, self.nodes[node], winner) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }

    fn smallest(&self) -> usize {
        self.nodes[0]
    }

    /// The smallest head but the winner: it lost against the winner, so it stands on the winner's path.
    fn second<K: Keys>(&self, heads: &[Head<K>]) -> usize {
        let mut node = usize::midpoint(self.smallest(), heads.len());
        let mut second = self.nodes[node];
        while node > 1 {
            node /= 2;
            if is_less(heads, self.nodes[node], second) {
                second = self.nodes[node];
            }
        }
        second
    }
}

/// Whether head `a` comes before head `b`; a head without keys comes last.
fn is_less<K: Keys>(heads: &[Head<K>], a: usize, b: usize) -> bool {
    let (a, b) = (&heads[a], &heads[b]);
    if a.position == a.end || b.position == b.end {
        return b.position == b.end && a.position < a.end;
    }
    a.key() < b.key()
}

/// Merges as [`super::merge`] does.
pub(super) fn merge_tree<K: Keys, S: Sink>(heads: &mut [Head<K>], sink: &mut S) -> Result<usize> {
    let mut tree = LoserTree::new(heads);
    let mut members = Vec::new();
    loop {
        let number = tree.smallest();
        let second = heads[tree.second(heads)].key();
        if heads[number].key() < second {
            if let Some(stop) = step(&mut heads[number], number, second, sink)? {
                return Ok(stop);
            }
            tree.replay(heads, number);
            continue;
        }
        take_equal(heads, &mut tree, &mut members);
        if let Some((sentinel, _)) = members.iter().find(|(number, _)| heads[*number].sentinel) {
            for (number, position) in &members {
                heads[*number].position = *position;
            }
            return Ok(*sentinel);
        }
        sink.versions(&members)?;
        if let Some((stop, _)) = members
            .iter()
            .find(|(number, _)| heads[*number].position == heads[*number].end)
        {
            return Ok(*stop);
        }
    }
}

/// Takes the smallest key from every head that has it.
fn take_equal<K: Keys>(
    heads: &mut [Head<K>],
    tree: &mut LoserTree,
    members: &mut Vec<(usize, usize)>,
) {
    members.clear();
    let key = heads[tree.smallest()].key();
    loop {
        let number = tree.smallest();
        let head = heads[number];
        if head.position == head.end || head.key() != key {
            return;
        }
        members.push((number, head.position));
        heads[number].position += 1;
        tree.replay(heads, number);
    }
}
