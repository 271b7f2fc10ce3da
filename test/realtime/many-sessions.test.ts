import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ledgerRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { engines } from '../store/engines.ts';
import { connect } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { makeDatabase, type TestDatabase } from './database.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const sessions = 200;
const chunks = 20;
const price = 2;
const chunkBytes = 1200;

/** Returns the audio of the upstream for a text. Each chunk contains the text and its index. */
const chunk = (text: string, index: number) => Buffer.alloc(chunkBytes, `${text}/${index};`);

describe.each(engines)('many concurrent sessions on %s', (engine) => {
  let database: TestDatabase;
  let upstream: SocketUpstream;
  let target: SocketGateway;

  beforeAll(async () => {
    database = await makeDatabase(engine);
    upstream = await startSocketUpstream({
      opened: (connection) => connection.send({ type: 'session.created', event_id: 'c', session: {} }),
      frame: (connection, frame) => {
        const send = (type: string, fields: object = {}) =>
          connection.send({ type, event_id: `s${connection.received.length}`, ...fields });
        if (frame.type === 'session.update') send('session.updated', { session: frame.session });
        if (frame.type === 'session.finish') {
          send('session.finished');
          connection.socket.close(1000);
        }
        if (frame.type !== 'input_text_buffer.commit') return;
        const text = String(connection.received.at(-2)?.text);
        for (let index = 0; index < chunks; index += 1) {
          send('response.audio.delta', { delta: chunk(text, index).toString('base64') });
        }
        send('response.done', {
          response: { id: 'r', status: 'completed', usage: { characters: text.length } },
        });
      },
    });
    target = await startSocketGateway({
      databaseUrl: database.url,
      channels: [channelTo(upstream.url)],
      prices: { '*': price },
    });
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await database.remove();
  });

  test('lose no audio, and each is charged exactly its usage', { timeout: 60_000 }, async () => {
    const { key, id } = await makeKey(target, { quota: 1_000_000 });
    const runSession = async (number: number) => {
      const text = `session ${number} `.repeat(1 + (number % 5));
      const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
      let count = 0;
      const send = (type: string, fields: object = {}) => {
        count += 1;
        client.send({ event_id: `e${count}`, type, ...fields });
      };
      send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
      await client.next(({ type }) => type === 'session.updated');
      send('input_text_buffer.append', { text });
      send('input_text_buffer.commit');
      await client.next(({ type }) => type === 'response.done');
      send('session.finish');
      const { code } = await client.closed;
      const audio = client.events.filter(({ type }) => type === 'response.audio.delta');
      const received = Buffer.concat(audio.map(({ delta }) => Buffer.from(delta as string, 'base64')));
      const expected = Buffer.concat(Array.from({ length: chunks }, (_, index) => chunk(text, index)));
      return { code, isComplete: received.equals(expected), characters: text.length };
    };
    const outcomes = await Promise.all(Array.from({ length: sessions }, (_, number) => runSession(number)));
    expect(outcomes.filter(({ code, isComplete }) => code !== 1000 || !isComplete)).toEqual([]);
    const used = outcomes.reduce((sum, { characters }) => sum + characters * price, 0);
    const rows = await ledgerRows(target);
    expect(rows.map(({ state }) => state)).toEqual(Array.from({ length: sessions }, () => 'settled'));
    expect(rows.reduce((sum, { charged }) => sum + (charged ?? 0), 0)).toBe(used);
    expect(await remainingQuota(target, id)).toBe(1_000_000 - used);
  });
});
