//! Changes of a schema.

use serde_json::{Value, json};

use super::Evolution;
use super::fields::{Field, row_in, scalar_in};
use crate::random::Random;

impl Evolution {
    /// Some change of the schema.
    pub(super) fn alter(&mut self, random: &mut Random) {
        let changes = match random.below(9) {
            0 | 1 => self.add(random),
            2 => self.drop(random),
            3 => self.rename(random),
            4 => self.swap(random),
            5 => self.reorder(random),
            _ => self.retype(random),
        };
        for change in changes {
            self.steps.push(json!({"alter": [change]}));
        }
    }

    pub(super) fn at(&self, random: &mut Random) -> usize {
        usize::try_from(random.below(self.columns.len() as u64)).unwrap()
    }

    fn add(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        if let Some((path, fields)) = row_in(&mut self.columns[at]) {
            let field = Field::random(random, fields, 1);
            let change = json!(["add", format!("{path}.{}", field.name), field.kind.sql()]);
            fields.push(field);
            self.retyped = true;
            return vec![change];
        }
        let field = Field::random(random, &self.columns, 0);
        let change = json!(["add", field.name, field.kind.sql(), "first"]);
        self.columns.insert(0, field);
        vec![change]
    }

    fn drop(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        if let Some((path, fields)) = row_in(&mut self.columns[at])
            && fields.len() > 1
        {
            let field = fields.remove(0);
            self.retyped = true;
            return vec![json!(["drop", format!("{path}.{}", field.name)])];
        }
        if self.columns[at].key || self.columns.len() < 3 {
            return vec![];
        }
        let column = self.columns.remove(at);
        vec![json!(["drop", column.name])]
    }

    fn rename(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        if let Some((path, fields)) = row_in(&mut self.columns[at]) {
            let name = Field::random(random, fields, 2).name;
            let change = json!(["rename", format!("{path}.{}", fields[0].name), name]);
            fields[0].name = name;
            self.retyped = true;
            return vec![change];
        }
        let name = Field::random(random, &self.columns, 2).name;
        let change = json!(["rename", self.columns[at].name, name]);
        self.columns[at].name = name;
        vec![change]
    }

    /// Two columns take each other's names.
    fn swap(&mut self, random: &mut Random) -> Vec<Value> {
        let (one, other) = (self.at(random), self.at(random));
        if one == other {
            return vec![];
        }
        let (a, b) = (
            self.columns[one].name.clone(),
            self.columns[other].name.clone(),
        );
        let changes = vec![
            json!(["rename", a, "swapped"]),
            json!(["rename", b, a]),
            json!(["rename", "swapped", b]),
        ];
        self.columns[one].name = b;
        self.columns[other].name = a;
        changes
    }

    /// A move to where the column is already is refused.
    fn reorder(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        let last = self.columns.len() - 1;
        let change = match random.one_in(2) {
            true if at > 0 => {
                let column = self.columns.remove(at);
                self.columns.insert(0, column);
                json!(["move_first", self.columns[0].name])
            }
            false if at < last => {
                let column = self.columns.remove(at);
                self.columns.push(column);
                let names = [last, last - 1].map(|at| self.columns[at].name.as_str());
                json!(["move_after", names[0], names[1]])
            }
            _ => return vec![],
        };
        vec![change]
    }

    fn retype(&mut self, random: &mut Random) -> Vec<Value> {
        let at = self.at(random);
        let column = &mut self.columns[at];
        if column.key {
            return vec![];
        }
        let path = column.name.clone();
        let Some((path, scalar)) = scalar_in(path, &mut column.kind, random) else {
            return vec![];
        };
        if !scalar.change(random) {
            return vec![];
        }
        let change = json!(["type", path, scalar.name]);
        self.retyped = true;
        vec![change]
    }
}
