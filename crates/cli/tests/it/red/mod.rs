//! Attacks on the program: what somebody else prepared must not take effect.

mod trust;
