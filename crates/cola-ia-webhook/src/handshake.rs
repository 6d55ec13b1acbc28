//! What senders ask before, or between, their events. Only what the source's scheme says is answered, and nothing of it is stored.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::body::{Doc, field};
use crate::canonical;
use crate::form;
use crate::json::{self, Json};
use crate::outcome::{HandshakeToken, Reply};
use crate::request::Request;
use crate::scheme::{Algorithm, Encoding, Handshake, Scheme};
use crate::secret::Secret;
use crate::signature::encode;
use crate::verify::mac;

/// Longest text that is echoed, in bytes.
const ECHO_MAX_BYTES: usize = 1_024;

/// The answer to a `GET`: an echo where the scheme has one and the request asks for it.
pub(crate) fn of_get(
    scheme: &Scheme,
    verify_token: Option<&Secret>,
    request: &Request<'_>,
) -> Option<(Handshake, Reply)> {
    let query = request.query();
    let value = |name| field(&query, name).ok().flatten();
    let echo = |text: &str| if text.len() > ECHO_MAX_BYTES { Reply::empty(400) } else { Reply::echo(text) };
    scheme.handshakes.iter().find_map(|handshake| match handshake {
        Handshake::HubChallenge if value("hub.mode") == Some("subscribe") => {
            let token = value("hub.verify_token").map(Sha256::digest);
            let expected = verify_token.and_then(Secret::shared).map(Sha256::digest);
            let same = token.zip(expected).is_some_and(|(sent, expected)| sent.ct_eq(&expected).into());
            let challenge = value("hub.challenge").filter(|_| same);
            Some((*handshake, challenge.map_or_else(|| Reply::empty(403), echo)))
        }
        Handshake::Challenge => value("challenge").map(|challenge| (*handshake, echo(challenge))),
        _ => None,
    })
}

/// The answer to a `POST` that its sender does not sign. One that bears a signature is never taken for it.
pub(crate) fn unsigned(scheme: &Scheme, pending: bool, request: &Request<'_>) -> Option<(Handshake, Reply)> {
    if scheme.signature.header.as_ref().is_some_and(|header| request.has_header(header)) {
        return None;
    }
    scheme.handshakes.iter().find_map(|handshake| match handshake {
        Handshake::WebhookId if request.body.len() <= 64 => {
            let fields = form::urlencoded(request.body).ok()?;
            let [(name, value)] = fields.as_slice() else {
                return None;
            };
            let is_ping = name == "webhook_id" && !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            is_ping.then(|| (*handshake, Reply::empty(200)))
        }
        Handshake::VerificationToken if pending && request.body.len() <= 8_192 => {
            let token = json::check(request.body).ok().and_then(|json| string(json, &["verification_token"]))?;
            let reply = Reply { token: Some(HandshakeToken(token.into_owned())), ..Reply::empty(200) };
            Some((*handshake, reply))
        }
        _ => None,
    })
}

/// The answer to a `POST` whose signature is good, made with the secret that it was signed with.
pub(crate) fn signed(scheme: &Scheme, secret: Option<&Secret>, doc: &Doc<'_>) -> Option<(Handshake, Reply)> {
    let Doc::Json(json) = doc else {
        return None;
    };
    scheme.handshakes.iter().find_map(|handshake| {
        let reply = match handshake {
            Handshake::UrlVerification if string(*json, &["type"])? == "url_verification" => {
                Reply::echo(&string(*json, &["challenge"]).filter(|text| text.len() <= ECHO_MAX_BYTES)?)
            }
            Handshake::UrlValidation if string(*json, &["event"])? == "endpoint.url_validation" => {
                let token = string(*json, &["payload", "plainToken"]).filter(|text| text.len() <= ECHO_MAX_BYTES)?;
                let signed = mac(Algorithm::HmacSha256, secret?.shared()?, &[Cow::Borrowed(token.as_bytes())]);
                let mut body = String::from("{\"plainToken\":");
                canonical::string(&mut body, &token);
                body.push_str(",\"encryptedToken\":");
                canonical::string(&mut body, &encode(Encoding::Hex, &signed));
                body.push('}');
                Reply::json(200, body)
            }
            Handshake::Ping1 if json.child("type")?.raw() == "1" => Reply::json(200, "{\"type\":1}".into()),
            Handshake::Ping0 if json.child("type")?.raw() == "0" => Reply::empty(204),
            _ => return None,
        };
        Some((*handshake, reply))
    })
}

fn string<'a>(json: Json<'a>, path: &[&str]) -> Option<Cow<'a, str>> {
    path.iter().try_fold(json, |json, key| json.child(key))?.string()
}
