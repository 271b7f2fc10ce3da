import { expect, onTestFinished, test } from 'vitest';
import { callAsAdmin, dataOf, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import type { CreatedEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('createOperatorEndpoint', {
  invalid: {
    'without a URL': { change: { url: undefined }, field: 'url' },
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
    const body = { url: 'https://app.example/events', events: ['task.stuck'] };

    test('creates an endpoint and shows its secret', async () => {
      const events = ['quota.low', 'task.stuck'];
      const fields = { url: body.url, events, quota_threshold: 5, description: 'mine' };
      const created = dataOf<CreatedEndpoint>(await call({ body: fields }));
      onTestFinished(async () => {
        await callAsAdmin('deleteOperatorEndpoint', { path: { id: String(created.id) } });
      });
      expect(created).toMatchObject({
        ...fields,
        id: expect.any(Number),
        disabled: false,
        old_secret_expires_at: null,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      });
      expect(await listChangesOf(`endpoint ${created.id}`)).toMatchObject([
        { action: 'createOperatorEndpoint', details: { host: 'app.example', events } },
      ]);
    });

    test('400 for quota.low without a threshold', async () => {
      const response = await call({ body: { ...body, events: ['quota.low'] } });
      expectError(response, 400, { field: 'quota_threshold' });
    });

    test('400 for a user name in the URL', async () => {
      const response = await call({ body: { ...body, url: 'https://a:b@app.example/' } });
      expectError(response, 400, { field: 'url' });
    });
  },
});
