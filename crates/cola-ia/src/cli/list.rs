//! What lists have in common: how a page is asked for, filled, and followed by the next.

use cola_ia_core::filter::Filter;
use cola_ia_core::store::{Cursor, ListRequest, Page, PageRequest, Store, StoreError};
use pollster::block_on;

use crate::lang::Message;

/// Which page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListOptions {
    /// `--filter`, `--source`, …
    pub filter: Filter,
    /// `--after`
    pub after: Option<Cursor>,
    /// `--limit`
    pub limit: u32,
    /// `--json`
    pub json: bool,
}

impl ListOptions {
    /// The page that was asked for, as full as there are items: the store looks at a bounded number of them a call.
    ///
    /// # Errors
    /// The store's.
    pub(super) fn gather<T>(
        &self,
        ask: impl Fn(ListRequest) -> Result<Page<T>, StoreError>,
    ) -> Result<Page<T>, StoreError> {
        let mut page = Page { items: Vec::new(), next: self.after.clone() };
        loop {
            let limit = self.limit - page.items.len() as u32;
            let more = ask(ListRequest { after: page.next, limit })?;
            page.items.extend(more.items);
            page.next = more.next;
            if page.next.is_none() || page.items.len() >= self.limit as usize {
                return Ok(page);
            }
        }
    }

    /// For stderr: that there is nothing, in the words of `key`; or that nothing ever came of the source that was asked for.
    ///
    /// # Errors
    /// The store's.
    pub(super) fn nothing(&self, store: &dyn Store, key: &'static str) -> Result<Message, StoreError> {
        let [source] = &self.filter.sources[..] else { return Ok(Message::new(key)) };
        let of_source = Filter { sources: vec![source.clone()], ..Filter::default() };
        let mut page = PageRequest { below: None, limit: 1 };
        loop {
            let found = block_on(store.jobs(of_source.clone(), page))?;
            if !found.jobs.is_empty() {
                return Ok(Message::new(key));
            }
            page.below = found.next;
            if page.below.is_none() {
                return Ok(Message::new("jobs-no-source").with("source", source));
            }
        }
    }
}

/// For stderr: how to get the next page.
pub(super) fn next_page(next: &Cursor) -> Message {
    Message::new("jobs-more-hint").with("next", &next.0)
}
