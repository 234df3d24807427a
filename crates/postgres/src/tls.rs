//! TLS of a connection: certificates are always checked.

use std::path::Path;
use std::sync::Arc;

use adage::StoreError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Config;

/// # Errors
/// `Refused` if the certificates cannot be read.
pub(crate) fn connector(config: &Config) -> Result<MakeRustlsConnect, StoreError> {
    let refused = |source: Box<dyn std::error::Error + Send + Sync>| StoreError::Refused {
        store: config.name.clone(),
        action: "use TLS",
        advice: "check the file that sslrootcert names",
        source,
    };
    let mut roots = RootCertStore::empty();
    match &config.root_certificates {
        Some(file) => add(&mut roots, file).map_err(refused)?,
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let client = versions.map_err(|error| refused(error.into()))?.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(client))
}

fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for certificate in CertificateDer::pem_file_iter(file)? {
        roots.add(certificate?)?;
    }
    Ok(())
}
