//! Colour, where a terminal shows it and nobody has said no.

/// What `--color` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Also into a file or a pipe.
    Always,
    /// Nowhere.
    Never,
}

impl ColourChoice {
    /// The words that `--color` takes, in the order of the help.
    pub const WORDS: [&str; 3] = ["auto", "always", "never"];

    /// The choice of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// Whether each stream takes colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Colour {
    /// On stdout.
    pub stdout: bool,
    /// On stderr.
    pub stderr: bool,
}

impl Colour {
    /// Decides. `NO_COLOR` (any value but the empty one, <https://no-color.org>) and `TERM=dumb` say no where the choice is
    /// left to the program; `var` gives a variable that is set and not empty.
    pub fn decide(choice: ColourChoice, var: impl Fn(&str) -> Option<String>, is_terminal: Self) -> Self {
        match choice {
            ColourChoice::Always => Self { stdout: true, stderr: true },
            ColourChoice::Never => Self::default(),
            ColourChoice::Auto if var("NO_COLOR").is_some() || var("TERM").as_deref() == Some("dumb") => {
                Self::default()
            }
            ColourChoice::Auto => is_terminal,
        }
    }
}

/// The few colours in use, by what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Went well.
    Good,
    /// Waits or goes on.
    Calm,
    /// A person should look.
    Alarm,
    /// Failed.
    Bad,
    /// A name that leads the eye.
    Head,
    /// Less important.
    Faint,
}

impl Paint {
    /// The text in this colour, or as it is where colour is off.
    pub fn on(self, text: &str, colour: bool) -> String {
        if !colour {
            return text.to_owned();
        }
        let code = match self {
            Self::Good => "32",
            Self::Calm => "36",
            Self::Alarm => "33",
            Self::Bad => "1;31",
            Self::Head => "1",
            Self::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_that_want_it() {
        let terminal = Colour { stdout: true, stderr: true };
        let decide = |choice, name: &str, value: &str, on| {
            Colour::decide(choice, |var| (var == name).then(|| value.to_owned()), on)
        };
        assert_eq!(decide(ColourChoice::Auto, "", "", terminal), terminal);
        assert_eq!(decide(ColourChoice::Auto, "", "", Colour::default()), Colour::default());
        assert_eq!(decide(ColourChoice::Auto, "NO_COLOR", "1", terminal), Colour::default());
        assert_eq!(decide(ColourChoice::Auto, "TERM", "dumb", terminal), Colour::default());
        assert_eq!(decide(ColourChoice::Always, "NO_COLOR", "1", Colour::default()), terminal);
        assert_eq!(decide(ColourChoice::Never, "", "", terminal), Colour::default());
    }
}
