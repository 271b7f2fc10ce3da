import { describe, expect, test } from 'vitest';
import type { Unit } from '../../generated/catalogue.ts';
import { Channel } from '../../server/channels/channel.ts';
import { EventAudioDecoder } from '../../server/providers/native/audio.ts';
import { readEvents } from '../../server/providers/native/events.ts';
import { ProviderRedactor } from '../../server/providers/provider-redactor.ts';
import { inChunks } from '../support/in-chunks.ts';
import { channelTo } from '../support/upstream.ts';

const redactor = new ProviderRedactor(new Channel(channelTo('http://upstream.example'), Date.now));
const event = (data: object, type = 'result') => `id:1\nevent:${type}\ndata:${JSON.stringify(data)}\n\n`;
const alpha = (said: string, more: object = {}, finish_reason = 'null') =>
  event({ output: { finish_reason, audio: { data: Buffer.from(said).toString('base64') } }, ...more });
const beta = (said: string, status: number) =>
  event({ output: { data: { audio: Buffer.from(said).toString('hex'), status } } });
const used = (characters: number) => ({ usage: { characters, input_tokens: 1, output_tokens: 50 } });

/** Decodes a stream in chunks. Returns the audio as texts, and the report. */
async function decoded(text: string, size = 1000, unit: Unit = 'characters') {
  const audio = new EventAudioDecoder(unit, redactor);
  const texts: string[] = [];
  const error: unknown = await (async () => {
    for await (const chunk of audio.decode(inChunks(text, size))) texts.push(chunk.toString());
  })().catch((thrown: unknown) => thrown);
  return { texts, units: audio.usage?.units, delivered: audio.delivered, error };
}

describe.each([1, 7, 100, 65_536])('events in chunks of %i bytes', (size) => {
  test('are decoded one at a time', async () => {
    const none = `${event({ output: { data: { audio: null } } })}${event({})}:beat\n\n`;
    const text = alpha('one', used(3)) + alpha('') + none + alpha('two') + alpha('', used(8), 'stop');
    expect(await decoded(text, size)).toEqual({
      texts: ['one', 'two'],
      units: 8,
      delivered: true,
      error: undefined,
    });
  });

  test('of beta models are hexadecimal, and the last one, which repeats all, is skipped', async () => {
    const text = beta('one', 1) + beta('two', 1) + beta('onetwo', 2);
    expect(await decoded(text, size)).toMatchObject({ texts: ['one', 'two'], error: undefined });
    expect(await decoded(beta('onetwo', 2), size)).toMatchObject({ texts: ['onetwo'], error: undefined });
  });

  test('without a final blank line are complete if their JSON is', async () => {
    const text = (alpha('one') + alpha('two', used(5), 'stop')).slice(0, -2);
    expect(await decoded(text, size)).toMatchObject({ texts: ['one'], units: 5, error: undefined });
  });

  test.each([
    ['that are cut', alpha('one') + alpha('', {}, 'stop').slice(0, -20), 'an invalid event'],
    ['without the last', alpha('one'), 'before the end of the response'],
    ['that fail', alpha('one') + event({ code: 'InternalError' }, 'error'), 'failed to handle'],
  ])('%s fail after the audio before', async (_, text, message) => {
    const failure = expect.objectContaining({ status: 502, message: expect.stringContaining(message) });
    expect(await decoded(text, size)).toMatchObject({ texts: ['one'], delivered: true, error: failure });
  });
});

test('usage is read in the unit of the model, and nothing is delivered without audio', async () => {
  expect(await decoded(alpha('', used(3), 'stop'), 100, 'tokens')).toEqual({
    texts: [],
    units: 51,
    delivered: false,
    error: undefined,
  });
});

test('each event is limited to 32 MiB', async () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 'a');
  let given = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (const text of ['data:1\n\n', 'data:2\n\n']) yield Buffer.from(text);
    for (;;) {
      given += 1;
      yield mebibyte;
    }
  }
  const read: string[] = [];
  const reading = (async () => {
    for await (const { data } of readEvents(endless())) read.push(data);
  })();
  await expect(reading).rejects.toMatchObject({
    code: 'bad_response',
    message: expect.stringContaining('too long'),
  });
  expect([read, given]).toEqual([['1', '2'], 33]);
});
