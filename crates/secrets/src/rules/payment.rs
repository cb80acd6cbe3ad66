//! Payment, commerce and shipping.

use super::{TokenRule, token};

/// The columns are the arguments of `token` in `rules.rs`. An entropy of 1 only excludes
/// placeholders.
#[rustfmt::skip]
pub(super) const PAYMENT_RULES: &[TokenRule] = &[
    //    kind                  keywords                        entropy pattern
    token("stripe-key",         &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_"], 1, r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{24,250}", "Stripe or Paystack secret key"),
    token("stripe-key-short",   &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], 3000, r"[sr]k_(?:live|test)_[A-Za-z0-9]{12,23}", "Stripe secret key, early or cut off"),
    token("stripe-webhook",     &["whsec_"],                     3000,  r"whsec_[A-Za-z0-9+/]{24,64}={0,2}", "Stripe or Svix webhook secret"),
    token("square-token",       &["sq0atp-", "sq0csp-", "sq0idp-", "sq0acp-"], 3000, r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,48}", "Square token"),
    token("square-access",      &["EAAA"],                       3500,  r"EAAA[A-Za-z0-9_-]{60}", "Square access token"),
    token("shopify-token",      &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"], 2500, r"shp(?:at|ca|pa|ss|tka|ua)_[A-Za-z0-9]{32,64}", "Shopify token"),
    token("braintree-token",    &["access_token$"],              2500,  r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", "Braintree access token"),
    token("plaid-token",        &["access-sandbox-", "access-production-", "access-development-"], 2500, r"access-(?:sandbox|production|development)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "Plaid access token"),
    token("razorpay-key",       &["rzp_live_", "rzp_test_"],     2500,  r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}", "Razorpay key"),
    token("flutterwave-key",    &["FLWSECK"],                    2500,  r"FLWSECK(?:_TEST|_LIVE)?-[A-Za-z0-9]{12,40}-X", "Flutterwave secret key"),
    token("pagarme-key",        &["ak_live_", "ak_test_"],       2500,  r"ak_(?:live|test)_[A-Za-z0-9]{30}", "Pagar.me key"),
    token("courier-key",        &["pk_prod_"],                   3000,  r"pk_(?:prod|test)_[A-Z0-9]{28}", "Courier key"),
    token("easypost-key",       &["EZAK", "EZTK"],               3000,  r"EZ[AT]K[A-Za-z0-9]{54}", "EasyPost API key"),
    token("shippo-token",       &["shippo_live_", "shippo_test_"], 2500, r"shippo_(?:live|test)_[0-9A-Fa-f]{40}", "Shippo API token"),
    token("flexport-token",     &["shltm_"],                     3000,  r"shltm_[A-Za-z0-9_-]{40}", "Flexport token"),
    token("ticket-tailor-key",  &["sk_"],                        2500,  r"sk_[0-9]{3,6}_[0-9]{4,8}_[0-9a-f]{32}", "Ticket Tailor key"),
    token("ebay-token",         &["v^1.1#"],                     3500,  r"v\^1\.1#[A-Za-z0-9#^/+=.]{80,2000}", "eBay OAuth token"),
];
