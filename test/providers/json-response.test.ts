import { expect, test } from 'vitest';
import { ResponseBody } from '../../server/outbound/response-body.ts';
import { audioSource, readLimited } from '../../server/providers/native/json-response.ts';
import { FakeSender } from '../outbound/fake-sender.ts';

const unusable = { status: 502, code: 'bad_response', message: 'The provider did not give a usable answer.' };

test('a response is read completely, and one that is too long is aborted', async () => {
  const coming = (text: string) => {
    const body = new ResponseBody(new FakeSender());
    const closed: unknown[] = [];
    body.onClose((error) => closed.push(error));
    body.write(Buffer.from(text));
    return { body, closed, response: { status: 200, headers: {}, body } };
  };
  const short = coming('four');
  short.body.end();
  expect(String(await readLimited(short.response, 4))).toBe('four');
  const long = coming('fives');
  await expect(readLimited(long.response, 4)).rejects.toMatchObject(unusable);
  expect(long.closed).toHaveLength(1);
});

const url = 'https://files.example/a.mp3';
const bytes = Buffer.from('ID3\u00ff audio');
const [base64, hexadecimal] = [bytes.toString('base64'), bytes.toString('hex')];
test.each<[object, ReturnType<typeof audioSource>]>([
  [{ audio: { url } }, { url }],
  [{ audio: { url: `see ${url}` } }, undefined],
  [{ audio: { url, data: base64 } }, { url }],
  [{ audio: { url: '', data: base64 } }, { bytes }],
  [{ audio: { data: Buffer.from(base64, 'base64').toString('base64url') } }, { bytes }],
  [{ audio: { data: `${base64} ` } }, undefined],
  [{ audio: { data: '<html>' } }, undefined],
  [{ audio: { data: '' } }, undefined],
  [{ data: { audio: url } }, { url }],
  [{ data: { audio: hexadecimal.toUpperCase() } }, { bytes }],
  [{ data: { audio: `${hexadecimal}0` } }, undefined],
  [{ data: { audio: `${hexadecimal}0g` } }, undefined],
  [{}, undefined],
])('finds the audio in %j', (output, source) => {
  expect(audioSource({ output })).toEqual(source);
});
