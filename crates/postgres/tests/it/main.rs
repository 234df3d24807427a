//! Tests on a real server: `ADAGE_POSTGRES` names it, and `scripts/postgres start FOLDER` starts one.
