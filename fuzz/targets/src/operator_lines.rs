//! Lines that an operator's command and an open system say to each other.

use system::operator::{Answer, Refusal, Request, read_answer, read_proof, read_request};

/// What is read can be said again, and is the same then, up to the last digit of a fraction.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    if let Ok(request) = read_request(bytes) {
        let line = serde_json::to_vec(&request).expect("it was JSON");
        let again = read_request(&line).expect("it was a request");
        assert_eq!(again.verb, request.verb);
        // Whatever a verb wants, what it is given is that or an error.
        let _ = request.arguments::<Refusal>();
    }
    // A proof is a few digits, or none.
    assert!(read_proof(bytes).is_ok_and(|proof| proof.len() <= 128) || read_proof(bytes).is_err());
    if let Ok(answer) = read_answer(bytes) {
        let line = serde_json::to_vec(&answer).expect("it was JSON");
        let again = read_answer(&line).expect("it was an answer");
        match (answer, again) {
            (Answer::Done(_), Answer::Done(_)) | (Answer::Ask(_), Answer::Ask(_)) => {}
            (answer, again) => assert_eq!(answer, again),
        }
    }
}

/// A request without and with arguments, and each kind of answer.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let request = serde_json::to_vec(&Request::new("status")).unwrap_or_default();
    let lines = [
        r#"{"verb":"pool resize","arguments":{"name":"default","bytes":67108864}}"#,
        r#"{"progress":{"object":"ACCOUNTS","done":3,"total":7,"unit":"intervals"}}"#,
        r#"{"prove":"00ff5a"}"#,
        r#"{"proof":"00ff5a"}"#,
        r#"{"done":{"frames":400,"share":0.25}}"#,
        r#"{"error":{"code":"HFY021","message":"no","advice":"ask for status"}}"#,
    ];
    [vec![request], lines.map(|line| line.as_bytes().to_vec()).to_vec()].concat()
}
