//! How a shape and the core's type that it is of become each other.

use cola_ia_core::intake::{DeliveryNumber, EventNumber};
use cola_ia_core::store::Cursor;

/// Becomes the same thing on the other side of the wire.
pub trait Carry<T> {
    /// The same thing, there.
    fn carry(self) -> T;
}

impl<T: Carry<There>, There> Carry<Option<There>> for Option<T> {
    fn carry(self) -> Option<There> {
        self.map(Carry::carry)
    }
}

impl<T: Carry<There>, There> Carry<Vec<There>> for Vec<T> {
    fn carry(self) -> Vec<There> {
        self.into_iter().map(Carry::carry).collect()
    }
}

/// What is the same on both sides.
macro_rules! same {
    ($($type:ty),+) => {
        $(impl Carry<$type> for $type {
            fn carry(self) -> $type {
                self
            }
        })+
    };
}

same!(bool, u32, u64, i32, i64, String, [u64; 4], [u64; 6]);

/// A newtype of the core, and what it holds.
macro_rules! unwrapped {
    ($($core:path = $inner:ty),+) => {
        $(impl Carry<$inner> for $core {
            fn carry(self) -> $inner {
                self.0
            }
        }
        impl Carry<$core> for $inner {
            fn carry(self) -> $core {
                $core(self)
            }
        })+
    };
}

unwrapped!(EventNumber = i64, DeliveryNumber = i64, Cursor = String);

/// A newtype of this crate around a type of the core.
macro_rules! wrapped {
    ($($wire:ident($core:ty)),+ $(,)?) => {
        $(impl $crate::v1::Carry<$core> for $wire {
            fn carry(self) -> $core {
                self.0
            }
        }
        impl $crate::v1::Carry<$wire> for $core {
            fn carry(self) -> $wire {
                $wire(self)
            }
        })+
    };
}

/// A struct with the fields of a type of the core, each in the form that it has on the wire, and `From` both ways.
///
/// A field is `name: Wire`, or `name = core_name: Wire` where the core calls it otherwise. Its two types must
/// [carry](Carry) each other.
macro_rules! shape {
    (
        $(#[$meta:meta])*
        pub struct $name:ident of $core:ty {
            $($(#[$field_meta:meta])* $field:ident $(= $there:ident)?: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl From<$core> for $name {
            fn from(core: $core) -> Self {
                Self { $($field: $crate::v1::Carry::carry(shape!(@of core, $field $(, $there)?)),)* }
            }
        }

        impl From<$name> for $core {
            fn from(wire: $name) -> Self {
                shape!(@build $core, wire, $(($field $(, $there)?))*)
            }
        }

        impl $crate::v1::Carry<$name> for $core {
            fn carry(self) -> $name {
                self.into()
            }
        }

        impl $crate::v1::Carry<$core> for $name {
            fn carry(self) -> $core {
                self.into()
            }
        }
    };
    (@of $core:ident, $field:ident) => { $core.$field };
    (@of $core:ident, $field:ident, $there:ident) => { $core.$there };
    (@build $core:ty, $wire:ident, $(($field:ident $(, $there:ident)?))*) => {
        shape!(@fields $core, $wire, [] $(($field $(, $there)?))*)
    };
    (@fields $core:ty, $wire:ident, [$($done:tt)*]) => { Self { $($done)* } };
    (@fields $core:ty, $wire:ident, [$($done:tt)*] ($field:ident) $($rest:tt)*) => {
        shape!(@fields $core, $wire, [$($done)* $field: $crate::v1::Carry::carry($wire.$field),] $($rest)*)
    };
    (@fields $core:ty, $wire:ident, [$($done:tt)*] ($field:ident, $there:ident) $($rest:tt)*) => {
        shape!(@fields $core, $wire, [$($done)* $there: $crate::v1::Carry::carry($wire.$field),] $($rest)*)
    };
}

/// A word of a closed list.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident of $core:ty = [$($word:literal),+];)+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub $core);

        $crate::v1::shape::wrapped!($name($core));

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                let known = <$core>::from_word(&word).map(Self);
                known.ok_or_else(|| serde::de::Error::unknown_variant(&word, &[$($word),+]))
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                use utoipa::openapi::schema::{ObjectBuilder, Type};
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some([$($word),+])).into()
            }
        }

        impl utoipa::ToSchema for $name {})+

        #[cfg(test)]
        mod words {
            use super::*;

            #[test]
            fn every_word_is_listed() {
                $(for word in [$($word),+] {
                    let known = <$core>::from_word(word).map(|known| known.as_str());
                    assert_eq!(known, Some(word));
                })+
            }
        }
    };
}

pub(crate) use {shape, words, wrapped};
