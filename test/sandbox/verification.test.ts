import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../server/sandbox/sandbox.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { decideOn, submit } from '../verification/end-user.ts';
import { type ShownSession, sessionsPath } from '../verification/session-provider.ts';

const minute = 60_000;
const replySchema = { pointer: '#/components/schemas/VerificationSessionReply', schema: {} };
const groupId = /^group-\d{14}-[a-z0-9]{5}$/;

describe('identity verification of the sandbox', () => {
  let sandbox: Sandbox;
  let folder: string;
  /** Milliseconds since the epoch. */
  let now = Date.UTC(2026, 2, 1, 12);
  // On any port, so that connections from before a restart are not reused.
  const start = async () => {
    sandbox = await startSandbox({ key: 'sk-sandbox', folder, port: 0, now: () => now });
  };
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: { authorization: 'Bearer sk-sandbox', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  };
  const session = async (method: string, path: string, body?: object): Promise<ShownSession> => {
    const { status, text } = await call(method, path, body);
    expect(status, text).toBe(200);
    const reply = JSON.parse(text) as { data: ShownSession };
    expect(schemaProblems(replySchema, reply)).toEqual([]);
    return reply.data;
  };
  const make = (body: object = { callback_url: 'https://app.example/done?a=%20b&c' }) =>
    session('POST', sessionsPath, body);
  const show = (id: string) => session('GET', `${sessionsPath}/${id}`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-verification-'));
    await start();
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  });

  test.each([
    [
      'approve',
      '10000',
      { status: 'verified', result_code: 10_000, group_id: expect.stringMatching(groupId) },
    ],
    ['reject', '10001', { status: 'failed', result_code: 10_001, group_id: '' }],
  ] as const)('%s leads back to the application, and is the result', async (decision, code, shown) => {
    const { session_id: id, h5_link } = await make();
    now += minute;
    const page = await decideOn(h5_link, decision);
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      `https://app.example/done?a=%20b&c&vendor_token=${id}&resultCode=${code}`,
    ]);
    const { created_at, updated_at, ...rest } = await show(id);
    expect(rest).toMatchObject(shown);
    expect(Date.parse(updated_at) - Date.parse(created_at)).toBe(minute);
  });

  test('without a callback URL the page shows the result', async () => {
    const { h5_link } = await make({});
    const page = await decideOn(`${h5_link}&lng=zh`, 'approve');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('验证已通过。')]);
    const other = await decideOn((await make({})).h5_link, 'reject');
    expect(await other.text()).toContain('The check was not passed.');
  });

  test('the page works once, and repeating the same decision redirects to the same URL', async () => {
    const { session_id: id, h5_link } = await make();
    const { pathname } = new URL(h5_link);
    const first = await submit(h5_link, pathname, { token: id, decision: 'reject' });
    const again = await submit(h5_link, pathname, { token: id, decision: 'reject' });
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    const other = await submit(h5_link, pathname, { token: id, decision: 'approve' });
    const back = `https://app.example/done?a=%20b&amp;c&amp;vendor_token=${id}&amp;resultCode=10001`;
    for (const used of [other, await fetch(h5_link)]) {
      expect(used.status).toBe(410);
      const html = await used.text();
      expect(html).toContain('This link has been used.');
      expect(html).toContain(`href="${back}"`);
      expect(html).not.toContain('<form');
    }
    expect((await show(id)).status).toBe('failed');
  });

  test('after 30 minutes the page reports that it has expired', async () => {
    const { session_id: id, h5_link } = await make();
    now += 30 * minute - 1;
    expect((await fetch(h5_link)).status).toBe(200);
    now += 1;
    for (const late of [
      await fetch(h5_link),
      await submit(h5_link, new URL(h5_link).pathname, { token: id, decision: 'approve' }),
    ]) {
      expect([late.status, await late.text()]).toEqual([410, expect.stringContaining('has expired')]);
    }
    const { status, updated_at, expires_at } = await show(id);
    expect([status, updated_at]).toEqual(['expired', expires_at]);
  });

  test.each([
    ['', 'en', 'Identity check'],
    ['&lng=en', 'en', 'Identity check'],
    ['&lng=zh', 'zh', '真人验证'],
    ['&lng=zh-Hant', 'zh-Hant', '真人驗證'],
    ['&lng=%3Cb%3E', 'en', 'Identity check'],
  ])('the page for %j is in %s', async (query, language, title) => {
    const { h5_link } = await make();
    const response = await fetch(h5_link + query);
    const html = await response.text();
    expect(html).toContain(`<html lang="${language}">`);
    expect(html).toContain(`<h1>${title}</h1>`);
    expect(html).toContain('name="viewport"');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('the page loads no resources, and its form is labeled', async () => {
    const response = await fetch((await make()).h5_link);
    const html = await response.text();
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(html).not.toMatch(/<script|<img|<link|src=|@import|url\(|https?:/i);
    expect(html).toMatch(/<fieldset>\s*<legend>[^<]+<\/legend>\s*<button [^>]+>Approve<\/button>/);
  });

  test.each(['', '?token=', '?token=vs_none', '?token=%22%3E%3Cscript%3E'])(
    '%j is not a valid link',
    async (query) => {
      const page = await fetch(`${sandbox.url}/h5/verification${query}`);
      const html = await page.text();
      expect([page.status, html]).toEqual([404, expect.stringContaining('This link does not exist.')]);
      expect(html).not.toContain('<script');
    },
  );

  test('a form without a decision changes nothing', async () => {
    const { session_id: id, h5_link } = await make();
    const { pathname } = new URL(h5_link);
    expect((await submit(h5_link, pathname, { token: id })).status).toBe(400);
    expect((await submit(h5_link, pathname, { token: id, decision: 'x' })).status).toBe(400);
    expect((await submit(h5_link, pathname, { decision: 'approve' })).status).toBe(404);
    expect((await show(id)).status).toBe('pending');
  });

  test('sessions and results survive a restart', async () => {
    const [open, decided] = [await make(), await make()];
    await decideOn(decided.h5_link, 'approve');
    const { h5_link: _, raw_response: __, ...verified } = await show(decided.session_id);
    await sandbox.close();
    await start();
    expect(await show(decided.session_id)).toMatchObject(verified);
    const { status } = await decideOn((await show(open.session_id)).h5_link, 'reject');
    expect([status, (await show(open.session_id)).status]).toEqual([303, 'failed']);
  });

  test('requires the key to create and read sessions', async () => {
    const { session_id } = await make();
    for (const path of [sessionsPath, `${sessionsPath}/${session_id}`]) {
      const method = path === sessionsPath ? 'POST' : 'GET';
      expect((await fetch(sandbox.url + path, { method })).status).toBe(401);
    }
  });

  test.each([{ callback_url: 7 }, { callback_url: 'app.example' }, { callback_url: 'javascript:alert(1)' }])(
    'rejects %j',
    async (body) => {
      const { status, text } = await call('POST', sessionsPath, body);
      expect([status, JSON.parse(text)]).toEqual([
        400,
        { success: false, message: expect.stringContaining('callback_url') },
      ]);
    },
  );

  test('applies triggers', async () => {
    const late = await make({ project_name: '[[fail-late]]' });
    await decideOn(late.h5_link, 'approve');
    expect(await show(late.session_id)).toMatchObject({
      status: 'failed',
      result_code: 10_002,
      group_id: '',
    });
    const unknown = await make({ callback_url: 'https://app.example/?q=[[unknown]]' });
    expect((await call('GET', `${sessionsPath}/${unknown.session_id}`)).status).toBe(404);
    const troubled = await make({ project_name: '[[poll-error]]' });
    expect((await call('GET', `${sessionsPath}/${troubled.session_id}`)).status).toBe(500);
    expect((await show(troubled.session_id)).status).toBe('pending');
    expect((await call('POST', sessionsPath, { project_name: '[[throttle]]' })).status).toBe(429);
  });
});
