import type { Limits } from '../../support/limits.ts';

/** Limits of the operator's operations: users, keys and their quota. */
export const admin: Limits = {
  UserRole: { enum: ['user', 'admin'] },
  UserName: {
    maxLength: 64,
    minLength: 1,
    pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]*$',
  },
  GroupName: { maxLength: 64, minLength: 1 },
  'CreateUserRequest.group': { default: 'default' },
  'CreateUserRequest.role': { default: 'user' },
  UpdateUserRequest: { minProperties: 1 },
  KeyName: {
    maxLength: 50,
    minLength: 1,
    pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]*$',
  },
  KeyExpiry: { maximum: 9007199254740991, minimum: -1 },
  'KeyExpiry/if': { minimum: 0 },
  'KeyExpiry/then': { minimum: 1 },
  KeyModels: { maxLength: 65536 },
  KeyAddresses: { maxLength: 8192 },
  KeyGroup: { maxLength: 64 },
  KeyRequests: { maximum: 1000000, minimum: 0 },
  KeySockets: { maximum: 100000, minimum: 0 },
  'CreateUserTokenRequest.remain_quota': { maximum: 1000000000000000, minimum: 0 },
  'CreateUserTokenRequest.unlimited_quota': { default: false },
  'CreateUserTokenRequest/if.unlimited_quota': { const: true },
  'CreateUserTokenRequest.admin': { default: false },
  'CreateUserTokenRequest.create_keys': { default: true },
  UpdateTokenRequest: { minProperties: 1 },
  'UpdateTokenRequest.status': { enum: [1, 2] },
  'GrantQuotaRequest.amount': { maximum: 1000000000000000, minimum: -1000000000000000 },
  'GrantQuotaRequest.reason': { maxLength: 500, minLength: 1 },
};
