import type { Limits } from '../../support/limits.ts';

/** Limits of keys and verification sessions. */
export const management: Limits = {
  'CreateTokenRequest.name': {
    maxLength: 50,
    minLength: 1,
    pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]*$',
  },
  'CreateTokenRequest.remain_quota': { maximum: 9007199254740991, minimum: 0 },
  'CreateTokenRequest.expired_time': { maximum: 9007199254740991, minimum: -1 },
  'CreateTokenRequest.unlimited_quota': { default: false },
  'CreateTokenRequest.model_limits': { maxLength: 65536 },
  'CreateTokenRequest.allow_ips': { maxLength: 8192 },
  'CreateTokenRequest.admin': { default: false },
  'CreateTokenRequest.create_keys': { default: true },
  'CreateTokenRequest.member_id': { maximum: 9007199254740991, minimum: 1 },
  'CreateTokenRequest.group': { maxLength: 64 },
  'CreateTokenRequest.requests_per_minute': { maximum: 1000000, minimum: 0 },
  'CreateTokenRequest.sockets': { maximum: 100000, minimum: 0 },
  'MeDisplay.currency': { pattern: '^[A-Z]{3}$' },
  'DisableChannelRequest.reason': { maxLength: 500, minLength: 1 },
  'VerificationRequest.callback_url': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'CreateTokenRequest.expired_time/if': { minimum: 0 },
  'CreateTokenRequest.expired_time/then': { minimum: 1 },
  'CreateTokenRequest/if.unlimited_quota': { const: true },
};
