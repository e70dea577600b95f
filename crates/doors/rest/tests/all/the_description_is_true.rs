//! The description of the interface: as it is served, as it is kept beside the documents, and
//! against itself. That answers are as it says is checked with every answer of these tests.

use std::path::Path;

use serde_json::Value;

use crate::common::opened;

#[test]
fn the_description_that_is_kept_is_the_one_that_is_served() {
    let door = opened();
    let served = door.get("/ibm/api/docs").json();
    assert_eq!(served, rest::describe());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/rest-openapi.json");
    let text = format!("{served:#}\n");
    if std::env::var_os("HOLDFAST_WRITE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "HOLDFAST_WRITE=1 cargo test -p holdfast-rest writes {path:?} again");
}

#[test]
fn everything_that_it_points_to_is_there_and_every_operation_has_a_name_of_its_own() {
    let all = rest::describe();
    let mut names = Vec::new();
    for (path, methods) in all["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            names.push(operation["operationId"].as_str().unwrap().to_owned());
            let changes = matches!(&**method, "post" | "patch" | "delete");
            let parameters = operation["parameters"].as_array().unwrap();
            let csrf = parameters.iter().any(|one| one["name"] == "ibm-mq-rest-csrf-token");
            assert_eq!(csrf, changes && !(path.ends_with("/login") && *method == "post"), "{path}");
            let open = operation["security"].as_array().unwrap().is_empty();
            assert_eq!(open, path == "/ibm/api/docs" || !csrf && method == "post", "{path}");
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    let mut left = vec![&all];
    while let Some(value) = left.pop() {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            assert!(all.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        left.extend(value.as_object().into_iter().flat_map(|object| object.values()));
        left.extend(value.as_array().into_iter().flatten());
    }
}
