//! Histories in EDN, as Jepsen and Elle read them: one map a line, an invocation and a completion
//! for each unit of work, in the order of their moments.
//!
//! ```text
//! {:index 0, :type :invoke, :process 1, :time 3, :f :txn, :value [[:r 7 nil] [:append 7 1]]}
//! {:index 1, :type :ok, :process 1, :time 9, :f :txn, :value [[:r 7 [4 5]] [:append 7 1]]}
//! ```

use std::fmt::Write;

use super::{Fate, History, Observed, Step};

impl History {
    /// The history in EDN.
    #[must_use]
    pub fn to_edn(&self) -> String {
        let mut events: Vec<(u64, &str, &Observed)> = Vec::new();
        for unit in &self.units {
            events.push((unit.start, "invoke", unit));
            let completion = match unit.fate {
                Fate::Committed => "ok",
                Fate::BackedOut => "fail",
                Fate::Unknown => "info",
            };
            events.push((unit.end, completion, unit));
        }
        events.sort_by_key(|(time, kind, _)| (*time, *kind != "invoke"));
        let mut out = String::new();
        for (index, (time, kind, unit)) in events.into_iter().enumerate() {
            let value: Vec<String> =
                unit.steps.iter().map(|step| step_edn(step, kind == "ok")).collect();
            let (process, value) = (unit.process, value.join(" "));
            let line = format_args!(
                "{{:index {index}, :type :{kind}, :process {process}, :time {time}, :f :txn, \
                 :value [{value}]}}"
            );
            writeln!(out, "{line}").expect("writing to a string does not fail");
        }
        out
    }
}

fn step_edn(step: &Step, with_answers: bool) -> String {
    match step {
        Step::Append { list, element } => format!("[:append {list} {element}]"),
        Step::Read { list, .. } if !with_answers => format!("[:r {list} nil]"),
        Step::Read { list, elements } => {
            let elements: Vec<String> = elements.iter().map(u64::to_string).collect();
            format!("[:r {list} [{}]]", elements.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Recorder;
    use super::*;

    #[test]
    fn a_history_is_written_as_elle_reads_it() {
        let recorder = Recorder::new();
        let mut one = recorder.begin(1);
        let mut two = recorder.begin(2);
        one.append(7, 1);
        one.end(Fate::Committed);
        two.read(7, vec![1]);
        two.append(7, 2);
        two.end(Fate::Unknown);
        let mut three = recorder.begin(1);
        three.read(7, vec![1, 2]);
        three.end(Fate::Committed);
        recorder.begin(3).end(Fate::BackedOut);
        let expected = "\
{:index 0, :type :invoke, :process 1, :time 0, :f :txn, :value [[:append 7 1]]}
{:index 1, :type :invoke, :process 2, :time 1, :f :txn, :value [[:r 7 nil] [:append 7 2]]}
{:index 2, :type :ok, :process 1, :time 2, :f :txn, :value [[:append 7 1]]}
{:index 3, :type :info, :process 2, :time 3, :f :txn, :value [[:r 7 nil] [:append 7 2]]}
{:index 4, :type :invoke, :process 1, :time 4, :f :txn, :value [[:r 7 nil]]}
{:index 5, :type :ok, :process 1, :time 5, :f :txn, :value [[:r 7 [1 2]]]}
{:index 6, :type :invoke, :process 3, :time 6, :f :txn, :value []}
{:index 7, :type :fail, :process 3, :time 7, :f :txn, :value []}
";
        assert_eq!(recorder.history().to_edn(), expected);
    }
}
