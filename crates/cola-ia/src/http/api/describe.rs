//! How an endpoint is described.

use std::collections::BTreeMap;

use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Ref, Schema};

/// Shapes by name.
pub type Schemas = BTreeMap<String, RefOr<Schema>>;
/// Puts a shape, and those that it refers to, among the others; gives a reference to it.
pub type SchemaOf = fn(&mut Schemas) -> RefOr<Schema>;

/// A description.
pub struct Doc {
    /// The group it belongs to.
    pub group: &'static str,
    /// Its name in clients that are made of the description; unique.
    pub id: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What else there is to know.
    pub text: &'static str,
    /// Values of the path and of the query.
    pub params: &'static [Param],
    /// Whether it takes an `Idempotency-Key`.
    pub op: bool,
    /// The forms that its body may have; none: it takes no body.
    pub bodies: &'static [Body],
    /// What it answers where all is well.
    pub answers: &'static [Said],
    /// The statuses of its own problems, with their codes. Those that every endpoint has are not listed.
    pub problems: &'static [(u16, &'static str)],
}

/// A value of the path or of the query.
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub text: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it may be there several times.
    pub many: bool,
}

/// A form of a body.
pub struct Body {
    /// Its media type.
    pub media_type: &'static str,
    /// Its shape.
    pub schema: SchemaOf,
}

/// An answer.
pub struct Said {
    /// The status.
    pub status: u16,
    /// When it is given.
    pub text: &'static str,
    /// Its form.
    pub body: Option<Body>,
}

/// The shape of this type.
pub fn schema<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    let mut found = Vec::new();
    T::schemas(&mut found);
    found.push((T::name().into_owned(), T::schema()));
    schemas.extend(found);
    Ref::from_schema_name(T::name()).into()
}

impl Body {
    /// JSON of this shape.
    pub const fn json(schema: SchemaOf) -> Self {
        Self { media_type: "application/json", schema }
    }
}
