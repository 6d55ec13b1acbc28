//! How things reach a terminal or a pipe without harm: ids that cannot be mistaken, texts that cannot steer a terminal,
//! colour only where it is wanted.

mod characters;
mod colour;
mod difference;
mod id;
mod shell;
mod table;
mod text;

pub use colour::{Colour, ColourChoice, Paint};
pub use difference::{Difference, difference};
pub use id::id_on_a_line;
pub use shell::{shell_path, shell_word};
pub use table::{Cell, Table};
pub use text::{safe_line, safe_text, short_line, short_text};
