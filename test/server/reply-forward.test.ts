import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { afterEach, expect, test } from 'vitest';
import { HttpReply } from '../../server/http/reply.ts';
import { ResponseBody } from '../../server/outbound/response-body.ts';
import { FakeSender } from '../outbound/fake-sender.ts';

type Hooks = Parameters<HttpReply['forward']>[3];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A client that reads what is passed on; `passed` settles with it. */
async function passing(body: ResponseBody, hooks: Partial<Hooks>) {
  const passed = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    const whole = { transform: (chunk: Buffer) => [chunk], end: async () => [], ...hooks };
    new HttpReply(response as Response)
      .forward(200, 'text/event-stream', body, whole)
      .then(passed.resolve, (error: unknown) => {
        passed.reject(error);
        response.destroy();
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  passed.promise.catch(() => {});
  return { passed: passed.promise, answer: fetch(`http://127.0.0.1:${port}/`) };
}

test('pieces of one tick are taken together, and all arrive in their order', async () => {
  const body = new ResponseBody(new FakeSender());
  const taken: number[] = [];
  const { answer } = await passing(body, {
    transform(piece) {
      taken.push(piece.length);
      return [piece];
    },
    end: async () => [Buffer.from('end')],
  });
  let sent = '';
  for (let tick = 0; tick < 40; tick += 1) {
    for (let part = 0; part < 30; part += 1) {
      const text = `${tick}.${part}:${'x'.repeat(part * 100)};`;
      sent += text;
      body.write(Buffer.from(text));
    }
    await new Promise(setImmediate);
  }
  body.end();
  expect(await (await answer).text()).toBe(`${sent}end`);
  expect(taken.length).toBeLessThan(40 * 30);
});

test('what came before the body breaks goes on, and the answer does not end as if it were whole', async () => {
  const body = new ResponseBody(new FakeSender());
  const { passed, answer } = await passing(body, {});
  body.write(Buffer.from('first'));
  const { body: got } = await answer;
  const reader = got?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  body.fail(new Error('broken'));
  await expect(passed).rejects.toThrow('broken');
  await expect(reader?.read()).rejects.toThrow();
});

test('a hook that fails ends it, and is asked no more', async () => {
  const body = new ResponseBody(new FakeSender());
  let asked = 0;
  const { passed, answer } = await passing(body, {
    transform() {
      asked += 1;
      throw new Error('no');
    },
  });
  answer.catch(() => {});
  body.write(Buffer.from('a'));
  body.write(Buffer.from('b'));
  body.end();
  await expect(passed).rejects.toThrow('no');
  expect(asked).toBe(1);
});
