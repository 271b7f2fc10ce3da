import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, type Token } from '../../support/operator.ts';

describeOperation('updateToken', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'a status of 3': { body: { status: 3 }, field: 'status' },
    'a name of 51 characters': { body: { name: 'n'.repeat(51) }, field: 'name', limit: 50 },
    'sockets below 0': { body: { sockets: -1 }, field: 'sockets' },
    'a quota': { body: { remain_quota: 5 }, field: 'remain_quota' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const at = ({ id }: Token) => ({ path: { id: String(id) } });

    test('changes all limits and resets them', async () => {
      const token = await newToken(target, 1, { remain_quota: 9 });
      const limits = {
        name: 'trial',
        expired_time: 4102444800,
        model_limits: 'alpha3-tts-flash,voxa-v3-flash',
        allow_ips: '192.0.2.7',
        group: 'default',
      };
      const masked = { ...token, key: `sk-***${token.key.slice(-4)}` };
      const limited = jsonOf(await call({ ...at(token), example: 'limited' }));
      const updated = { ...masked, ...limits, own_group: 'default', model_limits_enabled: true };
      expect(limited).toEqual({ success: true, message: '', data: updated });
      const body = { name: 'a key', expired_time: -1, model_limits: '', allow_ips: '', group: '' };
      expect(jsonOf(await call({ ...at(token), body }))).toMatchObject({ data: masked });
      const figures = { requests_per_minute: 5, sockets: 0 };
      expect(jsonOf(await call({ ...at(token), body: figures }))).toMatchObject({ data: figures });
      const none = { requests_per_minute: null, sockets: null };
      expect(jsonOf(await call({ ...at(token), body: none }))).toMatchObject({ data: none });
      const query = { subject: `token ${token.id}`, action: 'updateToken' };
      const { items } = await callAdmin<{ items: { details: unknown }[] }>(target, 'listChanges', { query });
      expect(items.map(({ details }) => details)).toEqual([
        { from: figures, to: none },
        { from: none, to: figures },
        expect.any(Object),
        {
          from: { name: 'a key', expired_time: -1, model_limits: null, allow_ips: null, group: null },
          to: { ...limits, model_limits: limits.model_limits.split(','), allow_ips: ['192.0.2.7'] },
        },
      ]);
    });

    test('disables and enables a key', async () => {
      const token = await newToken(target, 1);
      const listModelsStatus = async () =>
        (await exchange({ ...target, key: token.key }, documented('listModels'))).status;
      expect(await listModelsStatus()).toBe(200);
      expect(jsonOf(await call({ ...at(token), example: 'disabled' }))).toMatchObject({
        data: { status: 2 },
      });
      expect(await listModelsStatus()).toBe(401);
      await call({ ...at(token), body: { status: 1 } });
      expect(await listModelsStatus()).toBe(200);
    });

    test('404 for an unknown key', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });

    test.each([
      ['an expiry in the past', { expired_time: 1_000_000 }, 'expired_time'],
      ['a pattern of models', { model_limits: 'voxa-*' }, 'model_limits'],
      ['an invalid address', { allow_ips: '192.0.2.256' }, 'allow_ips'],
      ['an unknown group', { group: 'nobody' }, 'group'],
    ])('400 %s', async (_, body, field) => {
      expectError(await call({ path: { id: '1' }, body }), 400, { field });
    });
  },
});
