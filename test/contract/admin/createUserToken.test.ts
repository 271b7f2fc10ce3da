import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newUser, type Token, type User } from '../../support/operator.ts';

describeOperation('createUserToken', {
  invalid: {
    'an id that is not a number': { path: { id: 'root' }, field: 'id' },
    'without a name': { body: { remain_quota: 0 }, field: 'name' },
    'a name of 51 characters': { body: { name: 'n'.repeat(51), remain_quota: 0 }, field: 'name', limit: 50 },
    'a quota below 0': { body: { name: 'k', remain_quota: -1 }, field: 'remain_quota', limit: 0 },
    'an expiry of 0': {
      body: { name: 'k', remain_quota: 0, expired_time: 0 },
      field: 'expired_time',
      limit: -1,
    },
    'neither a quota nor unlimited_quota': { body: { name: 'k' }, field: 'remain_quota' },
    'requests below 0': {
      body: { name: 'k', remain_quota: 0, requests_per_minute: -1 },
      field: 'requests_per_minute',
    },
    'an unknown field': { body: { name: 'k', remain_quota: 0, quota: 5 }, field: 'quota' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: User) => ({ path: { id: String(id) } });

    test('returns a valid key with its secret, which the record omits', async () => {
      const user = await newUser(target);
      const response = await call({ ...at(user), example: 'limited' });
      const { data } = jsonOf(response) as { data: Token };
      expect(data).toEqual({
        id: expect.any(Number),
        name: 'front end',
        key: expect.stringMatching(/^sk-[\w-]{43}$/),
        status: 1,
        remain_quota: 100_000,
        used_quota: 0,
        debt: 0,
        expired_time: -1,
        created_time: expect.any(Number),
        unlimited_quota: false,
        model_limits_enabled: false,
        model_limits: '',
        allow_ips: '',
        group: 'default',
        admin: false,
        create_keys: true,
        session: false,
        created_by: null,
        requests_per_minute: null,
        sockets: null,
        member_id: null,
        own_group: '',
        user_id: user.id,
        user_name: 'someone',
        user_disabled: false,
      });
      const log = await exchange({ ...target, key: data.key }, documented('searchLogs'));
      expect(log.status).toBe(200);
      const query = { subject: `token ${data.id}` };
      const changes = await callAdmin(target, 'listChanges', { query });
      const details = { user_id: user.id, name: 'front end', remain_quota: 100_000 };
      expect(changes).toMatchObject({ items: [{ action: 'createUserToken', details }], total: 1 });
      expect(JSON.stringify(changes)).not.toContain(data.key.slice(-4));
    });

    test('sets all limits of a key', async () => {
      const user = await newUser(target);
      expect((await call({ ...at(user), example: 'restricted' })).status).toBe(200);
      const limits = { allow_ips: '192.0.2.7\n10.0.0.0/8', requests_per_minute: 0, sockets: 3 };
      const response = await call({ ...at(user), body: { name: 'k', unlimited_quota: true, ...limits } });
      expect(jsonOf(response)).toMatchObject({ data: { unlimited_quota: true, ...limits } });
    });

    test('404 for an unknown user', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });

    test.each([
      ['an expiry in the past', { expired_time: 1_000_000 }, 'expired_time'],
      ['a pattern of models', { model_limits: 'voxa-*' }, 'model_limits'],
      ['an invalid address', { allow_ips: '192.0.2.256' }, 'allow_ips'],
      ['an unknown group', { group: 'nobody' }, 'group'],
    ])('400 %s', async (_, fields, field) => {
      expectError(await call({ path: { id: '1' }, body: { name: 'k', remain_quota: 0, ...fields } }), 400, {
        field,
      });
    });
  },
});
