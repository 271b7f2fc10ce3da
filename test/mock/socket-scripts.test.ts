import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventBundle } from '../conformance/contract/schemas.ts';
import { append, eventOf, finish, run, text, update } from './sockets/client-events.ts';
import { serveSockets } from './sockets/serve-sockets.ts';

const realtime = '/api-ws/v1/realtime?model=alpha3-tts-flash-realtime';
const inference = '/api-ws/v1/inference?model=voxa-v3-flash';

let mock: Awaited<ReturnType<typeof serveSockets>>;
beforeAll(async () => {
  mock = await serveSockets();
});
afterAll(() => mock.close());

describe('faults', () => {
  const channels = eventBundle.channels as Record<string, { description: string }>;
  const sessions = [
    {
      channel: 'realtime',
      path: realtime,
      first: update({ voice: 'Aria' }),
      events: [append('Good day.'), eventOf('session.finish')],
    },
    { channel: 'inference', path: inference, first: run(), events: [text('Good day.'), finish] },
  ];

  /** Sends text and a finish. Returns all frames received, text frames unparsed. Closes after a frame that matches `stopAt`. */
  async function receiveUntil(
    { path, first, events }: (typeof sessions)[number],
    name: string,
    stopAt: RegExp,
  ) {
    const socket = new WebSocket(`${mock.url}${path}&mock_script=${name}`, {
      headers: { authorization: 'Bearer k' },
    });
    const received: string[] = [];
    socket.on('open', () => socket.send(JSON.stringify(first)));
    socket.on('message', (data, binary) => {
      const frame = binary ? 'audio' : (data as Buffer).toString('utf8');
      received.push(frame);
      if (/session\.updated|task-started/.test(frame))
        for (const next of events) socket.send(JSON.stringify(next));
      // The server processes all sent frames before the close.
      if (stopAt.test(frame)) socket.close(1000);
    });
    const [code] = (await once(socket, 'close')) as [number];
    return { code, received, last: received.at(-1) ?? '' };
  }

  const audio = /^audio$|response\.audio\.delta/;
  const never = /^$/;

  describe.each(sessions)('$channel', (session) => {
    test('drop', async () => {
      const { code, last } = await receiveUntil(session, 'drop', never);
      expect([code, last]).toEqual([1006, expect.stringMatching(audio)]);
    });

    test('hang', async () => {
      const { received, last } = await receiveUntil(session, 'hang', audio);
      expect(last).toMatch(audio);
      expect(received.filter((frame) => audio.test(frame))).toHaveLength(1);
    });

    test('garbage', async () => {
      const { received, last } = await receiveUntil(session, 'garbage', /session\.finished|task-finished/);
      expect(received.filter((frame) => frame === '{"type":')).toHaveLength(1);
      expect(last).toMatch(/session\.finished|task-finished/);
    });

    test.each([
      ['error', 1011],
      ['timeout', 1011],
      ['quota', 1008],
      ['throttle', 1013],
      ['restart', 1001],
    ])('%s sends a documented error and closes with %i', async (name, close) => {
      const { code, last } = await receiveUntil(session, name, never);
      const event = JSON.parse(last) as { error?: { code: string }; header?: { error_code: string } };
      const { code: errorCode } = event.error ?? { code: event.header?.error_code };
      const line = channels[session.channel]?.description
        .split('\n')
        .find((one) => one.startsWith('|') && one.includes(`\`${errorCode}\``));
      expect(code).toBe(close);
      expect(line).toContain(String(close));
    });

    test.each([1000, 1001, 1008, 1011, 1013])('close-%i', async (close) => {
      const { code, last } = await receiveUntil(session, `close-${close}`, never);
      expect([code, last]).toEqual([close, expect.stringMatching(audio)]);
      expect(channels[session.channel]?.description).toContain(`| ${close} |`);
    });
  });
});
