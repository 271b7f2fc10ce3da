import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('updateEndpoint', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'a string for disabled': { body: { disabled: 'yes' }, field: 'disabled' },
    'a URL of 2049 characters': {
      change: { url: `https://app.example/${'a'.repeat(2029)}` },
      field: 'url',
      limit: 2048,
    },
    'a URL of another scheme': { change: { url: 'ftp://app.example/' }, field: 'url' },
    'no event': { change: { events: [] }, field: 'events', limit: 1 },
    'an unknown event': { change: { events: ['quota.high'] }, field: 'events.0' },
    'a threshold of 0': { change: { quota_threshold: 0 }, field: 'quota_threshold', limit: 1 },
    'a description of 201 characters': {
      change: { description: 'd'.repeat(201) },
      field: 'description',
      limit: 200,
    },
    'an unknown field': { change: { secret: 'mine' }, field: 'secret' },
  },
  gatewayTests(call) {
    test('changes an endpoint, and only the fields of the request', async () => {
      const { secret: _, ...endpoint } = await newEndpoint('createEndpoint');
      const path = { id: String(endpoint.id) };
      const events = ['quota.exhausted'];
      const change = { url: 'https://other.example/?token=hidden', description: 'new', events };
      expect(dataOf(await call({ path, body: change }))).toEqual({ ...endpoint, ...change });
      const disabled = await call({ path, body: { disabled: true } });
      expect(dataOf(disabled)).toMatchObject({ ...change, disabled: true });
      expect(dataOf(await call({ path, body: { disabled: false } }))).toMatchObject({ disabled: false });
    });

    test('400 for quota.low without a threshold, and for a user name in the URL', async () => {
      const { id } = await newEndpoint('createEndpoint');
      const path = { id: String(id) };
      const without = await call({ path, body: { events: ['quota.low'] } });
      expectError(without, 400, { field: 'quota_threshold' });
      const low = { events: ['quota.low'], quota_threshold: 5 };
      expect(dataOf(await call({ path, body: low }))).toMatchObject(low);
      expectError(await call({ path, body: { quota_threshold: null } }), 400, { field: 'quota_threshold' });
      const named = await call({ path, body: { url: 'https://a:b@app.example/' } });
      expectError(named, 400, { field: 'url' });
    });

    test('404 for an unknown endpoint, and for one of the operator', async () => {
      const other = await newEndpoint('createOperatorEndpoint');
      for (const id of [other.id, Number.MAX_SAFE_INTEGER])
        expectError(await call({ path: { id: String(id) }, body: { disabled: true } }), 404, { field: 'id' });
    });
    test('403 for a key with limits', async () => {
      expectError(await call({ path: { id: '1' }, body: { disabled: true }, as: 'noQuota' }), 403, {
        includes: ['limits'],
      });
    });
  },
});
