//! Builder methods, written once: each takes the builder, changes one field and returns it.

/// `name(argument: Type) => field = value;` becomes a documented, `#[must_use]` method of the `impl` that it is in.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) => $($field:ident).+ = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self $(, $argument: $type)?) -> Self {
            self.$($field).+ = $value;
            self
        }
    )*};
}

pub(crate) use setters;
