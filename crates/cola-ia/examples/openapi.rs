//! Prints the description of `/v1`, which is committed as `docs/openapi.json`.

fn main() {
    let description = cola_ia::http::api::openapi();
    println!("{}", serde_json::to_string_pretty(&description).expect("a description is JSON"));
}
