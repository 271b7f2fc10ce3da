import { beforeAll, expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';

type Entry = Record<string, string | number | null> & { id: number };
const linesOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return response.body.toString('utf8').split('\n').slice(0, -1);
};
const entriesOf = (response: HttpResponse) => linesOf(response).map((line) => JSON.parse(line) as Entry);

describeOperation('exportLogs', {
  invalid: {
    'an unknown format': { query: { format: 'xlsx' }, field: 'format' },
    'a number below 0': { query: { after: -1 }, field: 'after', limit: 0 },
    'a key id of 0': { query: { token_id: 0 }, field: 'token_id', limit: 1 },
    'a status of 600': { query: { status: 600 }, field: 'status', limit: 599 },
    'errors with an invalid value': { query: { errors: 'perhaps' }, field: 'errors' },
    'a request id of 65 characters': {
      query: { request_id: 'r'.repeat(65) },
      field: 'request_id',
      limit: 64,
    },
    'a time below 0': { query: { until: -1 }, field: 'until', limit: 0 },
  },
  gatewayTests(call) {
    // A spreadsheet formula, and separators of fields.
    const name = `=1+"a;b",${crypto.randomUUID()}`;
    let tokenId: number;
    let requestId: string;
    beforeAll(async () => {
      const target = inject('gateway');
      const created = await exchange(target, documented('createToken'), {
        body: { name, remain_quota: 1_000 },
      });
      const { id, key } = (jsonOf(created) as { data: { id: number; key: string } }).data;
      tokenId = id;
      const speech = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
      for (let calls = 0; calls < 2; calls += 1) {
        const speechResponse = await exchange({ ...target, key }, documented('createSpeech'), {
          body: speech,
        });
        expect(speechResponse.status).toBe(200);
        requestId = speechResponse.headers.get('x-request-id') ?? '';
      }
    });

    test('exports JSON lines, oldest first', async () => {
      const entries = entriesOf(await call({ query: { token_id: tokenId } }));
      expect(entries).toHaveLength(2);
      const [first, second] = entries;
      expect(second).toEqual({
        id: expect.any(Number),
        request_id: requestId,
        user_id: 1,
        token_id: tokenId,
        token_name: name,
        model_name: 'alpha3-tts-flash',
        operation: 'createSpeech',
        channel: expect.any(String),
        status: 200,
        error_code: null,
        unit: 'characters',
        units: 9,
        prompt_tokens: 0,
        completion_tokens: 0,
        quota: 9,
        duration_ms: expect.any(Number),
        created_at: expect.any(Number),
        state: 'completed',
        task_id: null,
        // The id of the provider, which clients do not see.
        upstream_id: expect.stringMatching(/./),
        unit_price: 1,
        price_rule: null,
        cost: null,
        group_ratio: 1,
        group_name: 'default',
        config_revision: expect.stringMatching(/^[0-9a-f]{12}$/),
        debt: 0,
        refunded: 0,
      });
      expect(first?.id).toBeLessThan(second?.id ?? 0);
      expect(entriesOf(await call({ query: { token_id: tokenId, after: first?.id ?? 0 } }))).toEqual([
        second,
      ]);
    });

    test('exports CSV by parameter or Accept header, with formulas escaped', async () => {
      const query = { request_id: requestId };
      const [entry] = entriesOf(await call({ query }));
      const responses = [
        await call({ query: { ...query, format: 'csv' } }),
        await call({ query, headers: { accept: 'text/csv, */*' } }),
      ];
      for (const response of responses) {
        expect(response.headers.get('content-disposition')).toBe('attachment; filename="requests.csv"');
        expect(response.body.toString('utf8').split('\r\n')).toEqual([
          Object.keys(entry ?? {}).join(),
          Object.values(entry ?? {})
            .map((value) => (typeof value === 'string' ? quoted(value) : String(value ?? '')))
            .join(),
          '',
        ]);
      }
      const forced = await call({ query: { ...query, format: 'jsonl' }, headers: { accept: 'text/csv' } });
      expect(entriesOf(forced)).toEqual([entry]);
    });

    test('applies its filters', async () => {
      const query = { token_id: tokenId, model: 'alpha3-tts-flash', operation: 'createSpeech', user_id: 1 };
      const all = await call({ query: { ...query, status: 200, since: 1 } });
      expect(linesOf(all)).toHaveLength(2);
      const others: Record<string, string | number>[] = [
        { status: 404 },
        { errors: 'true' },
        { model: 'voxa-v2' },
        { operation: 'createVideo' },
        { channel: 'none' },
        { user_id: 7777 },
        { until: 1 },
        { since: 8640000000000 },
        { request_id: 'req_none' },
        { after: Number.MAX_SAFE_INTEGER },
      ];
      for (const other of others) expect(linesOf(await call({ query: { ...query, ...other } }))).toEqual([]);
      const header = linesOf(await call({ query: { ...query, until: 0, format: 'csv' } }));
      expect(header).toHaveLength(1);
    });
  },
});

const quoted = (text: string) => `"${text.startsWith('=') ? "'" : ''}${text.replaceAll('"', '""')}"`;
