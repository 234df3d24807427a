//! Builder methods, written once: each takes the builder, changes one field and returns it.

/// `name(argument: Type) => field = value;`, or `=> method(values);` for a builder that keeps no fields, becomes a
/// documented, `#[must_use]` method of the `impl` that it is in.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) => $($field:ident).+ = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self $(, $argument: $type)?) -> Self {
            self.$($field).+ = $value;
            self
        }
    )*};
    ($($(#[$doc:meta])* $name:ident($argument:ident: $type:ty) => $method:ident($($value:expr),*);)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(self, $argument: $type) -> Self {
            self.$method($($value),*)
        }
    )*};
}

pub(crate) use setters;
