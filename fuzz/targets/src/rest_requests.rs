//! Paths, parameters, headers and bodies of REST from a client that may be anything.

/// Whatever a request has is read or refused; what was read is the same when it was written again.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    rest::read_anything(bytes);
}

/// A path, properties, commands in both forms, a queue.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let all = [
        "/ibmmq/rest/v2/messaging/qmgr/QM1/topic/a%2Fb/c/message?wait=5&messageId=ID%3A41",
        "color;\"red\\u00fc; \\\"x\\\"\";string, size;7;integer,hot;true;boolean,b;\"00ff\";bytes",
        "{\"type\":\"runCommand\",\"parameters\":{\"command\":\"DIS QL(*) CURDEPTH\"}}",
        "{\"type\":\"runCommandJSON\",\"command\":\"define\",\"qualifier\":\"qlocal\",\
         \"name\":\"A.b\",\"parameters\":{\"descr\":\"it's\",\"share\":\"no\",\"maxdepth\":7,\
         \"where\":\"curdepth gt 0\"},\"responseParameters\":[\"all\"]}",
        "{\"general\":{\"inhibitPut\":true},\"events\":{\"depth\":{\"highPercentage\":80},\
         \"serviceInterval\":{\"highEnabled\":true,\"okEnabled\":false}}}",
    ];
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}
