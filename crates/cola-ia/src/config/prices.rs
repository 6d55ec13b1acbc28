//! Prices of models, `[prices."MODEL"]`: the part of the file that is no setting, for its names are other people's.

use std::path::Path;

use cola_ia_core::cost::{decimal, exact_micros};
use cola_ia_core::effect::Micros;
use cola_ia_core::price::{Price, Prices};
use toml::de::{DeTable, DeValue};

use super::file::Place;
use super::value::Fault;
use super::{Origin, nearest};
use crate::cli::{Exit, Problem};
use crate::lang::Message;

/// The table's name.
pub(super) const TABLE: &str = "prices";
const PARTS: [&str; 3] = ["input", "output", "request"];

/// One price as the file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceLine {
    /// The model.
    pub model: String,
    /// `input`, `output` or `request`.
    pub part: &'static str,
    /// How much.
    pub amount: Micros,
    /// Where it stands.
    pub origin: Origin,
}

impl PriceLine {
    /// Its key: `prices."m-1".input`.
    pub fn key(&self) -> String {
        format!("{TABLE}.{}.{}", toml::Value::from(self.model.as_str()), self.part)
    }

    /// As TOML that can be pasted back.
    pub fn pasteable(&self) -> String {
        format!("{} = {}", self.key(), decimal(self.amount.get()))
    }
}

/// All prices by model.
pub(super) fn by_model(lines: &[PriceLine]) -> Prices {
    let mut prices = Prices::default();
    for of_model in lines.chunk_by(|one, next| one.model == next.model) {
        let mut price = Price::default();
        for line in of_model {
            *match line.part {
                "input" => &mut price.input,
                "output" => &mut price.output,
                _ => &mut price.request,
            } = line.amount;
        }
        prices.insert(of_model[0].model.clone(), price);
    }
    prices
}

/// Reads the table, which stands at `place` in the file of this text. The lines of a model stand together.
///
/// # Errors
/// The first thing that is no price.
pub(super) fn read(path: &Path, text: &str, value: &toml::Spanned<DeValue<'_>>) -> Result<Vec<PriceLine>, Problem> {
    let mut lines = Vec::new();
    for (model, value) in table(path, text, TABLE, value)? {
        let name = model.get_ref().as_ref();
        let key = format!("{TABLE}.{}", toml::Value::from(name));
        for (part, value) in table(path, text, &key, value)? {
            let named = part.get_ref().as_ref();
            let Some(part) = PARTS.into_iter().find(|known| *known == named) else {
                let place = Place::of(text, Some(part.span())).in_file(path);
                let message =
                    Message::new("config-unknown-key").with("place", place).with("key", format!("{key}.{named}"));
                let problem = Problem::new(Exit::Usage, message);
                return Err(match nearest(named, PARTS) {
                    Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
                    None => problem.hint(Message::new("config-price-hint")),
                });
            };
            let place = Place::of(text, Some(value.span()));
            let amount =
                amount(value.get_ref()).map_err(|fault| fault.at(&format!("{}: {key}.{part}", place.in_file(path))))?;
            let origin = Origin::File(path.to_path_buf(), place.line);
            lines.push(PriceLine { model: name.to_owned(), part, amount, origin });
        }
    }
    Ok(lines)
}

fn table<'t, 'i>(
    path: &Path,
    text: &str,
    key: &str,
    value: &'t toml::Spanned<DeValue<'i>>,
) -> Result<&'t DeTable<'i>, Problem> {
    match value.get_ref() {
        DeValue::Table(table) => Ok(table),
        other => {
            let place = Place::of(text, Some(value.span())).in_file(path);
            let fault = Fault::new("fault-type-prices", other.type_str());
            Err(fault.at(&format!("{place}: {key}")))
        }
    }
}

/// A number as it is written: nothing goes through floating point, and nothing is rounded.
fn amount(value: &DeValue<'_>) -> Result<Micros, Fault> {
    let text = match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        DeValue::String(text) => text.as_ref(),
        other => return Err(Fault::new("fault-type-price", other.type_str())),
    };
    exact_micros(text).and_then(Micros::new).ok_or_else(|| Fault::new("fault-price", text))
}
