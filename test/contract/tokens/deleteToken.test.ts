import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';

interface Key {
  id: number;
  key: string;
}

async function make(body: object = {}): Promise<Key> {
  const response = await exchange(inject('gateway'), documented('createToken'), {
    body: { name: 'short-lived', remain_quota: 0, ...body },
  });
  return (jsonOf(response) as { data: Key }).data;
}

describeOperation('deleteToken', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
  },
  gatewayTests(call) {
    const remove = (id: number, key?: string) =>
      call({ path: { id: String(id) }, ...(key && { headers: { authorization: `Bearer ${key}` } }) });

    test('deletes a key, which is invalid at once and cannot be deleted again', async () => {
      const { id, key } = await make();
      const list = documented('listTokens');
      const target = { ...inject('gateway'), key };
      expect((await exchange(target, list)).status).toBe(200);
      const response = await remove(id);
      expect(jsonOf(response)).toEqual({ success: true, message: '' });
      expect((await exchange(target, list)).status).toBe(401);
      expectError(await remove(id), 404, { field: 'id' });
    });

    test('deletes itself', async () => {
      const { id, key } = await make({ remain_quota: 1 });
      expect((await remove(id, key)).status).toBe(200);
      expectError(await remove(id, key), 401);
    });

    test('404 for an unknown id and one of another user', async () => {
      expectError(await remove(Number.MAX_SAFE_INTEGER), 404, { field: 'id' });
      const { id } = await make();
      expectError(await call({ path: { id: String(id) }, as: 'noQuota' }), 404, { field: 'id' });
    });

    test('404 for a limited key and a key that it did not create', async () => {
      const [{ key }, other] = [await make({ remain_quota: 1 }), await make()];
      expectError(await remove(other.id, key), 404, { field: 'id' });
      const restricted = await make({ unlimited_quota: true, model_limits: 'voxa-v2' });
      expectError(await remove(other.id, restricted.key), 404, { field: 'id' });
      expect((await remove(other.id)).status).toBe(200);
    });
  },
});
