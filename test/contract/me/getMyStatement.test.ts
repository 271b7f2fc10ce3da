import { beforeAll, expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { documented } from '../../conformance/contract/documented.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';

type Statement = operations['getMyStatement']['responses'][200]['content']['application/json']['data'];

describeOperation('getMyStatement', {
  invalid: {
    'a 13th month': { path: { month: '2026-13' }, field: 'month' },
    'month 0': { path: { month: '2026-00' }, field: 'month' },
    'a month without a year': { path: { month: '11' }, field: 'month' },
    'a day': { path: { month: '2026-11-01' }, field: 'month' },
    'an unknown format': { query: { format: 'pdf' }, field: 'format' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const month = new Date().toISOString().slice(0, 7);
    // A spreadsheet formula, and HTML.
    const name = '=1+<script>alert("1")</script>';
    let userId: number;
    let limited: { id: number; key: string };
    let owner: { id: number; key: string };
    beforeAll(async () => {
      ({ id: userId } = await newUser(target));
      owner = await newToken(target, userId, { unlimited_quota: true });
      limited = await newToken(target, userId, { name, remain_quota: 1_000 });
      for (const { key } of [limited, owner]) {
        const body = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
        await exchange({ ...target, key }, documented('createSpeech'), { body });
      }
    });
    const send = (query: Record<string, string> = {}, headers = {}, path = { month }) =>
      call({ path, query, headers: { authorization: `Bearer ${owner.key}`, ...headers } });

    test('adds up to the balance', async () => {
      expect(dataOf<Statement>(await send())).toEqual({
        month,
        since: Date.parse(`${month}-01`) / 1000,
        until: expect.any(Number),
        user: { id: userId, name: expect.any(String) },
        final: false,
        opening: { balance: 0, debt: 0 },
        corrections: { balance: 0, debt: 0 },
        grants: {
          quota: 1_000,
          debt_settled: 0,
          items: [
            {
              day: expect.any(Number),
              token_id: limited.id,
              token_name: name,
              reason: null,
              quota: 1_000,
              debt_settled: 0,
            },
          ],
        },
        charges: {
          requests: 2,
          quota: 18,
          spent: 9,
          debt: 0,
          items: [owner, limited].map(({ id }) => ({
            token_id: id,
            token_name: id === limited.id ? name : expect.any(String),
            member_id: null,
            member_name: null,
            model: 'alpha3-tts-flash',
            unit: 'characters',
            units: 9,
            requests: 1,
            quota: 9,
            spent: id === limited.id ? 9 : 0,
            debt: 0,
          })),
        },
        refunds: { quota: 0, credited: 0, items: [] },
        forfeited: 0,
        closing: { balance: 991, debt: 0 },
        accounts: [
          {
            account_id: userId,
            account_name: expect.any(String),
            requests: 2,
            quota: 18,
            spent: 9,
            debt: 0,
            refunded: 0,
            credited: 0,
          },
        ],
        members: [
          {
            member_id: null,
            member_name: null,
            requests: 2,
            quota: 18,
            spent: 9,
            debt: 0,
            refunded: 0,
            credited: 0,
          },
        ],
      });
    });

    test('returns CSV whose changes add up, with formulas escaped', async () => {
      for (const response of [await send({ format: 'csv' }), await send({}, { accept: 'text/csv' })]) {
        expect(response.headers.get('content-disposition')).toBe(
          `attachment; filename="statement-${month}.csv"`,
        );
        const lines = response.body.toString('utf8').trim().split('\r\n');
        expect(lines[0]).toBe(
          'line,day,token_id,token_name,member_id,member_name,model,reason,unit,units,requests,quota,balance,debt',
        );
        const balances = lines.slice(1).map((line) => Number(line.split(',').at(-2)));
        const closing = balances.pop();
        expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(closing);
        expect(lines.some((line) => line.includes(`"'=1+<script>alert(""1"")</script>"`))).toBe(true);
      }
    });

    test('returns a page for printing without scripts', async () => {
      const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
      for (const response of [await send({ format: 'html' }), await send({}, { accept })]) {
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(response.headers.get('content-security-policy')).toMatch(
          /^default-src 'none'; style-src 'sha256-[^']+'; /,
        );
        const page = response.body.toString('utf8');
        expect(page).toContain('<h1>Statement');
        expect(page).toContain('=1+&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
        expect(page).not.toContain('<script');
      }
      expect((await send({ format: 'json' }, { accept })).headers.get('content-type')).toContain('json');
    });

    test('exists from the first activity to the current month', async () => {
      for (const other of ['0000-01', '1999-12', '2999-01', '9999-12']) {
        const response = await send({}, {}, { month: other });
        expectError(response, 404, { code: 'not_found', field: 'month', includes: [month] });
      }
    });

    test('refuses a key with limits', async () => {
      const headers = { authorization: `Bearer ${limited.key}` };
      expectError(await call({ path: { month }, headers }), 403, { code: 'access_denied' });
    });
  },
});
