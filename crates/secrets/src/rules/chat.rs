//! Chat, mail and telephony.

use super::{TokenRule, marked, token};

/// The columns are the arguments of `token` and `marked` in `rules.rs`. An entropy of 1 only
/// excludes placeholders.
#[rustfmt::skip]
pub(super) const CHAT_RULES: &[TokenRule] = &[
    //    kind                 keywords                      entropy pattern
    token("slack-bot-token",   &["xoxb-"],                     0,    r"xoxb-(?:[0-9]{8,15}-){1,3}[A-Za-z0-9]{10,64}", "Slack bot token"),
    token("slack-token",       &["xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-"], 2500, r"xox[a-z]-(?:[0-9]-)?(?:[0-9]{8,15}-){1,4}[A-Za-z0-9]{10,64}", "Slack token"),
    token("slack-config",      &["xoxe.", "xoxe-"],           3500,  r"xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{100,200}", "Slack configuration token"),
    token("slack-app-token",   &["xapp-"],                    2500,  r"xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{10,15}-[0-9a-f]{60,70}", "Slack app-level token"),
    token("slack-webhook",     &["hooks.slack.com/"],         2500,  r"hooks\.slack\.com/(?:services|workflows|triggers)/((?:[A-Za-z0-9+]{6,60}/){1,4}[A-Za-z0-9+]{12,80})", "Slack webhook"),
    token("discord-webhook",   &["/api/webhooks/"],           2500,  r"/api/webhooks/[0-9]{17,20}/([A-Za-z0-9_-]{60,70})", "Discord webhook"),
    token("teams-webhook",     &["outlook.office.com/webhook/", ".webhook.office.com/webhookb2/"], 2500, r"(?:outlook\.office\.com/webhook|\.webhook\.office\.com/webhookb2)/([0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36})", "Microsoft Teams webhook"),
    token("zapier-webhook",    &["hooks.zapier.com/"],        2000,  r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9]{5,20}(?:/[A-Za-z0-9]{5,20})?)", "Zapier webhook"),
    token("tines-webhook",     &[".tines.com/webhook/"],      2500,  r"\.tines\.com/webhook/([0-9a-f]{32}/[0-9a-f]{32})", "Tines webhook"),
    marked("telegram-token",   &[":AA"], 12,                  3000,  r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}", "Telegram bot token"),
    token("twilio-key",        &["SK"],                       2800,  r"SK[0-9a-f]{32}", "Twilio API key"),
    token("sendgrid-key",      &["SG."],                      3000,  r"SG\.[A-Za-z0-9_-]{16,24}\.[A-Za-z0-9_-]{39,50}", "SendGrid API key"),
    token("mailgun-key",       &["key-"],                     2800,  r"key-[0-9a-f]{32}", "Mailgun API key"),
    marked("mailchimp-key",    &["-us"], 32,                  2500,  r"[0-9a-f]{32}-us[0-9]{1,2}", "Mailchimp API key"),
    token("brevo-key",         &["xkeysib-", "xsmtpsib-"],    3000,  r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}", "Brevo API key"),
    token("resend-key",        &["re_"],                      3000,  r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "Resend API key"),
    token("voiceflow-key",     &["VF.DM.", "VF.WS."],         2800,  r"VF\.(?:DM|WS)\.[0-9a-f]{24}\.[A-Za-z0-9]{16}", "Voiceflow API key"),
    token("pubnub-key",        &["pub-c-", "sub-c-", "sec-c-"], 2000, r"(?:pub-c|sub-c|sec-c)-(?:[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}|[A-Za-z0-9]{40,60})", "PubNub key"),
];
