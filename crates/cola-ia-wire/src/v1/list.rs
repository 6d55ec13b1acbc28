//! Pages of lists.

use std::borrow::Cow;

use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{Cursor, JobPage, Page};
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Ref, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Carry;
use super::job::Job;

/// A page of a list, newest first. What is recorded while pages are read may be missed or not, and nothing stands twice.
///
/// A page may come short, even empty, and with a `next`, where the filter lets little through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List<T> {
    /// The items.
    pub items: Vec<T>,
    /// What `cursor` takes to give the next page; `null` where nothing is left.
    pub next: Option<String>,
}

impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        let next = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("What `cursor` takes to give the next page; `null` where nothing is left."));
        ObjectBuilder::new()
            .property("items", ArrayBuilder::new().items(Ref::from_schema_name(T::name())))
            .property("next", next)
            .required("items")
            .required("next")
            .into()
    }
}

/// A list has the name of what it lists, so that each kind of list is a shape of its own.
impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        format!("{}List", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

impl<W, C: Carry<W>> From<Page<C>> for List<W> {
    fn from(page: Page<C>) -> Self {
        Self { items: page.items.carry(), next: page.next.carry() }
    }
}

impl<W: Carry<C>, C> From<List<W>> for Page<C> {
    fn from(list: List<W>) -> Self {
        Self { items: list.items.carry(), next: list.next.map(Cursor) }
    }
}

impl From<JobPage> for List<Job> {
    fn from(page: JobPage) -> Self {
        Self { items: page.jobs.carry(), next: page.next.map(|event| event.0.to_string()) }
    }
}

impl List<Job> {
    /// The page of jobs; `None` where `next` is no place in this list.
    pub fn into_jobs(self) -> Option<JobPage> {
        let next = match self.next {
            Some(next) => Some(read_job_cursor(&next)?),
            None => None,
        };
        Some(JobPage { jobs: self.items.carry(), next })
    }
}

/// The event below which a page of jobs starts; `None` where this is no place in that list.
pub fn read_job_cursor(text: &str) -> Option<EventNumber> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(EventNumber(number))
}
