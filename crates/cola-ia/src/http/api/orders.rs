use super::Endpoint;

pub(super) const ENDPOINTS: &[Endpoint] = &[];
