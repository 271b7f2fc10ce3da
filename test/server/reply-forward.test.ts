import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { afterEach, expect, test } from 'vitest';
import { HttpReply } from '../../server/http/reply.ts';
import { ResponseBody } from '../../server/outbound/response-body.ts';
import { FakeSender } from '../outbound/fake-sender.ts';

type Hooks = Parameters<HttpReply['forward']>[3];

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** Starts a server that forwards `body`, and sends it a request. `forwarded` settles with the forwarding. */
async function forwardTo(body: ResponseBody, hooks: Partial<Hooks>) {
  const forwarded = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    const allHooks = { transform: (chunk: Buffer) => [chunk], end: async () => [], ...hooks };
    new HttpReply(response as Response)
      .forward(200, 'text/event-stream', body, allHooks)
      .then(forwarded.resolve, (error: unknown) => {
        forwarded.reject(error);
        response.destroy();
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  forwarded.promise.catch(() => {});
  return { forwarded: forwarded.promise, reply: fetch(`http://127.0.0.1:${port}/`) };
}

test('chunks of one event loop turn are combined, and all arrive in order', async () => {
  const body = new ResponseBody(new FakeSender());
  const chunkLengths: number[] = [];
  const { reply } = await forwardTo(body, {
    transform(part) {
      chunkLengths.push(part.length);
      return [part];
    },
    end: async () => [Buffer.from('end')],
  });
  let sent = '';
  for (let tick = 0; tick < 40; tick += 1) {
    for (let index = 0; index < 30; index += 1) {
      const text = `${tick}.${index}:${'x'.repeat(index * 100)};`;
      sent += text;
      body.write(Buffer.from(text));
    }
    await new Promise(setImmediate);
  }
  body.end();
  expect(await (await reply).text()).toBe(`${sent}end`);
  expect(chunkLengths.length).toBeLessThan(40 * 30);
});

test('chunks before an error are sent, and the response then breaks off', async () => {
  const body = new ResponseBody(new FakeSender());
  const { forwarded, reply } = await forwardTo(body, {});
  body.write(Buffer.from('first'));
  const { body: responseBody } = await reply;
  const reader = responseBody?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  body.fail(new Error('broken'));
  await expect(forwarded).rejects.toThrow('broken');
  await expect(reader?.read()).rejects.toThrow();
});

test('a failing hook ends the response and is not called again', async () => {
  const body = new ResponseBody(new FakeSender());
  let calls = 0;
  const { forwarded, reply } = await forwardTo(body, {
    transform() {
      calls += 1;
      throw new Error('no');
    },
  });
  reply.catch(() => {});
  body.write(Buffer.from('a'));
  body.write(Buffer.from('b'));
  body.end();
  await expect(forwarded).rejects.toThrow('no');
  expect(calls).toBe(1);
});
